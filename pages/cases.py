"""The Cases page: every note that was begun, to find, open, export or delete."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

import streamlit as st

from crowdnotes.cases import actions, supernote_actions
from crowdnotes.cases.case_findings import row_marks
from crowdnotes.cases.export import cases_csv
from crowdnotes.domain import CASE_STATES, QUEUE_STATES, Act, CaseStatus, CaseSummary, DecisionKind, Relationship
from crowdnotes.jobs import JobState
from crowdnotes.text.markdown import escaped
from crowdnotes.wording import plural
from pages.common.components import badge, first_shown
from pages.common.engine_panel import engine_panel
from pages.common.navigation import page_body
from pages.common.session import button, button_that_asks, cases, download, is_asking, notices, workspace
from pages.common.sign_in import has_accounts
from pages.common.times import time_mark

_NOTICE_AREA = "cases"
_PAGE_SIZE = 20
_LABEL_BY_RELATIONSHIP: Mapping[str, str] = {Relationship.OWN: "Mine", Relationship.SHARED: "Shared"}
_COLOUR_BY_DECISION = {DecisionKind.APPROVED: "green", DecisionKind.REJECTED: "red"}


def _build_status_badge(summary: CaseSummary) -> str:
    """Return a badge of how it ended or of its state; an approval that passed something over does not look clean."""
    if summary.overrides:
        return badge("orange", "rule", summary.outcome)
    if summary.decision is not None:
        return badge(_COLOUR_BY_DECISION.get(summary.decision, "gray"), "", summary.outcome)
    if summary.state in QUEUE_STATES:
        return badge("violet", "", summary.outcome)
    if summary.state is CaseStatus.NEW and not summary.supernote:
        return _build_search_badge(summary)
    return badge("orange", "", summary.outcome)


def _build_search_badge(summary: CaseSummary) -> str:
    """Return a badge of how the search ended for a case without sources: it failed, found nothing, or did not begin."""
    job = workspace().runner.latest(summary.id)
    if job is not None and job.state.under_way:
        return badge("blue", "pending", "at work")
    if job is not None and job.state is JobState.FAILED:
        return badge("red", "error", "search failed")
    _, why, may_change = _read_marks(summary.id, summary.updated_at)
    if why:
        return badge("orange" if may_change else "violet", "search_off", why)
    return badge("gray", "", summary.outcome)


@st.cache_data(max_entries=1_000, show_spinner=False)
def _read_marks(case_id: str, changed: datetime) -> tuple[bool, str, bool]:  # noqa: ARG001 - part of the key of the cache
    """Return `row_marks`; read once for each change of the case."""
    return row_marks(cases(), case_id)


def _delete_case(case_id: str, excerpt: str) -> None:
    _hold_filters()
    cases().delete(case_id)
    st.toast(f"Case deleted: “{escaped(excerpt, 60)}”", icon=":material/delete:", duration="long")


def _format_case_link(summary: CaseSummary) -> str:
    root = (st.context.url or "").partition("?")[0].rstrip("/").removesuffix("/cases")
    return f"{root}/{'supernote' if summary.supernote else ''}?case={summary.id}"


def _duplicate_case(case_id: str) -> None:
    _hold_filters()
    supernote_actions.duplicate_case(cases(), case_id)
    st.toast("Duplicated. The new case comes first.", icon=":material/content_copy:")


def _set_case_shared(case_id: str, *, shared: bool) -> None:
    _hold_filters()
    cases().apply(case_id, actions.set_shared, shared)


def _draw_case_row(summary: CaseSummary) -> None:
    post = escaped(summary.post_excerpt) or "A post without text"
    with st.container(horizontal=True, vertical_alignment="center", wrap=False, key=f"case-{summary.id}", gap="small"):
        with st.container(gap=None):
            page = "pages/supernote.py" if summary.supernote else "pages/draft.py"
            # The link's words are the row's: page.css stretches it over the whole of it.
            st.page_link(page, label=post, icon="", query_params={"case": summary.id}, width="stretch")
            with st.container(horizontal=True, vertical_alignment="center", wrap=False, gap="small"):
                time_mark(summary.updated_at)
                st.markdown(_build_case_badges(summary), wrap=False, width="stretch")
        with st.popover(f"What to do with “{post}”", icon=":material/more_vert:", type="tertiary"):
            delete = f"delete-{summary.id}"
            if not is_asking(delete):  # else the question alone: below the rest it is cut off on a phone
                _draw_case_acts(summary)
            button_that_asks(
                "Delete this case",
                delete,
                _NOTICE_AREA,
                partial(_delete_case, summary.id, summary.post_excerpt),
                question="Delete the case with its sources, its note and its record? You cannot undo this.",
                confirm="Delete it for good",
                icon="delete_forever",
            )


def _draw_case_acts(summary: CaseSummary) -> None:
    if has_accounts(workspace().settings) and summary.owner == workspace().actor.key:
        share = partial(_set_case_shared, summary.id, shared=not summary.shared)
        label = "Share no longer" if summary.shared else "Share with everybody"
        button(label, f"share-{summary.id}", _NOTICE_AREA, share, icon="group")
    st.markdown("Copy link")
    st.code(_format_case_link(summary), language=None, wrap_lines=True)
    duplicate = partial(_duplicate_case, summary.id)
    button("Duplicate", f"duplicate-{summary.id}", _NOTICE_AREA, duplicate, icon="content_copy")


def _build_case_badges(summary: CaseSummary) -> str:
    """Status, what kind of case it is, and the note's first words."""
    marks = [_build_status_badge(summary)]
    if summary.outcome_line:
        marks.append(f":gray[{escaped(summary.outcome_line)}]")
    if summary.supernote:
        marks.append(badge("blue", "hub", "supernote"))
    if _read_marks(summary.id, summary.updated_at)[0]:
        marks.append(badge("orange", "school", "demonstration"))
    if has_accounts(workspace().settings) and summary.owner != workspace().actor.key:
        name = workspace().people.names().get(summary.owner or "")
        marks.extend([badge("gray", "person", f"by {name}")] if name else [])
    if summary.shared:
        marks.append(badge("blue", "group", "shared"))
    if summary.note_excerpt:
        marks.append(f":gray[Note: “{escaped(summary.note_excerpt)}”]")
    return f":small[{' '.join(marks)}]"


