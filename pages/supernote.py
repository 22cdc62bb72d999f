"""The Supernote page: one note made from the notes that a post has, chosen by a simulated jury."""

from __future__ import annotations

import streamlit as st

from crowdnotes.domain import Case
from crowdnotes.errors import CaseNotFoundError, InputError
from pages.view.candidates import candidates_step, is_stale
from pages.view.engine import status_bar
from pages.view.given_notes import notes_step
from pages.view.record import audit_trail
from pages.view.session import current_case, page_body, show_case, show_notice, told
from pages.view.suggestions import suggestions_step
from pages.view.watch import watch_step
from pages.view.winner import goes_on, winner_step


def new_supernote() -> None:
    if "case" in st.query_params:
        st.button("New supernote", key="new", icon=":material/add:", on_click=show_case, args=(None,))


def to_draft(shown: Case) -> None:
    """The way to where the note is changed and decided."""
    if shown.draft is not None and st.button(
        "Open its draft", key="to-draft", type="tertiary", icon=":material/edit_note:"
    ):
        st.switch_page("pages/draft.py", query_params={"case": shown.id})


def waits_for(shown: Case | None) -> str:
    """What the program waits for, in words."""
    work = shown.supernote if shown is not None else None
    if work is None:
        return "Waits for you: bring the notes of a post"
    if is_stale(work) or not work.rounds:
        return "Waits for you: look at the notes, and make the candidates"
    if shown is not None and shown.decision is not None:
        return f"Done: {shown.decision.kind.value}"
    return "Waits for you: go on with one in the draft"


case, job = None, None
with page_body(
    "Supernote",
    "One note from many: candidates are made from the notes that a post has, a simulated jury chooses, you decide.",
    corner=new_supernote,
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
status_bar(waits_for(case), job, case)
