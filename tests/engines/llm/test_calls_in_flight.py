"""A question that is under way is not sent again: its answer serves all who ask it meanwhile."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import NoReturn

import pytest

from crowdnotes.engines.llm.calls import InFlightCalls
from crowdnotes.errors import JobCancelled
from tests.shared import PATIENCE


class _Asking:
    """Somebody who asks in a thread, and gets `answer` once `go` is set."""

    def __init__(self, once: InFlightCalls, answer: Callable[[], str]) -> None:
        self.go = threading.Event()
        self._begun = threading.Event()
        self._answer = answer
        self._thread = threading.Thread(target=self._ask, args=(once,))
        self._thread.start()
        assert self._begun.wait(PATIENCE)

    def _ask(self, once: InFlightCalls) -> None:
        def slow() -> str:
            self._begun.set()
            assert self.go.wait(PATIENCE)
            return self._answer()

        with contextlib.suppress(JobCancelled):
            once.ask(b"the same", slow, lambda: None)

    def end(self) -> None:
        self.go.set()
        self._thread.join(PATIENCE)


def test_whoever_asks_the_same_meanwhile_gets_that_answer() -> None:
    once = InFlightCalls()
    other = _Asking(once, lambda: "theirs")
    assert once.ask(b"another", lambda: "mine", lambda: None) == ("mine", False)
    assert once.ask(b"the same", lambda: "mine", other.go.set) == ("theirs", True)
    other.end()
    assert once.ask(b"the same", lambda: "mine", lambda: None) == ("mine", False)


def _cancelled() -> NoReturn:
    raise JobCancelled("The work was stopped.")


def test_what_another_failed_at_is_asked_again_and_whoever_waits_can_be_stopped() -> None:
    once = InFlightCalls()
    other = _Asking(once, _cancelled)
    with pytest.raises(JobCancelled):
        once.ask(b"the same", lambda: "mine", _cancelled)
    assert once.ask(b"the same", lambda: "mine", other.go.set) == ("mine", False)
    other.end()
