"""Fact-checks of the claim by others, before anything else: a person wants to know that first."""

from __future__ import annotations

import streamlit as st

from crowdnotes.domain import Case, Hit
from crowdnotes.evidence.fact_checks import fact_checker, fact_checks
from crowdnotes.evidence.provenance import publisher_of
from pages.parts.search_report import all_hits
from pages.parts.text import day, host, plain, title, web_url

_SHOWN = 4


def already_checked(case: Case) -> None:
    """Checks that any search found, each with who published it, their rating, the date and the link."""
    checks = fact_checks(all_hits(case))
    if not checks:
        return
    with st.container(border=True, key="already-checked", gap="small"):
        st.markdown("**:material/fact_check: Already checked**")
        st.caption("Others published a check of a claim like this one. Read whether it is the same claim.")
        for hit in checks[:_SHOWN]:
            _check(hit)
        rest = checks[_SHOWN:]
        if rest:
            with st.expander(f"{len(rest)} more", key=f"more-checks-{case.id}", on_change="rerun") as more:
                if more.open:
                    for hit in rest:
                        _check(hit)


def _check(hit: Hit) -> None:
    url = web_url(hit.url)
    publisher = fact_checker(hit.url) or publisher_of(hit.url or "") or host(hit.url) or "unknown publisher"
    when = day(hit.published) if hit.published else "date not known"
    with st.container(gap=None):
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.markdown(title(hit.title, "A fact-check", 160), width="stretch")
            if url:
                st.link_button("Read the check", url, type="tertiary", icon=":material/open_in_new:")
        rating = f":blue-badge[rated: {plain(hit.rating, 80)}] " if hit.rating else ""
        st.markdown(f"{rating}:small[:gray[{plain(publisher, 80)} · {when}]]")
        st.markdown(f":small[{plain(hit.snippet, 300)}]")
