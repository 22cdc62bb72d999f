"""The Overview page: how cases go, in pictures, each with its sentence."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Final

import streamlit as st

from crowdnotes.domain import Act, Role
from crowdnotes.domain.base import LOCAL_ENGINE
from crowdnotes.reports.case_figures import CaseFigures, read
from crowdnotes.reports.overview import ENDINGS, Filter, overview, queue_sentence
from crowdnotes.text.markdown import escaped
from crowdnotes.wording import plural
from pages.common.navigation import page_body
from pages.common.session import cases, workspace
from pages.report_parts.overview_charts import pictures, utility_study

_DAY_CHOICES = (7, 30, 90, 365)
_BIND_TO_ADDRESS: Final = "query-params"  # in the address, so that a filter is there on the way back from a case


@st.cache_resource(max_entries=50, show_spinner=False)
def _get_cached_figures(person: str, role: Role) -> dict[str, CaseFigures]:  # noqa: ARG001 - the key of the cache
    """Return what was counted of each case: only one that changed is read again.

    Each person has their own: a moderator's figures have what they found, which others may not see yet.
    """
    return {}


def _ask_filter(figures: Sequence[CaseFigures]) -> Filter:
    engines = sorted({engine for case in figures for engine in case.engines})
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        days = st.selectbox(
            "Started",
            _DAY_CHOICES,
            index=None,
            placeholder="At any time",
            format_func=lambda days: f"In the last {days} days",
            key="days",
            width=190,
            bind=_BIND_TO_ADDRESS,
        )
        ended = st.selectbox(
            "How it ended",
            tuple(ENDINGS),
            index=None,
            placeholder="All",
            format_func=lambda ending: ENDINGS[ending].capitalize(),
            key="ended",
            width=220,
            bind=_BIND_TO_ADDRESS,
        )
        engine = st.selectbox(
            "AI",
            engines,
            index=None,
            placeholder="All",
            format_func=lambda engine: "Without AI" if engine == LOCAL_ENGINE else engine,
            key="engine",
            width=220,
            bind=_BIND_TO_ADDRESS,
        )
        demonstrations = st.toggle("With demonstration cases", key="demo", bind=_BIND_TO_ADDRESS)
    since = cases().now() - timedelta(days=days) if days else None
    return Filter(since, ended, engine, demonstrations)


with page_body("Overview", "How cases go, in numbers."):
    with st.spinner("Counting the cases…", show_time=False):
        actor = workspace().actor
        figures, unreadable = read(cases(), _get_cached_figures(actor.key, actor.role))
    chosen = _ask_filter(figures) if figures else Filter()
    # Of all cases, whatever the filter says: only who may read them all sees it.
    shown = (case for case in figures if Filter(demonstrations=chosen.demonstrations).keeps(case))
    if workspace().may(Act.REVIEW) and (queue := queue_sentence(shown, cases().now())):
        st.markdown(f"**The queue now**: {escaped(queue)}")
    chosen_cases = [case for case in figures if chosen.keeps(case)]
    if unreadable:
        why = " ".join(dict.fromkeys(unreadable.values()))
        st.warning(
            escaped(
                plural(
                    len(unreadable), "{n} case could not be read: {why}", "{n} cases could not be read: {why}", why=why
                )
            ),
            icon=":material/warning:",
        )
    hidden = sum(case.demonstration for case in figures)
    if hidden and not chosen.demonstrations:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(plural(hidden, "1 demonstration is hidden.", "{n} demonstrations are hidden."), width="content")
            label = plural(hidden, "Show it", "Show them")
            st.button(label, type="tertiary", on_click=partial(st.session_state.__setitem__, "demo", True))
    if chosen_cases:
        pictures(overview(chosen_cases), cases().now())
    elif figures and chosen == Filter():
        st.info(
            "Your cases so far are demonstrations.",
            title="Nothing to count yet.",
            icon=":material/school:",
        )
    elif chosen == Filter():
        st.info("Write your first note to see it here.", title="There are no cases yet.", icon=":material/inbox:")
        if st.button("Draft a note", type="primary", icon=":material/edit_note:"):
            st.switch_page("pages/draft.py")
    else:
        st.info("Choose a longer time, or remove a filter.", title="No cases found.", icon=":material/search_off:")
    utility_study()
