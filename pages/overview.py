"""The Overview page: how cases go, in pictures with the sentence that each tells."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

import streamlit as st

from crowdnotes.reports.case_figures import CaseFigures, read
from crowdnotes.reports.overview import ENDINGS, Filter, overview
from crowdnotes.text.markdown import escaped
from crowdnotes.wording import name_of, say
from pages.common.navigation import page_body
from pages.common.session import workspace
from pages.report_parts.overview_charts import pictures, utility_study

_DAYS = (7, 30, 90, 365)
_BOUND: Final = "query-params"  # in the address, so that a filter is there on the way back from a case


@st.cache_resource(show_spinner=False)
def _known() -> dict[str, CaseFigures]:
    """What was counted of each case: only one that changed is read again."""
    return {}


def _filter(figures: Sequence[CaseFigures]) -> Filter:
    engines = sorted({engine for case in figures for engine in case.engines})
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        days = st.selectbox(
            say("overview.period"),
            _DAYS,
            index=None,
            placeholder=say("overview.period_all"),
            format_func=lambda days: say("overview.period_days", days=days),
            key="days",
            width=190,
            bind=_BOUND,
        )
        ended = st.selectbox(
            say("overview.ended"),
            ENDINGS,
            index=None,
            placeholder=say("overview.ended_all"),
            format_func=lambda ending: name_of("kinds", ending).capitalize(),
            key="ended",
            width=220,
            bind=_BOUND,
        )
        engine = st.selectbox(
            say("overview.engine"),
            engines,
            index=None,
            placeholder=say("overview.engine_all"),
            key="engine",
            width=220,
            bind=_BOUND,
        )
        demonstrations = st.toggle(say("overview.demonstrations"), key="demo", bind=_BOUND)
    since = workspace().service.now() - timedelta(days=days) if days else None
    return Filter(since, ended, engine, demonstrations)


with page_body(say("overview.title"), say("overview.about")):
    with st.spinner(say("overview.counting"), show_time=False):
        figures, unreadable = read(workspace().service, _known())
    chosen = _filter(figures)
    cases = [case for case in figures if chosen.keeps(case)]
    if unreadable:
        why = " ".join(dict.fromkeys(unreadable.values()))
        st.warning(escaped(say("overview.unreadable", n=len(unreadable), why=why)), icon=":material/warning:")
    if cases:
        pictures(overview(cases), workspace().service.now())
    elif chosen == Filter():
        st.info(say("overview.empty"), title=say("overview.empty_title"), icon=":material/inbox:")
        if st.button(say("overview.draft"), type="primary", icon=":material/edit_note:"):
            st.switch_page("pages/draft.py")
    else:
        st.info(
            say("overview.empty_filtered"), title=say("overview.empty_filtered_title"), icon=":material/search_off:"
        )
    utility_study()
