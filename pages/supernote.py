"""The Supernote page: one note made from the notes that a post has, chosen by a simulated jury."""

from __future__ import annotations

import streamlit as st

from crowdnotes.domain import Case
from crowdnotes.errors import CaseNotFoundError, InputError
from pages.view.candidates import candidates_step
from pages.view.engine import engine_panel
from pages.view.given_notes import notes_step
from pages.view.record import audit_trail
from pages.view.session import current_case, page_body, show_case, show_notice, told
from pages.view.suggestions import suggestions_step
from pages.view.watch import watch_step
from pages.view.winner import goes_on, winner_step


def corner() -> None:
    """The engine, and the way to another one."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
        engine_panel()
        if "case" in st.query_params:
            st.button("New supernote", key="new", icon=":material/add:", on_click=show_case, args=(None,))


def to_draft(shown: Case) -> None:
    """The way to where the note is changed and decided."""
    if shown.draft is not None and st.button(
        "Open its draft", key="to-draft", type="tertiary", icon=":material/edit_note:"
    ):
        st.switch_page("pages/draft.py", query_params={"case": shown.id})


case, job = None, None
with page_body(
    "Supernote",
    "One note from many: candidates are made from the notes that a post has, a simulated jury chooses, you decide.",
    corner=corner,
):
    try:
        case, job = current_case()
        if case is not None and case.supernote is None:
            case, job = None, None
            show_notice(told(InputError("This case was not begun with notes of others.", "Begin a supernote below.")))
    except CaseNotFoundError as error:
        show_notice(told(error))
    if case is not None:
        goes_on(case)
        to_draft(case)
    notes_step(case, job)
    candidates_step(case, job)
    winner_step(case, job)
    watch_step(case, job)
    suggestions_step(case, job)
    if case is not None:
        audit_trail(case)
