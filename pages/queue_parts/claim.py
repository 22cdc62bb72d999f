"""The head of a case of the queue: its state, who has it, and the buttons that take it and give it back."""

from __future__ import annotations

from functools import partial

import streamlit as st

from crowdnotes.cases import blinding, moderation
from crowdnotes.cases.permissions import Clock
from crowdnotes.domain import Case, DeskState
from crowdnotes.text.markdown import escaped
from pages.common.components import badge
from pages.common.session import button, cases
from pages.common.times import clock_time

NOTICE_AREA = "validate"


def claim_next() -> None:
    """Claim the next case for this person and show it; says so where nothing waits."""
    case = moderation.claim_next(cases())
    if case is None:
        st.toast("No case is waiting for you.", icon=":material/inbox:")
        back_to_queue()
    else:
        st.query_params["case"] = case.id


def back_to_queue() -> None:
    """Show the list."""
    st.query_params.pop("case", None)


def draw_head(case: Case, *, mine: bool) -> None:
    """Draw the post, the case's status, and the button to take it."""
    lease = case.desk.lease
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="validate-head"):
        button("Queue", "validate-back", NOTICE_AREA, back_to_queue, icon="arrow_back", type="tertiary")
        st.markdown(badge("green" if mine else "gray", "", _describe_case_state(case, mine=mine)), width="content")
        st.fragment(_draw_other_viewers, run_every=30)(case.id)
        st.space("stretch")
        if mine:
            button("Give it back", "release", NOTICE_AREA, partial(_release_case, case), icon="undo", type="tertiary")
        elif (label := _get_claim_label(case)) is not None:
            is_held = lease is not None and lease.holds(cases().now(Clock.DATABASE))
            claim = partial(cases().apply, case.id, moderation.take_over if is_held else moderation.claim)
            look = {"icon": "front_hand", "type": "primary"} if lease is None else {"icon": "swap_horiz"}
            button(label, "claim", NOTICE_AREA, claim, shortcut="w", **look)
        st.page_link(
            "pages/draft.py",
            label="Open in Draft",
            icon=":material/edit_note:",
            query_params={"case": case.id},
        )
    with st.container(key="validate-post"):
        st.markdown(f":small[:gray[Post:]] {escaped(case.post.text, 400)}")


def _get_claim_label(case: Case) -> str | None:
    """Return the label of the button by which this person claims the case; None where they cannot."""
    if case.decision is not None or _has_read(case) or blinding.may_not_read_yet(case, cases().actor.key):
        return None
    if case.desk.lease is not None:
        return "Take over"
    return "Work on this case" if case.desk_state is DeskState.SUBMITTED else None


def _has_read(case: Case) -> bool:
    """Return whether this person has read it and others still have to: they cannot claim it again."""
    return blinding.reading_by(case, cases().actor.key) is not None and blinding.waits_for_readers(case) > 0


def draw_claim_hint(case: Case) -> None:
    label = _get_claim_label(case)
    if label is not None:
        st.caption(f"Press “{label}” to record what you find.")


def _describe_case_state(case: Case, *, mine: bool) -> str:
    lease = case.desk.lease
    if case.decision is not None:
        return case.decision.as_text
    if mine and lease is not None:
        return f"yours until {clock_time(lease.until)}"
    if lease is not None and lease.holds(cases().now(Clock.DATABASE)):
        return f"{lease.holder.name} is working on this"
    return case.desk_state.as_text


def _draw_other_viewers(case_id: str) -> None:
    """Who else has it open; asked again every half minute."""
    for name in cases().note_presence(case_id):
        st.markdown(badge("blue", "visibility", f"{name} is looking at this"), width="content")


def _release_case(case: Case) -> None:
    cases().apply(case.id, moderation.release)
    back_to_queue()
