"""The Queue page: submitted cases in the order in which moderators should take them; one of them is validated here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial

import streamlit as st

from crowdnotes.cases import moderation
from crowdnotes.cases.export import cases_csv
from crowdnotes.cases.permissions import Clock
from crowdnotes.domain import MAX_COUNTED_LINES, WAITS_LONG, DeskState, Order, QueueItem, QueueQuery, QueueScope
from crowdnotes.errors import NotAllowedError
from crowdnotes.text.markdown import escaped, without_marks
from crowdnotes.wording import duration, plural
from crowdnotes.workspace import Workspace
from pages.common.components import badge, first_shown, shortcut_keys
from pages.common.navigation import page_body
from pages.common.session import button, cases, download, notices, opened_by_link, workspace
from pages.common.sign_in import has_accounts
from pages.common.times import time_mark
from pages.queue_parts.agreement import agreement_fold
from pages.queue_parts.claim import HELP_KEY, next_case_button, queue_keys
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
            persist_state="session",
        )
        whose = st.selectbox(
            "Whose",
            list(QueueScope),
            format_func=lambda whose: _LABEL_BY_SCOPE[whose],
            key="queue-whose",
            width=220,
            disabled=state != "waiting",
            persist_state="session",
        )
        order = st.selectbox(
            "Order",
            list(Order),
            format_func=lambda order: _LABEL_BY_ORDER[order],
            key="queue-order",
            width=190,
            persist_state="session",
        )
        st.space("stretch")
        next_case_button("queue-next", _NOTICE_AREA)
    waiting = state == "waiting"
    return QueueQuery(
        whose or QueueScope.FREE if waiting else QueueScope.ALL, _STATE_FILTERS[state][1], order or Order.TURN
    )


def _draw_queue_row(item: QueueItem, me: str, at: datetime, looking: Sequence[str], author: str) -> None:
    post = escaped(item.post_excerpt) or "A post without text"
    waits, waited = item.state in _WAITING_STATES, at - item.submitted_at
    with st.container(
        horizontal=True, vertical_alignment="center", wrap=False, key=f"queue-{item.case_id}", gap="small"
    ):
        choose = f"Choose “{without_marks(item.post_excerpt) or 'A post without text'}”"
        st.checkbox(choose, key=_tick_key(item.case_id), label_visibility="collapsed", width="content")
        with st.container(gap=None):
            params = {"case": item.case_id}
            st.page_link("pages/queue.py", label=post, icon="", query_params=params, width="stretch")
            with st.container(horizontal=True, vertical_alignment="center", wrap=False, gap="small"):
                # From a day on a badge says how long it waits.
                is_new = waits and waited < WAITS_LONG
                time_mark(item.submitted_at, f"waiting {duration(waited.total_seconds())}" if is_new else "")
                if waits:
                    is_practice = _is_demonstration(item.case_id, item.submitted_at)
                    marks = _list_queue_badges(item, me, at, looking)
                else:
                    is_practice, ending = moderation.row_facts(cases(), item.case_id)
                    marks = [badge("gray", "", ending)]
                if is_practice:
                    marks.insert(0, badge("orange", "school", "demonstration: do not post"))
                if author:
                    marks.append(f":gray[by {escaped(author, 40)}]")
                st.markdown(f":small[{' '.join(marks)}]", wrap=False, width="stretch")
            st.markdown(f":small[:gray[{escaped(item.note_excerpt) or 'no note'}]]", wrap=False, width="stretch")


def _list_queue_badges(item: QueueItem, me: str, at: datetime, looking: Sequence[str]) -> list[str]:
    """Return why it comes early, and who is at it."""
    marks = [badge("orange", "priority_high", reason) for reason in item.reasons(at)]
    if item.held_by_another(me, at):
        marks.append(badge("violet", "person", f"{item.holder_name} is working on this"))
    elif item.holder == me:
        marks.append(badge("green", "person", "you are working on this"))
    marks += [badge("blue", "visibility", f"{name} is looking at this") for name in looking if name != item.holder_name]
    if item.assigned is not None:
        marks.append(badge("gray", "assignment_ind", f"for {item.assigned_name}"))
    if item.readers and item.read_by:
        marks.append(badge("blue", "group", "needs another reader"))
    elif item.readers > 1:
        marks.append(badge("blue", "group", plural(item.readers, "1 reader", "{n} readers")))
    return marks


@st.cache_data(max_entries=1_000, show_spinner=False)
def _is_demonstration(case_id: str, submitted_at: datetime) -> bool:  # noqa: ARG001 - part of the key of the cache
    """Read once for each time that the case was sent."""
    return moderation.row_facts(cases(), case_id)[0]


def _tick_key(case_id: str) -> str:
    return f"queue-tick-{case_id}"


def _draw_bulk_actions(items: Sequence[QueueItem]) -> None:
    """Draw what can be done with several at once: who should take them, their order, a table. Never a decision."""
    chosen = [item for item in items if st.session_state.get(_tick_key(item.case_id))]
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="queue-bulk"):
        every = len(chosen) == len(items)
        choose = partial(_choose, [] if every else items, items)
        button("Choose none" if every else "Choose all", "bulk-all", _NOTICE_AREA, choose, type="tertiary")
        if not chosen:
            return
        st.markdown(plural(len(chosen), "1 chosen:", "{n} chosen:"), width="content")
        if chosen[0].state in _WAITING_STATES:  # the list shows one kind alone
            _draw_desk_actions(chosen)
        export = partial(_export_cases, [item.case_id for item in chosen])
        download("Export as CSV", export, "queue.csv", "text/csv")


def _choose(chosen: Sequence[QueueItem], items: Sequence[QueueItem]) -> None:
    for item in items:
        st.session_state[_tick_key(item.case_id)] = item in chosen


def _draw_desk_actions(chosen: Sequence[QueueItem]) -> None:
    """Draw the buttons that would change something."""
    ids, me = [item.case_id for item in chosen], workspace().actor
    if any(item.assigned != me.key for item in chosen):
        mine = _for_each_case(ids, lambda it: cases().apply(it, moderation.assign, me))
        button("Assign to me", "bulk-me", _NOTICE_AREA, mine, icon="person_add")
    if any(item.assigned is not None for item in chosen):
        nobody = _for_each_case(ids, lambda it: cases().apply(it, moderation.assign, None))
        button("Unassign", "bulk-nobody", _NOTICE_AREA, nobody, icon="person_off")
    if others := [person for person in workspace().people.moderators() if person.key != me.key]:
        with st.popover("Assign to …", icon=":material/assignment_ind:"):
            for person in others:
                to = _for_each_case(ids, lambda it, person=person: cases().apply(it, moderation.assign, person))  # type: ignore[misc]
                button(escaped(person.name, 40), f"bulk-{person.key}", _NOTICE_AREA, to, type="tertiary")
    if not all(item.raised for item in chosen):
        first = _for_each_case(ids, lambda it: cases().apply(it, moderation.prioritise, True))
        button("Put first", "bulk-first", _NOTICE_AREA, first, icon="vertical_align_top")
    if any(item.raised for item in chosen):
        later = _for_each_case(ids, lambda it: cases().apply(it, moderation.prioritise, False))
        button("Not first", "bulk-later", _NOTICE_AREA, later, icon="vertical_align_bottom")
    if any(item.readers_in_all < 2 for item in chosen):
        two = _for_each_case(ids, lambda it: moderation.set_case_readers(cases(), it, 2))
        button("Ask for two readers", "bulk-two", _NOTICE_AREA, two, icon="group")
    if any(item.readers_in_all > 1 for item in chosen) and not workspace().settings.two_readers:
        one = _for_each_case(ids, lambda it: moderation.set_case_readers(cases(), it, 1))
        button("Ask for one reader", "bulk-one", _NOTICE_AREA, one, icon="person")


def _export_cases(case_ids: Sequence[str], mine: Workspace) -> str:
    return cases_csv([mine.cases.get(case_id) for case_id in case_ids])


def _for_each_case(case_ids: Sequence[str], does: Callable[[str], object]) -> Callable[[], None]:
    def act_on_all() -> None:
        for case_id in case_ids:
            does(case_id)
            st.session_state[_tick_key(case_id)] = False

    return act_on_all


def _draw_queue() -> None:
    asked = _ask_queue_query()
    notices(_NOTICE_AREA)
    key = "queue-page"
    first = (st.session_state.get(key, 1) - 1) * _PAGE_SIZE
    items, found, looking = moderation.queue_page(cases(), asked, _PAGE_SIZE, first)
    if not found:
        _draw_empty_queue(asked)
        return
    st.caption(f"More than {found:,} cases" if found == MAX_COUNTED_LINES else plural(found, "1 case", "{n:,} cases"))
    if first != first_shown(found, _PAGE_SIZE, key):
        st.rerun()
    _draw_bulk_actions(items)
    me, at = workspace().actor.key, cases().now(Clock.DATABASE)
    names = workspace().people.names() if has_accounts(workspace().settings) else {}
    with st.container(gap=None, key="queue-rows"):
        for item in items:
            author = "you" if item.owner == me else names.get(item.owner or "", "")
            _draw_queue_row(item, me, at, looking.get(item.case_id, []), author)


def _draw_empty_queue(asked: QueueQuery) -> None:
    """Say why nothing is listed, with a way to what there is."""
    why = moderation.why_none_is_free(cases()) if asked.states == _WAITING_STATES else ()
    if why:
        title = "You have no case." if asked.whose is QueueScope.MINE else "No case is free to take."
        st.info(escaped(" ".join(why), 300), title=title, icon=":material/inbox:")
    else:
        st.info("Authors send cases from the Draft page.", title="No cases here.", icon=":material/inbox:")
    with st.container(horizontal=True, gap="small", key="queue-elsewhere"):
        for name, (label, states) in _STATE_FILTERS.items():
            query = QueueQuery(QueueScope.ALL, states)
            n = 0 if query == asked else moderation.queue_page(cases(), query, 1)[1]
            if n:
                show = partial(st.session_state.update, {"queue-state": name, "queue-whose": QueueScope.ALL})
                button(f"{label}: {n:,}", f"queue-show-{name}", _NOTICE_AREA, show, type="tertiary")


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


opened = opened_by_link("case")
with page_body(
    "Queue",
    "" if opened else "Cases for moderators, most urgent first.",
    None if opened else queue_keys,
    width=1480 if opened else 1040,
    quiet=bool(opened),
):
    if opened:
        validate(opened)
    else:
        shortcut_keys(HELP_KEY, ())
        _draw_queue()
        agreement_fold()
        _draw_tombstones()
