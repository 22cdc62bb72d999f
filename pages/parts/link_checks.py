"""Whether the links that a note cites answer now: beside the note, on the cards, and at the decision."""

from __future__ import annotations

import streamlit as st

from crowdnotes.cases.links import said, same_page
from crowdnotes.domain import Case, LinkCheck, LinkState, StageName
from crowdnotes.jobs.records import JobRecord
from pages.parts.progress import job_panel, start, under_way
from pages.parts.session import workspace
from pages.parts.text import host, plain, web_url

_LOOKS = {
    LinkState.LIVE: ("green", ":material/link:"),
    LinkState.BLOCKED: ("orange", ":material/block:"),
    LinkState.UNREACHABLE: ("orange", ":material/cloud_off:"),
    LinkState.DEAD: ("red", ":material/link_off:"),
    LinkState.REFUSED: ("red", ":material/gpp_bad:"),
}


def link_badge(check: LinkCheck | None) -> str:
    """Markdown of a badge that says in words how a link answered."""
    colour, icon = _LOOKS[check.state] if check is not None else ("gray", ":material/help:")
    return f":{colour}-badge[{icon} {plain(said(check))}]"


def cited_links(case: Case) -> None:
    """The note's links, one a line, each with how it answered."""
    with st.container(key="cited-links", gap="xxsmall"):
        for url, check in workspace().service.link_checks(case):
            why = f" :small[:gray[{plain(check.sentence, 200)}]]" if check is not None and check.sentence else ""
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.markdown(f":small[Link {plain(host(_with_scheme(url)) or url, 60)}] {link_badge(check)}{why}")
                copy = web_url(check.archived_url) if check is not None else None
                if copy:
                    st.link_button("Archived copy", copy, type="tertiary", icon=":material/inventory_2:")


def card_badge(case: Case, url: str | None) -> str | None:
    """The badge for a source that the note cites; None when it does not."""
    checks = workspace().service.link_checks(case) if url else ()
    mine = (check for cited, check in checks if url and same_page(cited) == same_page(url))
    return next((f":small[link] {link_badge(check)}" for check in mine), None)


def ask_again(case: Case, job: JobRecord | None) -> None:
    """A button that asks every link of the note again, and how that goes."""
    job_panel(case, job, "links")
    st.button(
        "Check the links again",
        key="check-links",
        icon=":material/sync:",
        disabled=under_way(job),
        help="Asks every link of the note now, up to three times each, as X's own check does",
        on_click=start,
        args=(case, "links"),
    )


def asking(job: JobRecord | None) -> bool:
    """Whether all that is still under way is asking the links."""
    current = job.current if job is not None and job.state.under_way else None
    return current is not None and current.name == StageName.LINKS.value


def stop_asking(case: Case) -> None:
    """End a check of the links that is under way, so that something else can start; it takes a moment."""
    runner = workspace().runner
    job = runner.latest(case.id)
    if job is not None and asking(job):
        runner.cancel(job.id)
        runner.wait(job.id, timeout=2)


def _with_scheme(url: str) -> str:
    return url if "://" in url else f"https://{url}"
