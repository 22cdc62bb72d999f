"""The stretch of a text that speaks most to a query, by words alone: what is worth embedding.

The deciding sentence often lies deep in a long answer; embedding all of it would take seconds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from crowdnotes.domain import Span
from crowdnotes.text.sentences import split_sentences
from crowdnotes.text.stems import short_stems

WINDOW_CHARACTERS = 320  # 60 to 90 tokens
_LONG = 12_000  # a longer text is first narrowed to its densest stretch of this length


def best_window(text: str, weights: Mapping[str, float]) -> Span:
    """The run of whole sentences, about `WINDOW_CHARACTERS` long, with the greatest weight of distinct stems.

    `weights` maps stems (see `short_stem`) to how much they tell. Without any match it is the beginning.
    """
    start, end = _densest(text, weights) if len(text) > _LONG else (0, len(text))
    pieces = _pieces(text[start:end])
    if not pieces:
        return Span(start=0, end=min(len(text), WINDOW_CHARACTERS))
    found = [
        frozenset(stem for stem in short_stems(text[start + p.start : start + p.end]) if stem in weights)
        for p in pieces
    ]
    best, best_score = (0, 0), -1.0
    for first in range(len(pieces)):
        last = first
        held = found[first]
        while last + 1 < len(pieces) and pieces[last + 1].end - pieces[first].start <= WINDOW_CHARACTERS:
            last += 1
            held |= found[last]
        score = sum(weights[stem] for stem in held)
        if score > best_score + 1e-9:
            best, best_score = (first, last), score
    return Span(start=start + pieces[best[0]].start, end=start + pieces[best[1]].end)


def _pieces(text: str) -> list[Span]:
    """Sentences, the very long ones cut at spaces."""
    pieces: list[Span] = []
    for sentence in split_sentences(text):
        start = sentence.start
        while sentence.end - start > WINDOW_CHARACTERS:
            cut = text.rfind(" ", start + 1, start + WINDOW_CHARACTERS)
            cut = cut if cut > start else start + WINDOW_CHARACTERS
            pieces.append(Span(start=start, end=cut))
            start = cut
        if start < sentence.end:
            pieces.append(Span(start=start, end=sentence.end))
    return pieces


def _densest(text: str, weights: Mapping[str, float]) -> tuple[int, int]:
    """Where a stretch of `_LONG` characters holds the most weight of stems, repeats included."""
    if not weights:
        return 0, _LONG
    stem_pattern = re.compile("|".join(re.escape(stem) for stem in sorted(weights)), re.IGNORECASE)
    places = [(m.start(), weights.get(m.group().casefold(), 0.0)) for m in stem_pattern.finditer(text)]
    best, best_score, first, held = 0, 0.0, 0, 0.0
    for position, weight in places:
        held += weight
        while position - places[first][0] > _LONG - WINDOW_CHARACTERS:
            held -= places[first][1]
            first += 1
        if held > best_score + 1e-9:
            best, best_score = places[first][0], held
    start = max(0, best - WINDOW_CHARACTERS // 2)
    return start, min(len(text), start + _LONG)
