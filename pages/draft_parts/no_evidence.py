"""What the Draft page says where there is no passage: not searched, nothing found, or nothing that could be read."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from crowdnotes.domain import Case, FetchOutcome, Source, StageName, seems_offline
from crowdnotes.jobs import JobRecord, JobState
from crowdnotes.text.urls import canonical_url
from crowdnotes.wording import plural
from pages.common.search_report import count_failed, failed_searches


def no_evidence(case: Case, job: JobRecord | None) -> None:
    """Draw what it means that there is nothing to read; nothing while the program works or said why it stopped."""
    if case.unwanted is not None:  # the person is asked above whether to search at all
        return
    gathering = job is not None and job.kind == "gather"
    if job is not None and (job.state.under_way or (gathering and job.state is not JobState.DONE)):
        return
    if not any(stage.name is StageName.PASSAGES for stage in case.stages):
        if case.stages or gathering:
            st.info(
                "Select “Search again” below.",
                title="Not searched yet.",
                icon=":material/hourglass_empty:",
            )
        return
    if case.decision is None and case.searched and seems_offline(case.outcomes):  # the pane says so above
        return
    failed, unread = failed_searches(case), [item for item in case.sources if item.outcome is not FetchOutcome.READ]
    read = len(case.sources) - len(unread)
    if failed:
        share = count_failed(case, failed)
        st.warning(
            "Search again below, or add your own links.",
            title=f"We found nothing, and {share[:1].lower()}{share[1:]}.",
            icon=":material/sync_problem:",
        )
    elif read:
        st.info(
            f"{_SEARCH_ELSEWHERE} {_count_unread_pages(unread)}".strip(),
            title=plural(
                read,
                "We read 1 page. Nothing on it helps to judge the post.",
                "We read {n} pages. Nothing on them helps to judge the post.",
            ),
            icon=":material/search_off:",
        )
    elif unread and case.searched and case.hits and not _has_chosen_hit(case, unread):
        st.info(
            f"{_count_found_pages(case)} {_count_unread_pages(unread)}",
            title="Nothing found helps to judge the post.",
            icon=":material/search_off:",
        )
    elif unread:
        st.warning(
            "Open the pages and paste the text that matters.",
            title="No source could be read.",
            icon=":material/link_off:",
        )
    elif case.hits and case.searched:
        st.info(_count_found_pages(case), title="Nothing found helps to judge the post.", icon=":material/search_off:")
    else:
        st.info(
            "Look elsewhere below, or decide “Not enough evidence”.",
            title="We found nothing.",
            icon=":material/search_off:",
        )


def _has_chosen_hit(case: Case, unread: Sequence[Source]) -> bool:
    """Return whether any of these was chosen from what the search found; the others are links of the person's own."""
    found = {canonical_url(hit.url) for hit in case.hits if hit.url}
    return any(item.url and canonical_url(item.url) in found for item in unread)


_SEARCH_ELSEWHERE = "Look elsewhere below, or add your own links."


def _count_found_pages(case: Case) -> str:
    return f"{plural(len(case.hits), 'We found 1 page.', 'We found {n} pages.')} {_SEARCH_ELSEWHERE}"


def _count_unread_pages(unread: Sequence[Source]) -> str:
    return plural(len(unread), "We could not read 1 more.", "We could not read {n} more.") if unread else ""
