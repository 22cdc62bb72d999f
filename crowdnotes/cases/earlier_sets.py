"""Earlier evidence: each set of passages as it was before it changed, and the way back to it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from crowdnotes.cases.cutoff import kept_by_a_person
from crowdnotes.cases.workflow import require_open, with_event
from crowdnotes.domain import Case, Evidence, EvidenceSet, FetchOutcome, Source
from crowdnotes.errors import InputError, WorkflowError


def on_record(case: Case, at: datetime, why: str) -> tuple[EvidenceSet, ...]:
    """The earlier sets with the present one as the newest; `why` is what changes it. A set is not kept twice."""
    if not case.evidence or (case.earlier_evidence and case.earlier_evidence[-1].evidence == case.evidence):
        return case.earlier_evidence
    return (*case.earlier_evidence, EvidenceSet(at=at, why=why, evidence=case.evidence))


def taken_away(case: Case) -> tuple[Evidence, ...]:
    """Passages on record that are not among the present ones, each as it was last, by their number."""
    newest = {item.id: item for earlier in case.earlier_evidence for item in earlier.evidence}
    present = {item.source.id for item in case.evidence}
    gone = (item for item in newest.values() if item.source.id not in present)
    return tuple(sorted(gone, key=lambda item: int(item.id.removeprefix("E"))))


def bring_back(case: Case, evidence_id: str, by: str, at: datetime) -> Case:
    """Put a passage on record beside the present ones, under its own id and with the review it had."""
    require_open(case)
    item = next((item for item in taken_away(case) if item.id == evidence_id), None)
    if item is None:
        raise InputError(f"{evidence_id} is not among the earlier passages.", "It may be back already.")
    item = _marked(item, case)
    return with_event(
        case,
        at,
        by,
        "passage brought back",
        evidence_id,
        evidence=ranked((*case.evidence, item)),
        sources=with_sources(case, [item.source]),
        earlier_evidence=on_record(case, at, f"{evidence_id} was brought back"),
    )


def bring_back_set(case: Case, number: int, by: str, at: datetime) -> Case:
    """Make an earlier set (from 0, oldest first) the present one; what the note uses stays beside it.

    A passage that is in both keeps the review it has now. The set that this replaces goes on record.
    """
    require_open(case)
    if not 0 <= number < len(case.earlier_evidence):
        raise InputError("There is no such earlier evidence.")
    earlier = case.earlier_evidence[number].evidence
    now = {item.source.id: item for item in case.evidence}
    back = [now[item.source.id] if item.source.id in now else _marked(item, case) for item in earlier]
    there = {item.source.id for item in back}
    kept = [item for item in case.evidence if item.source.id not in there and leans_on(case, item)]
    restored = ranked((*back, *kept))
    if [item.id for item in restored] == [item.id for item in case.evidence]:
        raise WorkflowError("same evidence", "These passages are the present ones already.")
    return with_event(
        case,
        at,
        by,
        "evidence brought back",
        ", ".join(item.id for item in restored),
        evidence=restored,
        sources=with_sources(case, [item.source for item in restored]),
        earlier_evidence=on_record(case, at, "an earlier set was brought back"),
    )


def _marked(item: Evidence, case: Case) -> Evidence:
    """The passage, with a notice when the case has a cutoff now that its source does not keep."""
    return item.model_copy(update={"source": kept_by_a_person(item.source, case.until)})


def leans_on(case: Case, item: Evidence) -> bool:
    """Whether the note is made from this passage, or may be: it is in use, or the draft names it."""
    return item.used or (case.draft is not None and item.id in case.draft.evidence_ids)


def ranked(evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """The passages, numbered in their order from 1."""
    return tuple(item.model_copy(update={"rank": rank}) for rank, item in enumerate(evidence, start=1))


def with_sources(case: Case, added: Iterable[Source]) -> tuple[Source, ...]:
    """The case's sources and those added; one that was read takes the place of one that could not be."""
    sources = {source.id: source for source in case.sources}
    for source in added:
        known = sources.get(source.id)
        if known is None or known.outcome is not FetchOutcome.READ:
            sources[source.id] = source
    return tuple(sources.values())
