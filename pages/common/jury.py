"""The simulated jury's verdict on a note, and what the last edit changed in the text, gates and verdict."""

from __future__ import annotations

from functools import partial

import streamlit as st

from crowdnotes.cases import case_findings
from crowdnotes.domain import (
    Assessment,
    Case,
    EditEffect,
    GateResult,
    JuryVerdict,
    SideVotes,
    StageName,
    effect_of_edit,
    why_no_chance,
)
from crowdnotes.domain.supernote import MAX_TIED_GAP
from crowdnotes.text.markdown import escaped, in_figures
from crowdnotes.wording import fill
from pages.common.charts import Standing, number_line
from pages.common.components import changed_pieces, gate_sign, marked_text, people
from pages.common.session import expander

SCORE_AXIS = (-0.2, 0.7)  # of the line, around the 0.40; what lies beyond is drawn at the ends
_SCORE_FALLS_FROM = 0.4  # between the mean ratings of the two sides; the score is then below the careful one
_MIN_POINTS = 2  # of 100 jurors; what moves fewer is lost in the model's noise
CANDIDATE_LETTERS = "ABCDEFGHIJ"


def jury_panel(case: Case, *, busy: bool) -> None:
    """Draw the newest verdict on this very text, folded under its one line; NOT RUN with its reason when there is none.

    While the note is scored (`busy`) it is still to come.
    """
    verdict = case.verdict_on(case.draft.sha256) if case.draft else None
    if verdict is None:
        with st.container(key="jury-panel-body"):
            sign, name = ("pending", "waiting") if busy else ("do_not_disturb_on", "not run.")
            why = "" if busy else f" :small[{escaped(_explain_missing_verdict(case))}]"
            st.markdown(f":gray[:material/{sign}: **Simulated readers:** {name}]{why}")
        return
    if not verdict.means_nothing and case.why_no_chance:
        with st.container(key="jury-panel-body"):
            st.markdown(
                f":gray[:material/pending: **Simulated readers:**] :small[{escaped(case.why_no_chance)}]",
            )
        return
    expander(_summarise_verdict(verdict), f"jury-{case.id}", "groups", partial(_draw_verdict, case, verdict))


def _draw_verdict(case: Case, verdict: JuryVerdict) -> None:
    for caution in verdict.cautions:
        st.markdown(f":orange[:material/warning:] {escaped(caution)}")
    if not verdict.means_nothing:
        with st.container(key="sides-of-jury"):
            st.caption(
                f"{verdict.jurors:,} simulated readers on two sides that usually disagree. X shows a note when both "
                "find it helpful. Of 100 on each side:"
            )
            votes((verdict.negative, verdict.positive), key=f"jury-votes-{case.id}")
            _draw_intercept_line(case, verdict)
        _draw_influential_words(verdict)
    _compare_candidates(case, verdict)
    _draw_caveats(verdict)


def votes(sides: tuple[SideVotes, SideVotes], *, key: str) -> None:
    """Draw a hundred people of each side, by how they vote. A side that nobody sits for says so."""
    rows = []
    for side in sides:
        name = _NAME_BY_SIDE[side.side]
        counts = side.of_100
        shares = dict(zip(("helpful", "somewhat", "not_helpful"), counts, strict=True))
        words = (
            fill(
                "{name}: of 100, {helpful} find it helpful, {somewhat} somewhat helpful, {not_helpful} not helpful.",
                name=name,
                **shares,
            )
            if side.jurors
            else f"{name}: nobody."
        )
        rows.append({"name": name, "counts": list(counts), "words": words})
    people(rows, list(_VOTE_KINDS), key=key)


_NAME_BY_SIDE = {"−": "People on side A", "+": "People on side B"}
_VOTE_KINDS = ("helpful", "somewhat helpful", "not helpful")


def _summarise_verdict(verdict: JuryVerdict) -> str:
    """Its verdict; the score behind it is in the fold."""
    if verdict.means_nothing:
        return "**Simulated readers** cannot judge this text"
    chance = f"**Simulated readers: {escaped(verdict.outlook.removeprefix('a '))}.**"
    if verdict.shown_of_100 is None:
        return chance
    return f"{chance} X shows about {verdict.shown_of_100} in 100 notes like this"


