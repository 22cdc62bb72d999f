"""What each stage of writing does: notes, the best of them revised, scores, the jury. The runner stores the results."""

from __future__ import annotations

from collections.abc import Sequence

from crowdnotes.cases import approval
from crowdnotes.cases.actions import change_draft
from crowdnotes.cases.gathering_stages import StageContext, StageResult
from crowdnotes.domain import (
    Assessment,
    Case,
    Draft,
    Evidence,
    GateName,
    GateResult,
    GateStatus,
    JuryVerdict,
    StageName,
    StageOutcome,
)
from crowdnotes.domain.supernote import MAX_TIED_GAP
from crowdnotes.engines.local.principles import judge_principles
from crowdnotes.errors import CrowdNotesError, EngineError, ModelAnswerError
from crowdnotes.jobs import Progress
from crowdnotes.notes.drafting import (
    repaired_draft,
    revise_candidates,
    why_no_note,
    write_candidates,
)
from crowdnotes.notes.gates import GATES, assess, unfound_quotes, with_checks
from crowdnotes.text.lint import lint
from crowdnotes.text.markdown import in_figures

_MAX_KEPT_VERDICTS = 20  # of the jury, to compare an edit with earlier texts


def draft(case: Case, _: Progress, context: StageContext, *, before_inspection: bool = False) -> StageResult:
    """Write candidate notes from the passages in use; `before_inspection` from all, unless `why_no_note` forbids it."""
    evidence = _choose_writing_evidence(case) if before_inspection else case.used_evidence
    brief = context.brief(case)
    reason = why_no_note(brief, evidence) if before_inspection else ""
    if reason:
        return {"candidates": (), "quotations": ()}, _explain_no_note(reason)
    earlier = [item.text for item in case.candidates]
    drafted = write_candidates(context.engine, brief, evidence, context.clock, earlier=earlier)
    if not drafted.candidates:
        return {"candidates": (), "quotations": drafted.quotations}, _explain_no_note(drafted.abstained)
    changes: dict[str, object] = {"candidates": drafted.candidates, "quotations": ()}
    if not context.engine.uses_language_model:
        changes |= change_draft(case, drafted.candidates[0])
    return changes, StageOutcome(summary=drafted.summary)


def revise(case: Case, _: Progress, context: StageContext, *, before_inspection: bool = False) -> StageResult:
    """Put the candidates into the judge's order and revise the best; they stay as they are where that fails.

    `before_inspection` asks the model only where the program's own checks give a reason.
    """
    if not case.candidates:
        return {}, StageOutcome.not_needed("There is no note to compare")
    first = _choose_first_stated(case)
    if before_inspection and not _has_reason_to_revise(case, first, context):
        outcome = StageOutcome.not_needed("Our checks found nothing to improve in the first draft")
        return change_draft(case, first), outcome
    evidence = _choose_writing_evidence(case)
    try:
        revised = revise_candidates(context.engine, context.brief(case), evidence, case.candidates, context.clock)
    except ModelAnswerError as error:
        outcome = StageOutcome.not_run(error.message, instead="the first is shown")
        return change_draft(case, first), outcome
    if revised is None:
        outcome = StageOutcome.not_run("only an AI can compare notes.")
        return change_draft(case, first), outcome
    changes = {"candidates": revised.candidates, **change_draft(case, revised.candidates[0])}
    return changes, StageOutcome(summary=revised.summary)


def _has_reason_to_revise(case: Case, first: Draft, context: StageContext) -> bool:
    """Return whether the program's own checks object to the first note, cannot judge it, or prefer another."""
    # In a trial of 14 notes, read blind twice, the revised one was preferred to the first in 80 % where this was so (5
    # notes) and in 44 % elsewhere, at 2,700 tokens each. A note that fails a gate afterwards is still repaired.
    post = case.post.as_read
    if first.objections or lint(first.text) or unfound_quotes(first.text, post, case.evidence):
        return True
    hints = judge_principles(context.embedder, post, first.text)
    if any(hint.status is not GateStatus.PASS for hint in hints):
        return True
    others = [draft.text for draft in case.candidates if draft is not first]
    try:
        verdicts = context.jury().compare(post.text, [first.text, *others])
    except CrowdNotesError:
        return True
    known = [item.note_intercept for item in verdicts if isinstance(item, JuryVerdict) and not item.means_nothing]
    return len(known) < len(verdicts) or max(known) - known[0] >= MAX_TIED_GAP


def score(case: Case, progress: Progress, context: StageContext, *, before_inspection: bool = False) -> StageResult:
    """Judge the note; `before_inspection` over the passages that it cites, and a model repairs one that fails."""
    if case.draft is None:
        return {}, StageOutcome.not_needed("There is no note to score.")
    evidence = _choose_judging_evidence(case, case.draft) if before_inspection else case.used_evidence

    def report(gates: Sequence[GateResult]) -> None:
        progress.count(len(gates), len(GATES), _summarise_gates(gates))

    text = case.draft.text
    assessment = assess(context.engine, context.brief(case), text, evidence, context.clock, report)
    judged = assessment.gates  # without what people found, which may be hidden from some
    summary, changes = _summarise_gates(judged), dict[str, object]()
    assessment = with_checks(assessment, text, evidence, case.sentence_checks)
    if before_inspection and case.draft.engine != "person" and context.engine.uses_language_model:
        changes, repaired, said = _repair(case, case.draft, assessment, context)
        judged, summary = (*judged, *repaired), summary + said
    verdicts = tuple((gate.gate.value, gate.status) for gate in judged)
    return {"assessment": assessment, **changes}, StageOutcome(summary=summary, verdicts=verdicts)


