"""The passage of a source: its best window of tokens for a post (CrowdNotes+ appendix D.2).

Windows of 512 tokens with 128 overlap, the most similar to the post chosen. Embedding every window
whole would read most tokens twice and take seconds for six sources, so sentences are embedded
instead, once each and at most `_MOST_SENTENCES` a source, and a window is judged by its sentences:

    similarity = (cosine of the post with the window's sentences together + that of its best sentence) / 2

where "together" is the mean of the sentence vectors weighted by length. In a source of more than
`_SHORTLIST` windows, those that share the most telling words with the post are looked at, and
always the first; in these, when they hold too many sentences, those that share the most, and then
an even spread of the others, so that a source in another language is still judged.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from crowdnotes.domain import Passage, Span
from crowdnotes.embedding import Embedder, FloatArray
from crowdnotes.text.sentences import split_sentences
from crowdnotes.text.stems import content_words, short_stem, short_stems

_MOST_SENTENCES = 18  # some 450 tokens: six sources take under a second on two cores
_SHORTLIST = 4
_LONGEST_TOKEN = 64  # characters; tokenizers read a longer "word" as one token, however long
_PIECE_OF_GIANT = 8
_LONGEST_SENTENCE = 300  # characters; a batch is as slow as its longest text, and a longer one blurs
_SNAP = 48  # characters that an edge may move to reach the end of a word
_MARKS = 3
_MARK_WITHIN = 0.12  # of the best sentence's cosine


@dataclass(frozen=True, slots=True)
class _Sentence:
    span: Span
    stems: frozenset[str]


@dataclass(frozen=True, slots=True)
class Whole:
    """The whole text of a source; `page_starts` are the offsets at which its pages begin, if it has pages."""

    text: str
    page_starts: Sequence[int] = ()


def best_passage(
    text: str,
    post_text: str,
    embedder: Embedder,
    tokens: int = 512,
    overlap: int = 128,
    surroundings: int = 700,
    page_starts: Sequence[int] = (),
) -> Passage:
    """`best_passages` of one text."""
    return best_passages([Whole(text, page_starts)], post_text, embedder, tokens, overlap, surroundings)[0]


def best_passages(
    wholes: Sequence[Whole],
    post_text: str,
    embedder: Embedder,
    tokens: int = 512,
    overlap: int = 128,
    surroundings: int = 700,
) -> list[Passage]:
    """Of each text the window most similar to the post, with its surroundings and its best sentences marked.

    `tokens` and `overlap` are counts of the embedder's tokens, `surroundings` characters before and
    after. All sentences are embedded together: that is faster than text by text. Deterministic. Raises
    ValueError for a text without words or an overlap that is no part of a window.
    """
    if not 0 <= overlap < tokens:
        raise ValueError(f"overlap must be in 0..{tokens - 1}: {overlap}")
    post_stems = frozenset(short_stem(word) for word in content_words(post_text))
    shortlists: list[list[Span]] = []
    chosen: list[list[_Sentence]] = []
    for whole in wholes:
        windows = windows_of(whole.text, embedder, tokens, overlap)
        if not windows:
            raise ValueError("the text is empty")
        shortlists.append(_shortlist(whole.text, windows, post_stems))
        sentences = [found for region in _merged(shortlists[-1]) for found in _sentences(whole.text, region)]
        chosen.append(_worth_embedding(sentences, post_stems))
    asked = [
        whole.text[sentence.span.start : sentence.span.end]
        for whole, sentences in zip(wholes, chosen, strict=True)
        for sentence in sentences
    ]
    post, *rows = embedder.encode([post_text, *asked])
    found = iter(rows)
    return [
        _best(whole, shortlist, sentences, post, np.array(list(islice(found, len(sentences)))), surroundings)
        for whole, shortlist, sentences in zip(wholes, shortlists, chosen, strict=True)
    ]


def _best(
    whole: Whole,
    shortlist: Sequence[Span],
    sentences: Sequence[_Sentence],
    post: FloatArray,
    vectors: FloatArray,
    surroundings: int,
) -> Passage:
    similarity = vectors @ post
    scores = [_similarity(window, sentences, post, vectors, similarity) for window in shortlist]
    best = max(range(len(shortlist)), key=lambda i: (scores[i], -shortlist[i].start))
    window = shortlist[best]
    return Passage(
        text=whole.text[window.start : window.end],
        span=window,
        similarity=max(-1.0, min(1.0, scores[best])),
        before=whole.text[max(0, window.start - surroundings) : window.start],
        after=whole.text[window.end : window.end + surroundings],
        marks=_marks(window, sentences, similarity),
        page=page_at(whole.page_starts, window.start),
    )


def page_at(page_starts: Sequence[int], offset: int) -> int | None:
    """The number, from 1, of the page on which the character at `offset` stands; None where there are no pages."""
    return max(1, bisect_right(page_starts, offset)) if page_starts else None


def windows_of(text: str, embedder: Embedder, tokens: int, overlap: int) -> list[Span]:
    """Windows that cover every token of the text, in order, each sharing `overlap` tokens or more with the next.

    Edges that fall inside a word move outward to its ends. The last window ends with the text
    and is as long as the others. A text without tokens has none.
    """
    found = _without_giants(embedder.token_spans(text))
    if not found:
        return []
    last = max(0, len(found) - tokens)
    starts = [*range(0, last, tokens - overlap), last]
    return [_snapped(text, found[start][0], found[min(start + tokens, len(found)) - 1][1]) for start in starts]


def _without_giants(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Token spans, with those of absurd length cut up, so that no window is unbounded."""
    cut: list[tuple[int, int]] = []
    for start, end in spans:
        if end - start <= _LONGEST_TOKEN:
            if end > start:
                cut.append((start, end))
            continue
        cut.extend((at, min(end, at + _PIECE_OF_GIANT)) for at in range(start, end, _PIECE_OF_GIANT))
    return cut


