"""How the note scores: three gates in order, the principles, and the jury, a simulation that says so."""

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
    PrincipleResult,
    SideVotes,
    StageName,
)
from crowdnotes.jobs import JobRecord
from crowdnotes.text.languages import language_of
from crowdnotes.text.markdown import escaped, in_figures
from pages.view.components import STATUS_WORDS, gate_path, outside_text
from pages.view.links import asking, stop_asking
from pages.view.note import SCORE_BUTTON, save_typed
from pages.view.plots import Part, Standing, number_line, stacked_shares
from pages.view.progress import job_panel, start, under_way
from pages.view.search_report import language_name
from pages.view.session import author, button, notices, workspace
from pages.view.words import say
from pages.view.workbench import StepName

_PLACE = StepName.REVIEW.value


def score_button(case: Case, job: JobRecord | None) -> None:
    """Scores what stands in the note box. Always there, so that its key works straight after typing."""
    current = case.assessment_is_current
    name = "scores.score" if case.assessment is None else "scores.score_again"
    look = {"type": "secondary" if current or case.draft is None else "primary", "help": say("scores.key")}
    busy = under_way(job) and not asking(job)
    button(say(name), SCORE_BUTTON, _PLACE, partial(_score, case), icon="rule", disabled=busy, **look)


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
    _jury_panel(case)


def marks(case: Case) -> str:
    """Markdown of the three gates in a few signs, for the strip above."""
    if case.assessment is None:
        return say("scores.none")
    if not case.assessment_is_current:
        return f":orange[:material/history: {say('scores.stale_short')}]"
    return "".join(_SIGNS[gate.status] for gate in case.assessment.gates)


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
            say("scores.foreign_next"), title=say("scores.foreign", languages=foreign), icon=":material/translate:"
        )


def _gates(case: Case, assessment: Assessment) -> None:
    """Three lines, each opens to its question and its scale. What failed is told among the problems."""
    gate_path(
        assessment.gates,
        workspace().service.gate_questions,
        stale=not case.assessment_is_current,
        key=f"gates-{case.id}",
    )
    if assessment.marked:
        told = ", ".join(say("scores.the_post") if name == "post" else name for name in sorted(assessment.marked))
        st.markdown(f":orange-badge[:material/warning: {say('scores.marked', what=told)}]")
    judges = {gate.gate.value: gate.judge for gate in assessment.gates if gate.judge not in ("", BY_PERSON)}
    others = [name for name, judge in judges.items() if judge not in assessment.engine.split("+")[:1]]
    lines = [say("scores.judge", gate=name, judge=escaped(judges[name])) for name in others]
    lines += [_sureness(assessment)] if assessment.engine.startswith("llm:") else []
    if lines:
        st.caption("  \n".join(lines))


def _sureness(assessment: Assessment) -> str:
    """The judge's own probabilities, and their product where it gives all three (CrowdNotes+ 4.3, equation 1)."""
    known = [f"{gate.gate.value} {gate.probability:.2f}" for gate in assessment.gates if gate.probability is not None]
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


_SIGNS = {
    GateStatus.PASS: ":green[:material/check_circle:]",
    GateStatus.FAIL: ":red[:material/cancel:]",
    GateStatus.NOT_RUN: ":gray[:material/do_not_disturb_on:]",
}
_PRINCIPLES = "principles"


def _principles(case: Case, assessment: Assessment) -> None:
    """All six, folded; a rewrite is offered while the scores are of the note as it stands."""
    results = assessment.principles
    if not results:
        return
    kept = sum(result.status is GateStatus.PASS for result in results)
    failed = sum(result.status is GateStatus.FAIL for result in results)
    label = say("scores.principles", kept=kept, all=len(results))
    if failed and case.assessment_is_current:
        label += f" :orange[{say('scores.principles_failed', n=failed)}]"
    with st.expander(label, key=f"principles-{case.id}", icon=":material/checklist:"):
        notices(_PRINCIPLES)
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
        st.caption(say("scores.remarks"))
        for message in messages:
            st.markdown(f":small[:gray[:material/arrow_right: {message}]]")


def _rewrite(case: Case, result: PrincipleResult) -> None:
    key = result.principle.name.lower()
    st.caption(say("scores.suggests"))
    outside_text(result.rewrite, look="note", key=f"rewrite-{key}")
    take, look = partial(take_words, case, result.rewrite), {"help": say("scores.take_about")}
    button(say("scores.take"), f"take-rewrite-{key}", _PRINCIPLES, take, icon="edit_note", **look)


def take_words(case: Case, text: str) -> None:
    """Put other words into the note; Undo brings the old ones back."""
    if case.draft is not None:
        workspace().service.edit_draft(case.id, text, author(), based_on=case.draft.sha256)


_ENDS = (0.0, 0.6)  # around the line of 0.40; what lies beyond is drawn at the ends
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
    """The newest verdict on this very text, folded under its one line; NOT RUN with its reason when there is none."""
    verdict = case.verdict_on(case.draft.sha256) if case.draft else None
    if verdict is None:
        with st.container(key="jury-panel-body"):
            st.markdown(
                f":gray[:material/do_not_disturb_on: **{say('scores.jury')}:** {say('scores.not_run')}] "
                f":small[{escaped(_why_not(case))}]"
            )
        return
    warnings = _jury_warnings(case, verdict)
    with st.expander(_jury_line(verdict), key=f"jury-{case.id}", icon=":material/groups:"):
        st.caption(say("scores.jury_about"))
        if together := case.agreement:
            st.markdown(f":material/balance: {escaped(together)}")
        for warning in warnings:
            st.markdown(f":orange[:material/warning:] {escaped(warning)}")
        if not verdict.means_nothing:
            st.markdown(f":gray[{escaped(verdict.sentence)}]" if warnings else escaped(verdict.sentence))
        _standing(case, verdict)
        _votes(case, verdict)
        if not verdict.means_nothing:
            changed = workspace().service.jury_changes(case)
            if changed:
                st.markdown(f":material/compare_arrows: **Since the text before:** {escaped(' '.join(changed))}")
            _influences(verdict)
        _beside(case, verdict)
        _about(verdict)


def _jury_line(verdict: JuryVerdict) -> str:
    """Its number on its scale and what it would mean, in a line."""
    if verdict.means_nothing:
        return f"**{say('scores.jury')}:** {say('scores.means_nothing')}"
    number = say(
        "scores.of_needed",
        number=in_figures(verdict.note_intercept, verdict.helpful_line),
        needed=f"{verdict.helpful_line:.2f}",
    )
    return f"**{say('scores.jury')}:** {number}. {escaped(_STATUS.get(verdict.status, verdict.status))}"


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
    if case.jury:
        return "The words changed since the jury sat. Score the note again."
    at = {stage.name: stage for stage in case.stages}
    sat, scored = at.get(StageName.JURY), at.get(StageName.ASSESS)
    if sat is None or (scored is not None and sat.finished_at < scored.finished_at):  # it was of an earlier scoring
        return "Score the note, and the jury sits too."
    return sat.summary.removeprefix("NOT RUN: ")


def _standing(case: Case, verdict: JuryVerdict) -> None:
    low, high = verdict.intercept_interval.low, verdict.intercept_interval.high
    intercept = in_figures(verdict.note_intercept, verdict.helpful_line)
    words = (
        f"Note intercept {intercept} of the {verdict.helpful_line:.2f} needed "
        f"({_whose_interval(verdict)} {low:.2f} to {high:.2f})."
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
    return say("scores.range_of_juries" if verdict.chance_of_shown is None else "scores.range_of_notes")


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
