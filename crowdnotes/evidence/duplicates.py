"""Texts that say the same: exact copies by fingerprint, near copies by the word triples they share."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Iterable
from typing import TypeVar

from crowdnotes.text.stems import words

T = TypeVar("T")

NEAR = 0.8  # Jaccard similarity of word triples; a changed word in every thirty stays above it
_SHINGLE_WORDS = 3
_COMPARED_CHARACTERS = 20_000  # two long documents that agree this far are copies


def normalised(text: str) -> str:
    """The words of a text without case, punctuation and spacing: equal for exact copies."""
    return " ".join(words(unicodedata.normalize("NFKC", text).casefold()))


def fingerprint(*parts: str) -> bytes:
    """16 bytes that are equal when all parts are equal after `normalised`."""
    joined = "\x00".join(normalised(part) for part in parts)
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).digest()[:16]


def shingles(text: str) -> frozenset[tuple[str, ...]]:
    """The set of word triples of a text; a shorter text is one shingle, an empty one none."""
    found = normalised(text[:_COMPARED_CHARACTERS]).split()
    if len(found) <= _SHINGLE_WORDS:
        return frozenset([tuple(found)]) if found else frozenset()
    return frozenset(zip(found, found[1:], found[2:], strict=False))


def jaccard(a: frozenset[tuple[str, ...]], b: frozenset[tuple[str, ...]]) -> float:
    """Shared shingles over all shingles, in [0, 1]; two empty sets are the same."""
    if not a and not b:
        return 1.0
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared)


def without_near_duplicates(items: Iterable[T], text: Callable[[T], str], limit: int | None = None) -> list[T]:
    """The items in order, without those whose text is a near copy of one kept before.

    Put the best first: it is the one that stays. Stops at `limit` items, so that the rest is never compared.
    """
    kept: list[T] = []
    seen: list[frozenset[tuple[str, ...]]] = []
    for item in items:
        if limit is not None and len(kept) >= limit:
            break
        own = shingles(text(item))
        if any(_could_be_near(own, other) and jaccard(own, other) >= NEAR for other in seen):
            continue
        kept.append(item)
        seen.append(own)
    return kept


def _could_be_near(a: frozenset[tuple[str, ...]], b: frozenset[tuple[str, ...]]) -> bool:
    """Sets whose sizes differ more than the line allows cannot reach it; this saves the intersection."""
    return min(len(a), len(b)) >= NEAR * max(len(a), len(b))
