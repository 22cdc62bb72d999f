"""The jury on the Draft page: a simulation, and says so. Where the note would stand, and who would vote how."""

from __future__ import annotations

import streamlit as st

from crowdnotes.domain import Case, GateName, GateStatus, JuryVerdict, SideVotes, StageName, agreement
from crowdnotes.text.markdown import escaped, in_figures
from pages.view.plots import Part, Standing, number_line, stacked_shares
from pages.view.session import workspace

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


def jury_panel(case: Case) -> None:
    """Draw the newest verdict on this very text; NOT RUN with its reason when there is none."""
    verdict = case.verdict_on(case.draft.sha256) if case.draft else None
    with st.container(key="jury-panel-body", gap="small"):
        st.markdown("**Jury (a simulation):** how raters of different views might vote on these words")
        if verdict is None:
            st.markdown(f":gray[:material/do_not_disturb_on: Not run.] {escaped(_why_not(case))}")
            return
        warnings = _warnings(case, verdict)
        together = agreement(case)
        if together:
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
            _words(verdict)
        _beside(case, verdict)
        _about(verdict)


def _warnings(case: Case, verdict: JuryVerdict) -> list[str]:
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


def _words(verdict: JuryVerdict) -> None:
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
