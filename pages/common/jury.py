"""The simulated jury: one sentence, two rows of a hundred people, its number on its line, and how far to trust it.

What the last change of the note did: words, gates and the jury's number, before and now.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from crowdnotes.domain import (
    Assessment,
    Case,
    EditEffect,
    GateStatus,
    JuryVerdict,
    SideVotes,
    StageName,
    effect_of_edit,
)
from crowdnotes.text.markdown import escaped, in_figures
from crowdnotes.wording import say
from pages.common.charts import Standing, number_line
from pages.common.components import STATUS_SIGNS, STATUS_WORDS, changed_pieces, marked_text, people
from pages.common.session import fold, workspace

ENDS = (0.0, 0.6)  # of the line, around the 0.40; what lies beyond is drawn at the ends
_POINTS = 2  # of 100 jurors; what moves fewer is lost in the model's noise
_LETTERS = "ABCDEFGHIJ"


def jury_panel(case: Case, *, busy: bool) -> None:
    """The newest verdict on this very text, folded under its one line; NOT RUN with its reason when there is none.

    While the note is scored (`busy`) it is still to come.
    """
    verdict = case.verdict_on(case.draft.sha256) if case.draft else None
    if verdict is None:
        with st.container(key="jury-panel-body"):
            sign, name = ("pending", "jury.to_come") if busy else ("do_not_disturb_on", "jury.not_run")
            why = "" if busy else f" :small[{escaped(_why_not(case))}]"
            st.markdown(f":gray[:material/{sign}: **{say('jury.title')}:** {say(name)}]{why}")
        return
    fold(_in_a_line(verdict), f"jury-{case.id}", "groups", partial(_verdict, case, verdict))


def _verdict(case: Case, verdict: JuryVerdict) -> None:
    together = case.agreement or f"{verdict.outlook_and_why[:1].upper()}{verdict.outlook_and_why[1:]}."
    st.markdown(escaped(together))
    for caution in verdict.cautions:
        st.markdown(f":orange[:material/warning:] {escaped(caution)}")
    if not verdict.means_nothing:
        with st.container(key="sides-of-jury"):
            st.caption(say("jury.about", jurors=f"{verdict.jurors:,}"))
            votes((verdict.negative, verdict.positive), key=f"jury-votes-{case.id}")
            _number(case, verdict)
        _influences(verdict)
    _beside(case, verdict)
    _trust(verdict)


def votes(sides: tuple[SideVotes, SideVotes], *, key: str) -> None:
    """A hundred people of each side, by how they vote. A side that nobody sits for says so."""
    rows = []
    for side in sides:
        name = say(_NAMES[side.side])
        counts = side.of_100
        told = dict(zip(("helpful", "somewhat", "not_helpful"), counts, strict=True))
        words = say("jury.votes", name=name, **told) if side.jurors else say("jury.nobody", name=name)
        rows.append({"name": name, "counts": list(counts), "words": words})
    people(rows, [say(name) for name in _KINDS], key=key)


_NAMES = {"−": "jury.one_side", "+": "jury.other_side"}
_KINDS = ("jury.helpful", "jury.somewhat", "jury.not_helpful")


def _in_a_line(verdict: JuryVerdict) -> str:
    """Its number on its scale and what it would mean."""
    if verdict.means_nothing:
        return f"**{say('jury.title')}:** {say('jury.means_nothing')}"
    chance = "" if verdict.shown_of_100 is None else f" :small[:gray[{say('jury.chance', n=verdict.shown_of_100)}]]"
    return f"**{say('jury.title')}:** {_of_needed(verdict)}, {escaped(verdict.outlook)}{chance}"


def _of_needed(verdict: JuryVerdict) -> str:
    line = verdict.helpful_line
    return say("jury.of_needed", number=in_figures(verdict.note_intercept, line), needed=f"{line:.2f}")


def _why_not(case: Case) -> str:
    if case.jury:
        return say("jury.words_changed")
    at = {stage.name: stage for stage in case.stages}
    sat, scored = at.get(StageName.JURY), at.get(StageName.ASSESS)
    if sat is None or (scored is not None and sat.finished_at < scored.finished_at):  # it was of an earlier scoring
        return say("jury.score_first")
    return sat.summary.removeprefix("NOT RUN: ")


def _number(case: Case, verdict: JuryVerdict) -> None:
    """The note intercept on its line."""
    low, high = verdict.intercept_interval.low, verdict.intercept_interval.high
    whose = say("jury.range_of_juries" if verdict.chance_of_shown is None else "jury.range_of_notes")
    words = say("jury.number", number=_of_needed(verdict), range=f"{whose} {low:.2f} to {high:.2f}")
    effect = effect_of_edit(case)
    standings = [Standing(say("jury.this_note"), verdict.note_intercept, low, high)]
    if effect is not None and effect.verdicts is not None:
        before = effect.verdicts[0]
        was = in_figures(before.note_intercept, before.helpful_line)
        words += say("jury.before", number=was)
        standings.insert(0, standing_of(say("edit.before"), before))
    st.caption(words)
    number_line(
        standings,
        line=verdict.helpful_line,
        ends=ENDS,
        alt=words,
        key=f"jury-line-{case.id}",
    )


def _influences(verdict: JuryVerdict) -> None:
    found = [item for item in verdict.influences if _points(item.on_negative) or _points(item.on_positive)]
    if not found:
        return
    with st.expander(say("jury.words_that_move"), icon=":material/text_fields:"):
        st.caption(say("jury.words_that_move_about"))
        for item in found:
            one, other = (_in_points(share) for share in (item.on_negative, item.on_positive))
            st.markdown(say("jury.moves", words=escaped(item.words, 90), one=one, other=other))


def _points(share: float) -> int:
    points = round(100 * share)
    return points if abs(points) >= _POINTS else 0


def _in_points(share: float) -> str:
    points = _points(share)
    if not points:
        return say("jury.no_change")
    return f"**{say('jury.more' if points > 0 else 'jury.fewer', n=abs(points))}**"


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
        heard = [(say("jury.yours"), verdict), *heard]
    with st.expander(say("jury.beside"), icon=":material/balance:"):
        number_line(
            [standing_of(name, found) for name, found in heard],
            line=verdict.helpful_line,
            ends=ENDS,
            alt=" ".join(say("jury.candidate", name=name, number=_of_needed(found)) for name, found in heard),
            key=f"jury-beside-{case.id}",
        )
        for name, found in heard:
            one, other = found.negative.of_100[0], found.positive.of_100[0]
            st.caption(say("jury.find_helpful", name=name, one=one, other=other))


def standing_of(name: str, verdict: JuryVerdict) -> Standing:
    """A verdict as a point on the line, with its range."""
    interval = verdict.intercept_interval
    return Standing(name, verdict.note_intercept, interval.low, interval.high)


def _trust(verdict: JuryVerdict) -> None:
    with st.popover(say("jury.trust"), icon=":material/info:", type="tertiary"):
        st.markdown(escaped(verdict.quality.note))
        st.caption(say("jury.trust_about"))
        if not verdict.means_nothing:
            reasons = " ".join(rule.reason for rule in verdict.blocked_by or (verdict.decided_by,))
            st.caption(say("jury.status", status=escaped(verdict.status), reasons=escaped(reasons)))
        if verdict.not_applied:
            st.caption(say("jury.not_applied", rules=escaped(", ".join(verdict.not_applied))))


def what_the_edit_changed(case: Case) -> None:
    """A fold with the two texts and what is on record of both; nothing where only one of them was judged."""
    effect = effect_of_edit(case)
    if effect is None:
        return
    fold(say("edit.title"), f"edit-{case.id}", "compare_arrows", partial(_effect, effect, case))


def _effect(effect: EditEffect, case: Case) -> None:
    _words(effect, case.id)
    if effect.scores is not None:
        _gates(*effect.scores)
    _jury(effect, case)


def _words(effect: EditEffect, case_id: str) -> None:
    before, now = changed_pieces(effect.before.text, effect.after.text)
    with st.grid(2, min_column_width=260):
        for name, pieces in ((say("edit.before"), before), (say("edit.now"), now)):
            with st.container(gap="xxsmall"):
                st.caption(name)
                marked_text(pieces, look="sentence", key=f"edit-{name}-{case_id}")


def _gates(before: Assessment, now: Assessment) -> None:
    """A line each, with what it was where that was something else."""
    lines = []
    for result in now.gates:
        was, name = before.gate(result.gate).status, result.gate.in_words.capitalize()
        if was is result.status:
            lines.append(say("edit.same", gate=f"**{name}**", now=_status(result.status)))
        else:
            lines.append(say("edit.gate", gate=f"**{name}**", before=_status(was), now=_status(result.status)))
    st.markdown("  \n".join(lines))


def _status(status: GateStatus) -> str:
    return f"{STATUS_SIGNS[status]} {STATUS_WORDS[status]}"


def _jury(effect: EditEffect, case: Case) -> None:
    if effect.verdicts is None:
        return
    old, new = effect.verdicts
    line = new.helpful_line
    numbers = {name: in_figures(verdict.note_intercept, line) for name, verdict in (("before", old), ("now", new))}
    st.markdown(f"**{say('edit.jury')}**")
    number_line(
        [standing_of(say("edit.before"), old), standing_of(say("edit.now"), new)],
        line=line,
        ends=ENDS,
        alt=say("edit.jury_words", needed=f"{line:.2f}", **numbers),
        key=f"edit-line-{case.id}",
    )
    st.caption("  \n".join(escaped(said) for said in workspace().service.jury_changes(case)))
