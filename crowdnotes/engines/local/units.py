"""A passage cut into the pieces that a note's sentences are compared with, parsed once.

Web text and NIH answers are full of lists; a list item is a piece of its own. Pieces keep their
offsets in the passage.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from crowdnotes.domain import Span
from crowdnotes.text.sentences import split_sentences
from crowdnotes.text.stems import Token, content_tokens

_BULLET = re.compile(r"\s+(?:-|–|•|\*|·)\s+(?=\S)|\s{3,}|\t+")
_LONG = 420
_CLAUSE_END = re.compile(r"[;:]\s+")
_MOST_UNITS = 400  # a passage is about 512 tokens; what is longer was not cut by this program


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence or list item at passage[start:end], with its content words."""

    text: str
    span: Span
    content: tuple[Token, ...]
    stems: frozenset[str]


@lru_cache(maxsize=512)
def split_units(passage: str) -> tuple[Unit, ...]:
    """The pieces of a passage in order; empty text gives none."""
    units: list[Unit] = []
    for sentence in split_sentences(passage):
        for start, end in _pieces(passage, sentence.start, sentence.end):
            text = passage[start:end]
            content = tuple(content_tokens(text))
            if content:
                units.append(Unit(text, Span(start=start, end=end), content, frozenset(t.stem for t in content)))
        if len(units) >= _MOST_UNITS:
            break
    return tuple(units)


@lru_cache(maxsize=512)
def passage_stems(passage: str) -> frozenset[str]:
    """The stems of all content words of a passage."""
    return frozenset(token.stem for token in content_tokens(passage))


def _pieces(text: str, start: int, end: int) -> list[tuple[int, int]]:
    pieces = _cut(text, start, end, _BULLET)
    out: list[tuple[int, int]] = []
    for a, b in pieces:
        out.extend(_cut(text, a, b, _CLAUSE_END) if b - a > _LONG else [(a, b)])
    return out


def _cut(text: str, start: int, end: int, at: re.Pattern[str]) -> list[tuple[int, int]]:
    out = []
    begin = start
    for match in at.finditer(text, start, end):
        out.append((begin, match.start()))
        begin = match.end()
    out.append((begin, end))
    return [(a, b) for a, b in out if text[a:b].strip(" -–•*·\t\n")]
