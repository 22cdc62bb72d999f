"""How well evidence is found: up to three ways to rank a library's records for a post, against judged records.

`fulltext` is full-text search (BM25) with the post's own words; `embedding` orders all records by the
similarity of their title and beginning to the post; `engine` is what a case does: the engine's queries,
the search of the library with all of them, and then the picks by utility, followed by the rest of what
the search found in its order.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from statistics import mean
from typing import Any

import numpy as np

from crowdnotes.domain import Post
from crowdnotes.engines import Brief, Engine
from crowdnotes.engines.embedding import Embedder, FloatArray
from crowdnotes.errors import InputError
from crowdnotes.evidence.library import Libraries
from crowdnotes.evidence.library.search import build_expression
from crowdnotes.evidence.search import search_all
from crowdnotes.evidence.search.local_library import LocalLibrary
from crowdnotes.evidence.search.run import plan_for
from crowdnotes.evidence.selection import select_by_utility
from crowdnotes.settings import EvidenceSettings
from crowdnotes.studies.data_files import JudgedPost
from crowdnotes.studies.measures import DIRECTLY_HELPFUL, ndcg, recall, reciprocal_rank

RUNS = ("fulltext", "embedding", "engine")
_DEPTH = 100  # records that each way ranks
_BEGINNING = 256  # characters of a record that are embedded after its title: more takes minutes longer
_BATCH = 256

Ranker = Callable[[str], list[int]]
Progress = Callable[[str], None]


def measure_retrieval(
    judged: Sequence[JudgedPost],
    engine: Engine,
    embedder: Embedder,
    libraries: Libraries,
    library: str,
    settings: EvidenceSettings,
    progress: Progress = lambda _: None,
    *,
    runs: Sequence[str] = RUNS,
    diverse: bool = True,
    by_utility: bool = True,
) -> dict[str, Any]:
    """Those of the three ways that `runs` names, over the same `n` posts. Embedding 16,000 records takes minutes the
    first time. `diverse` and `by_utility` switch a part of the engine's way off, as the paper's Table 3 does.

    `with_helpful` of the posts have a record of grade 2: recall and reciprocal rank are over these. Figures are means
    over the posts for which a measure is defined, and the median seconds a post took.

    Raises LibraryError for a library that is not there, InputError for a way that is not, when a judged record is
    past its end or no post has a record of grade 2.
    """
    makers: dict[str, Callable[[], Ranker]] = {
        "fulltext": lambda: lambda post: _by_full_text(libraries, library, post),
        "embedding": lambda: _embedding_ranker(libraries, library, embedder, progress),
        "engine": lambda: (
            lambda post: engine_ranking(
                post, engine, libraries, library, settings, diverse=diverse, by_utility=by_utility
            )
        ),
    }
    unknown = [name for name in runs if name not in makers]
    if unknown or not runs:
        raise InputError(f"There is no run “{', '.join(unknown)}”.", f"Name some of: {', '.join(RUNS)}.")
    _check_records(judged, libraries, library)
    measured = {name: _measured(name, makers[name](), judged, progress) for name in RUNS if name in runs}
    with_helpful = sum(DIRECTLY_HELPFUL in post.grades.values() for post in judged)
    return {"n": len(judged), "with_helpful": with_helpful, "runs": measured}


def engine_ranking(
    text: str,
    engine: Engine,
    libraries: Libraries,
    library: str,
    settings: EvidenceSettings,
    *,
    diverse: bool = True,
    by_utility: bool = True,
) -> list[int]:
    """The records that a case would choose from the library, in the order picked, then the others that it found."""
    post = Post(text=text)
    today = datetime.now(tz=UTC).date()
    plan = plan_for(engine, post, settings.queries, today, diverse=diverse)
    found = search_all(
        [LocalLibrary(libraries, library)], [query.text for query in plan.queries], post=text, limit=_DEPTH
    ).hits
    selected = select_by_utility(engine, Brief(post, today, plan.claims), found, settings.quota, by_utility=by_utility)
    picked = [item.hit.record for item in selected.chosen]
    return [record for record in dict.fromkeys([*picked, *(hit.record for hit in found)]) if record is not None]


def _by_full_text(libraries: Libraries, library: str, post: str) -> list[int]:
    with libraries.open(library) as reader:
        expression = build_expression(post)
        return reader.ranked(expression.fts, _DEPTH) if expression.terms else []


def _embedding_ranker(libraries: Libraries, library: str, embedder: Embedder, progress: Progress) -> Ranker:
    with libraries.open(library) as reader:
        beginnings = list(reader.beginnings(_BEGINNING))
    records = np.array([record for record, _ in beginnings])
    vectors = _embedded([text for _, text in beginnings], embedder, progress)

    def rank(post: str) -> list[int]:
        similarity = vectors @ embedder.encode([post])[0]
        return [int(record) for record in records[np.argsort(-similarity, kind="stable")[:_DEPTH]]]

    return rank


def _embedded(texts: Sequence[str], embedder: Embedder, progress: Progress) -> FloatArray:
    # Batches of like length waste no padding.
    order = sorted(range(len(texts)), key=lambda row: len(texts[row]))
    vectors = np.zeros((len(texts), embedder.dimensions), dtype=np.float32)
    for begin in range(0, len(order), _BATCH):
        batch = order[begin : begin + _BATCH]
        vectors[batch] = embedder.encode([texts[row] for row in batch])
        progress(f"embedding: {min(begin + _BATCH, len(order))} of {len(order)} records read")
    return vectors


def _measured(name: str, ranker: Ranker, judged: Sequence[JudgedPost], progress: Progress) -> dict[str, float]:
    rankings: list[list[int]] = []
    seconds: list[float] = []
    for number, post in enumerate(judged, 1):
        began = time.perf_counter()
        rankings.append(ranker(post.post))
        seconds.append(time.perf_counter() - began)
        progress(f"{name}: {number} of {len(judged)} posts")
    measures = {"ndcg@10": ndcg, "recall@10": recall, "mrr": reciprocal_rank}
    found = {}
    for measure, of in measures.items():
        values = [of(ranking, post.grades) for ranking, post in zip(rankings, judged, strict=True)]
        found[measure] = round(mean([value for value in values if value is not None]), 4)
    return {**found, "seconds": round(sorted(seconds)[len(seconds) // 2], 3)}


def _check_records(judged: Sequence[JudgedPost], libraries: Libraries, library: str) -> None:
    info = libraries.info(library)
    rows = info.records + info.duplicates + info.skipped
    beyond = [record for post in judged for record in post.grades if record >= rows]
    if beyond:
        raise InputError(
            f"Record {beyond[0]} is judged, but the library “{library}” was made from {rows} rows.",
            "Check that the library is the one that was judged; the first row is 0.",
        )
    if not any(DIRECTLY_HELPFUL in post.grades.values() for post in judged):
        raise InputError("No post has a record of grade 2, so there is nothing to find.", "Check the grades.")
