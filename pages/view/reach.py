"""Where nothing settles the claim: what was asked where, what came nearest, what would settle it, and where to look."""

from __future__ import annotations

from functools import partial

import streamlit as st

from crowdnotes.domain import Case, ProviderState, Reach
from crowdnotes.jobs import JobRecord
from crowdnotes.text.markdown import escaped, title
from crowdnotes.words import say
from pages.view.components import web_link
from pages.view.more_evidence import add_by_hand
from pages.view.reader import open_source
from pages.view.session import button
from pages.view.workbench import card_place

_LONGEST = 400


def look_yourself(case: Case, job: JobRecord | None, reach: Reach) -> None:
    """How far the search came, where to look further, and a box for what was found."""
    with st.container(border=True, key="reach", gap="xsmall"):
        # Without any passage it is told above what came of it.
        head = say("reach.title" if case.evidence else "reach.title_alone")
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
        add_by_hand(case, job, say("reach.add"))


def _asked(case: Case) -> list[str]:
    """What was asked where, and who gave no answer: a sentence each."""
    if not case.searched:
        return [say("reach.own_links")]
    asked = [item for item in case.outcomes if item.state is not ProviderState.NOT_CONFIGURED]
    silent = [item.label for item in asked if item.state is not ProviderState.ANSWERED]
    there = [item.label for item in asked if item.state is ProviderState.ANSWERED]
    n = len(case.queries) + sum(len(later.queries) for later in case.follow_ups)
    told = [say("reach.asked", n=n, places=escaped(", ".join(there), _LONGEST))] if there else []
    return [*told, *([say("reach.silent", places=escaped(", ".join(silent), _LONGEST))] if silent else [])]