def _snapped(text: str, start: int, end: int) -> Span:
    left = next((at for at in range(start, max(-1, start - _SNAP), -1) if at == 0 or text[at - 1].isspace()), start)
    right = next((at for at in range(end, min(len(text), end + _SNAP)) if text[at].isspace()), None)
    if right is None:
        right = len(text) if len(text) - end < _SNAP else end
    return Span(start=left, end=right)


def _shortlist(text: str, windows: Sequence[Span], post_stems: frozenset[str]) -> list[Span]:
    """The windows worth a closer look, in order: the first, and those with the most telling words of the post."""
    if len(windows) <= _SHORTLIST:
        return list(windows)
    shared = [frozenset(short_stems(text[window.start : window.end])) & post_stems for window in windows]
    weights = _rarity(shared)
    by_weight = sorted(range(1, len(windows)), key=lambda i: (-sum(weights[stem] for stem in shared[i]), i))
    return [windows[i] for i in sorted([0, *by_weight[: _SHORTLIST - 1]])]


def _rarity(sets: Sequence[frozenset[str]]) -> Mapping[str, float]:
    counts = Counter(stem for found in sets for stem in found)
    return {stem: math.log(1 + len(sets) / count) for stem, count in counts.items()}


def _merged(windows: Sequence[Span]) -> list[Span]:
    """Windows in order as regions that do not overlap, so that no sentence is read twice."""
    regions: list[Span] = []
    for window in windows:
        if regions and window.start < regions[-1].end:
            regions[-1] = Span(start=regions[-1].start, end=max(regions[-1].end, window.end))
        else:
            regions.append(window)
    return regions


def _sentences(text: str, region: Span) -> list[_Sentence]:
    found: list[_Sentence] = []
    for sentence in split_sentences(text[region.start : region.end]):
        end = region.start + sentence.end
        start = region.start + sentence.start
        while start < end:
            cut = end
            if end - start > _LONGEST_SENTENCE:
                space = text.rfind(" ", start + 1, start + _LONGEST_SENTENCE)
                cut = space if space > start else start + _LONGEST_SENTENCE
            found.append(_Sentence(Span(start=start, end=cut), frozenset(short_stems(text[start:cut]))))
            start = cut
    return found


def _worth_embedding(sentences: Sequence[_Sentence], post_stems: frozenset[str]) -> list[_Sentence]:
    """At most `_MOST_SENTENCES`, in order: those that share words with the post first, then an even spread."""
    if len(sentences) <= _MOST_SENTENCES:
        return list(sentences)
    shared = [sentence.stems & post_stems for sentence in sentences]
    weights = _rarity(shared)
    order = sorted(range(len(sentences)), key=lambda i: (-sum(weights[stem] for stem in shared[i]), i))
    chosen = set(order[: _MOST_SENTENCES // 2])
    spread = np.linspace(0, len(sentences) - 1, _MOST_SENTENCES - len(chosen))
    chosen.update(int(at) for at in spread)
    return [sentences[i] for i in sorted(chosen)]


def _similarity(
    window: Span, sentences: Sequence[_Sentence], post: FloatArray, vectors: FloatArray, similarity: FloatArray
) -> float:
    inside = [row for row, sentence in enumerate(sentences) if _shared(window, sentence.span) > 0]
    if not inside:
        return -1.0
    lengths = np.array([_shared(window, sentences[row].span) for row in inside], dtype=np.float32)
    together = lengths @ vectors[inside]
    norm = float(np.linalg.norm(together))
    whole = float(together @ post) / norm if norm else 0.0
    return (whole + float(similarity[inside].max())) / 2


def _shared(window: Span, sentence: Span) -> int:
    """Characters of the sentence inside the window; 0 when most of it lies outside."""
    inside = min(window.end, sentence.end) - max(window.start, sentence.start)
    return inside if inside * 2 > sentence.end - sentence.start else 0


def _marks(window: Span, sentences: Sequence[_Sentence], similarity: FloatArray) -> tuple[Span, ...]:
    inside = [row for row, sentence in enumerate(sentences) if _shared(window, sentence.span) > 0]
    best = sorted(inside, key=lambda row: (-similarity[row], row))[:_MARKS]
    near = (row for row in sorted(best) if similarity[row] >= similarity[best[0]] - _MARK_WITHIN)
    return tuple(
        Span(start=max(0, span.start - window.start), end=min(window.end, span.end) - window.start)
        for span in (sentences[row].span for row in near)
    )
