"""Which words and sentences move the two sides: the model reads the note again without each of them.

Words are read without a new meaning vector (one embedding a word would take seconds); sentences with one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from crowdnotes.domain import Influence, Span
from crowdnotes.jury.features import Features, features
from crowdnotes.jury.model import JuryModel
from crowdnotes.text.note_rules import find_urls
from crowdnotes.text.sentences import split_sentences

if TYPE_CHECKING:
    from crowdnotes.embedding import Embedder
    from crowdnotes.jury.raters import Floats

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_MOST_WORDS = 120  # a note of 280 characters has about 50
_SHOWN = 6
_LEAST = 0.01  # of chance; less is noise


def influences(
    note: str, whole: Features, posts: Features | None, model: JuryModel, embedder: Embedder | None
) -> tuple[Influence, ...]:
    """The words, links and sentences that move a side most, strongest first.

    whole: the note's features (one row). posts: its post's, one row, or None. embedder: None when
    the model is read without vectors.
    """
    words = _pieces(note)[:_MOST_WORDS]
    sentences = [span for span in split_sentences(note) if span not in words]  # a link alone is a piece already
    sentences = sentences if len(sentences) > 1 else []
    before = model.side_shares(model.predict(whole, posts))[0]
    shorter = features([_without(note, span) for span in words], None)
    word_effects = before - _chances(shorter.with_vectors(np.repeat(whole.vectors, len(words), axis=0)), posts, model)
    rest = features([_without(note, span) for span in sentences], embedder)
    sentence_effects = before - _chances(rest, posts, model)
    return (
        *_strongest(note, sentences, sentence_effects, whole_sentence=True),
        *_strongest(note, words, word_effects, whole_sentence=False),
    )


def _chances(read: Features, posts: Features | None, model: JuryModel) -> Floats:
    if not len(read):
        return np.zeros((0, 2))
    again = None if posts is None else posts.rows(np.zeros(len(read), dtype=np.intp))
    return model.side_shares(model.predict(read, again))


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
