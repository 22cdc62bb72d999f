"""How the note scores: three gates in order and the principles; then the jury, and what the last edit changed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from crowdnotes.cases import actions, case_findings
from crowdnotes.domain import BY_PERSON, Assessment, Case, GateResult, GateStatus, PrincipleResult
from crowdnotes.jobs import JobRecord
from crowdnotes.text.languages import language_of
from crowdnotes.text.markdown import escaped
from crowdnotes.wording import fill
from pages.common.components import STATUS_SIGNS, gate_path, gate_sign, outside_text, read_aloud
from pages.common.jury import jury_panel, what_the_edit_changed
from pages.common.layout import StepName
from pages.common.progress import is_scoring, job_panel, start
from pages.common.search_report import language_name
from pages.common.session import announce, button, cases, end_notices, notices
from pages.draft_parts.note import SCORE_BUTTON, forbids_scoring, save_typed, stop_for_new_scores

_NOTICE_AREA = StepName.REVIEW.value
_TRAINED_HEAD = "trained head"


def draw_score_button(case: Case, job: JobRecord | None) -> None:
    """Draw the button that scores the note box. Always there, so that its key works straight after typing."""
    current = case.assessment_is_current
    name = "Score the note" if case.assessment is None or case.draft is None else "Score again"
    look = {"type": "secondary" if current or case.draft is None else "primary", "help": "Ctrl+Enter"}
    closed = forbids_scoring(case, job)
    button(name, SCORE_BUTTON, _NOTICE_AREA, partial(score, case), icon="rule", disabled=closed, **look)


def draw_scores(case: Case, job: JobRecord | None, *, goes_elsewhere: bool) -> None:
    """Draw the scores of the newest assessment, dimmed where they are of other words.

    `goes_elsewhere`: the page goes to a sentence and not to these scores.
    """
    if not is_scoring(case, job):  # they come one after the other
        _announce_new_scores(case)
    if case.draft is not None:
        end_notices(_NOTICE_AREA, "no note")
    notices(_NOTICE_AREA)
    with st.empty().container():  # its own place, so that the scores below stay where they are when it goes
        job_panel(case, job, "assess", goes_elsewhere=goes_elsewhere)
    if case.assessment is None or case.draft is None:
        return
    if not case.assessment_is_current:
        st.markdown(":orange-badge[:material/history: The note or its sources changed. Score it again.]")
    _warn_of_foreign_language(case, case.assessment)
    _draw_gates(case, case.assessment)
    _draw_agreement(case)
    _draw_principles(case, case.assessment)
    jury_panel(case, busy=is_scoring(case, job))
    what_the_edit_changed(case)


def _draw_agreement(case: Case) -> None:
    """Draw in bold how the checks ended, green where all passed, and below it what simulated readers say."""
    if not case.agreement or case.assessment is None:
        return
    checks, *readers = map(escaped, case.agreement)
    all_passed = all(gate.status is GateStatus.PASS for gate in case.assessment.gates)
    sign = ":green[:material/check_circle:] " if all_passed else ""
    st.markdown("  \n".join((f"{sign}**{checks}**", *readers)))


def _announce_new_scores(case: Case) -> None:
    """Let a screen reader say scores that came or changed while the page was open."""
    key = f"announced-scores-{case.id}"
    scored = case.assessment if case.assessment_is_current else None
    now = f"Scores: {_describe_gates(scored.gates)}. {' '.join(case.agreement)}" if scored is not None else ""
    if now and st.session_state.get(key, now) != now:
        announce(now)
    st.session_state[key] = now


def marks(case: Case) -> str:
    """Markdown of the three gates in a few signs, for the strip above."""
    if case.assessment is None:
        return "not scored"
    if not case.assessment_is_current:
        return ":orange[:material/history: of an earlier text]"
    gates = case.assessment.gates
    return "".join(map(gate_sign, gates)) + read_aloud(_describe_gates(gates))


def _describe_gates(gates: Sequence[GateResult]) -> str:
    """Return how the gates ended: "relevance passed, correctness failed"."""
    return ", ".join(f"{gate.gate.as_text} {gate.as_text}" for gate in gates)


def score(case: Case) -> None:
    """Score the text in the note box, also words that were typed just now."""
    save_typed(case)
    stop_for_new_scores(case)
    start(case, "assess")


def _warn_of_foreign_language(case: Case, assessment: Assessment) -> None:
    """Before the scores: what they are worth where the gates without a language model meet another language."""
    foreign = "" if assessment.engine.startswith("llm:") else _name_foreign_languages(case)
    if foreign:
        st.warning(
            "Without AI the checks work only in English, wording is not checked, and any score is a guess.",
            title=f"{foreign}: judge it yourself.",
            icon=":material/translate:",
        )


def _draw_gates(case: Case, assessment: Assessment) -> None:
    """Three lines, each with its reason; each opens to its question and its scale."""
    gate_path(
        assessment.gates,
        case_findings.gate_questions(),
        stale=not case.assessment_is_current,
        key=f"gates-{case.id}",
    )
    if assessment.marked:
        marked = ", ".join("the post" if name == "post" else name for name in sorted(assessment.marked))
        st.markdown(f":orange-badge[:material/warning: the AI found instructions to programs in {marked}]")
    judges = {gate.gate.value: gate.judge for gate in assessment.gates if gate.judge not in ("", BY_PERSON)}
    others = [name for name, judge in judges.items() if judge not in assessment.engine.split("+")[:1]]
    lines = [
        f"{name.capitalize()} was estimated from past notes."
        if judges[name] == _TRAINED_HEAD
        else f"Judge for {name}: {escaped(judges[name])}"
        for name in others
    ]
    lines += [_format_probabilities(assessment)] if assessment.engine.startswith("llm:") else []
    if any(lines):
        st.caption("  \n".join(filter(None, lines)))


def _format_probabilities(assessment: Assessment) -> str:
    """Return the judge's probabilities, and their product where it gives all three (CrowdNotes+ 4.3, equation 1)."""
    known = [f"{gate.gate.as_text} {gate.probability:.2f}" for gate in assessment.gates if gate.probability is not None]
    if not known:
        return ""
    whole = "" if assessment.probability is None else f"; all three {assessment.probability:.2f}"
    return f"How sure the AI is, from 0 to 1: {', '.join(known)}{whole}"


