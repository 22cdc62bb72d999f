"""A second look at the evidence: more like a passage, the other side, a link, another in a passage's place."""

from __future__ import annotations

import streamlit as st

from crowdnotes.cases.earlier_sets import taken_away
from crowdnotes.cases.second_look import pool, said
from crowdnotes.domain import Aim, Case, Evidence, Look, LookKind, Mode, ProviderOutcome, ProviderState
from crowdnotes.errors import WorkflowError
from crowdnotes.jobs.records import JobRecord
from pages.parts.earlier_evidence import bring_back_button
from pages.parts.evidence_search import library_choice, library_names
from pages.parts.progress import start, started_here, under_way
from pages.parts.search_report import failed_searches, failures
from pages.parts.services import service_pills, ticked_at_first
from pages.parts.session import act, author, workspace
from pages.parts.steps import StepName, card_place
from pages.parts.text import plain

_PLACE = StepName.EVIDENCE.value
_TOLD = "look-told"  # the job whose look that found nothing was told in this tab
_ABOUT_A_PASSAGE = frozenset({LookKind.MORE_LIKE, LookKind.SWAP})


def swappable(case: Case) -> frozenset[Aim]:
    """For which aims something was found that nobody has read yet."""
    return frozenset(aim for aim in Aim if pool(case, aim))


def look_from_card(case: Case, item: Evidence, job: JobRecord | None, left: frozenset[Aim]) -> None:
    """On a passage's card: more like it, and another in its place while it is not in use."""
    busy, key = under_way(job), f"{case.id}-{item.id}"
    _popover(
        case,
        LookKind.MORE_LIKE,
        "More like this",
        f"Searches for pages that say what {item.id} says, and adds the best of them. What is here stays.",
        about=item.id,
        busy=busy,
        icon=":material/library_add:",
    )
    named = case.draft is not None and item.id in case.draft.evidence_ids
    if item.aim in left and not item.used and not named:
        st.button(
            "Swap out",
            key=f"swap-{key}",
            type="tertiary",
            icon=":material/swap_horiz:",
            disabled=busy,
            help="Reads the next best of what was found in its place. This passage stays on record.",
            on_click=_look,
            args=(case, LookKind.SWAP, item.id, card_place(item.id)),
        )


def look_again(case: Case, job: JobRecord | None) -> None:
    """Below the cards: the other side, and a link by hand; in passing, that the look before found nothing new."""
    busy = under_way(job)
    look = _newest(case)
    if look is not None and not look.added and not busy:
        st.caption(f":material/search_off: {_said(look)}. {plain(look.outcome)}")
        failures(_unanswered(case, look))
    with st.container(horizontal=True, gap="small", key="second-look"):
        _popover(
            case,
            LookKind.OTHER_SIDE,
            "See the other side",
            "Searches for the best that speaks for the post's claim, so that you see both sides.",
            busy=busy,
            icon=":material/balance:",
        )
        key = f"link-{case.id}"
        link = st.popover("Add a link", key=key, icon=":material/add_link:", disabled=busy, on_change="rerun")
        if link.open:
            with link:
                st.text_input("Link to one more page", key=f"{key}-url", type="url", placeholder="https://…")
                st.caption("It is read and added. Nothing is searched again, and what is here stays.")
                st.button("Read it", key=f"{key}-go", type="primary", on_click=_add_link, args=(case, key))


def look_result(case: Case, job: JobRecord | None) -> None:
    """What came of the newest second look: what is new stays told, that nothing is new is said in passing."""
    look = _newest(case)
    if look is None:
        return
    if not look.added:
        _tell_once(look, job)
        return
    if look.kind is LookKind.SWAP and case.evidence_by_id(look.about) is not None:
        return  # it was brought back since
    with st.container(key="look-result", gap="xsmall"):
        st.info(plain(look.outcome), title=_said(look), icon=":material/check:")
        failures(_unanswered(case, look))
        if look.kind is LookKind.SWAP and any(item.id == look.about for item in taken_away(case)):
            closed = under_way(job) or case.decision is not None
            bring_back_button(case, look.about, f"Bring {look.about} back", closed=closed, place="result")


def _newest(case: Case) -> Look | None:
    """The newest look that has ended, while its passages are here and nothing was gathered anew."""
    look = next((look for look in reversed(case.looks) if look.finished_at is not None), None)
    if look is None or look.finished_at is None or any(case.evidence_by_id(name) is None for name in look.added):
        return None
    gathered = max((stage.finished_at for stage in case.stages if stage.name.value == "passages"), default=None)
    return None if gathered is not None and gathered > look.finished_at else look


def _tell_once(look: Look, job: JobRecord | None) -> None:
    """In the tab that asked, once: a notice that goes by itself. What was found lasts below the cards."""
    if job is None or job.state.under_way or not started_here(job) or st.session_state.get(_TOLD) == job.id:
        return
    st.session_state[_TOLD] = job.id
    st.toast(plain(look.outcome), icon=":material/search_off:", duration="long")


def _said(look: Look) -> str:
    words = said(look)
    return plain(words[:1].upper() + words[1:])


def _unanswered(case: Case, look: Look) -> list[ProviderOutcome]:
    """The places that gave this look no answer, without those whose same words stand in the report of the search."""
    told_already = {(item.provider, item.state, item.sentence) for item in failed_searches(case)}
    unanswered = (item for item in look.outcomes if item.state is not ProviderState.ANSWERED)
    return [item for item in unanswered if (item.provider, item.state, item.sentence) not in told_already]


def _popover(case: Case, kind: LookKind, label: str, about_it: str, *, busy: bool, icon: str, about: str = "") -> None:
    key = f"look-{case.id}-{about or 'case'}"
    place = card_place(about) if about else _PLACE
    popover = st.popover(
        label, key=key, icon=icon, type="tertiary" if about else "secondary", disabled=busy, on_change="rerun"
    )
    if not popover.open:
        return
    with popover:
        st.caption(about_it)
        searched = case.mode is Mode.AUTOMATION
        library_choice(library_names(), key=f"{key}-libraries", default=case.libraries if searched else None)
        service_pills(key=f"{key}-services", default=case.services if searched else ticked_at_first())
        st.button(
            "Look for it",
            key=f"{key}-go",
            type="primary",
            icon=":material/search:",
            on_click=_look,
            args=(case, kind, about, place, key),
        )


def _look(case: Case, kind: LookKind, about: str, place: str, key: str = "") -> None:
    """Put the look on record and begin; what forbids it is told at its place."""
    state = st.session_state

    def ask() -> Case:
        if kind in _ABOUT_A_PASSAGE:
            _refuse_if_changed(case)
        return workspace().service.second_look(
            case.id,
            kind,
            author(),
            about=about,
            libraries=state.get(f"{key}-libraries") or (),
            services=state.get(f"{key}-services") or (),
        )

    asked = act(place, ask)
    if asked is None:
        return
    if key:
        state[key] = False
    start(asked, "look")


def _refuse_if_changed(drawn: Case) -> None:
    """WorkflowError when the passages are no longer those that the person had before them."""
    newest = workspace().service.get(drawn.id)
    if [item.id for item in newest.evidence] != [item.id for item in drawn.evidence]:
        raise WorkflowError(
            "evidence changed",
            "The evidence changed since this page was drawn, in another tab or by another person. Nothing was done.",
            "Look at it as it is now, and ask again if you still want to.",
        )


def _add_link(case: Case, key: str) -> None:
    _look(case, LookKind.LINK, st.session_state.get(f"{key}-url") or "", _PLACE, key)
