"""Texts that say the same: exact copies by fingerprint, near copies by the word triples they share."""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TypeVar

from crowdnotes.text.stems import words

T = TypeVar("T")
Shingles = frozenset[tuple[str, ...]]

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


def shingles(text: str) -> Shingles:
    """The set of word triples of a text; a shorter text is one shingle, an empty one none."""
    found = normalised(text[:_COMPARED_CHARACTERS]).split()
    if len(found) <= _SHINGLE_WORDS:
        return frozenset([tuple(found)]) if found else frozenset()
    return frozenset(zip(found, found[1:], found[2:], strict=False))


class KeptTexts:
    """The word triples of the texts kept so far: which of them a new text shares many with."""

    def __init__(self) -> None:
        self.sizes: list[int] = []  # triples of each text, in the order in which they were kept
        self._holders: dict[tuple[str, ...], list[int]] = {}

    def keep(self, own: Shingles) -> None:
        """Compare later texts with this one too."""
        for shingle in own:
            self._holders.setdefault(shingle, []).append(len(self.sizes))
        self.sizes.append(len(own))

    def shared(self, own: Shingles) -> list[tuple[int, int]]:
        """(number of a kept text, triples that it shares with this one), in the order in which they were kept."""
        return sorted(Counter(number for shingle in own for number in self._holders.get(shingle, ())).items())

    def is_near(self, own: Shingles, number: int, shared: int) -> bool:
        """Whether a text is a near copy of a kept one: NEAR of all triples of the two are in both."""
        return shared >= NEAR * (len(own) + self.sizes[number] - shared)


def without_near_duplicates(items: Iterable[T], text: Callable[[T], str], limit: int | None = None) -> list[T]:
    """The items in order, without those whose text is a near copy of one kept before; of those without words one stays.

    Put the best first: it is the one that stays. Stops at `limit` items, so that the rest is never compared.
    """
    kept: list[T] = []
    seen = KeptTexts()
    for item in items:
        if limit is not None and len(kept) >= limit:
            break
        own = shingles(text(item))
        is_copy = any(seen.is_near(own, *pair) for pair in seen.shared(own)) if own else 0 in seen.sizes
        if not is_copy:
            kept.append(item)
            seen.keep(own)
    return kept
