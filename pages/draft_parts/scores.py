"""How the note scores: three gates in order and the principles; then the jury, and what the last edit changed."""

from __future__ import annotations

from functools import partial

import streamlit as st

from crowdnotes.domain import BY_PERSON, Assessment, Case, GateStatus, PrincipleResult
from crowdnotes.jobs import JobRecord
from crowdnotes.text.languages import language_of
from crowdnotes.text.markdown import escaped
from crowdnotes.wording import name_of, say
from pages.common.components import STATUS_SIGNS, STATUS_WORDS, gate_path, outside_text
from pages.common.jury import jury_panel, what_the_edit_changed
from pages.common.layout import StepName
from pages.common.progress import job_panel, start, under_way
from pages.common.search_report import language_name
from pages.common.session import button, notices, workspace
from pages.draft_parts.note import SCORE_BUTTON, asking, save_typed, stop_asking

_PLACE = StepName.REVIEW.value


def score_button(case: Case, job: JobRecord | None) -> None:
    """Scores what stands in the note box. Always there, so that its key works straight after typing."""
    current = case.assessment_is_current
    name = "scores.score" if case.assessment is None else "scores.score_again"
    look = {"type": "secondary" if current or case.draft is None else "primary", "help": say("scores.key")}
    busy = under_way(job) and not asking(job)
    button(say(name), SCORE_BUTTON, _PLACE, partial(score, case), icon="rule", disabled=busy, **look)


def scores(case: Case, job: JobRecord | None) -> None:
    """The scores of the newest assessment, dimmed where they are of other words."""
    notices(_PLACE)
    with st.empty().container():  # its own place, so that the scores below stay where they are when it goes
        job_panel(case, job, "assess")
    if case.assessment is None:
        return
    if not case.assessment_is_current:
        st.markdown(f":orange-badge[:material/history: {say('scores.stale')}]")
    _language_warning(case, case.assessment)
    _gates(case, case.assessment)
    _principles(case, case.assessment)
    jury_panel(case, busy=under_way(job) and job is not None and job.kind == "assess")
    what_the_edit_changed(case)


def marks(case: Case) -> str:
    """Markdown of the three gates in a few signs, for the strip above."""
    if case.assessment is None:
        return say("scores.none")
    if not case.assessment_is_current:
        return f":orange[:material/history: {say('scores.stale_short')}]"
    return "".join(STATUS_SIGNS[gate.status] for gate in case.assessment.told)


def score(case: Case) -> None:
    """Score what stands in the note box, also words that were typed just now."""
    save_typed(case)
    stop_asking(case)
    start(case, "assess")


def _language_warning(case: Case, assessment: Assessment) -> None:
    """Before the scores: what they are worth where the gates without a language model meet another language."""
    foreign = "" if assessment.engine.startswith("llm:") else _foreign(case)
    if foreign:
        st.warning(
            say("scores.foreign_next"), title=say("scores.foreign", languages=foreign), icon=":material/translate:"
        )


def _gates(case: Case, assessment: Assessment) -> None:
    """Three lines, each opens to its question and its scale. What failed is told among the problems."""
    gate_path(
        assessment.told,
        workspace().service.gate_questions,
        stale=not case.assessment_is_current,
        key=f"gates-{case.id}",
    )
    if assessment.marked:
        told = ", ".join(say("scores.the_post") if name == "post" else name for name in sorted(assessment.marked))
        st.markdown(f":orange-badge[:material/warning: {say('scores.marked', what=told)}]")
    judges = {gate.gate.value: gate.judge for gate in assessment.told if gate.judge not in ("", BY_PERSON)}
    others = [name for name, judge in judges.items() if judge not in assessment.engine.split("+")[:1]]
    lines = [say("scores.judge", gate=name, judge=escaped(name_of("kinds", judges[name]))) for name in others]
    lines += [_sureness(assessment)] if assessment.engine.startswith("llm:") else []
    if lines:
        st.caption("  \n".join(lines))


def _sureness(assessment: Assessment) -> str:
    """The judge's own probabilities, and their product where it gives all three (CrowdNotes+ 4.3, equation 1)."""
    known = [
        f"{gate.gate.in_words} {gate.probability:.2f}" for gate in assessment.gates if gate.probability is not None
    ]
    if not known:
        return say("scores.not_sure")
    whole = "" if assessment.probability is None else say("scores.all_three", p=f"{assessment.probability:.2f}")
    return say("scores.sure", gates=", ".join(known)) + whole


def _foreign(case: Case) -> str:
    """That the post or the note is in another language than English, in words; empty when both seem English."""
    note = language_of(case.draft.text) if case.draft is not None else None
    found = (("scores.post_is_in", case.post.language), ("scores.note_is_in", note))
    return "; ".join(
        say(name, language=language_name(code)) for name, code in found if code and code.split("-")[0] != "en"
    )


_PRINCIPLES = "principles"


def _principles(case: Case, assessment: Assessment) -> None:
    """All six, folded; a rewrite is offered while the scores are of the note as it stands."""
    results = assessment.principles
    if not results:
        return
    kept = sum(result.status is GateStatus.PASS for result in results)
    failed = sum(result.status is GateStatus.FAIL for result in results)
    ran = any(result.status is not GateStatus.NOT_RUN for result in results)
    label = say("scores.principles", kept=kept, all=len(results)) if ran else say("scores.principles_not_run")
    if failed and case.assessment_is_current:
        label += f" :orange[{say('scores.principles_failed', n=failed)}]"
    with st.expander(label, key=f"principles-{case.id}", icon=":material/checklist:"):
        notices(_PRINCIPLES)
        for result in assessment.principles:
            _principle(case, result)


def _principle(case: Case, result: PrincipleResult) -> None:
    """In one piece, as there are six: the reason and what it objects to below the name.

    Where the principle passes, its remarks are grey: a person may weigh them otherwise.
    """
    stale = not case.assessment_is_current
    name = result.principle.value
    sign = ":gray[:material/history:]" if stale else STATUS_SIGNS[result.status]
    lines = [f"{sign} **{name[:1].upper()}{name[1:]}:** {STATUS_WORDS[result.status]}"]
    lines.append(f":small[:gray[{escaped(result.reason)}]]")
    failed = result.status is GateStatus.FAIL
    messages = [escaped(message, 200) for message in dict.fromkeys(finding.message for finding in result.findings)]
    if messages and not failed:
        lines.append(f":small[:gray[{say('scores.remarks')}]]")
    colour = "orange" if failed else "gray"
    lines += [f":small[:{colour}[:material/arrow_right: {message}]]" for message in messages]
    st.markdown("  \n".join(lines))
    if result.rewrite and not stale and case.decision is None:
        _rewrite(case, result)


def _rewrite(case: Case, result: PrincipleResult) -> None:
    key = result.principle.name.lower()
    st.caption(say("scores.suggests"))
    outside_text(result.rewrite, look="note", key=f"rewrite-{key}")
    take, look = partial(take_words, case, result.rewrite), {"help": say("scores.take_about")}
    button(say("scores.take"), f"take-rewrite-{key}", _PRINCIPLES, take, icon="edit_note", **look)


def take_words(case: Case, text: str) -> None:
    """Put other words into the note; Undo brings the old ones back."""
    if case.draft is not None:
        workspace().service.edit_draft(case.id, text, based_on=case.draft.sha256)
