"""Gates and jury in one sentence: the gates ask what a note says and on what, the jury how it would be received."""

from __future__ import annotations

from crowdnotes.domain.case import Case
from crowdnotes.domain.judgement import Assessment, GateStatus, JuryVerdict

_APART = 0.15  # of the mean rating; sides further apart than this are named


def gates_and_jury(assessment: Assessment, verdict: JuryVerdict) -> str:
    """For instance: "Clear and sourced, but side + would find it helpful less often". Of one text, as both must be."""
    named = {
        status: " and ".join(gate.gate.value for gate in assessment.found if gate.status is status)
        for status in (GateStatus.FAIL, GateStatus.NOT_RUN)
    }
    failed, not_run = named[GateStatus.FAIL], named[GateStatus.NOT_RUN]
    if verdict.means_nothing:
        return "The gates alone count here: the jury's numbers mean nothing for this text."
    reached = verdict.note_intercept >= verdict.helpful_line
    if failed:
        if reached:
            return (
                f"Well received by the simulated jury, but it did not pass {failed}: pleasing words do not mend that."
            )
        return (
            f"Gates and jury agree that it is not ready: it did not pass {failed}, and the jury stays under the line."
        )
    if not_run:
        standing = "reaches" if reached else "stays under"
        return f"The simulated jury's intercept {standing} the line, but {not_run} was not run: that is still open."
    if reached:
        return "Clear and sourced, and well received by the simulated jury: gates and jury agree."
    return f"Clear and sourced, but {_why_under(verdict)}."


def agreement(case: Case) -> str:
    """The sentence on the case's draft; nothing unless both judged this very text."""
    verdict = case.verdict_on(case.draft.sha256) if case.draft else None
    if verdict is None or case.assessment is None or not case.assessment_is_current:
        return ""
    return gates_and_jury(case.assessment, verdict)


def _why_under(verdict: JuryVerdict) -> str:
    low, high = verdict.negative.mean, verdict.positive.mean
    if low is not None and high is not None and abs(low - high) >= _APART:
        harsher = verdict.positive if high < low else verdict.negative
        return f"side {harsher.side} of the simulated jury would find it helpful less often"
    if verdict.shown_of_100 is not None:
        return f"of 100 such notes on which X decided only about {verdict.shown_of_100} were shown"
    return "the simulated jury's intercept stays under the line"
