"""Pasted lines that are no links: the others are taken, these stay in a box, each with what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from crowdnotes.cases.pasted_links import RefusedLink, usable_urls
from crowdnotes.domain import Case
from crowdnotes.jobs.records import JobRecord
from pages.parts.progress import start, under_way
from pages.parts.session import act, author, workspace
from pages.parts.steps import StepName
from pages.parts.text import count, lines, plain

_PLACE = StepName.EVIDENCE.value
_SHOWN = 20  # of a page pasted by mistake, enough to see what it was


def keep_left(case_id: str, refused: Sequence[RefusedLink]) -> None:
    """Remember what could not be taken for a case, in place of what was remembered before."""
    _forget(case_id)
    if refused:
        st.session_state[_key(case_id)] = tuple(refused)


def left_links(case: Case, job: JobRecord | None) -> None:
    """What could not be taken, to mend and take, or to leave out."""
    refused: tuple[RefusedLink, ...] = st.session_state.get(_key(case.id), ())
    if not refused or case.decision is not None:
        return
    busy = under_way(job)
    with st.container(border=True, key="left-links", gap="small"):
        were = count(len(refused), "line was", "lines were")
        st.markdown(f":orange[:material/link_off:] **{were} not taken as a link.** The others were.")
        for item in refused[:_SHOWN]:
            st.markdown(f":small[{plain(item.why.message)} :gray[{plain(item.why.next_step)}]]")
        if len(refused) > _SHOWN:
            st.caption(f"And {len(refused) - _SHOWN} more like these.")
        st.text_area("Mend them here, one a line", value=_given(refused), height=90, key=_box(case.id), disabled=busy)
        with st.container(horizontal=True):
            st.button("Take these", icon=":material/add_link:", disabled=busy, on_click=_take, args=(case,))
            st.button("Leave them out", type="tertiary", icon=":material/close:", on_click=_forget, args=(case.id,))


def _take(case: Case) -> None:
    urls, refused = usable_urls(lines(st.session_state[_box(case.id)]))
    if urls:
        service = workspace().service

        def add() -> Case:
            newest = service.get(case.id)
            every, too_many = usable_urls([*newest.urls, *urls])
            keep_left(case.id, [*refused, *too_many])
            return service.set_sources(
                case.id,
                mode=newest.mode,
                urls=every,
                libraries=newest.libraries,
                services=newest.services,
                until=newest.until,
                by=author(),
            )

        saved = act(_PLACE, add)
        if saved is not None:
            start(saved, "gather")
    else:
        keep_left(case.id, refused)


def _forget(case_id: str) -> None:
    st.session_state.pop(_key(case_id), None)
    st.session_state.pop(_box(case_id), None)


def _given(refused: Sequence[RefusedLink]) -> str:
    return "\n".join(item.line for item in refused)


def _key(case_id: str) -> str:
    return f"left-links-{case_id}"


def _box(case_id: str) -> str:
    return f"left-links-box-{case_id}"
