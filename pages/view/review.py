"""Step 4: the scores of the note. Gates in order, principles, its form, and the jury, a simulation that says so."""

from __future__ import annotations

from functools import partial

import streamlit as st

from crowdnotes.domain import (
    BY_PERSON,
    Assessment,
    Case,
    GateName,
    GateStatus,
    JuryVerdict,
    LintLevel,
    PrincipleResult,
    SideVotes,
    StageName,
)
from crowdnotes.jobs import JobRecord
from crowdnotes.text.languages import language_of
from crowdnotes.text.lint import without_tracking
from crowdnotes.text.markdown import escaped, in_figures
from pages.view.components import STATUS_WORDS, gate_path, outside_text
from pages.view.decision import asking, stop_asking
from pages.view.note import SCORE_BUTTON, SCORE_SHORTCUT, save_typed
from pages.view.plots import Part, Standing, number_line, stacked_shares
from pages.view.progress import job_panel, start, under_way
from pages.view.search_report import language_name
from pages.view.session import author, button, notices, workspace
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
            _principles(case, case.assessment)
        _form(case)
        _jury_panel(case)


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
    decided = StepState.DONE if case.assessment_is_current else StepState.LATER  # what was not scored is not done
    return StepView(name, decided if case.decision else StepState.ACTIVE, result)


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
    label, look = ("Score the note", "primary") if case.assessment is None else ("Score again", "secondary")
    look = "primary" if stale else look
    button(label, SCORE_BUTTON, _PLACE, partial(_score, case), icon="rule", type=look, shortcut=SCORE_SHORTCUT)


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
        cut = partial(_take, case, without_tracking(case.draft.text))
        button("Cut the tracking", "cut-tracking", _PLACE, cut, icon="content_cut")


_SIGNS = {
    GateStatus.PASS: ":green[:material/check_circle:]",
    GateStatus.FAIL: ":red[:material/cancel:]",
    GateStatus.NOT_RUN: ":gray[:material/do_not_disturb_on:]",
}
_PRINCIPLES = "principles"


def _principles(case: Case, assessment: Assessment) -> None:
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
        sign = ":gray[:material/history:]" if stale else _SIGNS[result.status]
        st.markdown(f"{sign} **{name[:1].upper()}{name[1:]}:** {STATUS_WORDS[result.status]}")
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
    about = "Undo brings the old words back. The note is to be scored again."
    take = partial(_take, case, result.rewrite)
    button("Take this wording", f"take-rewrite-{key}", _PRINCIPLES, take, icon="edit_note", help=about)


def _take(case: Case, text: str) -> None:
    """Put other words into the note; Undo brings the old ones back."""
    if case.draft is not None:
        workspace().service.edit_draft(case.id, text, author(), based_on=case.draft.sha256)


_ENDS = (-0.4, 0.8)  # nearly all note intercepts of the public data lie between
_ON_TRUTH = frozenset({GateName.RELEVANCE, GateName.CORRECTNESS})
_POINTS = 2  # of 100 jurors; what moves fewer is lost in the model's noise
_LETTERS = "ABCDEFGHIJ"
_UNDER_THE_LINE = "GeneralCRH"  # the rule whose reason the sentence on the intercept says already
_STATUS = {
    "CURRENTLY_RATED_HELPFUL": "It would be shown",
    "CURRENTLY_RATED_NOT_HELPFUL": "It would be rated not helpful",
    "NEEDS_MORE_RATINGS": "It would not be shown yet",
}


def _jury_panel(case: Case) -> None:
    """Draw the newest verdict on this very text; NOT RUN with its reason when there is none."""
    verdict = case.verdict_on(case.draft.sha256) if case.draft else None
    with st.container(key="jury-panel-body", gap="small"):
        st.markdown("**Jury (a simulation):** how raters of different views might vote on these words")
        if verdict is None:
            st.markdown(f":gray[:material/do_not_disturb_on: Not run.] {escaped(_why_not(case))}")
            return
        warnings = _jury_warnings(case, verdict)
        if together := case.agreement:
            st.markdown(f":material/balance: {escaped(together)}")
        for warning in warnings:
            st.markdown(f":orange[:material/warning:] {escaped(warning)}")
        if verdict.means_nothing:
            with st.expander("Its numbers all the same", icon=":material/data_thresholding:"):
                _standing(case, verdict)
                _votes(case, verdict)
        else:
            st.markdown(f":gray[{escaped(verdict.sentence)}]" if warnings else escaped(verdict.sentence))
            _standing(case, verdict)
            _votes(case, verdict)
            changed = workspace().service.jury_changes(case)
            if changed:
                st.markdown(f":material/compare_arrows: **Since the text before:** {escaped(' '.join(changed))}")
            _influences(verdict)
        _beside(case, verdict)
        _about(verdict)


def _jury_warnings(case: Case, verdict: JuryVerdict) -> list[str]:
    """What a reader must know before the jury's sentence, the gravest first: a false note may please every juror."""
    failed = []
    if case.assessment is not None and case.assessment_is_current:
        failed = [
            gate.gate.value
            for gate in case.assessment.gates
            if gate.gate in _ON_TRUTH and gate.status is GateStatus.FAIL
        ]
    told = [
        f"The jury judges how words would be received, not whether they are true: the {name} gate failed."
        for name in failed
    ]
    return [*told, *verdict.cautions]


