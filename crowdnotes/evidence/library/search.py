"""Searching one library: candidates by words and by title, then an order by meaning.

Full-text ranks of all queries and the records about the nearest topics are merged by reciprocal
rank fusion (Cormack, Clarke and Buettcher, 2009), the first queries with more weight; one window of each
candidate is embedded.

Topics find records whose title means the same in other words: a post says "jab" and "heart inflammation", the
library says "vaccine" and "myocarditis", and words alone never meet. Titles are few and short enough to
embed while a library is added; texts are not. The window is the stretch of a text that speaks most to the
query by words alone: the deciding sentence often lies deep in a long answer, and embedding all would take seconds.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby, islice, pairwise

import numpy as np

from crowdnotes.domain import Hit, Span
from crowdnotes.engines.embedding import Embedder, FloatArray
from crowdnotes.evidence.duplicates import without_near_duplicates
from crowdnotes.evidence.library.earlier_notes import LeaveOut, none_left_out, pages_of
from crowdnotes.evidence.library.index import FACT_CHECKS, IndexReader, LibraryDocument
from crowdnotes.evidence.passages import pieces
from crowdnotes.text.note_rules import without_urls
from crowdnotes.text.sentences import split_sentences
from crowdnotes.text.tokens import ENGLISH_STOP_WORDS, content_words, is_spaceless, tokens, word_stems, words

_MAX_TERMS = 24  # a longer query only slows the search: its rare words already decide
_MAX_QUERY_CHARACTERS = 5_000
# What kind of document is wanted, not what about: in a library these rare words would outweigh the subject.
_DOCUMENT_KIND_WORDS = frozenset(
    "systematic review randomized trial cohort study studies meta analysis evidence known overview facts myths myth "
    "cdc fda who according authority".split()
)


@dataclass(frozen=True, slots=True)
class Expression:
    """`fts` is an FTS5 expression ("" when the text holds no words); `terms` are what it looks for."""

    fts: str
    terms: tuple[str, ...]


def build_expression(text: str) -> Expression:
    """Any of the text's content words, as an FTS5 expression. Never raises, whatever the text.

    Every word is a quoted string, so FTS5 syntax in the text is only words. Stop words of the
    text's own language go, and words for a kind of document ("systematic review"), unless nothing else
    would be left. Runs of a script without spaces
    become phrases of two characters.
    """
    found = content_words(without_urls(text[:_MAX_QUERY_CHARACTERS]))
    terms = _build_terms([word for word in found if word not in _DOCUMENT_KIND_WORDS] or found)
    return Expression(" OR ".join(f'"{term}"' for term in terms), tuple(terms))


def _build_terms(found: Sequence[str]) -> list[str]:
    terms: dict[str, None] = {}
    for joined, group in groupby(found, key=is_spaceless):
        run = list(group)
        if joined and len(run) > 1:
            run = [f"{a} {b}" for a, b in pairwise(run)]
        terms.update(dict.fromkeys(run))
    return list(terms)[:_MAX_TERMS]


MOST_TOPICS = 20_000  # about 45 s of embedding on two cores; records beyond are found by their words
_MAX_TOPIC_WORD_SHARE = 0.04  # a word in more titles than this is a form ("What are the symptoms of …"), no topic
_MIN_TITLES_FOR_TEMPLATES = 200  # titles; of fewer, a share says nothing
_EMBEDDING_BATCH = 64  # texts; what a person waits for is embedded between two batches


def topics_of(titles: Sequence[str]) -> list[str]:
    """Return what each title is about: its words without stop words and without the library's own templates.

    "What are the symptoms of X?" and "Is X inherited?" share the topic "x", which is embedded once.
    """
    split = [[word.casefold() for word in words(title)] for title in titles]
    counts = Counter(word for title in split for word in set(title))
    most = _MAX_TOPIC_WORD_SHARE * len(titles) if len(titles) >= _MIN_TITLES_FOR_TEMPLATES else len(titles)
    return [" ".join(w for w in title if counts[w] <= most and w not in ENGLISH_STOP_WORDS) for title in split]


def embed_topics(
    topics: Sequence[str], embedder: Embedder, progress: Callable[[float], None]
) -> tuple[FloatArray, list[int | None]]:
    """Vectors of the distinct topics, shape (n, dimensions), and for each topic given its row or None.

    Empty topics, and those past the first `MOST_TOPICS` distinct ones, have no row. `progress`
    hears the share done, in [0, 1].
    """
    rows: dict[str, int] = {}
    for topic in topics:
        if topic and len(rows) < MOST_TOPICS:
            rows.setdefault(topic, len(rows))
    # Batches of like length waste no padding.
    order = sorted(rows, key=lambda topic: (len(topic), topic))
    vectors = np.zeros((len(rows), embedder.dimensions), dtype=np.float32)
    for begin in range(0, len(order), _EMBEDDING_BATCH):
        batch = order[begin : begin + _EMBEDDING_BATCH]
        vectors[[rows[topic] for topic in batch]] = embedder.encode(batch)
        progress((begin + len(batch)) / len(order))
    return vectors, [rows.get(topic) for topic in topics]


def nearest_topics(vectors: FloatArray, target: FloatArray, count: int) -> list[int]:
    """Return the rows most similar to the target, best first."""
    similarity = vectors @ target
    return [int(row) for row in np.argsort(-similarity, kind="stable")[:count]]


WINDOW_CHARACTERS = 320  # 60 to 90 tokens
_MAX_SCANNED_CHARACTERS = 12_000  # a longer text is first narrowed to its densest stretch of this length


def best_window(text: str, weights: Mapping[str, float]) -> Span:
    """Return the run of whole sentences, about `WINDOW_CHARACTERS` long, with the greatest weight of distinct stems.

    `weights` maps stems (see `stem`) to how informative they are. Without any match it is the beginning.
    """
    start, end = _find_densest_stretch(text, weights) if len(text) > _MAX_SCANNED_CHARACTERS else (0, len(text))
    parts = pieces(text[start:end], split_sentences(text[start:end]), WINDOW_CHARACTERS)
    if not parts:
        return Span(start=0, end=min(len(text), WINDOW_CHARACTERS))
    found = [
        frozenset(stem for stem in word_stems(text[start + p.start : start + p.end]) if stem in weights) for p in parts
    ]
    best, best_score = (0, 0), -1.0
    for first in range(len(parts)):
        last = first
        held = found[first]
        while last + 1 < len(parts) and parts[last + 1].end - parts[first].start <= WINDOW_CHARACTERS:
            last += 1
            held |= found[last]
        score = sum(weights[stem] for stem in held)
        if score > best_score + 1e-9:
            best, best_score = (first, last), score
    return Span(start=start + parts[best[0]].start, end=start + parts[best[1]].end)


def _find_densest_stretch(text: str, weights: Mapping[str, float]) -> tuple[int, int]:
    """Return the stretch of `_MAX_SCANNED_CHARACTERS` characters with the most weight of stems, repeats included."""
    if not weights:
        return 0, _MAX_SCANNED_CHARACTERS
    places = [(token.start, weights[token.stem]) for token in tokens(text) if token.stem in weights]
    best, best_score, first, held = 0, 0.0, 0, 0.0
    for position, weight in places:
        held += weight
        while position - places[first][0] > _MAX_SCANNED_CHARACTERS - WINDOW_CHARACTERS:
            held -= places[first][1]
            first += 1
        if held > best_score + 1e-9:
            best, best_score = places[first][0], held
    start = max(0, best - WINDOW_CHARACTERS // 2)
    return start, min(len(text), start + _MAX_SCANNED_CHARACTERS)


_MAX_RECORDS_PER_QUERY = 50
_MAX_EMBEDDED_RECORDS = 40  # windows embedded: well under a second on two cores; 80 found no more
# Claims of fact-checks that are embedded, and notes. Of 40 made-up claims among 200,000, asked for in other words, all
# came first with 20 as with 40, and 39 with 10; within a post 38 with each.
_MAX_EMBEDDED_CLAIMS = 20
_MAX_RANKED_CHECKS = 40_000  # fact-checks that all queries of a search rank: some 0.1 s
# Of notes fewer do. Of 433 posts, on which it was chosen, 9 led to the very page that people cited and 63 to its site,
# with 40,000 8 and 64: both bounds scaled down to a library of 16,400.
_MAX_RANKED_NOTES = 24_000
_MIN_RARE_WORDS = 2
_MAX_NOTE_CHARACTERS = 160  # characters that are embedded: the whole takes twice as long and adds nothing
_MAX_TOPICS_PER_QUERY = 8
_MAX_RECORDS_PER_TOPIC = 4
_FUSION_CONSTANT = 60  # the constant of the fusion paper
# Queries come with the best first. Of 25 health posts whose records were graded, with 6 to 8 queries each: nDCG@10
# 0.628 for the local engine's queries and 0.670 for those of a language model; with the first three alone 0.602 and
# 0.634, with all alike 0.609 and 0.682. To search for each alone and fuse the answers was worst: on five of the posts
# 0.567 where the first three had 0.683.
_FULL_WEIGHT_QUERIES = 3
_LATER_QUERY_WEIGHT = 0.3
_FUSED_RANK_WEIGHT = 0.3  # of the fused rank in the order: many queries that agree count as much as meaning
_TITLE_SIMILARITY_WEIGHT = 0.5  # of a record's nearness to a query; a title that is the query is the page on it
_MAX_TITLE_CHARACTERS = 200


def search_index(
    reader: IndexReader,
    library: str,
    queries: Sequence[str],
    post: str | None,
    k: int,
    embedder: Embedder,
    topics: FloatArray | None,
    until: date | None = None,
) -> list[Hit]:
    """At most `k` hits, best first, without near-duplicates; none when no query holds a word.

    With a `post`, half of the order is similarity to the post, half to the nearest query. `topics`
    are the library's topic vectors, or None to go by words alone. Records dated after `until` are left out. A hit's
    score is a cosine plus up to 0.3 for its fused rank.
    """
    expressions = {query: expression for query in queries if (expression := build_expression(query)).terms}
    asked = list(expressions)
    if not asked:
        return []
    targets = embedder.encode([*asked, post] if post else asked)
    shares = [1.0 if place < _FULL_WEIGHT_QUERIES else _LATER_QUERY_WEIGHT for place in range(len(asked))]
    is_of_checks = reader.info().kind == FACT_CHECKS
    most = _MAX_RANKED_CHECKS // len(asked)
    by_words = [
        reader.ranked(_keep_rare_words(reader, one, most) if is_of_checks else one.fts, _MAX_RECORDS_PER_QUERY)
        for one in expressions.values()
    ]
    by_topic = _rank_by_topic(reader, targets, topics)
    fused = _fuse_rankings([*by_words, *by_topic], [*shares, *shares, 1.0][: len(asked) + len(by_topic)])
    found = reader.documents(library, sorted(fused, key=lambda record: (-fused[record], record)))
    in_time = (document for document in found if until is None or (document.published or until) <= until)
    read = _MAX_EMBEDDED_CLAIMS if is_of_checks else _MAX_EMBEDDED_RECORDS
    documents = list(islice(in_time, max(k, read)))
    weights = _weigh_stems(reader, list(expressions.values()))
    hits = _order_by_meaning(documents, weights, asked, targets, embedder, [fused[d.record] for d in documents])
    texts = {document.record: document.text for document in documents}
    unlike = without_near_duplicates(hits, lambda hit: hit.snippet)
    return without_near_duplicates(unlike, lambda hit: hit.snippet if hit.check else texts[hit.record or 0], k)


def search_notes(
    reader: IndexReader,
    library: str,
    queries: Sequence[str],
    post: str | None,
    k: int,
    embedder: Embedder,
    until: date | None = None,
    leave_out: LeaveOut = none_left_out,
) -> list[Hit]:
    """At most `k` pages that earlier notes link to: of notes that are near to the post or a query.

    Notes of after `until` are left out, and those of which `leave_out` holds. A score is the fused rank, at most 1.
    The order is that of the words alone: of 217 posts that played no part in choosing, no more pages that people cited
    were among the first ten in an order by meaning, by what X showed, or by how many notes cite a page. What is not
    near by meaning is no similar post: it goes, and with it two thirds of what was about something else.
    """
    asked = {
        text: one for text in [post or "", *queries[:_FULL_WEIGHT_QUERIES]] if (one := build_expression(text)).terms
    }
    if not asked:
        return []
    before = reader.first_after(until) if until is not None else None
    most = _MAX_RANKED_NOTES // len(asked)
    ranked = [
        reader.ranked(_keep_rare_words(reader, one, most, together=True), _MAX_RECORDS_PER_QUERY, before, most)
        for one in asked.values()
    ]
    fused = _fuse_rankings(ranked, [1.0] * len(ranked))
    found = reader.documents(library, sorted(fused, key=lambda record: (-fused[record], -record)))
    usable = ((item.record, item.note) for item in found if item.note is not None and not leave_out(item.note))
    first = list(islice(usable, _MAX_EMBEDDED_CLAIMS))
    vectors = embedder.encode([*asked, *(without_urls(note.text)[:_MAX_NOTE_CHARACTERS] for _, note in first)])
    nearness = vectors[len(asked) :] @ vectors[: len(asked)].T
    texts = list(asked)
    hits = [
        Hit(
            provider=f"library:{library}",
            title="",
            snippet="",
            query=texts[int(near.argmax())],
            score=fused[record],
            notes=(note,),
        )
        for (record, note), near in zip(first, nearness, strict=True)
        if near.max() >= embedder.thresholds.relevant
    ]
    return pages_of(hits, until)[:k]


def _keep_rare_words(reader: IndexReader, expression: Expression, most: int, *, together: bool = False) -> str:
    """Return the expression without its commonest words, where they would rank more than `most` records.

    The two rarest words stay, whatever they take; or `together`, where all but one are so common, what holds both of
    the two rarest of these, and words are counted only as far as needed. Of fact-checks, which are fewer, that
    found one in 250 claims less and nothing more.
    """
    counted = sorted((reader.matching(term, most + 1 if together else -1), term) for term in expression.terms)
    kept, matches = list[str](), 0
    for count, term in counted:
        matches += count
        if count and (matches <= most or (len(kept) < _MIN_RARE_WORDS and not together)):
            kept.append(f'"{term}"')
    if together and len(kept) < _MIN_RARE_WORDS and matches > most:
        common = sorted((term for count, term in counted if f'"{term}"' not in kept and count), key=reader.matching)
        kept.append(" AND ".join(f'"{term}"' for term in common[:_MIN_RARE_WORDS]))
    return " OR ".join(kept) or f'"{expression.terms[0]}"'


def _rank_by_topic(reader: IndexReader, targets: FloatArray, topics: FloatArray | None) -> list[list[int]]:
    if topics is None or not len(topics):
        return []
    return [
        [
            record
            for topic in nearest_topics(topics, target, _MAX_TOPICS_PER_QUERY)
            for record in reader.about(topic, _MAX_RECORDS_PER_TOPIC)
        ]
        for target in targets
    ]


def _fuse_rankings(rankings: Sequence[Sequence[int]], shares: Sequence[float]) -> dict[int, float]:
    """Reciprocal rank fusion, each ranking with its share, scaled so that the best record has 1."""
    fused: dict[int, float] = {}
    for ranking, share in zip(rankings, shares, strict=True):
        for rank, record in enumerate(ranking):
            fused[record] = fused.get(record, 0.0) + share * (_FUSION_CONSTANT + 1) / (_FUSION_CONSTANT + 1 + rank)
    best = max(fused.values(), default=1.0)
    return {record: score / best for record, score in fused.items()}


def _weigh_stems(reader: IndexReader, expressions: Sequence[Expression]) -> dict[str, float]:
    """Return the weight of each stem of the queries: the logarithm of how rare its term is in the library."""
    total = reader.info().records
    weights: dict[str, float] = {}
    for term in dict.fromkeys(term for expression in expressions for term in expression.terms):
        rarity = math.log(1 + total / (1 + reader.matching(term)))
        for stem in word_stems(term):
            weights[stem] = max(weights.get(stem, 0.0), rarity)
    return weights


def _order_by_meaning(
    documents: Sequence[LibraryDocument],
    weights: Mapping[str, float],
    asked: Sequence[str],
    targets: FloatArray,
    embedder: Embedder,
    fused: Sequence[float],
) -> list[Hit]:
    """Return a hit of each document, the most similar first. Rows of `targets` are the queries, then the post."""
    snippets = [_choose_snippet(document, weights) for document in documents]
    titles = [document.title[:_MAX_TITLE_CHARACTERS] for document in documents]
    # Of a fact-check the claim alone is compared: its title is all that there is to it.
    texts = [
        title if document.check else f"{title}\n{snippet}"
        for document, title, snippet in zip(documents, titles, snippets, strict=True)
    ]
    besides = [] if all(document.check for document in documents) else titles
    vectors = embedder.encode([*texts, *besides])
    similarity = vectors[: len(texts)] @ targets.T
    titled = (vectors[len(texts) :] if besides else vectors) @ targets[: len(asked)].T
    hits: list[Hit] = []
    for row, document in enumerate(documents):
        share = _TITLE_SIMILARITY_WEIGHT if titles[row] else 0.0
        to_queries = (1 - share) * similarity[row, : len(asked)] + share * titled[row]
        nearest = int(np.argmax(to_queries))
        meaning = float(to_queries[nearest])
        if len(targets) > len(asked):
            meaning = (meaning + float(similarity[row, -1])) / 2
        hits.append(
            Hit(
                provider=f"library:{document.library}",
                title=document.heading,
                snippet=snippets[row],
                query=asked[nearest],
                url=document.url,
                published=document.published,
                score=meaning + _FUSED_RANK_WEIGHT * fused[row],
                **_build_place_fields(document),
            )
        )
    return sorted(hits, key=lambda hit: (-hit.score, hit.record))


def _choose_snippet(document: LibraryDocument, weights: Mapping[str, float]) -> str:
    if document.check:
        return document.text
    window = best_window(document.text, weights)
    return document.text[window.start : window.end]


def _build_place_fields(document: LibraryDocument) -> dict[str, object]:
    """Return where the hit is read: in its library; that of a fact-check on its page, where it has one."""
    record = {"library": document.library, "record": document.record}
    if document.check is None:
        return record
    return {"check": document.check, "rating": document.check.rating, **({} if document.url else record)}
