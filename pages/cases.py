"""The Cases page: every note that was begun, to find, open, export or delete."""

from __future__ import annotations

from datetime import datetime
from functools import partial

import streamlit as st

from crowdnotes.domain import CaseStatus, CaseSummary, DecisionKind
from crowdnotes.handoff import cases_csv, is_demonstration
from crowdnotes.text.markdown import count, escaped, moment
from pages.view.engine import status_bar
from pages.view.session import button, notices, page_body, workspace

_PLACE = "cases"
_PAGE_SIZE = 20
_COLOURS = {DecisionKind.APPROVED: "green", DecisionKind.REJECTED: "red"}


def _badge(summary: CaseSummary) -> str:
    if summary.decision is not None:
        return f":{_COLOURS.get(summary.decision, 'gray')}-badge[{summary.decision.value}]"
    return f":orange-badge[{summary.status.value}]" if summary.status is not CaseStatus.NEW else ":gray-badge[new]"


@st.cache_data(max_entries=1_000, show_spinner=False)
def _is_demonstration(case_id: str, changed: datetime) -> bool:  # noqa: ARG001 - part of the key of the cache
    """Read once for each change of a case: `changed` is there to tell one from the other."""
    return is_demonstration(workspace().service.get(case_id))


def _delete(case_id: str, excerpt: str) -> None:
    workspace().service.delete(case_id)
    st.toast(f"The case is deleted: “{escaped(excerpt, 60)}”", icon=":material/delete:", duration="long")


def _row(summary: CaseSummary) -> None:
    with st.container(border=True, key=f"case-{summary.id}", gap="xsmall"):
        st.markdown(f"{escaped(summary.post_excerpt, 160)}")
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(_badge(summary), width="content")
            if _is_demonstration(summary.id, summary.updated_at):
                st.badge("demonstration", color="orange", icon=":material/school:")
            st.markdown(f":small[:gray[changed {moment(summary.updated_at)}]]", width="stretch")
            # Side by side and as wide as their words, also where the row breaks on a phone.
            with st.container(horizontal=True, wrap=False, width="content", gap="small", key=f"buttons-{summary.id}"):
                _buttons(summary)


def _buttons(summary: CaseSummary) -> None:
    if st.button("Open", key=f"open-{summary.id}", icon=":material/folder_open:"):
        st.switch_page("pages/draft.py", query_params={"case": summary.id})
    with st.popover("Delete", icon=":material/delete:", type="tertiary"):
        st.markdown("The case goes for good, with its evidence and its record.")
        delete = partial(_delete, summary.id, summary.post_excerpt)
        button("Delete this case", f"delete-{summary.id}", _PLACE, delete, icon="delete_forever")


with page_body("Cases", "Every note that was begun on this machine, the newest change first."):
    with st.container(horizontal=True, vertical_alignment="bottom"):
        search = st.text_input(
            "Search posts and notes", type="search", placeholder="Words of a post or note", key="search", live=True
        )
        status = st.selectbox(
            "Where they stand",
            list(CaseStatus),
            index=None,
            placeholder="All",
            format_func=lambda value: str(value.value),
            key="status",
            width=220,
        )
        st.download_button(
            "Export as CSV",
            data=lambda: cases_csv(*workspace().service.every(search or "", status)),
            file_name="cases.csv",
            mime="text/csv",
            icon=":material/download:",
            on_click="ignore",
            help="The cases found, one a row",
        )
    notices(_PLACE)
    found = workspace().service.count(search or "", status)
    if not found and (search or status):
        st.info("Try other words, or take the filter off.", title="No case fits.", icon=":material/search_off:")
    elif not found:
        st.info(
            "Paste a post on the Draft page, or try one of its six examples.",
            title="There is no case yet.",
            icon=":material/inbox:",
        )
        if st.button("Draft a note", type="primary", icon=":material/edit_note:"):
            st.switch_page("pages/draft.py")
    else:
        st.caption(count(found, "case"))
        pages = -(-found // _PAGE_SIZE)
        shown = st.pagination(pages, key="page") if pages > 1 else 1
        for item in workspace().service.list(search or "", status, _PAGE_SIZE, (shown - 1) * _PAGE_SIZE):
            _row(item)
status_bar("Waits for you: open a case, or begin a note")
