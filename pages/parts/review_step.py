"""Step 4: what is wrong with the note. Gates in order, principles, form."""

from __future__ import annotations

import streamlit as st

from crowdnotes.domain import Assessment, Case, GateStatus, LintLevel, PrincipleResult
from crowdnotes.jobs.records import JobRecord
from crowdnotes.note_lint import lint
from pages.parts.components import gate_path
from pages.parts.progress import job_panel, start, under_way
from pages.parts.steps import StepName, StepState, StepView, step
from pages.parts.text import plain

_SIGNS = {
    GateStatus.PASS: ":green[:material/check_circle:]",
    GateStatus.FAIL: ":red[:material/cancel:]",
    GateStatus.NOT_RUN: ":gray[:material/do_not_disturb_on:]",
}
_WORDS = {GateStatus.PASS: "passed", GateStatus.FAIL: "failed", GateStatus.NOT_RUN: "not run"}


def review_step(case: Case | None, job: JobRecord | None) -> None:
    """Draw the step."""
    with step(case, _view(case)) as is_open:
        if case is None:
            return
        job_panel(case, job, "assess")
        if not is_open or case.draft is None:
            return
        if case.decision is None:
            _scoring(case, job)
        if case.assessment is not None:
            _gates(case, case.assessment)
            _principles(case.assessment, stale=not case.assessment_is_current)
        _form(case)
        st.markdown(
            ":gray[:material/do_not_disturb_on:] **Jury: not run.** No jury model is installed yet, "
            "so nothing is said here about how raters of different views would vote."
        )


def _view(case: Case | None) -> StepView:
    name = StepName.REVIEW
    if case is None or case.draft is None:
        return StepView(name, StepState.LOCKED, "Comes after the draft")
    assessment = case.assessment
    if assessment is None:
        result = "Not scored yet"
    elif not case.assessment_is_current:
        result = ":orange[:material/history: scores are of an earlier text]"
    else:
        result = " → ".join(f"{_SIGNS[gate.status]} {gate.gate.value}" for gate in assessment.gates)
    return StepView(name, StepState.DONE if case.decision else StepState.ACTIVE, result, "Open")


def _scoring(case: Case, job: JobRecord | None) -> None:
    if under_way(job):
        return
    stale = case.assessment is not None and not case.assessment_is_current
    if stale:
        st.warning(
            "The note, or the passages in use, changed since. Score it again to see how it stands now.",
            title="These scores are out of date.",
            icon=":material/history:",
        )
    if case.assessment is None or stale:
        st.button(
            "Score again" if stale else "Score the note",
            key="score",
            type="primary",
            icon=":material/rule:",
            shortcut="Alt+S",
            on_click=start,
            args=(case, "assess"),
        )


def _gates(case: Case, assessment: Assessment) -> None:
    stale = not case.assessment_is_current
    st.markdown("**Three gates, in order:** each is asked only when the one before it passed")
    gate_path(assessment.gates, stale=stale, key=f"gates-{case.id}")
    for gate in assessment.gates:
        if gate.status is not GateStatus.FAIL:
            continue
        for finding in gate.findings:
            if not finding.ok:
                about = f"{finding.evidence_id}: " if finding.evidence_id else ""
                st.markdown(f":red[:material/arrow_right:] {about}{plain(finding.message)}")


def _principles(assessment: Assessment, *, stale: bool) -> None:
    st.markdown("**Principles of a good note**")
    with st.grid("auto", min_column_width=300, gap="small"):
        for result in assessment.principles:
            _principle(result, stale=stale)


def _principle(result: PrincipleResult, *, stale: bool) -> None:
    with st.container(gap=None):
        name = result.principle.value
        sign = ":gray[:material/history:]" if stale else _SIGNS[result.status]
        st.markdown(f"{sign} **{name[:1].upper()}{name[1:]}:** {_WORDS[result.status]}")
        st.caption(plain(result.reason))


def _form(case: Case) -> None:
    st.markdown("**Form**")
    warnings = lint(case.draft.text) if case.draft else ()
    if not warnings:
        st.markdown(":green[:material/check_circle:] Nothing that X or a reader would stumble over")
    for warning in warnings:
        blocks = warning.level is LintLevel.BLOCKS
        sign = ":red[:material/cancel:]" if blocks else ":orange[:material/warning:]"
        st.markdown(f"{sign} {plain(warning.message)}" + (" :red[Stops approval.]" if blocks else ""))
