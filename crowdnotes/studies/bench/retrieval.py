"""How well search finds evidence: pages that people cited (reach), and judged records (retrieval).

`measure_reach`: of posts under which X showed a note, the share where a hit is a page that the note cites. Others may
settle the claim as well, so it is a lower bound. Evidence is no later than the day of the note; earlier notes that
could give the answer away are left out. `measure_retrieval` ranks a library's records for a post by full text (BM25
with the post's words), by embedding, and as a case does (queries, search, picks by utility, then the rest).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from statistics import mean
from typing import Any

import numpy as np
from pydantic import Field

from crowdnotes.domain import EarlierNote, FrozenModel, Hit, Post
from crowdnotes.engines import Brief, Engine
from crowdnotes.engines.embedding import Embedder, FloatArray
from crowdnotes.errors import InputError
from crowdnotes.evidence.duplicates import merge, shingles
from crowdnotes.evidence.library import Libraries
from crowdnotes.evidence.library.earlier_notes import LeaveOut, note_links
from crowdnotes.evidence.library.search import build_expression
from crowdnotes.evidence.search import SearchProvider, search_all
from crowdnotes.evidence.search.local_library import LocalLibrary
from crowdnotes.evidence.search.run import plan_for
from crowdnotes.evidence.selection import select_by_utility
from crowdnotes.settings import Settings
from crowdnotes.settings_sections import EvidenceSettings
from crowdnotes.studies.data_files import HealthNote, JudgedPost
from crowdnotes.studies.measures import DIRECTLY_HELPFUL, ndcg, recall, reciprocal_rank, rounded_ends, wilson
from crowdnotes.text.languages import languages_of
from crowdnotes.text.markdown import host
from crowdnotes.text.note_rules import without_urls, x_storage_form
from crowdnotes.text.tokens import content_stems
from crowdnotes.text.urls import canonical_url, identities

RANK_CUTOFFS = (5, 10)
ALL_PROVIDERS = "together"
_MAX_HITS_PER_QUERY = 10  # hits a query
_MIN_SHARED_TRIPLES = (
    0.5  # of the word triples of the shorter of two notes: what both hold, from where on one is a near copy
)
_GAP_DAYS = 3  # days: notes on one post come within hours of each other, so that older ones are on other posts
_MIN_SHARED_STEMS = 2  # stems that a page's words and the note's share, of one site, so that it is on the same subject


class Share(FrozenModel):
    """Of the posts, in [0, 1], with its 95 % interval (Wilson)."""

    share: float
    interval: tuple[float, float]


class Reach(FrozenModel):
    """How far one provider reaches, or all together. Names of shares: "page@5", "subject@5", "site@5", and at 10.

    `posts` are those for which it answered; with none of them `not_run` says why. `unanswered` counts the others.
    """

    provider: str
    posts: int
    unanswered: int = 0
    not_run: str = ""
    shares: dict[str, Share] = Field(default_factory=dict)


class ReachResult(FrozenModel):
    """All of a run. `uncited` counts the posts whose note cites no page: they are in no share."""

    posts: int
    uncited: int
    posts_known: int
    reaches: tuple[Reach, ...]


@dataclass(slots=True)
class _ReachTally:
    found: dict[str, int] = field(default_factory=dict)
    posts: int = 0
    unanswered: int = 0
    why: str = ""

    def add(self, reached: Mapping[str, int | None]) -> None:
        """`reached`: by level, the rank from 1 of the first hit that is right."""
        self.posts += 1
        for level, rank in reached.items():
            for at in RANK_CUTOFFS:
                right = rank is not None and rank <= at
                self.found[f"{level}@{at}"] = self.found.get(f"{level}@{at}", 0) + right

    def reach(self, provider: str) -> Reach:
        """Return the shares that were counted."""
        if not self.posts:
            return Reach(provider=provider, posts=0, unanswered=self.unanswered, not_run=self.why)
        shares = {
            name: Share(share=round(n / self.posts, 4), interval=rounded_ends(wilson(n, self.posts)))
            for name, n in self.found.items()
        }
        return Reach(provider=provider, posts=self.posts, unanswered=self.unanswered, shares=shares)


def measure_reach(
    notes: Sequence[HealthNote],
    engine: Engine,
    providers: Sequence[SearchProvider],
    libraries: Libraries,
    settings: Settings,
    progress: Callable[[str], None] = lambda _: None,
) -> ReachResult:
    """Search as a case does for every post under which X showed a note: each provider alone, and all together.

    Together is as a case merges those that answered. Raises LibraryError for a library that cannot be read.
    """
    shown = [note for note in notes if note.is_helpful]
    cited = {note.note_id: _CitedPages.of(note) for note in shown if note_links(x_storage_form(note.note))}
    tallies = {provider.name: _ReachTally() for provider in providers}
    together, known = _ReachTally(), 0
    for number, note in enumerate((note for note in shown if note.note_id in cited), 1):
        human, day = cited[note.note_id], datetime.fromtimestamp((note.created_at_ms or 0) / 1000, UTC).date()
        posts = _find_known_posts(note, providers, libraries)
        known += bool(posts)
        leave_out = _build_leave_out(note, human, posts, day)
        queries = plan_for(engine, note.as_post, settings.evidence.queries, day).queries
        answered = []
        for provider in providers:
            asked = replace(provider, leave_out=leave_out) if isinstance(provider, LocalLibrary) else provider
            found = search_all(
                [asked],
                [query.text for query in queries],
                post=note.post,
                limit=_MAX_HITS_PER_QUERY,
                until=day,
                languages=languages_of(queries),
                by_name=[query.text for query in queries if query.by_name],
                provider_seconds=settings.search.provider_seconds,
                patience_seconds=settings.search.patience_seconds,
            )
            (outcome,) = found.outcomes
            if not outcome.gave_no_answer:
                tallies[provider.name].add(human.reached_by(found.hits))
                answered.append([list(found.hits)])
            else:
                tallies[provider.name].unanswered += 1
                tallies[provider.name].why = outcome.sentence
        if answered:
            together.add(human.reached_by(merge(answered)))
        progress(f"{number} of {len(cited)} posts")
    reaches = [tally.reach(name) for name, tally in tallies.items()]
    if len(providers) > 1:
        reaches.append(together.reach(ALL_PROVIDERS))
    return ReachResult(posts=len(cited), uncited=len(shown) - len(cited), posts_known=known, reaches=tuple(reaches))


@dataclass(frozen=True, slots=True)
class _CitedPages:
    """What a note cites, and what it and the addresses speak of."""

    pages: frozenset[str]
    sites: frozenset[str]
    stems: frozenset[str]
    words: frozenset[tuple[str, ...]]

    @classmethod
    def of(cls, note: HealthNote) -> _CitedPages:
        text = x_storage_form(note.note)
        links = note_links(text)
        stems = content_stems(" ".join([without_urls(text), *map(_get_words_of_url, links)]))
        pages = frozenset(map(canonical_url, links))
        return cls(pages, frozenset(map(host, links)), stems, shingles(without_urls(text)))

    def reached_by(self, hits: Sequence[Hit]) -> dict[str, int | None]:
        """By level, the rank of the first hit that reaches it."""
        levels = {"page": self._is_page, "subject": self._is_subject, "site": self._is_site}
        return {
            name: next((rank for rank, hit in enumerate(hits[: max(RANK_CUTOFFS)], 1) if holds(hit)), None)
            for name, holds in levels.items()
        }

    def _is_page(self, hit: Hit) -> bool:
        return not self.pages.isdisjoint(identities(hit))

    def _is_site(self, hit: Hit) -> bool:
        return self._is_page(hit) or host(hit.url) in self.sites

    def _is_subject(self, hit: Hit) -> bool:
        own = content_stems(f"{hit.title} {hit.snippet} {_get_words_of_url(hit.url or '')}")
        return self._is_page(hit) or (self._is_site(hit) and len(own & self.stems) >= _MIN_SHARED_STEMS)


def _get_words_of_url(url: str) -> str:
    """Return the words of an address, without its site."""
    return " ".join(part for part in url.partition("://")[2].partition("/")[2].replace("_", "-").split("-") if part)


def _find_known_posts(note: HealthNote, providers: Sequence[SearchProvider], libraries: Libraries) -> set[int]:
    """Return the post that the note is on, where a library of notes that is searched holds the note."""
    found = set()
    for provider in providers:
        if isinstance(provider, LocalLibrary) and note.note_id.isdigit():
            with libraries.open(provider.library) as reader:
                found.add(reader.post_of_note(int(note.note_id)))
    return {post for post in found if post is not None}


def _build_leave_out(note: HealthNote, human: _CitedPages, posts: set[int], day: date) -> LeaveOut:
    """Return which earlier notes would give the answer away.

    The note itself and those on its post; near copies of it; and those of its day, which may be later than the post.
    Where the post is not known, those of the three days before too: they may be on it.
    """
    last = day - timedelta(days=1 if posts else _GAP_DAYS + 1)

    def leave_out(earlier: EarlierNote) -> bool:
        if str(earlier.note) == note.note_id or earlier.post in posts or earlier.written > last:
            return True
        own = shingles(without_urls(earlier.text))
        return len(own & human.words) >= _MIN_SHARED_TRIPLES * max(1, min(len(own), len(human.words)))

    return leave_out


RUNS = ("fulltext", "embedding", "engine")
_MAX_RANKED_RECORDS = 100  # records that each way ranks
_MAX_EMBEDDED_CHARACTERS = 256  # characters of a record that are embedded after its title: more takes minutes longer
_RECORDS_PER_BATCH = 256

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
    """Measure those of the three ways that `runs` names, over the same `n` posts.

    Embedding 16,000 records takes minutes the first time. `diverse` and `by_utility` switch a part of the engine's
    way off, as the paper's Table 3 does.

    `with_helpful` of the posts have a record of grade 2: recall and reciprocal rank are over these. Figures are means
    over the posts for which a measure is defined, and the median seconds a post took.

    Raises LibraryError for a library that is not there, InputError for a way that is not, when a judged record is
    past its end or no post has a record of grade 2.
    """
    makers: dict[str, Callable[[], Ranker]] = {
        "fulltext": lambda: lambda post: _rank_by_full_text(libraries, library, post),
        "embedding": lambda: _build_embedding_ranker(libraries, library, embedder, progress),
        "engine": lambda: (
            lambda post: engine_ranking(
                post, engine, libraries, library, settings, diverse=diverse, by_utility=by_utility
            )
        ),
    }
    unknown = [name for name in runs if name not in makers]
    if unknown or not runs:
        raise InputError(f"There is no run “{', '.join(unknown)}”.", f"Name some of: {', '.join(RUNS)}.")
    _require_known_records(judged, libraries, library)
    measured = {name: _measure_ranker(name, makers[name](), judged, progress) for name in RUNS if name in runs}
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
    """Return the library records that a case would choose, in the order picked, then the others that it found."""
    post = Post(text=text)
    today = datetime.now(tz=UTC).date()
    plan = plan_for(engine, post, settings.queries, today, diverse=diverse)
    found = search_all(
        [LocalLibrary(libraries, library)],
        [query.text for query in plan.queries],
        post=text,
        limit=_MAX_RANKED_RECORDS,
        by_name=[query.text for query in plan.queries if query.by_name],
    ).hits
    quota = settings.sources_to_read(model_chooses=engine.uses_language_model)
    selected = select_by_utility(engine, Brief(post, today, plan.claims), found, quota, by_utility=by_utility)
    picked = [item.hit.record for item in selected.chosen]
    return [record for record in dict.fromkeys([*picked, *(hit.record for hit in found)]) if record is not None]


def _rank_by_full_text(libraries: Libraries, library: str, post: str) -> list[int]:
    with libraries.open(library) as reader:
        expression = build_expression(post)
        return reader.ranked(expression.fts, _MAX_RANKED_RECORDS) if expression.terms else []


def _build_embedding_ranker(libraries: Libraries, library: str, embedder: Embedder, progress: Progress) -> Ranker:
    with libraries.open(library) as reader:
        beginnings = list(reader.beginnings(_MAX_EMBEDDED_CHARACTERS))
    records = np.array([record for record, _ in beginnings])
    vectors = _embed_texts([text for _, text in beginnings], embedder, progress)

    def rank(post: str) -> list[int]:
        similarity = vectors @ embedder.encode([post])[0]
        return [int(record) for record in records[np.argsort(-similarity, kind="stable")[:_MAX_RANKED_RECORDS]]]

    return rank


def _embed_texts(texts: Sequence[str], embedder: Embedder, progress: Progress) -> FloatArray:
    # Batches of like length waste no padding.
    order = sorted(range(len(texts)), key=lambda row: len(texts[row]))
    vectors = np.zeros((len(texts), embedder.dimensions), dtype=np.float32)
    for begin in range(0, len(order), _RECORDS_PER_BATCH):
        batch = order[begin : begin + _RECORDS_PER_BATCH]
        vectors[batch] = embedder.encode([texts[row] for row in batch])
        progress(f"embedding: {min(begin + _RECORDS_PER_BATCH, len(order))} of {len(order)} records read")
    return vectors


def _measure_ranker(name: str, ranker: Ranker, judged: Sequence[JudgedPost], progress: Progress) -> dict[str, float]:
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


def _require_known_records(judged: Sequence[JudgedPost], libraries: Libraries, library: str) -> None:
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
