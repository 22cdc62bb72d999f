"""What the last change of the note did: words, gates and the jury's number, before and now."""

from __future__ import annotations

from functools import partial

import streamlit as st

from crowdnotes.domain import Assessment, Case, EditEffect, GateStatus, effect_of_edit
from crowdnotes.text.markdown import escaped, in_figures
from crowdnotes.wording import say
from pages.common.charts import number_line
from pages.common.components import STATUS_SIGNS, STATUS_WORDS, changed_pieces, marked_text
from pages.common.session import fold, workspace
from pages.view.jury import ENDS, standing_of


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
