"""Step 4: the scores of the note. Gates in order, principles, and its form."""

from __future__ import annotations

import streamlit as st

from crowdnotes.domain import BY_PERSON, Assessment, Case, GateStatus, LintLevel, PrincipleResult
from crowdnotes.jobs import JobRecord
from crowdnotes.text.languages import language_of
from crowdnotes.text.lint import without_tracking
from crowdnotes.text.markdown import escaped
from pages.view.components import gate_path, outside_text
from pages.view.decision import asking, stop_asking
from pages.view.jury import jury_panel
from pages.view.note import SCORE_BUTTON, SCORE_SHORTCUT, save_typed
from pages.view.progress import job_panel, start, under_way
from pages.view.search_report import language_name
from pages.view.session import act, author, notices, workspace
from pages.view.steps import StepName, StepState, StepView, step

_PLACE = StepName.REVIEW.value


def review_step(case: Case | None, job: JobRecord | None) -> None:
    """Draw the step."""
    with step(case, _view(case)) as is_open:
        if case is None:
            return
        with st.empty().container():  # its own place, so that the note below stays where it is when it goes
            job_panel(case, job, "assess")
        if not is_open or case.draft is None:
            return
        if case.decision is None:
            _scoring(case, job)
        if case.assessment is not None:
            _language_warning(case, case.assessment)
            _gates(case, case.assessment)
            principles_panel(case, case.assessment)
        _form(case)
        jury_panel(case)


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
        result = " → ".join(f"{SIGNS[gate.status]} {gate.gate.value}" for gate in assessment.gates)
    return StepView(name, StepState.DONE if case.decision else StepState.ACTIVE, result, "Open")


def _scoring(case: Case, job: JobRecord | None) -> None:
    if under_way(job) and not asking(job):
        return
    stale = case.assessment is not None and not case.assessment_is_current
    if stale:
        st.warning(
            "The note, or the passages in use, changed since. Score it again to see how it stands now.",
            title="These scores are out of date.",
            icon=":material/history:",
        )
    # Always there, so that the shortcut works straight after typing, when the page knows of no change yet.
    st.button(
        "Score the note" if case.assessment is None else "Score again",
        key=SCORE_BUTTON,
        type="primary" if stale or case.assessment is None else "secondary",
        icon=":material/rule:",
        shortcut=SCORE_SHORTCUT,
        on_click=_score,
        args=(case,),
    )


def _score(case: Case) -> None:
    """Score what stands in the note box, also words that were typed just now."""
    save_typed(case)
    stop_asking(case)
    start(case, "assess")


def _language_warning(case: Case, assessment: Assessment) -> None:
    """Before the scores: what they are worth where the gates without a language model meet another language."""
    foreign = "" if assessment.engine.startswith("llm:") else _foreign(case)
    if foreign:
        st.warning(
            "The gates without a language model were made for English. What judges words is not run; take any score "
            "as a guess.",
            title=f"{foreign}: judge it yourself.",
            icon=":material/translate:",
        )


def _gates(case: Case, assessment: Assessment) -> None:
    stale = not case.assessment_is_current
    st.markdown("**Three gates, in order:** each counts only when the one before it passed")
    gate_path(assessment.gates, workspace().service.gate_questions, stale=stale, key=f"gates-{case.id}")
    for gate in assessment.gates:
        if gate.status is not GateStatus.FAIL:
            continue
        wrong = ((item.evidence_id, item.message) for item in gate.findings if not item.ok)
        for evidence_id, message in dict.fromkeys(wrong):
            about = f"{evidence_id}: " if evidence_id and not message.startswith(evidence_id) else ""
            st.markdown(f":red[:material/arrow_right:] {about}{escaped(message)}")
    if assessment.marked:
        told = ", ".join("the post" if name == "post" else name for name in sorted(assessment.marked))
        st.markdown(f":orange-badge[:material/warning: speaks to programs, says the model: {told}]")
    if assessment.engine.startswith("llm:"):
        st.caption(_sureness(assessment))
    for gate in assessment.gates:
        if gate.judge not in ("", BY_PERSON) and gate.judge not in assessment.engine.split("+")[:1]:
            st.caption(f"Judge of {gate.gate.value}: {escaped(gate.judge)}")