def _hold_filters() -> None:
    """Before the page number is set: Streamlit then writes the address anew, from filters that it may not know yet."""
    for name in ("search", "status"):
        st.session_state[name] = st.session_state[name]


def _go_to_first_page() -> None:
    if st.session_state.get("page", 1) > 1:
        _hold_filters()
        st.session_state["page"] = 1


def _filter_persistence() -> dict[str, Any]:
    """Return how a filter is kept: in the address, and for the session.

    Opening a row, Streamlit leaves "/cases?case=…" in the browser's history, and Back leads there: what was looked for
    is then known to the session alone. Where the session knows nothing, it is a row's link in a tab of its own.
    """
    if "case" not in st.query_params:
        return {"bind": "query-params", "persist_state": "session"}
    if "search" not in st.session_state:
        st.session_state["search"] = ""
        st.switch_page("pages/draft.py", query_params={"case": st.query_params["case"]})
    return {"persist_state": "session"}


def _label_whose() -> Mapping[str, str]:
    """Return the words of each choice of whose cases: one's own, shared, and each other person's who began some."""
    names = workspace().people.names()
    others = [key for key in cases().owners() if key in names and key != workspace().actor.key]
    repeats = Counter([*_LABEL_BY_RELATIONSHIP.values(), *(names[key] for key in others)])
    labels = {key: f"{names[key]} ({key})" if repeats[names[key]] > 1 else names[key] for key in others}
    return {**_LABEL_BY_RELATIONSHIP, **dict(sorted(labels.items(), key=lambda item: item[1].casefold()))}


with page_body("Cases", "Newest changes first.", corner=engine_panel):
    lasting = _filter_persistence()
    with st.container(horizontal=True, vertical_alignment="bottom", key="find-cases"):
        search = st.text_input(
            "Search posts and notes",
            type="search",
            placeholder="Words, or “words in this order”",
            key="search",
            live=True,
            on_change=_go_to_first_page,
            **lasting,
        )
        status = st.selectbox(
            "Status",
            # Who works alone has no queue.
            [state for state in CASE_STATES if workspace().settings.has_desk or state not in QUEUE_STATES],
            index=None,
            placeholder="All",
            format_func=lambda state: state.as_text,
            key="status",
            width=220,
            on_change=_go_to_first_page,
            **lasting,
        )
        whose = None
        if has_accounts(workspace().settings):
            label_by_choice = _label_whose()
            whose = st.selectbox(
                "Whose",
                list(label_by_choice),
                index=None,
                placeholder="All",
                format_func=lambda whose: label_by_choice.get(whose, whose),
                key="whose",
                width=180,
                on_change=_go_to_first_page,
            )
    found = cases().count(search or "", status, whose=whose)
    with st.container(horizontal=True, vertical_alignment="center"):
        if found:
            st.caption(plural(found, "1 case", "{n:,} cases"), width="stretch")
        if workspace().may(Act.BATCH):
            label = "Posts from a file"
            st.page_link("pages/batches.py", label=label, icon=":material/upload_file:", width="content")
        download(
            "Export as CSV",
            lambda mine: cases_csv(*mine.cases.read_all(search or "", status, whose=whose)),
            "cases.csv",
            "text/csv",
            help="One row for each case found",
        )
    notices(_NOTICE_AREA)
    if not found and (search or status or whose):
        st.info("Try other words, or another status.", title="No cases found.", icon=":material/search_off:")
    elif not found:
        st.info(
            "Paste a post on the Draft page, or try an example.",
            title="There are no cases yet.",
            icon=":material/inbox:",
        )
        if st.button("Draft a note", type="primary", icon=":material/edit_note:"):
            st.switch_page("pages/draft.py")
    else:
        first = first_shown(found, _PAGE_SIZE, "page", **lasting)
        with st.container(gap=None, key="cases"):
            for item in cases().find(search or "", status, whose=whose, limit=_PAGE_SIZE, offset=first):
                _draw_case_row(item)
