"""From sources to evidence, and how a stage's result meets what a person did meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from crowdnotes.cases.cutoff import kept_by_a_person
from crowdnotes.cases.tools import Tools
from crowdnotes.domain import Case, Evidence, FetchOutcome, Source
from crowdnotes.drafting import ReadSource, build_evidence
from crowdnotes.jobs import Progress

Result = tuple[Mapping[str, object], str]


def passages(case: Case, progress: Progress, tools: Tools, text_of: Callable[[str], str]) -> Result:
    """The best passage of each source that was read."""
    whys = {item.source.id: item.why for item in case.evidence}
    whys.update(case.reasons)
    readable = [
        ReadSource(source, text_of(source.text_sha256), whys.get(source.id, "You brought this link."))
        for source in case.sources
        if source.outcome is FetchOutcome.READ and source.text_sha256
    ]
    evidence = build_evidence(
        case.post.as_read,
        readable,
        tools.embedder,
        tools.settings.evidence,
        earlier=case.evidence,
        first_number=case.next_evidence_number,
        progress=progress.count,
    )
    noun = "passage" if len(evidence) == 1 else "passages"
    return {"evidence": evidence}, f"{len(evidence)} {noun} to inspect"


def merged(newest: Case, worked_on: Case, changes: Mapping[str, object]) -> dict[str, object]:
    """A stage's result, with what a person did while it was at work kept: reviews, passages, words."""
    result = dict(changes)
    if "evidence" in result:
        result["evidence"] = _with_reviews(newest, worked_on, cast("tuple[Evidence, ...]", result["evidence"]))
    if "sources" in result:
        found = {source.id: source for source in cast("tuple[Source, ...]", result["sources"])}
        persons = [item.source for item in newest.evidence if _is_a_persons(item)]
        kept = {source.id: kept_by_a_person(source, newest.until) for source in persons}
        result["sources"] = tuple((found | kept).values())
    if newest.draft != worked_on.draft:
        result.pop("draft", None)
        result.pop("revisions", None)
    return result


def _with_reviews(newest: Case, worked_on: Case, found: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
    """What a person opened or pasted stays, under its id; new passages are numbered from the next free one."""
    present = {item.source.id: item for item in newest.evidence}
    known = {item.source.id for item in worked_on.evidence}
    number = newest.next_evidence_number
    kept: list[Evidence] = []
    for item in found:
        if item.source.id in present:
            kept.append(_with_marks_of(item.source, present[item.source.id]))
        elif item.source.id in known:
            kept.append(item)
        else:
            kept.append(item.model_copy(update={"id": f"E{number}"}))
            number += 1
    there = {item.source.id for item in kept}
    kept.extend(item for item in newest.evidence if item.source.id not in there and _is_a_persons(item))
    return tuple(_settled(item, rank, newest) for rank, item in enumerate(kept, start=1))


def _with_marks_of(source: Source, item: Evidence) -> Evidence:
    """The passage as it is now, with what the stage says of its source; the words that a person saw stay."""
    is_same = source.text_sha256 == item.source.text_sha256
    return item.model_copy(update={"source": source}) if is_same else item


def _settled(item: Evidence, rank: int, case: Case) -> Evidence:
    source = kept_by_a_person(item.source, case.until) if _is_a_persons(item) else item.source
    return item.model_copy(update={"rank": rank, "source": source})


def _is_a_persons(item: Evidence) -> bool:
    return item.review.opened_at is not None or item.source.by_hand
