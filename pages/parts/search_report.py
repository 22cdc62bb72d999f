"""What came of a search: how each place answered, and what it means when there is nothing to read."""

from __future__ import annotations

import streamlit as st

from crowdnotes.domain import Case, FetchOutcome, Hit, Mode, ProviderOutcome, ProviderState, StageName
from crowdnotes.evidence.search.canonical import identities
from crowdnotes.jobs.records import JobRecord, JobState
from pages.parts.search_list import search_list
from pages.parts.text import count, plain


def all_hits(case: Case) -> list[Hit]:
    """What the search on record found, and what second looks found besides; no page and no record twice."""
    found = list(case.hits) if _searched(case) else []
    seen = {name for hit in found for name in identities(hit)}
    for hit in (hit for look in case.looks for hit in look.hits):
        if seen.isdisjoint(identities(hit)):
            found.append(hit)
        seen |= identities(hit)
    return found


def search_report(case: Case) -> None:
    """A line for each place that was searched: what it found, how fast, or why it failed."""
    if not case.outcomes or not _searched(case):
        return
    with st.container(key="places-searched", gap="xsmall"):
        answered = [item for item in case.outcomes if item.state is ProviderState.ANSWERED]
        if answered:
            st.markdown("  \n".join(_answer(item) for item in answered))
        failures(failed_searches(case))
        _asked(case)


def _asked(case: Case) -> None:
    """Which words were sent where, folded away."""
    if not case.queries:
        return
    label = f"What was asked ({count(len(case.queries), 'search', 'searches')})"
    with st.expander(label, key=f"searches-{case.id}", icon=":material/manage_search:", on_change="rerun") as fold:
        if not fold.open:
            return
        asked = [item for item in case.outcomes if item.state is not ProviderState.NOT_CONFIGURED]
        online = ", ".join(plain(item.label) for item in asked if not _is_library(item))
        own = ", ".join(plain(item.label) for item in asked if _is_library(item))
        here = f" Each was looked up on this machine in: {own}." if own else ""
        st.caption(
            f"Each of these went to {online or 'no online service'}.{here} "
            "A place that was slow or failed was not asked all of them: its line above says so. "
            "Services with editions, such as Wikipedia, are asked in the language of the search."
        )
        search_list(case.queries)


def _is_library(item: ProviderOutcome) -> bool:
    return item.provider.startswith("library:")  # on this machine: nothing is sent


def failures(failed: list[ProviderOutcome]) -> None:
    """The places that gave no answer, each with its reason."""
    for item in failed:
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.badge(f"search {item.state.value}", color="orange", icon=":material/warning:")
            st.markdown(f":small[**{plain(item.label)}:** {plain(item.sentence, 300)}]")


def failed_searches(case: Case) -> list[ProviderOutcome]:
    """The places that gave no answer in the newest search; not the same as having found nothing."""
    if not _searched(case):
        return []
    return [item for item in case.outcomes if item.state is not ProviderState.ANSWERED]


def no_passage(case: Case, job: JobRecord | None) -> None:
    """What it means that there is nothing to read; nothing while the program is at work, or told why it stopped."""
    gathering = job is not None and job.kind == "gather"
    if job is not None and (job.state.under_way or (gathering and job.state is not JobState.DONE)):
        return
    if not any(stage.name is StageName.PASSAGES for stage in case.stages):
        if case.stages or gathering:
            st.info(
                "Press “Search and read again” below.",
                title="The sources that are chosen now were not searched yet.",
                icon=":material/hourglass_empty:",
            )
        return
    failed, unread = failed_searches(case), [item for item in case.sources if item.outcome is not FetchOutcome.READ]
    if failed:
        st.warning(
            f"{count(len(failed), 'place')} gave no answer, so this does not mean that there is nothing to find. "
            "Search again below, or bring links of your own.",
            title="There is no passage, and a search failed.",
            icon=":material/sync_problem:",
        )
    elif unread:
        st.warning(
            "That says nothing for or against the post. Open them yourself and paste the passage that matters.",
            title="No source could be read.",
            icon=":material/link_off:",
        )
    elif case.hits and _searched(case):
        st.info(
            f"{count(len(case.hits), 'page was', 'pages were')} found. Look elsewhere below, or bring links instead.",
            title="Nothing that was found helps to judge the post.",
            icon=":material/search_off:",
        )
    else:
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