def _sureness(assessment: Assessment) -> str:
    """The judge's own probabilities, and their product where it gives all three (CrowdNotes+ 4.3, equation 1)."""
    known = [f"{gate.gate.value} {gate.probability:.2f}" for gate in assessment.gates if gate.probability is not None]
    if not known:
        return "How sure the judge is: this model gives no probabilities."
    whole = "" if assessment.probability is None else f"; all three together {assessment.probability:.2f}"
    return f"How sure the judge is that each passes, from 0 to 1: {', '.join(known)}{whole}"


def _foreign(case: Case) -> str:
    """That the post or the note is in another language than English, in words; empty when both seem English."""
    note = language_of(case.draft.text) if case.draft is not None else None
    found = ((name, code) for name, code in (("The post", case.post.language), ("The note", note)) if code)
    return "; ".join(f"{name} is in {language_name(code)}" for name, code in found if code.split("-")[0] != "en")


def _form(case: Case) -> None:
    st.markdown("**Form**")
    if case.draft is None:
        return
    warnings = workspace().service.form_warnings(case)
    if not warnings:
        st.markdown(":green[:material/check_circle:] Nothing that X or a reader would stumble over")
    for message, level in dict.fromkeys((warning.message, warning.level) for warning in warnings):
        blocks = level is LintLevel.BLOCKS
        sign = ":red[:material/cancel:]" if blocks else ":orange[:material/warning:]"
        st.markdown(f"{sign} {escaped(message)}" + (" :red[Stops approval.]" if blocks else ""))
    if case.decision is None and any(warning.code == "tracking" for warning in warnings):
        st.button("Cut the tracking", key="cut-tracking", icon=":material/content_cut:", on_click=_cut, args=(case,))


def _cut(case: Case) -> None:
    """Take the tracking out of the links; Undo brings it back."""
    draft = case.draft
    if draft is not None:
        text = without_tracking(draft.text)
        act(_PLACE, lambda: workspace().service.edit_draft(case.id, text, author(), based_on=draft.sha256))


SIGNS = {
    GateStatus.PASS: ":green[:material/check_circle:]",
    GateStatus.FAIL: ":red[:material/cancel:]",
    GateStatus.NOT_RUN: ":gray[:material/do_not_disturb_on:]",
}
_WORDS = {GateStatus.PASS: "passed", GateStatus.FAIL: "failed", GateStatus.NOT_RUN: "not run"}
_PRINCIPLES = "principles"


def principles_panel(case: Case, assessment: Assessment) -> None:
    """All six; a rewrite is offered while the scores are of the note as it stands."""
    st.markdown("**Principles of a good note**")
    notices(_PRINCIPLES)
    with st.grid("auto", min_column_width=300, gap="small"):
        for result in assessment.principles:
            _principle(case, result)


def _principle(case: Case, result: PrincipleResult) -> None:
    stale = not case.assessment_is_current
    with st.container(gap=None):
        name = result.principle.value
        sign = ":gray[:material/history:]" if stale else SIGNS[result.status]
        st.markdown(f"{sign} **{name[:1].upper()}{name[1:]}:** {_WORDS[result.status]}")
        st.caption(escaped(result.reason))
        _findings(result)
        if result.rewrite and not stale and case.decision is None:
            _rewrite(case, result)


def _findings(result: PrincipleResult) -> None:
    """What it objects to; where the principle passes, remarks in grey, which a person may weigh otherwise."""
    messages = [escaped(message, 200) for message in dict.fromkeys(finding.message for finding in result.findings)]
    if result.status is GateStatus.FAIL:
        for message in messages:
            st.markdown(f":small[:orange[:material/arrow_right:] {message}]")
    elif messages:
        st.caption("Remarks")
        for message in messages:
            st.markdown(f":small[:gray[:material/arrow_right: {message}]]")


def _rewrite(case: Case, result: PrincipleResult) -> None:
    key = result.principle.name.lower()
    st.caption("The model suggests:")
    outside_text(result.rewrite, look="note", key=f"rewrite-{key}")
    st.button(
        "Take this wording",
        key=f"take-rewrite-{key}",
        icon=":material/edit_note:",
        help="Undo brings the old words back. The note is to be scored again.",
        on_click=_take,
        args=(case, result.rewrite),
    )


def _take(case: Case, text: str) -> None:
    draft = case.draft
    if draft is not None:
        act(_PRINCIPLES, lambda: workspace().service.edit_draft(case.id, text, author(), based_on=draft.sha256))
