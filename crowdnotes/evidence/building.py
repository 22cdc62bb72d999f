"""Makes the evidence of a case from sources that were read: the best passage of each, and one source a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from crowdnotes.domain import Claim, Evidence, Passage, Post, Source
from crowdnotes.embedding import Embedder
from crowdnotes.evidence.passages import Whole, best_passages
from crowdnotes.settings import EvidenceSettings
from crowdnotes.text.stems import content_words, short_stem, short_stems
from crowdnotes.text.urls import canonical_url

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class ReadSource:
    """A source that was read, its whole text, and why it is here; `snippet` is what the search that found it showed."""

    source: Source
    text: str
    why: str
    snippet: str = ""


def build_evidence(
    post: Post,
    read: Sequence[ReadSource],
    embedder: Embedder,
    settings: EvidenceSettings,
    *,
    claims: Sequence[Claim] = (),
    earlier: Sequence[Evidence] = (),
    first_number: int = 1,
    progress: Progress | None = None,
) -> tuple[Evidence, ...]:
    """The best passage of each source (CrowdNotes+ appendix D.2), and of records that share a page those that differ.

    `earlier` evidence whose source is still there keeps its id and the person's review; new passages
    follow it from "E<first_number>" on, the one most similar to the post first.
    """
    by_source = {item.source.id: item for item in earlier}
    kept: list[Evidence] = []
    unread: list[ReadSource] = []
    for item in read:
        before = by_source.get(item.source.id)
        if before is not None and before.source.text_sha256 == item.source.text_sha256:
            kept.append(before.model_copy(update={"source": item.source}))
        else:
            unread.append(item)
    if progress is not None:
        progress(len(kept), len(read))
    found = best_passages(
        # Why a person's own link is here says nothing of where in it the answer stands.
        [Whole(item.text, item.source.page_starts, item.snippet, item.why if item.snippet else "") for item in unread],
        post.text,
        embedder,
        tokens=settings.passage_tokens,
        overlap=settings.passage_overlap,
        surroundings=settings.surroundings,
        claims=[words for words in (claim.in_full for claim in claims) if words != post.text],
    )
    fresh = list(zip(unread, found, strict=True))
    fresh.sort(key=lambda pair: pair[1].similarity, reverse=True)
    fresh = _one_a_page(fresh, kept, [post.text, *(claim.in_full for claim in claims)])
    added = [
        Evidence(id=f"E{first_number + i}", source=item.source, passage=passage, rank=len(kept) + i + 1, why=item.why)
        for i, (item, passage) in enumerate(fresh)
    ]
    return (*kept, *added)


def _one_a_page(
    fresh: Sequence[tuple[ReadSource, Passage]], kept: Sequence[Evidence], asked: Sequence[str]
) -> list[tuple[ReadSource, Passage]]:
    """Without library records whose page is there by a better one and that answer no other part of what is asked.

    A record answers another part when its passage holds a telling word of the post or its claims that no better
    passage of the page holds.
    """
    wanted = frozenset(short_stem(word) for text in asked for word in content_words(text))
    answered: dict[str, frozenset[str]] = {}
    for before in kept:
        page = _page_of(before.source)
        answered[page] = answered.get(page, frozenset()) | _stems(before.passage) & wanted
    found: list[tuple[ReadSource, Passage]] = []
    for item, passage in fresh:
        page, answers = _page_of(item.source), _stems(passage) & wanted
        if item.source.library is None or page not in answered or answers - answered[page]:
            found.append((item, passage))
            answered[page] = answered.get(page, frozenset()) | answers
    return found


def _page_of(source: Source) -> str:
    return canonical_url(source.url) if source.url else source.id


def _stems(passage: Passage) -> frozenset[str]:
    return frozenset(short_stems(passage.text))
