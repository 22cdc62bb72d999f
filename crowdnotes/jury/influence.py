"""Which words and sentences move the two sides: the note is read again without each of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from crowdnotes.domain import Influence, Span
from crowdnotes.text.note_rules import find_urls
from crowdnotes.text.sentences import split_sentences

if TYPE_CHECKING:
    from crowdnotes.jury.raters import Floats

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_MOST_WORDS = 120  # a note of 280 characters has about 50
_SHOWN = 6
_LEAST = 0.01  # of chance; less is noise


Shares = Callable[[Sequence[str]], "Floats"]  # each side's share of "helpful" of some texts, − then +: (n, 2)


def influences(note: str, by_words: Shares, afresh: Shares) -> tuple[Influence, ...]:
    """The words, links and sentences that move a side most, strongest first.

    by_words: of variants that are read without a new meaning vector, for one a word would take seconds.
    afresh: of variants that are read as a whole.
    """
    words = _pieces(note)[:_MOST_WORDS]
    sentences = [span for span in split_sentences(note) if span not in words]  # a link alone is a piece already
    sentences = sentences if len(sentences) > 1 else []
    shorter = by_words([note, *(_without(note, span) for span in words)])
    rest = afresh([_without(note, span) for span in sentences]) if sentences else np.zeros((0, 2))
    word_effects, sentence_effects = shorter[0] - shorter[1:], shorter[0] - rest
    return (
        *_strongest(note, sentences, sentence_effects, whole_sentence=True),
        *_strongest(note, words, word_effects, whole_sentence=False),
    )


def _pieces(note: str) -> list[Span]:
    """Words and whole links, in order."""
    links = [Span(start=url.start, end=url.end) for url in find_urls(note)]
    words = [Span(start=match.start(), end=match.end()) for match in _WORD.finditer(note)]
    apart = [word for word in words if not any(link.start <= word.start < link.end for link in links)]
    return sorted((*links, *apart), key=lambda span: span.start)


def _without(note: str, span: Span) -> str:
    return f"{note[: span.start].rstrip(' ')} {note[span.end :].lstrip(' ')}"


def _strongest(note: str, spans: Sequence[Span], effects: Floats, *, whole_sentence: bool) -> list[Influence]:
    size = np.abs(effects).max(axis=1) if len(spans) else np.zeros(0)
    order = [int(row) for row in np.argsort(-size, kind="stable")[:_SHOWN] if size[row] >= _LEAST]
    return [
        Influence(
            span=spans[row],
            words=note[spans[row].start : spans[row].end],
            on_negative=round(float(effects[row, 0]), 4),
            on_positive=round(float(effects[row, 1]), 4),
            whole_sentence=whole_sentence,
        )
        for row in order
    ]
