"""Step 2: what the sources say. A passage is opened and read before it can be used."""

from __future__ import annotations

import streamlit as st

from crowdnotes.domain import Case, FetchOutcome, Source
from crowdnotes.jobs.records import JobRecord
from pages.parts.evidence_card import evidence_card
from pages.parts.evidence_search import add_sources, paste_passage
from pages.parts.progress import job_panel, under_way
from pages.parts.search_report import already_checked, no_passage, search_report
from pages.parts.steps import StepName, StepState, StepView, step
from pages.parts.text import count, host, plain

_OUTCOMES = {
    FetchOutcome.BLOCKED: "The site refuses to be read by programs.",
    FetchOutcome.PAYWALLED: "The page shows its text only to those who pay or sign in.",
    FetchOutcome.TOO_LATE: "It is later than the day that evidence may be of.",
    FetchOutcome.NOT_FOUND: "There is no page at this address.",
    FetchOutcome.TIMED_OUT: "The site did not answer in time.",
    FetchOutcome.UNREACHABLE: "The site could not be reached.",
    FetchOutcome.SERVER_ERROR: "The site has a fault of its own.",
    FetchOutcome.TOO_LARGE: "The page is larger than the program reads.",
    FetchOutcome.WRONG_TYPE: "This is not a page, a text or a PDF.",
    FetchOutcome.UNREADABLE: "The page came, but no text could be read in it.",
    FetchOutcome.REFUSED: "The address is not a public one, so it was not asked.",
}


def evidence_step(case: Case | None, job: JobRecord | None) -> None:
    """Draw the step."""
    with step(case, _view(case)) as is_open:
        if case is None:
            return
        job_panel(case, job, "gather")
        if not is_open:
            return
        already_checked(case)
        search_report(case)
        if case.evidence and case.decision is None:
            st.caption(
                "Open a passage, read it, then say what it is good for. "
                "Only passages that you read and use can carry the note."
            )
        for item in case.evidence:
            evidence_card(case, item)
        if case.stages and not case.evidence and not under_way(job):
            no_passage(case)
        _failed(case)
        if case.decision is None:
            with st.expander("More evidence: other links, another search", icon=":material/add:"):
                add_sources(case, job)
            with st.expander("Paste a passage yourself", icon=":material/content_paste:"):
                paste_passage(case)


def _view(case: Case | None) -> StepView:
    if case is None:
        return StepView(StepName.EVIDENCE, StepState.LOCKED, "Comes after the post")
    done = case.decision is not None or (case.draft is not None and bool(case.used_evidence))
    return StepView(StepName.EVIDENCE, StepState.DONE if done else StepState.ACTIVE, tally(case), "Open")


def tally(case: Case) -> str:
    """How far the evidence is: 8 found · 4 read · 3 opened · 2 used."""
    sources = len(case.sources)
    found = max(len(case.hits) + len(case.urls), sources)
    read = sum(source.outcome is FetchOutcome.READ for source in case.sources)
    opened = sum(item.review.opened_at is not None for item in case.evidence)
    if not found and not case.evidence:
        return "Nothing gathered yet"
    return f"{found} found · {read} read · {opened} opened · {len(case.used_evidence)} used"


def _failed(case: Case) -> None:
    failed = [source for source in case.sources if source.outcome is not FetchOutcome.READ]
    if not failed:
        return
    st.markdown(f"**{count(len(failed), 'source')} could not be read**")
    st.caption("A page that could not be read says nothing for or against the post.")
    for source in failed:
        _failed_source(case, source)


def _failed_source(case: Case, source: Source) -> None:
    with st.container(border=True, key=f"failed-{source.id.replace(':', '-')}", gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.badge(source.outcome.value, color="orange", icon=":material/link_off:")
            st.markdown(f"**{plain(host(source.url) or source.title, 60)}**", width="content")
        st.caption(plain(source.url or source.title, 160))
        st.markdown(plain(source.outcome_detail, 300) or _OUTCOMES.get(source.outcome, ""))
        if case.decision is None:
            with st.expander("Open it yourself and paste the passage", icon=":material/content_paste:"):
                paste_passage(case, source)
