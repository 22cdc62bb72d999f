"""Pure functions over words: X's note rules, lint, sentences, stems, languages, addresses, dates."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

T = TypeVar("T")

_MAX_CACHED_CHARACTERS = 10_000  # characters: a note, a passage, a post; keeping whole pages would cost memory
_MAX_CACHED_TEXTS = 512


def kept_by_text(function: Callable[[str], T]) -> Callable[[str], T]:
    """Keep a pure function's answers on the last short texts: one score asks the same of a note many times."""
    kept = lru_cache(maxsize=_MAX_CACHED_TEXTS)(function)

    @wraps(function)
    def answer(text: str) -> T:
        return kept(text) if len(text) <= _MAX_CACHED_CHARACTERS else function(text)

    return answer