def _format_intercept(verdict: JuryVerdict) -> str:
    line = verdict.helpful_line
    return f"{in_figures(verdict.note_intercept, line)} ({line:.2f} needed)"


def _explain_score(verdict: JuryVerdict) -> str:
    """Say what the score is, and how it goes with the chance at the top, which it seems to contradict."""
    line, interval = verdict.helpful_line, verdict.intercept_interval
    score, ends = in_figures(verdict.note_intercept, line), f"{interval.low:.2f} and {interval.high:.2f}"
    if verdict.shown_of_100 is None:
        return (
            f"X shows a note from a score of {line:.2f}. Simulated score: {score}, in nine of ten tries between {ends}."
        )
    why = "a careful one: two in three of them reach it"
    if abs((verdict.negative.mean or 0.0) - (verdict.positive.mean or 0.0)) >= _SCORE_FALLS_FROM:
        why = "lower because the two sides differ"
    return (
        f"X shows a note from a score of {line:.2f}, which about {verdict.shown_of_100} in 100 notes like this reach. "
        f"The score here, {score}, is {why}. Nine in ten end between {ends}."
    )


def _explain_missing_verdict(case: Case) -> str:
    if case.jury:
        return "The note changed. Score it again."
    at = {stage.name: stage for stage in case.stages}
    sat, scored = at.get(StageName.JURY), at.get(StageName.ASSESS)
    if sat is None or (scored is not None and sat.finished_at < scored.finished_at):  # it was of an earlier scoring
        return "Score the note first."
    return sat.reason


def _draw_intercept_line(case: Case, verdict: JuryVerdict) -> None:
    """Draw the note intercept on its line."""
    low, high = verdict.intercept_interval.low, verdict.intercept_interval.high
    words = _explain_score(verdict)
    effect = effect_of_edit(case)
    standings = [Standing("This note", verdict.note_intercept, low, high)]
    if effect is not None and effect.verdicts is not None:
        before = effect.verdicts[0]
        was = in_figures(before.note_intercept, before.helpful_line)
        words += f" Before the edit: {was}."
        standings.insert(0, standing_of("Before", before))
    st.caption(words)
    number_line(
        standings,
        line=verdict.helpful_line,
        ends=SCORE_AXIS,
        alt=words,
        key=f"jury-line-{case.id}",
    )


def _draw_influential_words(verdict: JuryVerdict) -> None:
    found = [
        item for item in verdict.influences if _round_to_points(item.on_negative) or _round_to_points(item.on_positive)
    ]
    if not found:
        return
    with st.expander("Which words move the two sides", icon=":material/text_fields:"):
        st.caption("How many more or fewer of 100 find the note helpful because of these words.")
        for item in found:
            one, other = (_format_points_change(share) for share in (item.on_negative, item.on_positive))
            st.markdown(f"“{escaped(item.words, 90)}”: {one} on side A, {other} on side B")


def _round_to_points(share: float) -> int:
    points = round(100 * share)
    return points if abs(points) >= _MIN_POINTS else 0


def _format_points_change(share: float) -> str:
    points = _round_to_points(share)
    if not points:
        return "no change"
    return f"**{abs(points)} {'more' if points > 0 else 'fewer'}**"


def _compare_candidates(case: Case, verdict: JuryVerdict) -> None:
    """Draw the candidates on one scale, the draft among them, when the verdict on more than one may be shown."""
    judged = [
        (letter, found)
        for letter, candidate in zip(CANDIDATE_LETTERS, case.candidates, strict=False)
        if (found := case.verdict_on(candidate.sha256)) is not None
        and (scores := case.scores_of(candidate.sha256)) is not None
        and not why_no_chance(scores)
    ]
    if len(judged) < 2:
        return
    if all(found.text_sha256 != verdict.text_sha256 for _, found in judged):
        judged = [("yours", verdict), *judged]
    with st.expander("Compare the drafts", icon=":material/balance:"):
        number_line(
            [standing_of(name, found) for name, found in judged],
            line=verdict.helpful_line,
            ends=SCORE_AXIS,
            alt=" ".join(f"Draft {name}: simulated score {_format_intercept(found)}." for name, found in judged),
            key=f"jury-chart-{case.id}",
        )
        first, best = judged[0], max(judged, key=lambda item: item[1].note_intercept)
        by_ai = case.supernote is None and case.candidates[0].engine.startswith("llm:")
        if by_ai and first[1].text_sha256 == case.candidates[0].sha256 and best is not first:
            gap = best[1].note_intercept - first[1].note_intercept
            too_close = " Their difference is too small to mean anything." if gap < MAX_TIED_GAP else ""
            st.markdown(
                f"Simulated readers like {best[0]} best. The AI put {first[0]} first for what its sources say, which "
                f"simulated readers do not check.{too_close}"
            )
        for name, found in judged:
            one, other = found.negative.of_100[0], found.positive.of_100[0]
            st.caption(f"**{name}**: {one} of 100 on side A and {other} on side B find it helpful")


