"""The Queue page: submitted cases in the order in which moderators should take them; one of them is validated here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial

import streamlit as st

from crowdnotes.cases import moderation
from crowdnotes.cases.export import cases_csv
from crowdnotes.cases.permissions import Clock
from crowdnotes.domain import MAX_COUNTED_LINES, DeskState, Order, QueueItem, QueueQuery, QueueScope
from crowdnotes.errors import NotAllowedError
from crowdnotes.text.markdown import escaped
from crowdnotes.wording import plural
from crowdnotes.workspace import Workspace
from pages.common.components import badge, first_shown
from pages.common.navigation import page_body
from pages.common.session import button, cases, download, notices, workspace
from pages.common.times import time_mark
from pages.queue_parts.agreement import agreement_fold
from pages.queue_parts.claim import claim_next
from pages.queue_parts.validate import validate

_NOTICE_AREA = "queue"
_PAGE_SIZE = 20
_WAITING_STATES = (DeskState.SUBMITTED, DeskState.IN_REVIEW)
_LABEL_BY_SCOPE = {QueueScope.FREE: "Free to take", QueueScope.MINE: "Mine", QueueScope.ALL: "All"}
_LABEL_BY_ORDER = {Order.TURN: "Most urgent first", Order.OLDEST: "Oldest first", Order.NEWEST: "Newest first"}
_STATE_FILTERS = {
    "waiting": ("Waiting", _WAITING_STATES),
    "returned": ("Sent back", (DeskState.RETURNED,)),
    "decided": ("Decided", (DeskState.DECIDED,)),
}


def _ask_queue_query() -> QueueQuery:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="queue-filters"):
        state = st.selectbox(
            "Cases",
            list(_STATE_FILTERS),
            format_func=lambda name: _STATE_FILTERS[name][0],
            key="queue-state",
            width=170,
        )
        whose = st.selectbox(
            "Whose",
            list(QueueScope),
            format_func=lambda whose: _LABEL_BY_SCOPE[whose],
            key="queue-whose",
            width=220,
            disabled=state != "waiting",
        )
        order = st.selectbox(
            "Order", list(Order), format_func=lambda order: _LABEL_BY_ORDER[order], key="queue-order", width=190
        )
        st.space("stretch")
        button(
            "Next case for me", "queue-next", _NOTICE_AREA, claim_next, icon="play_arrow", type="primary", shortcut="n"
        )
    waiting = state == "waiting"
    return QueueQuery(
        whose or QueueScope.FREE if waiting else QueueScope.ALL, _STATE_FILTERS[state][1], order or Order.TURN
    )


def _draw_queue_row(item: QueueItem, me: str, at: datetime, looking: Sequence[str]) -> None:
    post = escaped(item.post_excerpt) or "A post without text"
    with st.container(
        horizontal=True, vertical_alignment="center", wrap=False, key=f"queue-{item.case_id}", gap="small"
    ):
        st.checkbox(post, key=_tick_key(item), label_visibility="collapsed", width="content")
        with st.container(gap=None):
            params = {"case": item.case_id}
            st.page_link("pages/queue.py", label=post, icon="", query_params=params, width="stretch")
            with st.container(horizontal=True, vertical_alignment="center", wrap=False, gap="small"):
                time_mark(item.submitted_at)
                st.markdown(_build_queue_badges(item, me, at, looking), wrap=False, width="stretch")


def _build_queue_badges(item: QueueItem, me: str, at: datetime, looking: Sequence[str]) -> str:
    """Return why it comes early, who is at it, and the note's first words."""
    marks = [badge("orange", "priority_high", reason) for reason in item.reasons(at)]
    if item.held_by_another(me, at):
        marks.append(badge("violet", "person", f"{item.holder_name} is working on this"))
    elif item.holder == me:
        marks.append(badge("green", "person", "you are working on this"))
    marks += [badge("blue", "visibility", f"{name} looks at this") for name in looking if name != item.holder_name]
    if item.assigned is not None:
        marks.append(badge("gray", "assignment_ind", f"for {item.assigned_name}"))
    if item.readers and item.read_by:
        marks.append(badge("blue", "group", "needs another reader"))
    elif item.readers > 1:
        marks.append(badge("blue", "group", plural(item.readers, "1 reader", "{n} readers")))
    marks.append(f":gray[{escaped(item.note_excerpt) or 'no note'}]")
    return f":small[{' '.join(marks)}]"