def _name_foreign_languages(case: Case) -> str:
    """Say that the post or the note is in another language than English; empty when both seem English."""
    note = language_of(case.draft.text) if case.draft is not None else None
    found = (("The post is in {language}", case.post.language), ("The note is in {language}", note))
    return "; ".join(
        fill(name, language=language_name(code)) for name, code in found if code and code.split("-")[0] != "en"
    )


_PRINCIPLES_NOTICE_AREA = "principles"


def _draw_principles(case: Case, assessment: Assessment) -> None:
    """Draw all of them, folded; a rewrite is offered while the scores are of the present note."""
    results = assessment.principles
    if not results:
        return
    kept = sum(result.status is GateStatus.PASS for result in results)
    failed = sum(result.status is GateStatus.FAIL for result in results)
    ran, not_run = kept + failed, len(results) - kept - failed
    label = f"Principles of a good note: {kept} of {ran} met" if ran else "Principles of a good note: not run"
    if ran and not_run:
        label += f", {not_run} not run"
    if failed and case.assessment_is_current:
        label += f" :orange[{failed} not met]"
    with st.expander(label, key=f"principles-{case.id}", icon=":material/checklist:"):
        notices(_PRINCIPLES_NOTICE_AREA)
        for result in assessment.principles:
            _draw_principle(case, result)


def _draw_principle(case: Case, result: PrincipleResult) -> None:
    """In one piece, as there are many: the reason and what it objects to below the name.

    Where the principle passes, its remarks are grey: a person may weigh them otherwise.
    """
    stale = not case.assessment_is_current
    name = result.principle.value
    sign = ":gray[:material/history:]" if stale else STATUS_SIGNS[result.status]
    lines = [f"{sign} **{name[:1].upper()}{name[1:]}:** {result.status.as_text}"]
    lines.append(f":small[:gray[{escaped(result.reason)}]]")
    failed = result.status is GateStatus.FAIL
    messages = dict.fromkeys(finding.message for finding in result.findings if finding.message not in result.reason)
    if messages and not failed:
        lines.append(":small[:gray[Remarks]]")
    colour = "orange" if failed else "gray"
    lines += [f":small[:{colour}[:material/arrow_right: {escaped(message, 200)}]]" for message in messages]
    st.markdown("  \n".join(lines))
    if result.rewrite and not stale and case.decision is None:
        _draw_rewrite(case, result)


def _draw_rewrite(case: Case, result: PrincipleResult) -> None:
    key = result.principle.name.lower()
    st.caption("The AI suggests:")
    outside_text(result.rewrite, look="note", key=f"rewrite-{key}")
    take = partial(take_words, case, result.rewrite)
    look = {"help": "Replaces your text. Undo brings it back."}
    button("Use this text", f"take-rewrite-{key}", _PRINCIPLES_NOTICE_AREA, take, icon="edit_note", **look)


def take_words(case: Case, text: str) -> None:
    """Put other words into the note; Undo brings the old ones back."""
    if case.draft is not None:
        cases().apply(case.id, actions.edit_draft, text, based_on=case.draft.sha256)
