"""The bar at the foot of the page: the next thing to do, work under way, and the engine with its costs."""

from __future__ import annotations

import streamlit as st

from crowdnotes.domain import Case
from crowdnotes.jobs import JobRecord
from crowdnotes.text.markdown import escaped
from pages.view.components import outside_text
from pages.view.engine import engine_panel
from pages.view.progress import doing, newest
from pages.view.session import PAGE_WIDTH, telling

_POLL_SECONDS = 0.8
_PINNED = "post-pinned"


def status_bar(waits: str, job: JobRecord | None = None, case: Case | None = None) -> None:
    """Draw the line; while a job runs it follows the job, else it says what is waited for.

    With a case the post can be kept in view above the line, whatever the person scrolls to.
    """
    with st.bottom, st.container(horizontal_alignment="center"), st.container(width=PAGE_WIDTH, gap=None):
        if case is not None and st.session_state.get(_PINNED):
            outside_text(case.post.whole_text, look="pinned", key=f"pinned-{case.id}")
        with st.container(
            horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", gap="xsmall", wrap=True
        ):
            with st.container(width="content"):  # of its own: a fragment that runs again must not touch its neighbours
                if job is not None and job.state.under_way:
                    st.fragment(_follow, run_every=_POLL_SECONDS)(job.id)
                else:
                    _state(f":gray[:material/person:] {waits}")
            if case is not None:
                _pin()
            engine_panel(case)


def _pin() -> None:
    pinned = bool(st.session_state.get(_PINNED))
    st.button(
        "The post",
        key="pin-post",
        type="tertiary",
        icon=":material/keyboard_arrow_down:" if pinned else ":material/keyboard_arrow_up:",
        help="Fold the post away" if pinned else "Keep the whole post in view while you work",
        on_click=_toggle_pin,
    )


def _toggle_pin() -> None:
    st.session_state[_PINNED] = not st.session_state.get(_PINNED)


def waits_for(case: Case | None) -> str:
    """What the program waits for, in words."""
    if case is not None and case.decision is not None:
        return f"Done: {case.decision.kind.value}"
    return f"Waits for you: {_next(case)}"


def _next(case: Case | None) -> str:
    if case is None:
        return "paste a post"
    if not case.evidence:
        return "bring sources, or decide that there is not enough evidence"
    if not case.used_evidence:
        return "open the passages and judge them"
    if case.draft is None:
        return "write a draft, or let the program propose one"
    return "decide" if case.assessment_is_current else "score the note"


def _follow(job_id: str) -> None:
    with telling():
        _state(f":primary[:material/progress_activity:] {escaped(doing(newest(job_id)), 140)}")


def _state(words: str) -> None:
    st.markdown(f":small[{words}]", width="content")
