"""The Supernote page: one note made from the notes that a post has, chosen by a simulated jury."""

from __future__ import annotations

from typing import Any

import streamlit as st

from crowdnotes.domain import Case, SupernoteWork
from crowdnotes.errors import CaseNotFoundError, InputError
from crowdnotes.jobs import JobRecord
from pages.common.audit_trail import audit_trail
from pages.common.engine_panel import engine_panel
from pages.common.layout import TWO_PANE_WIDTH, Area, SupernoteStep, area, next_area_button
from pages.common.navigation import page_body
from pages.common.session import current_case, name_tab_after_case, notice_for, notices, refused_form, show_notice
from pages.draft_parts.suggestions import suggestions_fold
from pages.supernote_parts.candidates import candidates, filters_fold
from pages.supernote_parts.given_notes import new_supernote, notes_pane
from pages.supernote_parts.header import draw_header
from pages.supernote_parts.updates import watch_fold
from pages.supernote_parts.winner import goes_on, ranking_fold, winner


def workbench(case: Case, work: SupernoteWork, job: JobRecord | None) -> None:
    """Draw the notes on the left, what is made from them on the right; below, what may be looked at later."""
    draw_header(case, work, job)
    left, right = st.columns(2, gap="medium")
    with left, st.container(key="sources-pane", gap="small"), area(Area.SOURCES):
        notices(SupernoteStep.NOTES.value)
        notes_pane(case, work, job)
        if case.decision is None:
            next_area_button(Area.NOTE, "Go to the drafts")
    with right, st.container(key="supernote-pane", gap="small"), area(Area.NOTE):
        notices(SupernoteStep.CANDIDATES.value)
        notices(SupernoteStep.WINNER.value)
        refused_form(case.id, case)
        candidates(case, work, job)
        winner(case, job)
    with area(Area.DECIDE):
        notices(SupernoteStep.WATCH.value)
        filters_fold(case, work, job)
        ranking_fold(case, job)
        watch_fold(case, work, job)
        suggestions_fold(case, job)
        audit_trail(case)


case, job = None, None
opened = "case" in st.query_params
look: dict[str, Any] = (
    {"width": TWO_PANE_WIDTH, "quiet": True}
    if opened
    else {
        "about": (
            "Combine the notes under a post into one better note. Simulated readers rank the drafts, and you decide."
        )
    }
)
with page_body("Supernote", corner=None if opened else engine_panel, **look):
    try:
        case, job = current_case()
    except CaseNotFoundError as error:
        show_notice(notice_for(error))
        refused_form(st.query_params["case"], None)
    name_tab_after_case(case, "Supernote")
    work = case.supernote if case is not None else None
    if case is not None and work is None:
        show_notice(
            notice_for(InputError("Start a supernote below.", "This case did not begin with other people's notes."))
        )
    if case is not None and work is not None:
        goes_on(case)
        workbench(case, work, job)
    else:
        new_supernote()
