"""What services answered within the last day, kept on disk: the same is not asked twice.

An answer is found by a hash of all that shapes it. Neither the searches nor where they came from can be read from the
file: it holds what was found on the web, and when. Libraries are not in it.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from crowdnotes.domain import Hit
from crowdnotes.storage.disk_cache import DiskCache

Asked = tuple[str, str, str, int, date | None, str | None]
"""The provider's name and address, the query, how many hits, until which day, and the language."""

_DAY = 86_400.0  # seconds
_MOST = 5_000  # answers of about ten hits: some 50 megabytes
_HITS = TypeAdapter(tuple[float, list[Hit]])


class Answers:
    """Hits by what was asked, those longest unused forgotten first. Safe to share between threads."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._store = DiskCache(path, _MOST, "search cache")

    def of(self, asked: Asked) -> list[Hit] | None:
        """What was answered to that within a day; None where it was not asked."""
        key = _key(asked)
        kept = self._store.get([key]).get(key)
        try:
            at, hits = _HITS.validate_json(kept or b"null")
        except ValidationError:  # nothing, or of another version of the program
            return None
        if not 0 <= self._clock() - at <= _DAY:
            return None
        return [hit.model_copy(update={"query": asked[2]}) for hit in hits]

    def keep(self, asked: Asked, hits: list[Hit]) -> None:
        """Remember an answer."""
        found = [hit.model_copy(update={"query": ""}) for hit in hits]
        self._store.put({_key(asked): _HITS.dump_json((self._clock(), found))})


def _key(asked: Asked) -> bytes:
    return hashlib.sha256(json.dumps(asked, default=str).encode()).digest()
