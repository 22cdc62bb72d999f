"""The frame of a step: its number, its one-line result, and whether it is folded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

import streamlit as st

from crowdnotes.domain import Case
from pages.parts.session import notices


class StepName(StrEnum):
    """The five steps of the Draft page, in order."""

    POST = "Post"
    EVIDENCE = "Evidence"
    DRAFT = "Draft"
    REVIEW = "Review"
    DECIDE = "Decide"


class StepState(StrEnum):
    """DONE folds; LOCKED waits for an earlier step."""

    DONE = "done"
    ACTIVE = "active"
    LOCKED = "locked"


@dataclass(frozen=True, slots=True)
class StepView:
    """How a step stands: `result` is its one line (Markdown, already safe), `reopen` names the way back."""

    name: StepName
    state: StepState
    result: str
    reopen: str = "Edit"
    stays_open: bool = False


_SIGNS = {
    StepState.DONE: ":green[:material/check_circle:]",
    StepState.ACTIVE: ":primary[:material/radio_button_checked:]",
    StepState.LOCKED: ":gray[:material/lock:]",
}


@contextmanager
def step(case: Case | None, view: StepView) -> Iterator[bool]:
    """Draw the head of a step; yields whether its body is to be drawn.

    An active step is open and a done one folded, until the person says otherwise.
    """
    key = f"{view.name.value.lower()}-step"
    with st.container(border=True, key=key):
        is_open = view.state is not StepState.LOCKED and _is_open(case, view)
        with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                number = list(StepName).index(view.name) + 1
                st.subheader(f"{_SIGNS[view.state]} {number} {view.name.value}", anchor=False, width="content")
                st.markdown(f":gray[{view.result}]", width="content")
            if case is not None and view.state is not StepState.LOCKED:
                _fold_button(case, view, key, is_open=is_open)
        notices(view.name.value)
        yield is_open


def forget_folds(case: Case) -> None:
    """Let every step of the case fold and open by itself again."""
    for name in StepName:
        st.session_state.pop(_fold_key(case, name), None)


def _fold_button(case: Case, view: StepView, key: str, *, is_open: bool) -> None:
    label, icon = ("Fold", ":material/unfold_less:") if is_open else (view.reopen, ":material/unfold_more:")
    st.button(
        label,
        key=f"{key}-fold",
        type="tertiary",
        icon=icon,
        help=f"{label} step {view.name.value.lower()}",
        on_click=_set_open,
        args=(case, view, not is_open),
    )


def _is_open(case: Case | None, view: StepView) -> bool:
    if case is None:
        return True
    chosen = st.session_state.get(_fold_key(case, view.name))
    if chosen is not None and chosen[0] is view.state:
        return bool(chosen[1])
    return view.state is StepState.ACTIVE or view.stays_open


def _set_open(case: Case, view: StepView, is_open: bool) -> None:
    # Kept with the state it was chosen in: a step that is finished afterwards folds all the same.
    st.session_state[_fold_key(case, view.name)] = (view.state, is_open)


def _fold_key(case: Case, name: StepName) -> str:
    return f"fold-{case.id}-{name.value}"
