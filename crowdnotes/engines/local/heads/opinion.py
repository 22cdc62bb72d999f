"""How much a note reads as opinion or hostility, by the trained head, and the words that make it so."""

from __future__ import annotations

from dataclasses import dataclass

from crowdnotes.domain import Span
from crowdnotes.embedding import Embedder
from crowdnotes.engines.local.heads.grams import letter_runs, place_of, word_spans
from crowdnotes.engines.local.heads.head import Parts
from crowdnotes.engines.local.heads.samples import note_sample, note_words, vector_of
from crowdnotes.engines.local.heads.shipped import opinion_head
from crowdnotes.text.note_rules import find_urls
from crowdnotes.text.stems import ENGLISH_STOP_WORDS

_MOST_WORDS = 3
_TELLING = 0.04  # of the score; below it a word says nothing by itself


@dataclass(frozen=True, slots=True)
class Opinion:
    """`probability` of being opinion or hostile; `words` of the note that speak for it most, strongest first."""

    probability: float
    words: tuple[Span, ...]


def read_opinion(embedder: Embedder, note: str) -> Opinion:
    """The head's verdict on a note. With another embedder than the head's, by words and features alone."""
    head = opinion_head()
    (vector,) = vector_of(embedder, head.embedder, [note_words(note)])
    parts = head.judge(note_sample(note, vector))
    return Opinion(parts.probability, _words_at_fault(note, parts))


def _words_at_fault(note: str, parts: Parts) -> tuple[Span, ...]:
    """Each word with what its own gram, its pairs (half each) and its letter runs added."""
    links = [(url.start, url.end) for url in find_urls(note)]
    words = [
        (word, span) for word, span in word_spans(note) if not any(start <= span.start < end for start, end in links)
    ]
    by_word, by_run = parts.grams["words"], parts.grams["letters"]
    worths: list[tuple[float, Span]] = []
    for at, (word, span) in enumerate(words):
        worth = by_word.get(place_of(word), 0.0)
        for other in (at - 1, at):
            if 0 <= other < len(words) - 1:
                pair = f"{words[other][0]} {words[other + 1][0]}"
                worth += by_word.get(place_of(pair), 0.0) / 2
        worth += sum(by_run.get(place_of(run), 0.0) for run in letter_runs(word))
        if word not in ENGLISH_STOP_WORDS:
            worths.append((worth, span))
    telling = sorted((item for item in worths if item[0] >= _TELLING), key=lambda item: -item[0])
    return tuple(span for _, span in telling[:_MOST_WORDS])
