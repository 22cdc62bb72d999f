"""How hard a note is to read: words a sentence and syllables a word (Flesch, 1948)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from crowdnotes.domain import Span
from crowdnotes.text.sentences import split_sentences
from crowdnotes.text.stems import tokens

_VOWELS = re.compile(r"[aeiouy]+")


@dataclass(frozen=True, slots=True)
class Reading:
    """`ease` is Flesch reading ease (about 0 hard to 100 easy), None for text that is not in Latin letters."""

    ease: float | None
    words: int
    longest_sentence: Span | None
    longest_words: int


@lru_cache(maxsize=2_000)  # each round of choosing asks about the same results again
def reading(text: str) -> Reading:
    """The figures of a text without URLs."""
    spans = split_sentences(text)
    counts = [(span, [token.folded for token in tokens(text[span.start : span.end])]) for span in spans]
    counts = [(span, words) for span, words in counts if words]
    words = [word for _, inside in counts for word in inside]
    if not words:
        return Reading(None, 0, None, 0)
    longest, inside = max(counts, key=lambda pair: len(pair[1]))
    latin = [word for word in words if word.isascii() and word.isalpha()]
    ease = None
    if len(latin) * 2 > len(words):
        syllables = sum(_syllables(word) for word in latin) / len(latin)
        ease = 206.835 - 1.015 * len(words) / len(counts) - 84.6 * syllables
    return Reading(ease, len(words), longest, len(inside))


def _syllables(word: str) -> int:
    groups = len(_VOWELS.findall(word))
    silent = word.endswith("e") and not word.endswith(("le", "ee")) and groups > 1
    return max(1, groups - silent)
