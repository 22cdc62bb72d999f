"""What services answered within the last day, in memory: the same is not asked twice."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from datetime import date

from crowdnotes.domain import Hit

Asked = tuple[str, str, int, date | None, str | None]
"""The provider's name, the query, how many hits, until which day, and the language."""

_DAY = 86_400.0  # seconds
_MOST = 5_000  # answers of about ten hits: some 50 megabytes


class Answers:
    """Hits by what was asked, those longest unused forgotten first. Safe to share between threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, most: int = _MOST) -> None:
        self._clock = clock
        self._most = most
        self._kept: OrderedDict[Asked, tuple[float, list[Hit]]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, asked: Asked) -> list[Hit] | None:
        """What was answered to that within a day; None where it was not asked."""
        with self._lock:
            at, hits = self._kept.get(asked, (0.0, None))
            if hits is None or self._clock() - at > _DAY:
                return None
            self._kept.move_to_end(asked)
            return hits

    def keep(self, asked: Asked, hits: list[Hit]) -> None:
        """Remember an answer."""
        with self._lock:
            self._kept[asked] = (self._clock(), hits)
            self._kept.move_to_end(asked)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