def _repair(
    case: Case, draft: Draft, assessment: Assessment, context: StageContext
) -> tuple[dict[str, object], Sequence[GateResult], str]:
    """Repair, once, a note that nobody has read and that failed a gate, or that one is uncertain of.

    The new one is kept if it passes all gates, and more surely than one that passed.

    Returns the changes, the gates of a new note that is kept, and what happened, to put behind the summary.
    """
    brief = context.brief(case)
    evidence = _choose_writing_evidence(case)
    try:
        found = repaired_draft(context.engine, brief, evidence, draft, assessment, context.clock)
        if isinstance(found, str):
            return {}, (), f". Not fixed: {found}" if found else ""
        after, before = found
        again = assess(context.engine, brief, after.text, _choose_judging_evidence(case, after), context.clock)
    except EngineError as error:
        return {}, (), f". Not fixed: {error.message}"
    others = [other for other in case.candidates if other.sha256 != draft.sha256]
    if any(result.status is not GateStatus.PASS for result in again.found):
        return {"candidates": (before, *others)}, (), ". A fixed draft did not pass either"
    was, now = (item.gate(GateName.HELPFULNESS) for item in (assessment, again))
    if was.uncertain and (now.score or 0) <= (was.score or 0):
        return {"candidates": (before, *others)}, (), ". A fixed draft was no better"
    others = [other for other in others if other.sha256 != after.sha256]
    changes = {"candidates": (after, before, *others), "assessment": again, **change_draft(case, after)}
    return changes, again.gates, f". Fixed: {_summarise_gates(again.gates)}"


def vote(case: Case, _: Progress, context: StageContext) -> StageResult:
    """Let one simulated jury judge the note and each candidate.

    What cannot be judged is NOT RUN with its reason in the summary.
    """
    if case.draft is None:
        return {}, StageOutcome.not_run("there is no note.")
    post, text = case.post.as_read.text, case.draft.text
    others = [candidate.text for candidate in case.candidates if candidate.sha256 != case.draft.sha256]
    try:
        jury = context.jury()
        verdict = jury.verdict(post, text)
    except CrowdNotesError as error:
        return {}, StageOutcome.not_run(error.message)
    known = {item.text_sha256 for item in case.jury if item.post_sha256 == verdict.post_sha256}
    compared = jury.compare(post, others)
    refused = [item.message for item in compared if not isinstance(item, JuryVerdict)]
    new_verdicts = [item for item in compared if isinstance(item, JuryVerdict) and item.text_sha256 not in known]
    earlier = tuple(item for item in case.jury if item.text_sha256 != verdict.text_sha256)
    kept = (*earlier, *new_verdicts)[-(_MAX_KEPT_VERDICTS - 1) :]
    score, line = in_figures(verdict.note_intercept, verdict.helpful_line), verdict.helpful_line
    summary = f"simulated score {score} of {line:.2f} needed"
    if refused:
        summary += f"; drafts NOT RUN: {len(refused)} ({' '.join(dict.fromkeys(refused))})"
    return {"jury": (*kept, verdict)}, StageOutcome(summary=summary)


def check_links(case: Case, progress: Progress, context: StageContext, *, afresh: bool = False) -> StageResult:
    """Ask the note's links, see `approval.check_links`."""
    return approval.check_links(case, progress, context.links, context.clock, afresh=afresh)


def _summarise_gates(gates: Sequence[GateResult]) -> str:
    return ", ".join(f"{gate.gate.value} {gate.status.in_record}" for gate in gates)


def _choose_writing_evidence(case: Case) -> tuple[Evidence, ...]:
    """Return the passages in use; while there are none, all that were found to judge the claim by."""
    return case.used_evidence or case.judging_evidence


def _choose_judging_evidence(case: Case, draft: Draft) -> tuple[Evidence, ...]:
    """Return the passages in use; while there are none, those that the note cites."""
    return case.used_evidence or tuple(item for item in case.evidence if item.id in draft.evidence_ids)


def _explain_no_note(reason: str) -> StageOutcome:
    """Return how writing ended without a note: that is a result. `reason` is shown where the note would be."""
    return StageOutcome(summary=f"No note: {reason}", reason=reason)


def written_before(case: Case) -> StageOutcome | None:
    """Return how writing ended, if its notes were never compared because the work was stopped or failed."""
    at = {stage.name: stage.finished_at for stage in case.stages}
    written, compared = at.get(StageName.DRAFT), at.get(StageName.REVISE)
    if not case.candidates or written is None or (compared is not None and compared >= written):
        return None
    present = {item.id for item in (case.used_evidence or case.evidence)}
    known = all(name in present for draft in case.candidates for name in draft.evidence_ids)
    return StageOutcome(summary="Written before, not compared yet") if known else None


def _choose_first_stated(case: Case) -> Draft:
    """Return the first candidate whose answer a passage states, else the first."""
    stated = (draft for draft in case.candidates if not draft.is_inferred(case.settlement, case.evidence))
    return next(stated, case.candidates[0])
