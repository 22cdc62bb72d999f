"""The Draft page: one note, from the post to the decision, its sources and its words side by side."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from crowdnotes.cases import approval
from crowdnotes.domain import Case, DecisionKind, Obstacle
from crowdnotes.errors import CaseNotFoundError
from crowdnotes.jobs import JobRecord
from pages.common.audit_trail import audit_trail
from pages.common.engine_panel import engine_panel
from pages.common.layout import (
    TWO_PANE_WIDTH,
    Area,
    StepName,
    area,
    key_help,
    keys,
    next_area_button,
    part,
    quiet_header,
)
from pages.common.navigation import page_body
from pages.common.session import DEMO, cases, current_case, name_tab_after_case, notice_for, notices, show_notice
from pages.draft_parts.decision import decide_area, draw_decision_buttons
from pages.draft_parts.demo_tour import begin_if_asked, draw_presenter
from pages.draft_parts.header import draw_header
from pages.draft_parts.moderator_review import draw_submission, draw_submit_form, draw_versions
from pages.draft_parts.note import (
    cited_links,
    draw_lesson,
    draw_link_buttons,
    draw_proposals,
    draw_propose_button,
    draw_refused_words,
    draw_undo_button,
    is_closed,
    note_box,
)
from pages.draft_parts.post import phone_post
from pages.draft_parts.reader import arrive_after_scoring, lead_to_source
from pages.draft_parts.scores import draw_score_button, draw_scores
from pages.draft_parts.sentence_support import draw_decided_note, draw_sentence_support
from pages.draft_parts.sources import sources_pane
from pages.draft_parts.start import start_screen
from pages.draft_parts.suggestions import suggestions_fold


def workbench(case: Case, job: JobRecord | None) -> None:
    """Draw the sources on the left, the note on the right, under the strip."""
    draw_presenter(case, job)
    draw_header(case, job)
    left, right = st.columns([11, 10], gap="medium")
    with left, st.container(key="sources-pane", gap="small"):
        draw_lesson(case)
        if case.supernote is not None:
            of_supernote(case)
        part("sources", partial(sources_pane, case, job))
    waits = approval.obstacles_for(cases(), case) if case.decision is None else []
    with right, st.container(key="note-pane", gap="small"):
        note_pane(case, job, waits)
    with right, st.container(key="foot", gap="small"):
        draw_submit_form(case)
        draw_decision_buttons(case, job, waits)


def first_corner() -> None:
    """Draw the AI in use and the list of keys next to the heading of the first screen."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
        engine_panel()
        key_help()


def note_pane(case: Case, job: JobRecord | None, waits: Sequence[Obstacle]) -> None:
    """Draw the words, their sources and scores; below them what is left, and the decision."""
    draw_submission(case)
    if case.decision is not None:  # what is left to do on X comes first
        _draw_decide_area(case, job, waits)
    with area(Area.NOTE):
        quiet_header("Note")
        phone_post(case, "note")
        notices(StepName.DRAFT.value)
        draw_refused_words(case.id, case)
        if case.decision is not None:
            if case.decision.kind is not DecisionKind.APPROVED:  # it is above, to be copied
                draw_decided_note(case)
        elif is_closed(case):
            lead_to_source(case)
        else:
            draw_propose_button(case, job)
            _draw_note_box(case, job)
            draw_proposals(case)
        goes_to_sentence = arrive_after_scoring(case, job)
        part("sentences", partial(draw_sentence_support, case))
        draw_scores(case, job, goes_elsewhere=goes_to_sentence)
        if case.assessment_is_current and case.decision is None:
            next_area_button(Area.DECIDE, "Go to the decision")
    if case.decision is None:
        _draw_decide_area(case, job, waits)


def _draw_decide_area(case: Case, job: JobRecord | None, waits: Sequence[Obstacle]) -> None:
    with area(Area.DECIDE):
        quiet_header("Decision")
        phone_post(case, "decide")
        decide_area(case, job, waits)
        suggestions_fold(case, job)
        draw_versions(case)
        audit_trail(case)


def _draw_note_box(case: Case, job: JobRecord | None) -> None:
    note_box(case)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="note-acts"):
        draw_score_button(case, job)
        draw_undo_button(case)
        draw_link_buttons(case)
    cited_links(case)


def of_supernote(case: Case) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(":material/hub: Made from other people's notes.")
        if st.button("Open its supernote", key="to-supernote", type="tertiary", icon=":material/arrow_back:"):
            st.switch_page("pages/supernote.py", query_params={"case": case.id})


case, job = None, None
opened = "case" in st.query_params or DEMO in st.query_params
look: dict[str, Any] = (
    {"width": TWO_PANE_WIDTH, "quiet": True}
    if opened
    else {
        "about": "X shows a Community Note under a misleading post: a short correction with its source. Here you read "
        "the sources, write the note and decide. To post it on X you [sign up for Community Notes]"
        "(https://communitynotes.x.com/guide/en/contributing/signing-up) there."
    }
)
with page_body("Draft a note", corner=None if opened else first_corner, **look):
    begin_if_asked()
    try:
        case, job = current_case()
    except CaseNotFoundError as error:
        show_notice(notice_for(error))
        draw_refused_words(st.query_params["case"], None)
    name_tab_after_case(case, "Draft a note")
    if case is not None:
        workbench(case, job)
    else:
        start_screen()
    keys()
