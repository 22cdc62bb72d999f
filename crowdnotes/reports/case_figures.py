"""What the overview keeps of one case: a few numbers, so that a thousand cases are counted at once.

Nothing is guessed: what a case does not record is None. Scores come from the audit trail, which keeps every one of
them; an assessment that a person's comparison changed is not in the trail, so the assessments on record are read too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from crowdnotes.bridging.thresholds import THRESHOLDS
from crowdnotes.cases.export import is_demonstration
from crowdnotes.domain import (
    Assessment,
    Case,
    DecisionKind,
    DeskState,
    Draft,
    GateName,
    GateStatus,
    LabelledEnum,
    ObstacleKind,
    PrincipleName,
    SourceCategory,
    SupernoteScore,
    Usage,
)
from crowdnotes.domain.approval import LINK_KINDS, SENTENCE_KINDS
from crowdnotes.errors import CaseNotFoundError, StoreError
from crowdnotes.text.note_rules import without_urls
from crowdnotes.text.sentences import split_sentences

if TYPE_CHECKING:
    from crowdnotes.cases.cases import Cases

OPEN = "open"  # the ending of a case without a decision; else its kind of decision
LINKS = "links"  # like gates and principles, what a person may pass over with a reason
_EVIDENCE_EVENTS = frozenset({"stage passages", "passage copied in"})  # kinds of event
_TEXT_EVENTS = frozenset({"note edited", "candidate chosen"})


class Course(LabelledEnum):
    """How a check ended that did not pass, at first or after an edit."""

    MENDED = "mended"
    OVERRIDDEN = "approved with a reason"
    FAILING = "still failing"


@dataclass(frozen=True, slots=True)
class JuryFigures:
    """The simulated jury on the current note: mean rating in [0, 1] of each side, and whether it reaches the line.

    `gates_pass` is None unless the gates gave a verdict on the very same text.
    """

    negative: float
    positive: float
    reached: bool
    gates_pass: bool | None


@dataclass(frozen=True, slots=True)
class CaseFigures:
    """One case in numbers. Times are minutes since it was begun, on the clock: nights and pauses count.

    `ended` is a kind of decision, or OPEN, `decided_at` when it was decided. `queue` is None where the case was never
    sent to the moderators. `gates` is None where nothing was scored or the note changed since.
    `courses` has the checks that did not pass at some time. `kept_sentences` are those of the program's first text that
    are in the approved note, and how many it had. `shown` and `used` count passages by their source's kind.
    """

    id: str
    version: int
    begun: datetime
    ended: str
    decided_at: datetime | None
    queue: DeskState | None
    engines: frozenset[str]
    demonstration: bool
    until_evidence: float | None
    until_words: float | None
    until_approved: float | None
    has_note: bool
    gates: Mapping[GateName, GateStatus] | None
    courses: Mapping[str, Course]
    kept_sentences: tuple[int, int] | None
    shown: Mapping[SourceCategory, int]
    used: Mapping[SourceCategory, int]
    jury: JuryFigures | None
    jury_means_nothing: bool
    usage: Mapping[str, Usage]


def read(cases: Cases, known: MutableMapping[str, CaseFigures]) -> tuple[list[CaseFigures], dict[str, str]]:
    """Return the figures of every case, and by id why others cannot be read.

    `known` saves reading what did not change.
    """
    found: list[CaseFigures] = []
    left_out: dict[str, str] = {}
    for summary in cases.find(limit=None):
        kept = known.get(summary.id)
        if kept is None or kept.version != summary.version:
            with suppress(CaseNotFoundError):  # deleted meanwhile
                try:
                    kept = known[summary.id] = figures_of(cases.get(summary.id, only_counted=True))
                except CaseNotFoundError:
                    raise
                except StoreError as error:
                    left_out[summary.id] = error.message
                    continue
        if kept is not None:
            found.append(kept)
    return found, left_out


def figures_of(case: Case) -> CaseFigures:
    """Count one case."""
    verdict = case.verdict_on(case.draft.sha256) if case.draft else None
    return CaseFigures(
        id=case.id,
        version=case.version,
        begun=case.created_at,
        ended=case.decision.kind.value if case.decision else OPEN,
        decided_at=case.decision.at if case.decision else None,
        queue=case.desk_state if case.desk.submitted_at else None,
        engines=frozenset(stage.engine for stage in case.stages),
        demonstration=is_demonstration(case),
        until_evidence=_measure_minutes_until(
            case, [event.at for event in case.events if event.kind in _EVIDENCE_EVENTS]
        ),
        until_words=_measure_minutes_until(case, _list_text_times(case)),
        until_approved=_measure_minutes_until(case, _list_approval_times(case)),
        has_note=case.draft is not None,
        gates=_get_current_gates(case),
        courses=_trace_checks(case),
        kept_sentences=_count_kept_sentences(case),
        shown=_count_kinds([item.source.category for item in case.evidence]),
        used=_count_kinds([item.source.category for item in case.used_evidence]),
        jury=_build_jury_figures(case),
        jury_means_nothing=verdict is not None and verdict.means_nothing,
        usage=case.usage,
    )


def _measure_minutes_until(case: Case, moments: list[datetime]) -> float | None:
    """To the first of these moments; None without one, or where a clock was set back."""
    first = min(moments, default=None)
    if first is None or first < case.created_at:
        return None
    return (first - case.created_at).total_seconds() / 60


def _list_drafts(case: Case) -> tuple[Draft, ...]:
    return (*case.revisions, case.draft) if case.draft else ()


def _list_text_times(case: Case) -> list[datetime]:
    edits = [event.at for event in case.events if event.kind in _TEXT_EVENTS]
    return edits + [text.written_at for text in _list_drafts(case)]


def _list_approval_times(case: Case) -> list[datetime]:
    """Of a note that is approved now, each time that it was: one that was reopened later was ready before."""
    if case.decision is None or case.decision.kind is not DecisionKind.APPROVED:
        return []
    approved = DecisionKind.APPROVED.value
    events = (event for event in case.events if event.kind == "decided" and event.result == approved)
    return [case.decision.at, *(event.at for event in events)]


def _get_current_gates(case: Case) -> dict[GateName, GateStatus] | None:
    if case.assessment is None or not case.assessment_is_current:
        return None
    return {result.gate: result.status for result in case.assessment.gates}  # as the case's page shows them


def _trace_checks(case: Case) -> dict[str, Course]:
    """Return how each gate, principle, and the links ended, where something prevented approval."""
    reached = case.decision is not None and case.decision.kind is DecisionKind.APPROVED
    overrides = case.decision.overrides if case.decision and reached else ()
    passed_over = {item.obstacle for item in overrides}
    failed, not_run = ObstacleKind.GATE_FAILED, ObstacleKind.GATE_NOT_RUN
    # Earlier versions stored the reason for a gate that failed with those behind it too; it was for the first one.
    for_failed = {item.reason for item in overrides if item.obstacle.kind is failed}
    overridden = {
        item.obstacle.subject
        for item in overrides
        if item.obstacle.kind is failed or (item.obstacle.kind is not_run and item.reason not in for_failed)
    }
    if any(found.kind in SENTENCE_KINDS for found in passed_over):
        overridden.add(GateName.CORRECTNESS.value)
    courses: dict[str, Course] = {}
    for name, verdicts in _collect_verdicts(case).items():
        if name in overridden:
            courses[name] = Course.OVERRIDDEN
        elif GateStatus.FAIL in verdicts:
            courses[name] = Course.MENDED if verdicts[-1] is GateStatus.PASS else Course.FAILING
    if any(found.kind in LINK_KINDS for found in passed_over):
        courses[LINKS] = Course.OVERRIDDEN
    return courses


def _collect_verdicts(case: Case) -> dict[str, list[GateStatus]]:
    """By check, every verdict that it gave, oldest first; the last one is of the newest score."""
    scores: list[tuple[datetime, bool, list[tuple[str, GateStatus]]]] = [
        (event.at, False, list(event.verdicts)) for event in case.events if event.verdicts
    ]
    # An assessment on record knows better than the line that was written when it was made: a person compared since.
    scores += [
        (item.assessed_at, item is case.assessment, _list_checks(item))
        for item in (*case.earlier_assessments, case.assessment)
        if item is not None
    ]
    scores.sort(key=lambda score: (score[1], score[0]))
    verdicts: dict[str, list[GateStatus]] = {name: [] for name in (*GateName, *PrincipleName)}
    for _, _, checks in scores:
        for name, status in checks:
            if name in verdicts and status is not GateStatus.NOT_RUN:
                verdicts[name].append(status)
    return verdicts


def _list_checks(assessment: Assessment) -> list[tuple[str, GateStatus]]:
    gates = [(result.gate.value, result.status) for result in assessment.gates]
    # What the sources support is the correctness gate's own verdict: once is enough.
    asked = (result for result in assessment.principles if result.principle is not PrincipleName.SOURCES_SUPPORT)
    return gates + [(result.principle.value, result.status) for result in asked]


def _count_kept_sentences(case: Case) -> tuple[int, int] | None:
    texts = _list_drafts(case)
    approved = case.decision is not None and case.decision.kind is DecisionKind.APPROVED
    if not approved or not texts or texts[0].engine == "person":
        return None
    first, last = _split_into_sentences(texts[0].text), set(_split_into_sentences(texts[-1].text))
    return sum(sentence in last for sentence in first), len(first)


def _split_into_sentences(text: str) -> list[str]:
    words = without_urls(text)
    return [" ".join(words[span.start : span.end].split()) for span in split_sentences(words)]


def _count_kinds(categories: list[SourceCategory]) -> dict[SourceCategory, int]:
    return dict(Counter(categories))


def _build_jury_figures(case: Case) -> JuryFigures | None:
    if case.draft is None:
        return None
    made = case.finished_round
    of_draft = next((item.score for item in made.passed if item.sha256 == case.draft.sha256), None) if made else None
    verdict = case.verdict_on(case.draft.sha256) or of_draft  # a supernote is rated before it is the draft
    if verdict is None or verdict.means_nothing:
        return None
    reached = (
        verdict.intercept >= THRESHOLDS.helpful_intercept
        if isinstance(verdict, SupernoteScore)
        else verdict.reaches_line
    )
    negative, positive = verdict.negative.mean, verdict.positive.mean
    if negative is None or positive is None:
        return None
    gates = _get_current_gates(case)
    ran = gates is not None and GateStatus.NOT_RUN not in gates.values()
    # A gate that failed leaves those behind it NOT RUN: that is a verdict too.
    failed = gates is not None and GateStatus.FAIL in gates.values()
    passes = all(status is GateStatus.PASS for status in gates.values()) if gates and (ran or failed) else None
    return JuryFigures(negative, positive, reached, passes)