def standing_of(name: str, verdict: JuryVerdict) -> Standing:
    """Return a verdict as a point on the line, with its range."""
    interval = verdict.intercept_interval
    return Standing(name, verdict.note_intercept, interval.low, interval.high)


def _draw_caveats(verdict: JuryVerdict) -> None:
    with st.popover("How far to trust this", icon=":material/info:", type="tertiary"):
        st.markdown(escaped(verdict.quality.note))
        st.caption(
            "Side A has rater factors below zero, side B above. The score is X's note intercept: how helpful a "
            "note is once their disagreement is taken out. On many notes X never decides: they are not counted."
        )
        if not verdict.means_nothing:
            reasons = " ".join(rule.reason for rule in verdict.blocked_by or (verdict.decided_by,))
            st.caption(f"Status by X's rules: {escaped(verdict.status)}. {escaped(reasons)}")
        if verdict.not_applied:
            st.caption(f"X's rules that were not simulated: {escaped(', '.join(verdict.not_applied))}.")


def what_the_edit_changed(case: Case) -> None:
    """Draw a fold with the two texts and what is on record of both; nothing where only one of them was judged."""
    effect = effect_of_edit(case)
    if effect is None:
        return
    expander("What the edit changed", f"edit-{case.id}", "compare_arrows", partial(_draw_edit_effect, effect, case))


def _draw_edit_effect(effect: EditEffect, case: Case) -> None:
    _draw_edited_text(effect, case.id)
    _draw_gate_changes(*effect.scores)
    _draw_jury_change(effect, case)


def _draw_edited_text(effect: EditEffect, case_id: str) -> None:
    before, now = changed_pieces(effect.before.text, effect.after.text)
    with st.grid(2, min_column_width=260):
        for name, pieces in (("Before", before), ("Now", now)):
            with st.container(gap="xxsmall"):
                st.caption(name)
                marked_text(pieces, look="sentence", key=f"edit-{name}-{case_id}")


def _draw_gate_changes(before: Assessment, now: Assessment) -> None:
    """Draw a line for each gate, with its earlier verdict where it changed."""
    lines = []
    for result in now.gates:
        was, name = before.gate(result.gate), result.gate.as_text.capitalize()
        if was.as_text == result.as_text:
            lines.append(f"**{name}**: {_format_verdict(result)}, as before")
        else:
            lines.append(f"**{name}**: {_format_verdict(was)} → {_format_verdict(result)}")
    st.markdown("  \n".join(lines))


def _format_verdict(result: GateResult) -> str:
    return f"{gate_sign(result)} {result.as_text}"


def _draw_jury_change(effect: EditEffect, case: Case) -> None:
    if effect.verdicts is None:
        return
    old, new = effect.verdicts
    line = new.helpful_line
    numbers = {name: in_figures(verdict.note_intercept, line) for name, verdict in (("before", old), ("now", new))}
    st.markdown("**Simulated score, before and now**")
    number_line(
        [standing_of("Before", old), standing_of("Now", new)],
        line=line,
        ends=SCORE_AXIS,
        alt=fill("Before {before}, now {now}, of the {needed} needed.", needed=f"{line:.2f}", **numbers),
        key=f"edit-line-{case.id}",
    )
    st.caption("  \n".join(escaped(said) for said in case_findings.jury_changes(case)))
