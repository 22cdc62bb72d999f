"""The same question asked twice at the same time is sent once: helpfulness and principles ask the same of a note."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any, TypeVar, cast

T = TypeVar("T")
_LOOK = 0.1  # seconds between two looks at whether the work of whoever waits was cancelled


class Once:
    """Which questions are under way, by their key. Safe between threads."""

    def __init__(self) -> None:
        self._under_way: dict[bytes, Future[Any]] = {}
        self._lock = threading.Lock()

    def ask(self, key: bytes, ask: Callable[[], T], check: Callable[[], None]) -> tuple[T, bool]:
        """What `ask` gives, and whether it was another's answer to the same question.

        What another failed at is asked again: it may have been cancelled, or its budget spent. `check` raises when
        whoever waits is to stop.
        """
        mine: Future[T] = Future()
        with self._lock:
            others = self._under_way.setdefault(key, mine)
        if others is not mine:
            while not wait([others], _LOOK).done:
                check()
            return self.ask(key, ask, check) if others.exception() else (cast("T", others.result()), True)
        try:
            value = ask()
        except BaseException as error:
            self._forget(key)
            mine.set_exception(error)
            raise
        self._forget(key)
        mine.set_result(value)
        return value, False

    def _forget(self, key: bytes) -> None:
        with self._lock:
            del self._under_way[key]
