"""Answers of models kept on disk, so that an identical call costs nothing."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from crowdnotes.embedding import VectorCache

_BYTES_AN_ANSWER = 2_000  # on average with its row; what the size bound counts with
_LONGEST_ANSWER = 64_000


@dataclass(frozen=True, slots=True)
class Kept:
    """A model's words, and the probability of their verdict where it was known."""

    words: str
    probability: float | None


class AnswerCache:
    """By the sha256 of all that shapes an answer. Safe between threads; a broken file costs only itself."""

    def __init__(self, path: Path, megabytes: int) -> None:
        rows = megabytes * 1_000_000 // _BYTES_AN_ANSWER
        self._store = VectorCache(path, rows, "answer cache") if rows else None

    def get(self, key: bytes) -> Kept | None:
        """The answer kept for this key."""
        if self._store is None:
            return None
        raw = self._store.get([key]).get(key)
        if raw is None:
            return None
        words, probability = json.loads(raw)
        return Kept(words, probability)

    def put(self, key: bytes, words: str, probability: float | None) -> None:
        """Keep an answer that was of use. One of more than 64 kB is not kept."""
        raw = json.dumps([words, probability]).encode()
        if self._store is not None and len(raw) <= _LONGEST_ANSWER:
            self._store.put({key: raw})
