"""The frame of a step: its number, its one-line result, and whether it is folded."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

import streamlit as st

from crowdnotes.domain import Case
from pages.view.components import into_view
from pages.view.session import button, notices


class SupernoteStep(StrEnum):
    """The steps of the Supernote page, in order."""

    NOTES = "Notes"
    CANDIDATES = "Candidates"
    WINNER = "Winner"
    WATCH = "Watch"
    SUGGESTIONS = "Suggestions"


class StepState(StrEnum):
    """DONE folds, and so does LATER, which is not done and waits for nobody; LOCKED waits for an earlier step."""

    DONE = "done"
    ACTIVE = "active"
    LATER = "later"
    LOCKED = "locked"


@dataclass(frozen=True, slots=True)
class StepView:
    """How a step stands: `result` is its one line (Markdown, already safe). Its number is its place in its page's enum.

    One that `stays_open` is open, done or not, until the person folds it.
    """

    name: StrEnum
    state: StepState
    result: str
    stays_open: bool = False


_ARRIVAL = "arrival"  # the step to bring into view, with a token
_SIGNS = {
    StepState.DONE: ":green[:material/check_circle:]",
    StepState.ACTIVE: ":primary[:material/radio_button_checked:]",
    StepState.LATER: ":gray[:material/radio_button_unchecked:]",
    StepState.LOCKED: ":gray[:material/lock:]",
}


@contextmanager
def step(case: Case | None, view: StepView) -> Iterator[bool]:
    """Draw the head of a step; yields whether its body is to be drawn.

    An active step is open and a done one folded, until the person says otherwise.
    """
    key = f"{view.name.value.lower()}-step"
    with st.container(border=True, key=key):
        arrival = st.session_state.pop(_ARRIVAL, None)
        if arrival is not None and arrival[0] is view.name:
            into_view(arrival[1])
        elif arrival is not None:
            st.session_state[_ARRIVAL] = arrival
        is_open = view.state is not StepState.LOCKED and _is_open(case, view)
        with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small", key=f"{key}-head"):
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                number = list(type(view.name)).index(view.name) + 1
                st.subheader(f"{_SIGNS[view.state]} {number} {view.name.value}", anchor=False, width="content")
                st.markdown(f":gray[{view.result}]", width="content")
            if case is not None and view.state is not StepState.LOCKED:
                label, icon = ("Fold", "unfold_less") if is_open else ("Open", "unfold_more")
                about = f"{label} step {view.name.value.lower()}"
                fold = partial(_set_open, case, view.name, is_open=not is_open)
                button(label, f"{key}-fold", view.name.value, fold, icon=icon, type="tertiary", help=about)
        notices(view.name.value)
        yield is_open


def move_on(case: Case, done: StrEnum, to: StrEnum) -> None:
    """Fold a step and go to another."""
    _set_open(case, done, is_open=False)
    arrive(to)


def arrive(at: StrEnum) -> None:
    """Bring a step into view when it is drawn next, and the keyboard with it."""
    st.session_state[_ARRIVAL] = (at, uuid.uuid4().hex[:8])


def _is_open(case: Case | None, view: StepView) -> bool:
    by_itself = view.state is StepState.ACTIVE or view.stays_open
    return by_itself if case is None else bool(st.session_state.get(_fold_key(case, view.name), by_itself))


def _set_open(case: Case, name: StrEnum, *, is_open: bool) -> None:
    st.session_state[_fold_key(case, name)] = is_open


def _fold_key(case: Case, name: StrEnum) -> str:
    return f"fold-{case.id}-{name.value}"
