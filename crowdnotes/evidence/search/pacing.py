"""How often a service may be asked: so many requests in a stretch of time, so many at once.

The limit belongs to the service, so whoever asks it in this process shares one pacer.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from crowdnotes.domain import ProviderState
from crowdnotes.errors import SearchError

_SLICE = 0.25  # seconds that a cancelled job waits at most
_BEHIND = 0.03  # seconds until one that is not the first in the queue looks again


@dataclass(frozen=True, slots=True)
class Pace:
    """At most `requests` begin within any `seconds`, and at most `at_once` are under way."""

    requests: int
    seconds: float
    at_once: int


class Pacer:
    """Lets requests through at a pace, in the order in which they came. Safe to share between threads.

    The order makes searches that share a service take turns: who was answered stands behind who was not.
    """

    def __init__(
        self, pace: Pace, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._pace = pace
        self._clock = clock
        self._sleep = sleep
        self._begun: deque[float] = deque(maxlen=pace.requests)
        self._under_way = 0
        self._queue: deque[object] = deque()
        self._held_until = clock()
        self._changed = threading.Condition()

    @contextmanager
    def slot(self, check: Callable[[], None], patience: float) -> Iterator[None]:
        """Wait for a turn and hold it. `check` is called while waiting.

        Raises SearchError(RATE_LIMITED) when the service asked for a pause longer than `patience` seconds.
        """
        ticket = object()
        with self._changed:
            self._queue.append(ticket)
        try:
            while (wait := self._enter(ticket, patience)) > 0:
                self._sleep(min(wait, _SLICE))
                check()
        finally:
            with self._changed:
                self._queue.remove(ticket)
        try:
            yield
        finally:
            with self._changed:
                self._under_way -= 1
                self._changed.notify()

    def hold(self, seconds: float) -> None:
        """Let nobody through for so long: the service asked for it."""
        with self._changed:
            self._held_until = max(self._held_until, self._clock() + seconds)

    def _enter(self, ticket: object, patience: float) -> float:
        """0 when the turn is taken, else seconds to wait before asking again."""
        with self._changed:
            is_first = self._queue[0] is ticket
            if is_first and self._under_way >= self._pace.at_once:
                self._changed.wait(_SLICE)
            now = self._clock()
            held = self._held_until - now
            if held > patience:
                raise SearchError(f"It asks to be left alone for {held:.0f} seconds.", ProviderState.RATE_LIMITED)
            full = len(self._begun) == self._pace.requests
            wait = max(held, self._begun[0] + self._pace.seconds - now if full else 0.0)
            if not is_first:
                return max(wait, _BEHIND)
            if self._under_way >= self._pace.at_once:
                return 0.001
            if wait > 0:
                return wait
            self._begun.append(now)
            self._under_way += 1
            return 0.0


_shared: dict[tuple[str, Pace], Pacer] = {}
_lock = threading.Lock()


def shared_pacer(service: str, pace: Pace) -> Pacer:
    """The one pacer of a service (by its address) in this process."""
    with _lock:
        return _shared.setdefault((service, pace), Pacer(pace))
