"""Sources that were read become the evidence of a case: a passage each, numbered E1, E2, …

The same for sources that a person brought (augmentation) and that the program found (automation).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from crowdnotes.domain import Evidence, Post, Source
from crowdnotes.embedding import Embedder
from crowdnotes.evidence.passages import Whole, best_passages
from crowdnotes.settings import EvidenceSettings

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class ReadSource:
    """A source that was read, its whole text, and why it is here."""

    source: Source
    text: str
    why: str


def build_evidence(
    post: Post,
    read: Sequence[ReadSource],
    embedder: Embedder,
    settings: EvidenceSettings,
    *,
    earlier: Sequence[Evidence] = (),
    first_number: int = 1,
    progress: Progress | None = None,
) -> tuple[Evidence, ...]:
    """The best passage of each source (CrowdNotes+ appendix D.2).

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
        [Whole(item.text, item.source.page_starts) for item in unread],
        post.text,
        embedder,
        tokens=settings.passage_tokens,
        overlap=settings.passage_overlap,
        surroundings=settings.surroundings,
    )
    fresh = list(zip(unread, found, strict=True))
    fresh.sort(key=lambda pair: pair[1].similarity, reverse=True)
    added = [
        Evidence(id=f"E{first_number + i}", source=item.source, passage=passage, rank=len(kept) + i + 1, why=item.why)
        for i, (item, passage) in enumerate(fresh)
    ]
    return (*kept, *added)
