"""The Compare page: a facilitator begins blind comparisons and sees the results; participants answer by a link."""

from __future__ import annotations

import re
from functools import partial

import streamlit as st

from crowdnotes.domain import ComparisonSummary
from crowdnotes.errors import InputError
from crowdnotes.text.markdown import escaped
from crowdnotes.wording import say
from pages.common.components import first_shown
from pages.common.engine_panel import engine_panel
from pages.common.navigation import ask_for_link, enter_by_the_door, page_body
from pages.common.session import act, button, notices, workspace
from pages.common.sign_in import COMPARISON
from pages.common.times import time_mark
from pages.report_parts.comparison import came_in, participant_view, results_view

_PLACE, _RESULTS, _MADE = "compare", "results", "compare-made"
_KINDS = ["csv", "tsv", "jsonl", "json"]
_A_PAGE = 15
_HERE_ALONE = re.compile(r"https?://(localhost|127\.[\d.]+|\[::1\])[:/]", re.IGNORECASE)


def _add_form() -> None:
    st.header(say("compare.add_head"), anchor=False)
    with st.form(f"compare-add-{st.session_state.get(_MADE, 0)}", border=False):  # another once a link is made: empty
        upload = st.file_uploader(say("compare.file"), type=_KINDS, max_upload_size=5)
        st.caption(say("compare.columns"))
        name = st.text_input(say("compare.name"), placeholder=say("compare.name_example"))
        with st.container(horizontal=True, vertical_alignment="bottom"):
            first = st.text_input(say("compare.first"), placeholder=say("compare.as_in_file"))
            second = st.text_input(say("compare.second"), placeholder=say("compare.as_in_file"))
            each = st.number_input(say("compare.each"), min_value=0, value=0, step=1)
        if st.form_submit_button(say("compare.make"), type="primary", icon=":material/link:"):
            act(_PLACE, partial(_add, upload, name or "", (first or "", second or ""), int(each or 0)))
            st.rerun()


def _add(
    upload: st.runtime.uploaded_file_manager.UploadedFile | None, title: str, names: tuple[str, str], each: int
) -> None:
    if upload is None:
        raise InputError(say("compare.no_file"))
    made = workspace().comparisons.add(upload.name, upload.getvalue(), title=title, names=names, each=each)
    st.session_state[_MADE] = st.session_state.get(_MADE, 0) + 1
    st.session_state[_link_key(made.id)] = True
    st.toast(say("compare.made"), icon=":material/link:")


def _link_key(comparison_id: str) -> str:
    return f"compare-link-{comparison_id}"


def _delete(summary: ComparisonSummary) -> None:
    workspace().comparisons.delete(summary.id)
    st.toast(say("compare.deleted", title=escaped(summary.title, 60)), icon=":material/delete:")


def _row(summary: ComparisonSummary) -> None:
    title = escaped(summary.title)
    with st.container(horizontal=True, vertical_alignment="center", wrap=False, key=f"comparison-{summary.id}"):
        with st.container(gap=None):
            # The link's words are the row's: page.css stretches it over the whole of it.
            st.page_link("pages/compare.py", label=title, icon="", query_params={_RESULTS: summary.id}, width="stretch")
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                time_mark(summary.created_at)
                what = f"{say('compare.pairs', n=summary.pairs)} · {came_in(summary.answers, summary.participants)}"
                st.markdown(f":small[:gray[{what}]]", width="content")
        link_key = _link_key(summary.id)
        with st.popover(
            say("compare.link"), icon=":material/link:", type="tertiary", key=link_key, on_change="rerun"
        ) as link:
            if link.open:
                _link(summary)
        with st.popover(
            say("compare.delete_one", title=title), icon=":material/delete:", type="tertiary", key=f"bin-{summary.id}"
        ):
            st.markdown(say("compare.delete_about"))
            gone = partial(_delete, summary)
            button(say("compare.delete"), f"delete-{summary.id}", _PLACE, gone, icon="delete_forever")


def _link(summary: ComparisonSummary) -> None:
    address = (st.context.url or "/compare").partition("?")[0]
    st.markdown(say("compare.link_about"))
    st.code(f"{address}?{COMPARISON}={summary.id}", language=None, wrap_lines=True)
    if _HERE_ALONE.match(address):
        st.caption(f":orange[:material/computer: {say('compare.only_here')}]")


def _facilitator() -> None:
    results = st.query_params.get(_RESULTS)
    if results:
        back = partial(st.query_params.pop, _RESULTS, None)
        button(say("compare.back"), "compare-all", _PLACE, back, icon="arrow_back", type="tertiary")
        results_view(results)
        return
    notices(_PLACE)
    summaries = workspace().comparisons.summaries()
    if summaries:
        st.caption(say("compare.count", n=len(summaries)))
    else:
        st.info(say("compare.none_next"), title=say("compare.none"), icon=":material/compare:")
    first = first_shown(len(summaries), _A_PAGE, "compare-page")
    with st.container(gap=None, key="comparisons"):
        for summary in summaries[first : first + _A_PAGE]:
            _row(summary)
    _add_form()


enter_by_the_door()
comparison = st.query_params.get(COMPARISON)
if comparison:
    with page_body(say("comparison_sheet.title"), say("comparison_sheet.about")):
        participant_view(comparison)
elif workspace().settings.participants_only:
    ask_for_link()
else:
    with page_body(say("compare.title"), say("compare.about"), corner=engine_panel):
        _facilitator()
