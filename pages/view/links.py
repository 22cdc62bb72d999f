"""The note's links: how each answered when it was last asked."""

from __future__ import annotations

import streamlit as st

from crowdnotes.domain import Case, LinkCheck, LinkState, StageName
from crowdnotes.jobs import JobRecord
from crowdnotes.text.markdown import escaped, host
from crowdnotes.text.urls import canonical_url
from crowdnotes.wording import say
from pages.common.components import badge, web_link
from pages.common.session import workspace

_LOOKS = {
    LinkState.LIVE: ("green", "link"),
    LinkState.BLOCKED: ("orange", "block"),
    LinkState.UNREACHABLE: ("orange", "cloud_off"),
    LinkState.DEAD: ("red", "link_off"),
    LinkState.REFUSED: ("red", "gpp_bad"),
}


def _link_badge(check: LinkCheck | None) -> str:
    """Markdown of a badge that says in words how a link answered."""
    if check is None:
        return badge("gray", "help", say("links.not_checked"))
    return badge(*_LOOKS[check.state], check.in_words)


def cited_links(case: Case) -> None:
    """The note's links with how each answered, in a line. Why one did not stands among the problems."""
    checks = workspace().service.link_checks(case)
    if not checks:
        return
    with st.container(key="cited-links", horizontal=True, vertical_alignment="center", gap="small"):
        for url, check in checks:
            link = say("links.link", host=escaped(host(_with_scheme(url)) or url, 60))
            st.markdown(f":small[{link}] {_link_badge(check)}", width="content")
            web_link(say("reader.archived"), check.archived_url if check is not None else None, "inventory_2")


def cited_badge(case: Case, url: str | None) -> str:
    """Markdown of the badge for a source that the note cites; empty when it does not."""
    checks = workspace().service.link_checks(case) if url else ()
    mine = (check for cited, check in checks if url and canonical_url(cited) == canonical_url(url))
    return next((f":small[link] {_link_badge(check)}" for check in mine), "")


def asking(job: JobRecord | None) -> bool:
    """Whether all that is still under way is asking the links."""
    current = job.current if job is not None and job.state.under_way else None
    return current is not None and current.name == StageName.LINKS.value


def stop_asking(case: Case) -> None:
    """End a check of the links that is under way, so that something else can start; it takes a moment."""
    runner = workspace().runner
    job = runner.latest(case.id)
    if job is not None and asking(job):
        workspace().cancel(job)
        runner.wait(job.id, timeout=2)


def _with_scheme(url: str) -> str:
    return url if "://" in url else f"https://{url}"
