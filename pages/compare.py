"""The Compare page: a facilitator begins blind comparisons and sees the results; participants answer by a link."""

from __future__ import annotations

import re
from functools import partial

import streamlit as st

from crowdnotes.domain import ComparisonSummary
from crowdnotes.errors import InputError
from crowdnotes.text.markdown import count, escaped
from pages.view.comparison_results import results_view
from pages.view.comparison_sheet import participant_view
from pages.view.session import (
    COMPARISON,
    act,
    ask_for_link,
    button,
    enter_by_the_door,
    notices,
    page_body,
    workspace,
)
from pages.view.times import moment

_PLACE, _RESULTS, _MADE = "compare", "results", "compare-made"
_KINDS = ["csv", "tsv", "jsonl", "json"]
_COLUMNS = (
    "A heading, then a pair a row, with the columns post, first and second, or post, supernote and existing_note. "
    "Files of pairs and of notes that “crowdnotes bench” wrote can be read too."
)
_HERE_ALONE = re.compile(r"https?://(localhost|127\.[\d.]+|\[::1\])[:/]", re.IGNORECASE)


def _add_form() -> None:
    is_first = not workspace().comparisons.summaries()
    key = f"compare-add-{st.session_state.get(_MADE, 0)}"  # another once a link is made: folded and empty again
    with (
        st.expander("Begin a comparison", key=f"{key}-fold", icon=":material/add:", expanded=is_first),
        st.form(key, border=False),
    ):
        upload = st.file_uploader("The pairs", type=_KINDS, max_upload_size=5)
        st.caption(_COLUMNS)
        title = st.text_input("What you call it (participants do not see it)", placeholder="the file's name")
        with st.container(horizontal=True):
            first = st.text_input("The first note of each pair is", placeholder="as in the file")
            second = st.text_input("The second one is", placeholder="as in the file")
            each = st.number_input("Pairs a participant sees (0: all)", min_value=0, value=0, step=1)
        if st.form_submit_button("Make the link", type="primary", icon=":material/link:"):
            act(_PLACE, partial(_add, upload, title or "", (first or "", second or ""), int(each or 0)))
            st.rerun()


def _add(
    upload: st.runtime.uploaded_file_manager.UploadedFile | None, title: str, names: tuple[str, str], each: int
) -> None:
    if upload is None:
        raise InputError("Choose a file with pairs first.")
    workspace().comparisons.add(upload.name, upload.getvalue(), title=title, names=names, each=each)
    st.session_state[_MADE] = st.session_state.get(_MADE, 0) + 1
    st.toast("The link is made.", icon=":material/link:")


def _delete(summary: ComparisonSummary) -> None:
    workspace().comparisons.delete(summary.id)
    st.toast("The comparison is deleted.", icon=":material/delete:")


def _card(summary: ComparisonSummary) -> None:
    with st.container(border=True, gap="xsmall", key=f"comparison-{summary.id}"):
        st.markdown(f"**{escaped(summary.title)}**")
        came = f"{count(summary.answers, 'answer')} by {count(summary.participants, 'participant')}"
        st.caption(f"{count(summary.pairs, 'pair')} · {came} · begun {moment(summary.created_at)}")
        address = (st.context.url or "/compare").partition("?")[0]
        st.caption("The link for participants")
        st.code(f"{address}?{COMPARISON}={summary.id}", language=None, wrap_lines=True)
        if _HERE_ALONE.match(address):
            st.caption(
                ":orange[:material/computer: This link works on this computer alone.] For others, open this page by an "
                "address that they can reach too."
            )
        with st.container(horizontal=True, gap="small"):
            look = partial(st.query_params.__setitem__, _RESULTS, summary.id)
            button("Results", f"results-{summary.id}", _PLACE, look, icon="bar_chart")
            with st.popover("Delete", icon=":material/delete:", type="tertiary"):
                st.markdown("It goes for good, with every answer. Its link will say so.")
                gone = partial(_delete, summary)
                button("Delete this comparison", f"delete-{summary.id}", _PLACE, gone, icon="delete_forever")


def _facilitator() -> None:
    results = st.query_params.get(_RESULTS)
    if results:
        back = partial(st.query_params.pop, _RESULTS, None)
        button("All comparisons", "compare-all", _PLACE, back, icon="arrow_back", type="tertiary")
        results_view(results)
        return
    notices(_PLACE)
    _add_form()
    for summary in workspace().comparisons.summaries():
        _card(summary)


enter_by_the_door()
comparison = st.query_params.get(COMPARISON)
if comparison:
    with page_body("Which note helps more?", "Two notes on the same post, side by side."):
        participant_view(comparison)
elif workspace().settings.participants_only:
    ask_for_link()
else:
    with page_body("Compare", "Which of two notes do readers prefer? They see both, and not which is which."):
        _facilitator()
