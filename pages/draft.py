"""The Draft page: one note, five steps, from the post to the decision."""

from __future__ import annotations

import streamlit as st

from crowdnotes.domain import Case
from crowdnotes.errors import CaseNotFoundError
from pages.view.decision import decide_step
from pages.view.engine import status_bar, waits_for
from pages.view.evidence import evidence_step
from pages.view.note import draft_step, lesson
from pages.view.post import post_step
from pages.view.review import review_step
from pages.view.session import current_case, page_body, show_case, show_notice, told
from pages.view.start import start_screen
from pages.view.suggestions import suggestions_fold


def new_note() -> None:
    if "case" in st.query_params:
        st.button("New note", key="new", icon=":material/add:", on_click=show_case, args=(None,))


def of_supernote(shown: Case) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(":material/hub: Made from the notes of others.")
        if st.button("Open its supernote", key="to-supernote", type="tertiary", icon=":material/arrow_back:"):
            st.switch_page("pages/supernote.py", query_params={"case": shown.id})


case, job = None, None
with page_body(
    "Draft a note",
    "A short, sourced correction under a misleading post. You read the evidence; you decide.",
    corner=new_note,
):
    try:
        case, job = current_case()
    except CaseNotFoundError as error:
        show_notice(told(error))
    lesson(case)
    if case is not None and case.supernote is not None:
        of_supernote(case)
    if case is None:
        start_screen()
    else:
        post_step(case, job)
        evidence_step(case, job)
        draft_step(case, job)
        review_step(case, job)
        decide_step(case, job)
        suggestions_fold(case, job)
status_bar(waits_for(case), job, case)
