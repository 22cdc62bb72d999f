"""Where nothing settles the claim: what was asked where, what came nearest, what would settle it, and where to look."""

from __future__ import annotations

from functools import partial

import streamlit as st

from crowdnotes.domain import Case, ProviderState, Reach
from crowdnotes.jobs import JobRecord
from crowdnotes.text.markdown import escaped, title
from crowdnotes.wording import say
from pages.common.components import web_link
from pages.common.layout import StepName, card_place
from pages.common.session import button, workspace
from pages.draft_parts.more_evidence import add_by_hand
from pages.draft_parts.reader import open_source

_PLACE = StepName.EVIDENCE.value
_LONGEST = 400


def looks_further(case: Case) -> bool:
    """Whether the person wants to look further, whatever the program thinks of its sources."""
    return bool(st.session_state.get(_further(case)))


def look_further(case: Case) -> None:
    """One quiet line that leads to `look_yourself`, once sources were looked for."""
    if workspace().service.reach(case, asked=True) is not None:
        go = partial(st.session_state.update, {_further(case): True})
        button(say("reach.further"), f"go-{_further(case)}", _PLACE, go, icon="travel_explore", type="tertiary")


def _further(case: Case) -> str:
    return f"further-{case.id}"


def look_yourself(case: Case, job: JobRecord | None, reach: Reach) -> None:
    """How far the search came, where to look further, and a box for what was found."""
    with st.container(border=True, key="reach", gap="xsmall"):
        # Without any passage it is told above what came of it; who asked for it may have one that settles the claim.
        head = say("reach.title" if case.evidence and not looks_further(case) else "reach.title_alone")
        st.markdown(f"**:material/travel_explore: {head}**")
        wanted = [say("reach.wanted", words=escaped(reach.wanted, _LONGEST))] if reach.wanted else []
        st.markdown("  \n".join(f":small[{told}]" for told in [*wanted, *_asked(case)]))
        if near := reach.nearest:
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                st.markdown(f":small[{say('reach.nearest')}]", width="content")
                name = f"{near.id} {title(near.source.title, say('reader.untitled'), 70)}"
                button(name, "nearest", card_place(near.id), partial(open_source, case, near.id), type="tertiary")
        with st.container(horizontal=True, gap="xsmall", key="places-to-look"):
            for name, link in reach.places:
                web_link(say(name), link)
        with st.container(horizontal=True, gap="small"):
            add_by_hand(case, job, say("reach.add"))
            if looks_further(case):
                shut = partial(st.session_state.update, {_further(case): False})
                button(say("reach.close"), f"shut-{_further(case)}", _PLACE, shut, type="tertiary")


def _asked(case: Case) -> list[str]:
    """What was asked where, and who gave no answer: a sentence each."""
    if not case.searched:
        return [say("reach.own_links")]
    asked = [item for item in case.outcomes if item.state is not ProviderState.NOT_CONFIGURED]
    silent = [item.label for item in asked if item.state is not ProviderState.ANSWERED]
    there = [item.label for item in asked if item.state is ProviderState.ANSWERED]
    searches = (case.queries, *(later.queries for later in case.follow_ups))
    n = len({query.text for queries in searches for query in queries})
    told = [say("reach.asked", n=n, places=escaped(", ".join(there), _LONGEST))] if there else []
    return [*told, *([say("reach.silent", places=escaped(", ".join(silent), _LONGEST))] if silent else [])]
