"""Hashed words, word pairs and letter runs of a text: what linear heads weigh beside named features.

Each distinct gram goes to one of `BUCKETS` places by CRC-32, which is the same on every machine.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from crowdnotes.domain import Span

BUCKETS = 1 << 16
_WORD = re.compile(r"\w\w+")
_SHORTEST_RUN, _LONGEST_RUN = 2, 4
_MOST_CHARACTERS = 4_000  # a note has 280, a post seldom more than 1,000


@dataclass(frozen=True, slots=True)
class Grams:
    """The places of a text's grams, distinct, and 1 + ln(how often) of each: the sublinear term frequency."""

    places: npt.NDArray[np.int64]
    counts: npt.NDArray[np.float32]


def word_grams(text: str, extra: Sequence[str] = ()) -> Grams:
    """Words of two letters or more, and pairs of neighbours; `extra` are marks such as "site:who.int"."""
    words = [match.group().lower() for match in _WORD.finditer(text[:_MOST_CHARACTERS])]
    pairs = (f"{first} {second}" for first, second in pairwise(words))
    return _counted([*words, *pairs, *extra])


def letter_grams(text: str) -> Grams:
    """Runs of two to four letters inside words, with their edges: they see endings and misspellings."""
    found: list[str] = []
    for word in text[:_MOST_CHARACTERS].lower().split():
        found.extend(letter_runs(word))
    return _counted(found)


@lru_cache(maxsize=20_000)
def letter_runs(word: str) -> tuple[str, ...]:
    """The runs of one word, with a blank for each of its edges."""
    edged = f" {word} "
    sizes = range(_SHORTEST_RUN, _LONGEST_RUN + 1)
    return tuple(edged[at : at + size] for size in sizes for at in range(len(edged) - size + 1))


def word_spans(text: str) -> list[tuple[str, Span]]:
    """The words that `word_grams` counts, lower case, with their places."""
    return [
        (match.group().lower(), Span(start=match.start(), end=match.end()))
        for match in _WORD.finditer(text[:_MOST_CHARACTERS])
    ]


@lru_cache(maxsize=200_000)
def place_of(gram: str) -> int:
    """The bucket of a gram, in [0, BUCKETS)."""
    return zlib.crc32(gram.encode("utf-8", "surrogatepass")) % BUCKETS


def _counted(grams: Iterable[str]) -> Grams:
    counts = Counter(place_of(gram) for gram in grams)
    places = np.fromiter(counts.keys(), dtype=np.int64, count=len(counts))
    often = np.fromiter(counts.values(), dtype=np.float32, count=len(counts))
    return Grams(places, (1.0 + np.log(often)).astype(np.float32) if len(often) else often)