def _tick_key(item: QueueItem) -> str:
    return f"queue-tick-{item.case_id}"


def _draw_bulk_actions(items: Sequence[QueueItem]) -> None:
    """Draw what is done with several at once: who should take them, their order, a table. Never a decision."""
    ticked = [item.case_id for item in items if st.session_state.get(_tick_key(item))]
    if not ticked:
        return
    me = workspace().actor
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="queue-bulk"):
        st.markdown(plural(len(ticked), "1 chosen:", "{n} chosen:"), width="content")
        button(
            "Assign to me",
            "bulk-me",
            _NOTICE_AREA,
            _for_each_case(ticked, lambda it: cases().apply(it, moderation.assign, me)),
            icon="person_add",
        )
        nobody = _for_each_case(ticked, lambda it: cases().apply(it, moderation.assign, None))
        button("Assign to nobody", "bulk-nobody", _NOTICE_AREA, nobody, icon="person_off")
        with st.popover("Assign to …", icon=":material/assignment_ind:"):
            for person in workspace().people.moderators():
                to = _for_each_case(ticked, lambda it, person=person: cases().apply(it, moderation.assign, person))  # type: ignore[misc]
                button(escaped(person.name, 40), f"bulk-{person.key}", _NOTICE_AREA, to, type="tertiary")
        first = _for_each_case(ticked, lambda it: cases().apply(it, moderation.prioritise, True))
        button("Put first", "bulk-first", _NOTICE_AREA, first, icon="vertical_align_top")
        later = _for_each_case(ticked, lambda it: cases().apply(it, moderation.prioritise, False))
        button("Not first", "bulk-later", _NOTICE_AREA, later, icon="vertical_align_bottom")
        two = _for_each_case(ticked, lambda it: moderation.set_case_readers(cases(), it, 2))
        button("Two readers", "bulk-two", _NOTICE_AREA, two, icon="group")
        one = _for_each_case(ticked, lambda it: moderation.set_case_readers(cases(), it, 1))
        button("One reader", "bulk-one", _NOTICE_AREA, one, icon="person")
        chosen = partial(_export_cases, ticked)
        download("Export as CSV", chosen, "queue.csv", "text/csv")


def _export_cases(case_ids: Sequence[str], mine: Workspace) -> str:
    return cases_csv([mine.cases.get(case_id) for case_id in case_ids])


def _for_each_case(case_ids: Sequence[str], does: Callable[[str], object]) -> Callable[[], None]:
    def act_on_all() -> None:
        for case_id in case_ids:
            does(case_id)
            st.session_state[f"queue-tick-{case_id}"] = False

    return act_on_all


def _draw_queue() -> None:
    asked = _ask_queue_query()
    notices(_NOTICE_AREA)
    key = "queue-page"
    first = (st.session_state.get(key, 1) - 1) * _PAGE_SIZE
    items, found, looking = moderation.queue_page(cases(), asked, _PAGE_SIZE, first)
    if not found:
        st.info("Authors send cases from the Draft page.", title="No cases here.", icon=":material/inbox:")
        return
    st.caption(f"More than {found:,} cases" if found == MAX_COUNTED_LINES else plural(found, "1 case", "{n:,} cases"))
    if first != first_shown(found, _PAGE_SIZE, key):
        st.rerun()
    _draw_bulk_actions(items)
    me, at = workspace().actor.key, cases().now(Clock.DATABASE)
    with st.container(gap=None, key="queue-rows"):
        for item in items:
            _draw_queue_row(item, me, at, looking.get(item.case_id, []))


def _draw_tombstones() -> None:
    """For admins: what was deleted, when and by whom."""
    try:
        stones = cases().tombstones()
    except NotAllowedError:
        return
    if stones:
        with st.expander(plural(len(stones), "1 case was deleted", "{n} cases were deleted"), icon=":material/delete:"):
            for stone in stones:
                with st.container(horizontal=True, gap="small", vertical_alignment="center"):
                    time_mark(stone.deleted_at)
                    st.markdown(f"{stone.case_id}, by {escaped(stone.by, 40)}")


opened = st.query_params.get("case")
with page_body(
    "Queue",
    "" if opened else "Cases for moderators, most urgent first.",
    width=1480 if opened else 1040,
    quiet=bool(opened),
):
    if opened:
        validate(opened)
    else:
        _draw_queue()
        agreement_fold()
        _draw_tombstones()
