"""The strip on top of the Draft page: the steps with the state of each, the engine and its cost, and the post."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from crowdnotes.domain import Case, GateStatus
from crowdnotes.jobs import JobRecord
from crowdnotes.text.markdown import escaped
from crowdnotes.text.note_rules import NOTE_LIMIT, note_length
from crowdnotes.wording import plural
from pages.common.engine_panel import engine_panel
from pages.common.layout import Area, StepName, area, in_a_line, key_help, part, phone_tabs
from pages.common.progress import under_way
from pages.common.session import notices, own_review
from pages.draft_parts.approval import start_new_note
from pages.draft_parts.decision import standing
from pages.draft_parts.post import post_panel, whole_post
from pages.draft_parts.scores import marks
from pages.draft_parts.sources import tally

_MAX_POST_CHARACTERS = 150  # characters of the post in its one line


def draw_header(case: Case, job: JobRecord | None) -> None:
    """Draw the steps, the engine and the post. On a phone the tabs take their place, and the post is one of them."""
    with st.container(key="strip", gap="xxsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="steps"):
            st.markdown(in_a_line(_list_steps(case)), width="content")
            st.space("stretch")
            engine_panel(case)
            key_help()
            st.button("New note", key="new", icon=":material/add:", type="tertiary", on_click=start_new_note)
        part("tabs", partial(phone_tabs, case, _list_tab_signs(case)))
        with area(Area.POST):
            notices(StepName.POST.value)
            images = (
                f" :material/image: {plural(len(case.post.images), '1 image', '{n} images')}"
                if case.post.images
                else ""
            )
            words = (
                f"“{escaped(case.post.text, _MAX_POST_CHARACTERS)}”"
                if case.post.text
                else ":orange[The post has no text yet]"
            )
            key = f"post-fold-{case.id}"
            st.session_state[key] = bool(st.session_state.get(key))  # with another label it stays as it was
            n = len(case.post.text)
            long = f" :small[:gray[{n:,} characters]]" if n > _MAX_POST_CHARACTERS else ""
            unseen = " :orange[:material/visibility_off: we cannot see all of it]" if case.post.unseen else ""
            with st.expander(
                f"{words}{long}{images}{unseen}", key=key, icon=":material/article:", on_change="rerun"
            ) as fold:
                if fold.open:
                    post_panel(case, busy=under_way(job))
            if not fold.open and case.post.text:
                whole_post(case)


def _list_steps(case: Case) -> Sequence[tuple[str, bool, str]]:
    """Return the five steps: name, done or not, state.

    A note that is too long is not done, and scores are done when all three gates passed, not before.
    """
    draft = case.draft
    n = note_length(draft.text) if draft is not None else 0
    length = f"{n} of {NOTE_LIMIT}" if draft is not None else ""
    return (
        ("Post", True, ""),
        ("Sources", bool(case.used_evidence), tally(case) if case.evidence else ""),
        ("Note", draft is not None and n <= NOTE_LIMIT, length),
        ("Scores", _has_passed_all_gates(case), marks(case) if draft is not None else ""),
        ("Decide", case.decision is not None, standing(case) if case.decision is not None else ""),
    )


def _has_passed_all_gates(case: Case) -> bool:
    scored = case.assessment if case.assessment_is_current else None
    return scored is not None and all(gate.status is GateStatus.PASS for gate in scored.gates)


def _list_tab_signs(case: Case) -> dict[Area, str]:
    """Return a short sign for each tab of a phone."""
    read = sum(own_review(item) is not None for item in case.evidence)
    return {
        Area.POST: "",
        Area.SOURCES: f"{read}/{len(case.evidence)}" if case.evidence else "",
        Area.NOTE: "✓" if _has_passed_all_gates(case) else "•" if case.draft is not None else "",
        Area.DECIDE: "✓" if case.decision is not None else "",
    }
