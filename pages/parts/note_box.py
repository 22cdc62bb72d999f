"""The box in which the note is written: saved at every pause, never over another person's words."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from crowdnotes.domain import Case
from crowdnotes.errors import WorkflowError
from pages.parts.components import note_counter, outside_text
from pages.parts.session import act, author, workspace
from pages.parts.steps import StepName

SCORE_BUTTON = "score"
SCORE_SHORTCUT = "Alt+S"  # spelt out in note_counter.js too
_BOX = "note-box"
_PLACE = StepName.DRAFT.value


@dataclass(slots=True)
class _Box:
    """`base` is the sha256 of the saved text that the box began from; `rival` an edit that could not be saved."""

    base: str | None
    generation: int = 0
    rival: str | None = None

    def key(self, case: Case) -> str:
        # A new generation is a new widget: the only way to put other words before the person.
        return f"note-{case.id}-{self.generation}"


def note_box(case: Case) -> None:
    """Draw the box, its counter and its undo."""
    box = _box(case)
    saved = case.draft.sha256 if case.draft else None
    if box.base != saved and box.rival is None:
        box.base = saved
        box.generation += 1
    if box.rival is not None:
        _both_texts(case, box, box.rival)
        return
    text = case.draft.text if case.draft else ""
    with st.container(key=_BOX, gap="xsmall"):
        st.text_area(
            "The note, with its links",
            value=text,
            height=190,
            key=box.key(case),
            on_change=_save,
            args=(case,),
            placeholder="Say what the evidence says, in neutral words, and link to it",
        )
        note_counter(text, box=_BOX, submit=SCORE_BUTTON, key=f"counter-{case.id}")
    st.button(
        "Undo",
        key="undo",
        icon=":material/undo:",
        disabled=not case.revisions,
        help="Go back to the text before the last change",
        on_click=_undo,
        args=(case.id,),
    )


def _box(case: Case) -> _Box:
    key = f"box-{case.id}"
    if key not in st.session_state:
        st.session_state[key] = _Box(case.draft.sha256 if case.draft else None)
    box: _Box = st.session_state[key]
    return box


def _save(case: Case) -> None:
    box = _box(case)
    text = st.session_state[box.key(case)]

    def save() -> None:
        try:
            saved = workspace().service.edit_draft(case.id, text, author(), based_on=box.base)
        except WorkflowError as refusal:
            if refusal.rule != "edited elsewhere":
                raise
            box.rival = text
        else:
            box.base = saved.draft.sha256 if saved.draft else None

    act(_PLACE, save)


def save_typed(case: Case) -> None:
    """Save what stands in the box, if it is drawn and nobody else's words are in the way."""
    box = _box(case)
    if box.rival is None and box.key(case) in st.session_state:
        _save(case)


def _undo(case_id: str) -> None:
    act(_PLACE, lambda: workspace().service.undo_edit(case_id, author()))


def _both_texts(case: Case, box: _Box, mine: str) -> None:
    st.warning(
        "Both texts are here. Choose one; the other stays in the undo history if it was saved.",
        title="The note was changed in another tab, or by another person, while you were writing.",
        icon=":material/call_split:",
    )
    theirs = case.draft.text if case.draft else ""
    with st.grid(2, min_column_width=280):
        with st.container(gap="xsmall"):
            st.markdown("**Saved by the other**")
            outside_text(theirs, look="note", key="conflict-theirs")
            st.button("Take this text", key="take-theirs", on_click=_settle, args=(case, box, None))
        with st.container(gap="xsmall"):
            st.markdown("**Yours, not saved yet**")
            outside_text(mine, look="note", key="conflict-mine")
            st.button("Save my text", key="take-mine", on_click=_settle, args=(case, box, mine))


def _settle(case: Case, box: _Box, mine: str | None) -> None:
    if mine is None:
        box.rival = None
        return
    # Bound to the text that was shown beside it: a third change meanwhile is a conflict again.
    shown = case.draft.sha256 if case.draft else None
    if act(_PLACE, lambda: workspace().service.edit_draft(case.id, mine, author(), based_on=shown)) is not None:
        box.rival = None
