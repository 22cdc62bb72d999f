"""Makes candidate notes from evidence (CrowdNotes+ appendix D.3).

The engine returns words and evidence ids; links, length and attribution are ours. The same for sources that a person
brought (augmentation) and that the program found (automation).
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from crowdnotes.domain import Draft, Evidence, Post, Quotation
from crowdnotes.engines import Engine, EngineStep, OnText, Written
from crowdnotes.errors import EngineError
from crowdnotes.text.note_rules import NOTE_LIMIT, URL_WEIGHT, find_urls, note_length
from crowdnotes.text.publishers import publisher_name

_CANDIDATES = 3
_MAX_LINKS = 2  # readers and raters check one or two; each costs a character and a space


@dataclass(frozen=True, slots=True)
class Drafted:
    """Candidates in the engine's order; or none, and why the engine abstained, with sentences that a person may quote.

    `lost`: why others are not there.
    """

    candidates: tuple[Draft, ...]
    abstained: str = ""
    lost: tuple[str, ...] = ()
    quotations: tuple[Quotation, ...] = ()

    @property
    def summary(self) -> str:
        """In a line, as in "2 candidates; 1 more came to nothing (The model declined to answer.)"."""
        if not self.candidates:
            return f"No note: {self.abstained}"
        made = f"{len(self.candidates)} candidate{'' if len(self.candidates) == 1 else 's'}"
        return (
            f"{made}; {len(self.lost)} more came to nothing ({' '.join(dict.fromkeys(self.lost))})"
            if self.lost
            else made
        )


def write_candidates(
    engine: Engine,
    post: Post,
    evidence: Sequence[Evidence],
    clock: Callable[[], datetime],
    count: int = _CANDIDATES,
    on_text: OnText | None = None,
) -> Drafted:
    """Up to `count` full notes, links included, each at most 280 characters by X's rule.

    Raises EngineError when the engine breaks its contract: an unknown evidence id, a URL of its own
    making, or words over the budget.
    """
    begun = time.perf_counter()
    if not evidence:
        return Drafted((), "There is no passage to write from.")
    by_id = {item.id: item for item in evidence}
    links = min(_MAX_LINKS, len({item.source.url for item in evidence if item.source.url}))
    budget = NOTE_LIMIT - links * (URL_WEIGHT + 1)
    answer = engine.write(post, evidence, budget, count, on_text)
    made_by = engine.made_by(EngineStep.WRITING)
    candidates: list[Draft] = []
    for written in answer.candidates:
        text = _with_links(written, by_id)
        if note_length(text) > NOTE_LIMIT:
            raise EngineError("The engine wrote more than fits into a note.")
        cited = [by_id[evidence_id] for evidence_id in written.evidence_ids]
        draft = Draft(
            text=text,
            evidence_ids=tuple(dict.fromkeys(written.evidence_ids)),
            sentences=engine.support(text, cited),
            engine=made_by.engine,
            prompt_version=made_by.prompt_version,
            written_at=clock(),
            seconds=time.perf_counter() - begun,
        )
        if draft.sha256 not in {other.sha256 for other in candidates}:
            candidates.append(draft)
    return Drafted(tuple(candidates), answer.abstained, answer.lost, answer.quotations)


def quoted(item: Evidence, quotation: Quotation) -> str:
    """A sentence of a passage as it stands in a note: its publisher, the words as they are, and the link."""
    words = " ".join(item.passage.text[quotation.span.start : quotation.span.end].split())
    if not _MARKS.search(words):  # marks within marks would end the quotation early
        words = f"“{words}”"
    name = publisher_name(item.source)
    told = f"{name[:1].upper()}{name[1:]}: {words}" if name else words
    return f"{told} {item.source.url}" if item.source.url else told


_MARKS = re.compile(r"[\"“”„«»]")


def _with_links(written: Written, by_id: dict[str, Evidence]) -> str:
    unknown = [evidence_id for evidence_id in written.evidence_ids if evidence_id not in by_id]
    if unknown:
        raise EngineError(f"The engine cited {unknown[0]}, which is not among the passages.")
    quoted = " ".join(by_id[evidence_id].passage.text for evidence_id in written.evidence_ids)
    if any(url.has_scheme or url.url not in quoted for url in find_urls(written.text)):
        raise EngineError("The engine put a link of its own into the note.")
    urls = [by_id[evidence_id].source.url for evidence_id in written.evidence_ids]
    links = list(dict.fromkeys(url for url in urls if url))[:_MAX_LINKS]
    return " ".join([" ".join(written.text.split()), *links])
