"""The Compare page: a facilitator begins blind comparisons and sees the results; participants answer by a link."""

from __future__ import annotations

import re
from functools import partial

import streamlit as st

from crowdnotes.domain import ComparisonSummary
from crowdnotes.errors import InputError
from crowdnotes.text.markdown import escaped
from crowdnotes.wording import plural
from pages.common.components import first_shown, web_link
from pages.common.engine_panel import engine_panel
from pages.common.navigation import ask_for_link, page_body, redirect_through_app
from pages.common.session import button, comparison_link_key, notices, opened_by_link, run_action, workspace
from pages.common.sign_in import COMPARISON
from pages.common.times import time_mark
from pages.report_parts.comparison import came_in, participant_view, results_view

_NOTICE_AREA, _RESULTS_PARAM, _FORM_COUNT_KEY = "compare", "results", "compare-made"
_FILE_TYPES = ["csv", "tsv", "jsonl", "json"]
_PAGE_SIZE = 15
_LOCAL_ADDRESS_PATTERN = re.compile(r"https?://(localhost|127\.[\d.]+|\[::1\])[:/]", re.IGNORECASE)


def _draw_comparison_form() -> None:
    st.header("New comparison", anchor=False)
    with st.form(
        f"compare-add-{st.session_state.get(_FORM_COUNT_KEY, 0)}", border=False
    ):  # another once a link is made: empty
        upload = st.file_uploader("File with the pairs", type=_FILE_TYPES, max_upload_size=5)
        st.caption(
            "One pair a row, with the headings post, first, second (or post, supernote, existing_note). Files of "
            "“crowdnotes bench” work too."
        )
        name = st.text_input("Name (participants do not see it)", placeholder="the name of the file")
        short = st.checkbox("Ask only which note helps more: one click a pair, for an audience")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            first = st.text_input("Name of the first notes", placeholder="as in the file")
            second = st.text_input("Name of the second notes", placeholder="as in the file")
            each = st.number_input("Pairs for each participant (0 means all)", min_value=0, value=0, step=1)
        if st.form_submit_button("Make the link", type="primary", icon=":material/link:"):
            names = first or "", second or ""
            add = partial(_add_comparison, upload, name or "", names, int(each or 0), short=short)
            run_action(_NOTICE_AREA, add)
            st.rerun()


def _add_comparison(
    upload: st.runtime.uploaded_file_manager.UploadedFile | None,
    title: str,
    names: tuple[str, str],
    each: int,
    *,
    short: bool,
) -> None:
    if upload is None:
        raise InputError("Choose a file with pairs first.")
    made = workspace().comparisons.add(upload.name, upload.getvalue(), title=title, names=names, each=each, short=short)
    st.session_state[_FORM_COUNT_KEY] = st.session_state.get(_FORM_COUNT_KEY, 0) + 1
    st.session_state[comparison_link_key(made.id)] = True
    st.toast("The link is ready.", icon=":material/link:")


def _delete_comparison(summary: ComparisonSummary) -> None:
    workspace().comparisons.delete(summary.id)
    st.toast(f"Comparison deleted: “{escaped(summary.title, 60)}”", icon=":material/delete:")


def _draw_comparison_row(summary: ComparisonSummary) -> None:
    title = escaped(summary.title)
    with st.container(horizontal=True, vertical_alignment="center", wrap=False, key=f"comparison-{summary.id}"):
        with st.container(gap=None):
            # The link's words are the row's: page.css stretches it over the whole of it.
            st.page_link(
                "pages/compare.py", label=title, icon="", query_params={_RESULTS_PARAM: summary.id}, width="stretch"
            )
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                time_mark(summary.created_at)
                pairs = plural(summary.pairs, "1 pair", "{n:,} pairs")
                answers = came_in(summary.answers, summary.participants)
                st.markdown(f":small[:gray[{pairs} · {answers}]]", width="content")
        key = comparison_link_key(summary.id)
        with st.popover("Link", icon=":material/link:", type="tertiary", key=key, on_change="rerun") as link:
            if link.open:
                _draw_participant_link(summary)
        with st.popover(f"Delete “{title}”", icon=":material/delete:", type="tertiary", key=f"bin-{summary.id}"):
            st.markdown("This deletes the comparison with all its answers. You cannot undo this.")
            gone = partial(_delete_comparison, summary)
            button("Delete this comparison", f"delete-{summary.id}", _NOTICE_AREA, gone, icon="delete_forever")


def _draw_participant_link(summary: ComparisonSummary) -> None:
    address = (st.context.url or "/compare").partition("?")[0]
    st.markdown("Send this link to the participants. They need no account.")
    link = f"{address}?{COMPARISON}={summary.id}"
    st.code(link, language=None, wrap_lines=True)
    web_link("Open it", link)
    if _LOCAL_ADDRESS_PATTERN.match(address):
        st.caption(
            ":orange[:material/computer: This link works only on this computer. For other people, open this "
            "page at an address that they can reach.]"
        )


def _draw_facilitator_view() -> None:
    results = opened_by_link(_RESULTS_PARAM)
    if results:
        back = partial(st.query_params.pop, _RESULTS_PARAM, None)
        button("All comparisons", "compare-all", _NOTICE_AREA, back, icon="arrow_back", type="tertiary")
        results_view(results)
        return
    notices(_NOTICE_AREA)
    summaries = workspace().comparisons.summaries()
    if summaries:
        st.caption(plural(len(summaries), "1 comparison", "{n:,} comparisons"))
    else:
        st.info(
            "Open a supernote and choose *Compare these two*, or add a file with pairs of notes below. Then send the "
            "link to participants.",
            title="There are no comparisons yet.",
            icon=":material/compare:",
        )
    first = first_shown(len(summaries), _PAGE_SIZE, "compare-page")
    with st.container(gap=None, key="comparisons"):
        for summary in summaries[first : first + _PAGE_SIZE]:
            _draw_comparison_row(summary)
    _draw_comparison_form()


redirect_through_app()
comparison = st.query_params.get(COMPARISON)
if comparison:
    with page_body("Which note helps more?", "Two notes on the same post."):
        participant_view(comparison)
elif workspace().settings.participants_only:
    ask_for_link()
else:
    with page_body(
        "Compare",
        "Readers see two notes on the same post and choose one, without knowing who wrote them.",
        corner=engine_panel,
    ):
        _draw_facilitator_view()
