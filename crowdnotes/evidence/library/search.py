"""Searching one library: candidates by words and by title, then an order by meaning.

Full-text ranks of all queries and the records about the nearest topics are merged by reciprocal
rank fusion (Cormack, Clarke and Buettcher, 2009); one window of each candidate is embedded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crowdnotes.domain import Hit
from crowdnotes.embedding import Embedder, FloatArray
from crowdnotes.evidence.duplicates import without_near_duplicates
from crowdnotes.evidence.library.index import IndexReader
from crowdnotes.evidence.library.query import Expression, build_expression
from crowdnotes.evidence.library.records import LibraryDocument
from crowdnotes.evidence.library.topics import nearest_topics
from crowdnotes.evidence.library.windows import best_window
from crowdnotes.text.stems import short_stems

_PER_QUERY = 50
_RERANKED = 40  # windows embedded: well under a second on two cores; 80 found no more
_TOPICS = 8
_PER_TOPIC = 4
_FUSION = 60  # the constant of the fusion paper
_WORDS_SHARE = 0.3  # of the fused rank in the order: many queries that agree count as much as meaning
_TITLE_SHARE = 0.5  # of a record's nearness to a query; a title that is the query is the page on it
_SNIPPET_TITLE = 200


@dataclass(frozen=True, slots=True)
class _Scored:
    document: LibraryDocument
    snippet: str
    query: str
    score: float


def search_index(
    reader: IndexReader,
    library: str,
    queries: Sequence[str],
    post: str | None,
    k: int,
    embedder: Embedder,
    topics: FloatArray | None,
) -> list[Hit]:
    """At most `k` hits, best first, without near-duplicates; none when no query holds a word.

    With a `post`, half of the order is similarity to the post, half to the nearest query. `topics`
    are the library's topic vectors, or None to go by words alone. A hit's score is a cosine plus
    up to 0.3 for its fused rank. Past the first 40, which are read, the fused rank alone orders, below 0.
    """
    expressions = [expression for expression in map(build_expression, queries) if expression.terms]
    asked = [query for query in queries if build_expression(query).terms]
    if not asked:
        return []
    targets = embedder.encode([*asked, post] if post else asked)
    fused = _fuse([*_by_words(reader, expressions), *_by_topic(reader, targets, topics)])
    order = sorted(fused, key=lambda record: (-fused[record], record))
    weights = _weights(reader, expressions)
    documents = list(reader.documents(library, order[:_RERANKED]))
    scored = _by_meaning(documents, weights, asked, targets, embedder, [fused[d.record] for d in documents])
    scored += _by_rank_alone(list(reader.documents(library, order[_RERANKED : max(_RERANKED, k)])), weights, asked)
    unlike = without_near_duplicates(scored, lambda item: item.snippet)
    kept = without_near_duplicates(unlike, lambda item: item.document.text, k)
    return [_hit(item) for item in kept]


def _by_words(reader: IndexReader, expressions: Sequence[Expression]) -> list[list[int]]:
    return [reader.ranked(expression.fts, _PER_QUERY) for expression in expressions]


def _by_topic(reader: IndexReader, targets: FloatArray, topics: FloatArray | None) -> list[list[int]]:
    if topics is None or not len(topics):
        return []
    return [
        [record for topic in nearest_topics(topics, target, _TOPICS) for record in reader.about(topic, _PER_TOPIC)]
        for target in targets
    ]


def _fuse(rankings: Sequence[Sequence[int]]) -> dict[int, float]:
    """Reciprocal rank fusion, scaled so that the best record has 1."""
    fused: dict[int, float] = {}
    for ranking in rankings:
        for rank, record in enumerate(ranking):
            fused[record] = fused.get(record, 0.0) + (_FUSION + 1) / (_FUSION + 1 + rank)
    best = max(fused.values(), default=1.0)
    return {record: score / best for record, score in fused.items()}


def _weights(reader: IndexReader, expressions: Sequence[Expression]) -> dict[str, float]:
    """How much each stem of the queries tells: the logarithm of how rare its term is in the library."""
    total = reader.info().records
    weights: dict[str, float] = {}
    for term in dict.fromkeys(term for expression in expressions for term in expression.terms):
        rarity = math.log(1 + total / (1 + reader.matching(term)))
        for stem in short_stems(term):
            weights[stem] = max(weights.get(stem, 0.0), rarity)
    return weights


def _by_meaning(
    documents: Sequence[LibraryDocument],
    weights: dict[str, float],
    asked: Sequence[str],
    targets: FloatArray,
    embedder: Embedder,
    fused: Sequence[float],
) -> list[_Scored]:
    windows = [best_window(document.text, weights) for document in documents]
    snippets = [d.text[w.start : w.end] for d, w in zip(documents, windows, strict=True)]
    texts = [f"{d.title[:_SNIPPET_TITLE]}\n{s}" for d, s in zip(documents, snippets, strict=True)]
    titles = [d.title[:_SNIPPET_TITLE] for d in documents]
    vectors = embedder.encode([*texts, *titles])
    similarity = vectors[: len(texts)] @ targets.T
    titled = vectors[len(texts) :] @ targets[: len(asked)].T
    scored: list[_Scored] = []
    for row, document in enumerate(documents):
        share = _TITLE_SHARE if titles[row] else 0.0
        to_queries = (1 - share) * similarity[row, : len(asked)] + share * titled[row]
        nearest = int(np.argmax(to_queries))
        meaning = float(to_queries[nearest])
        if len(targets) > len(asked):
            meaning = (meaning + float(similarity[row, -1])) / 2
        scored.append(_Scored(document, snippets[row], asked[nearest], meaning + _WORDS_SHARE * fused[row]))
    return sorted(scored, key=lambda item: (-item.score, item.document.record))


def _by_rank_alone(
    documents: Sequence[LibraryDocument], weights: dict[str, float], asked: Sequence[str]
) -> list[_Scored]:
    windows = [best_window(document.text, weights) for document in documents]
    return [
        _Scored(document, document.text[window.start : window.end], asked[0], -float(place))
        for place, (document, window) in enumerate(zip(documents, windows, strict=True), 1)
    ]


def _hit(item: _Scored) -> Hit:
    document = item.document
    return Hit(
        provider=f"library:{document.library}",
        title=document.heading,
        snippet=item.snippet,
        query=item.query,
        url=document.url,
        published=document.published,
        library=document.library,
        record=document.record,
        score=item.score,
    )