def _why_not(case: Case) -> str:
    summary = next((stage.summary for stage in case.stages if stage.name is StageName.JURY), "")
    if case.jury:
        return "The words changed since the jury sat. Score the note again."
    return summary.removeprefix("NOT RUN: ") or "Score the note, and the jury sits too."


def _standing(case: Case, verdict: JuryVerdict) -> None:
    low, high = verdict.intercept_interval.low, verdict.intercept_interval.high
    intercept = in_figures(verdict.note_intercept, verdict.helpful_line)
    words = (
        f"Note intercept {intercept} of the {verdict.helpful_line:.2f} needed "
        f"({_whose_interval(verdict)}: {low:.2f} to {high:.2f})."
    )
    status = _STATUS.get(verdict.status, verdict.status)
    said = "" if verdict.means_nothing else f" **{escaped(status)}** ({escaped(verdict.status)})."
    st.markdown(f"{words}{said}")
    number_line(
        [Standing("this note", verdict.note_intercept, low, high)],
        line=verdict.helpful_line,
        ends=_ENDS,
        alt=words,
        key=f"jury-line-{case.id}",
    )
    if verdict.means_nothing:
        return
    for rule in verdict.blocked_by or (verdict.decided_by,):
        if rule.rule != _UNDER_THE_LINE:
            st.caption(escaped(rule.reason))


def _whose_interval(verdict: JuryVerdict) -> str:
    return "nine juries in ten" if verdict.chance_of_shown is None else "nine such notes in ten"


def _votes(case: Case, verdict: JuryVerdict) -> None:
    sides = (verdict.negative, verdict.positive)
    st.caption(f"Votes by viewpoint, side {sides[0].side} / side {sides[1].side}, {verdict.jurors:,} simulated jurors")
    stacked_shares(
        [f"Side {side.side} ({side.jurors})" for side in sides],
        [
            Part("helpful", tuple(side.helpful for side in sides)),
            Part("somewhat helpful", tuple(side.somewhat_helpful for side in sides)),
            Part("not helpful", tuple(side.not_helpful for side in sides)),
        ],
        alt=" ".join(_in_words(side) for side in sides),
        between=" / ",
        key=f"jury-votes-{case.id}",
    )


def _in_words(side: SideVotes) -> str:
    return (
        f"Side {side.side}: {side.helpful} helpful, {side.somewhat_helpful} somewhat helpful, "
        f"{side.not_helpful} not helpful."
    )


def _influences(verdict: JuryVerdict) -> None:
    told = [found for found in verdict.influences if _points(found.on_negative) or _points(found.on_positive)]
    if not told:
        return
    with st.expander("Which words move the two sides", icon=":material/text_fields:"):
        st.caption("Of 100 jurors of each side, how many more or fewer vote helpful because of these words.")
        for found in told:
            st.markdown(
                f"“{escaped(found.words, 90)}”: {_in_points(found.on_negative)} on side −, "
                f"{_in_points(found.on_positive)} on side +"
            )


def _points(share: float) -> int:
    points = round(100 * share)
    return points if abs(points) >= _POINTS else 0


def _in_points(share: float) -> str:
    points = _points(share)
    if not points:
        return ":gray[no change]"
    return f":green[{points} more]" if points > 0 else f":red[{-points} fewer]"


def _beside(case: Case, verdict: JuryVerdict) -> None:
    """The candidates on one scale, the draft among them, when the jury heard more than one."""
    heard = [
        (letter, found)
        for letter, candidate in zip(_LETTERS, case.candidates, strict=False)
        if (found := case.verdict_on(candidate.sha256)) is not None
    ]
    if len(heard) < 2:
        return
    if all(found.text_sha256 != verdict.text_sha256 for _, found in heard):
        heard = [("yours", verdict), *heard]
    with st.expander("The candidates side by side", icon=":material/balance:"):
        number_line(
            [
                Standing(name, found.note_intercept, found.intercept_interval.low, found.intercept_interval.high)
                for name, found in heard
            ],
            line=verdict.helpful_line,
            ends=_ENDS,
            alt=" ".join(f"Candidate {name}: note intercept {found.note_intercept:.2f}." for name, found in heard),
            key=f"jury-beside-{case.id}",
        )
        for name, found in heard:
            shares = " and ".join(
                f"{round(100 * side.helpful / side.jurors)} of 100 on side {side.side}"
                for side in (found.negative, found.positive)
                if side.jurors
            )
            st.caption(f"**{name}**: {shares} vote helpful")


def _about(verdict: JuryVerdict) -> None:
    with st.popover("How far to trust this", icon=":material/info:", type="tertiary"):
        st.markdown(escaped(verdict.quality.note))
        st.caption(
            "Side − and side + are raters whose factor in the algorithm lies below and above zero: the two camps that "
            "usually disagree. The intercept is what is left of a note's helpfulness when the camps are taken out."
        )
        not_applied = ", ".join(verdict.not_applied)
        st.caption(f"Rules that a simulation cannot apply: {escaped(not_applied)}." if not_applied else "")
