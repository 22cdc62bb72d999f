"""What came of a search: how each place answered, and who checked the claim already."""

from __future__ import annotations

import streamlit as st

from crowdnotes.domain import Case, Hit, Mode, ProviderOutcome, ProviderState, StageName
from pages.parts.text import count, day, host, plain, title, web_url

_FACT_CHECKS = "google-fact-check"
_SHOWN = 6


def already_checked(case: Case) -> None:
    """Fact-checks of the claim by others, before anything else: a person wants to know that first."""
    checks = [hit for hit in case.hits if _FACT_CHECKS in (hit.provider, *hit.also_found_by)]
    if not checks or not _searched(case):
        return
    with st.container(border=True, key="already-checked", gap="small"):
        st.markdown("**:material/fact_check: Already checked**")
        st.caption("Others published a check of a claim like this one. Read whether it is the same claim.")
        for hit in checks[:_SHOWN]:
            _check(hit)
        if len(checks) > _SHOWN:
            st.caption(f"{len(checks) - _SHOWN} more were found")


def _check(hit: Hit) -> None:
    url = web_url(hit.url)
    when = day(hit.published) if hit.published else "date not known"
    with st.container(gap=None):
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.markdown(title(hit.title, "A fact-check", 160), width="stretch")
            if url:
                st.link_button("Read the check", url, type="tertiary", icon=":material/open_in_new:")
        st.markdown(f":small[:gray[{plain(host(hit.url) or 'unknown publisher', 80)} · {when}]]")
        st.markdown(f":small[{plain(hit.snippet, 300)}]")


def search_report(case: Case) -> None:
    """A line for each place that was searched: what it found, how fast, or why it failed."""
    if not case.outcomes or not _searched(case):
        return
    with st.container(key="places-searched", gap="xsmall"):
        answered = [item for item in case.outcomes if item.state is ProviderState.ANSWERED]
        if answered:
            st.markdown("  \n".join(_answer(item) for item in answered))
        for item in failed_searches(case):
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                st.badge(f"search {item.state.value}", color="orange", icon=":material/warning:")
                st.markdown(f":small[**{plain(item.label)}:** {plain(item.sentence, 300)}]")


def failed_searches(case: Case) -> list[ProviderOutcome]:
    """The places that gave no answer in the newest search; not the same as having found nothing."""
    if not _searched(case):
        return []
    return [item for item in case.outcomes if item.state is not ProviderState.ANSWERED]


def no_passage(case: Case) -> None:
    """What it means that there is nothing to read: that nothing was found, or that a search failed."""
    failed = failed_searches(case)
    if failed:
        st.warning(
            f"{count(len(failed), 'place')} gave no answer, so this does not mean that there is nothing to find. "
            "Search again below, or bring links of your own.",
            title="There is no passage, and a search failed.",
            icon=":material/sync_problem:",
        )
        return
    st.info(
        "That is a result too: look elsewhere below, or decide “not enough evidence”.",
        title="No passage was found.",
        icon=":material/search_off:",
    )


def _searched(case: Case) -> bool:
    """Whether what is on record is of the search that the case asks for now."""
    return case.mode is Mode.AUTOMATION and any(stage.name is StageName.SEARCH for stage in case.stages)


def _answer(item: ProviderOutcome) -> str:
    said = f" ({plain(item.sentence, 160)})" if item.sentence else ""
    return f":small[:gray[:material/search: {plain(item.label)}: {item.found} found · {item.seconds:.1f} s{said}]]"
