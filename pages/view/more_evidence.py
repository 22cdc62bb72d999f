"""More evidence on the page: follow-up searches, passages pasted by hand, earlier sets brought back."""

from __future__ import annotations

import streamlit as st

from crowdnotes.domain import (
    Aim,
    Case,
    Evidence,
    EvidenceSet,
    FollowUpKind,
    FollowUpSearch,
    Mode,
    ProviderOutcome,
    ProviderState,
    Source,
)
from crowdnotes.errors import WorkflowError
from crowdnotes.jobs import JobRecord
from crowdnotes.text.markdown import count, escaped, host, moment
from pages.view.components import into_view
from pages.view.progress import start, started_here, under_way
from pages.view.search_report import failed_searches, failures
from pages.view.session import act, author, notices, workspace
from pages.view.steps import StepName, card_place
from pages.view.where_to_look import library_choice, library_names, service_pills

_PLACE = StepName.EVIDENCE.value
_TOLD = "follow-up-told"  # the job whose search that found nothing was told in this tab
_ABOUT_A_PASSAGE = frozenset({FollowUpKind.MORE_LIKE, FollowUpKind.SWAP})


def follow_up_buttons(case: Case, item: Evidence, job: JobRecord | None, left: frozenset[Aim]) -> None:
    """On a passage's card: more like it, and another in its place while it is not in use."""
    busy, key = under_way(job), f"{case.id}-{item.id}"
    _popover(
        case,
        FollowUpKind.MORE_LIKE,
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
            on_click=_ask,
            args=(case, FollowUpKind.SWAP, item.id, card_place(item.id)),
        )


def follow_up_below_cards(case: Case, job: JobRecord | None) -> None:
    """Below the cards: the other side, and a link by hand; in passing, that the search before found nothing new."""
    busy = under_way(job)
    asked = _newest(case)
    if asked is not None and not asked.added and not busy:
        st.caption(f":material/search_off: {_said(asked)}. {escaped(asked.outcome)}")
        failures(_unanswered(case, asked))
    with st.container(horizontal=True, gap="small", key="follow-up"):
        _popover(
            case,
            FollowUpKind.OTHER_SIDE,
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


def follow_up_result(case: Case, job: JobRecord | None) -> None:
    """What came of the newest follow-up search: what is new stays told, that nothing is new is said in passing."""
    asked = _newest(case)
    if asked is None:
        return
    if not asked.added:
        _tell_once(asked, job)
        return
    if asked.kind is FollowUpKind.SWAP and case.evidence_by_id(asked.about) is not None:
        return  # it was brought back since
    with st.container(key="follow-up-result", gap="xsmall"):
        st.info(escaped(asked.outcome), title=_said(asked), icon=":material/check:")
        failures(_unanswered(case, asked))
        if asked.kind is FollowUpKind.SWAP and any(item.id == asked.about for item in case.taken_away):
            closed = under_way(job) or case.decision is not None
            bring_back_button(case, asked.about, f"Bring {asked.about} back", closed=closed, place="result")


def _newest(case: Case) -> FollowUpSearch | None:
    """The newest follow-up search that has ended, while its passages are here and nothing was gathered anew."""
    asked = next((asked for asked in reversed(case.follow_ups) if asked.finished_at is not None), None)
    if asked is None or asked.finished_at is None or any(case.evidence_by_id(name) is None for name in asked.added):
        return None
    gathered = max((stage.finished_at for stage in case.stages if stage.name.value == "passages"), default=None)
    return None if gathered is not None and gathered > asked.finished_at else asked


def _tell_once(asked: FollowUpSearch, job: JobRecord | None) -> None:
    """In the tab that asked, once: a notice that goes by itself. What was found lasts below the cards."""
    if job is None or job.state.under_way or not started_here(job) or st.session_state.get(_TOLD) == job.id:
        return
    st.session_state[_TOLD] = job.id
    st.toast(escaped(asked.outcome), icon=":material/search_off:", duration="long")


def _said(asked: FollowUpSearch) -> str:
    words = asked.in_words
    return escaped(words[:1].upper() + words[1:])


def _unanswered(case: Case, asked: FollowUpSearch) -> list[ProviderOutcome]:
    """The places that gave this search no answer, without those whose same words stand in the report of the search."""
    told_already = {(item.provider, item.state, item.sentence) for item in failed_searches(case)}
    unanswered = (item for item in asked.outcomes if item.state is not ProviderState.ANSWERED)
    return [item for item in unanswered if (item.provider, item.state, item.sentence) not in told_already]


def _popover(
    case: Case, kind: FollowUpKind, label: str, about_it: str, *, busy: bool, icon: str, about: str = ""
) -> None:
    key = f"follow-up-{case.id}-{about or 'case'}"
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
        service_pills(key=f"{key}-services", default=case.services if searched else workspace().services_at_first())
        st.button(
            "Look for it",
            key=f"{key}-go",
            type="primary",
            icon=":material/search:",
            on_click=_ask,
            args=(case, kind, about, place, key),
        )


def _ask(case: Case, kind: FollowUpKind, about: str, place: str, key: str = "") -> None:
    """Put the follow-up search on record and begin; what forbids it is told at its place."""
    state = st.session_state

    def ask() -> Case:
        if kind in _ABOUT_A_PASSAGE:
            _refuse_if_changed(case)
        return workspace().service.follow_up(
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
    start(asked, "follow_up")


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
    _ask(case, FollowUpKind.LINK, st.session_state.get(f"{key}-url") or "", _PLACE, key)


def earlier_evidence(case: Case, job: JobRecord | None) -> None:
    """Every earlier set, the newest first, and the passages that are not here any more. Folded away."""
    sets = case.earlier_evidence
    if not sets:
        return
    label = f"Earlier evidence ({count(len(sets), 'set')})"
    with st.expander(label, key=f"earlier-{case.id}", icon=":material/history:", on_change="rerun") as fold:
        if not fold.open:
            return
        closed = under_way(job) or case.decision is not None
        gone = case.taken_away
        if gone:
            st.markdown("**Not here any more**")
            for item in gone:
                _passage(case, item, closed=closed)
        st.markdown("**As it was**")
        for number in reversed(range(len(sets))):
            _set(case, number, sets[number], closed=closed)


def _passage(case: Case, item: Evidence, *, closed: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(_named(item), width="stretch")
        bring_back_button(case, item.id, "Bring back", closed=closed)


def bring_back_button(case: Case, evidence_id: str, label: str, *, closed: bool, place: str = "earlier") -> None:
    """Puts a passage that is not here any more beside those that are; `place` tells two such buttons apart."""
    st.button(
        label,
        key=f"bring-back-{case.id}-{evidence_id}-{place}",
        type="tertiary",
        icon=":material/undo:",
        disabled=closed,
        on_click=_bring_back,
        args=(case, evidence_id),
    )


def _set(case: Case, number: int, earlier: EvidenceSet, *, closed: bool) -> None:
    when = moment(earlier.at) if earlier.at is not None else "Time not recorded"
    why = f" · before: {escaped(earlier.why, 120)}" if earlier.why else ""
    with st.container(border=True, gap="xsmall", key=f"earlier-set-{number}"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"{when}{why}", width="stretch")
            st.button(
                "Bring these back",
                key=f"bring-back-{case.id}-set-{number}",
                type="tertiary",
                icon=":material/settings_backup_restore:",
                disabled=closed or earlier.evidence == case.evidence,
                help="What the note uses stays beside them. The present passages go on record.",
                on_click=_bring_back_set,
                args=(case, number),
            )
        st.markdown("  \n".join(_named(item) for item in earlier.evidence))


def _named(item: Evidence) -> str:
    where = escaped(host(item.source.url) or item.source.library or "", 50)
    read = " · opened" if item.review.opened_at is not None else ""
    return f":small[**{item.id}** {escaped(item.source.title, 110)} :gray[{where}{read}]]"


def _bring_back(case: Case, evidence_id: str) -> None:
    act(_PLACE, lambda: workspace().service.bring_back(case.id, evidence_id, author()))


def _bring_back_set(case: Case, number: int) -> None:
    act(_PLACE, lambda: workspace().service.bring_back_set(case.id, number, author()))


_BEGUN = "begun-by-hand"


def paste_box(case: Case, label: str, source: Source | None = None) -> None:
    """Room to paste a passage, for `source` if the program could not read it.

    Open until the person folds it or the passage was taken; what was typed stays when it could not be.
    """
    fold = _fold(case, source)
    box = st.expander(label, key=fold, icon=":material/content_paste:", on_change="rerun")
    if box.open:
        with box:
            _fields(case, source, fold)


def open_paste_box(case: Case) -> None:
    """Begin a case with a passage of the person's own: the box is open, and the page goes to it."""
    st.session_state[_fold(case, None)] = True
    st.session_state[_BEGUN] = case.id


def begun_by_hand(case: Case) -> bool:
    """Whether this tab began the case with `open_paste_box`, and none after it."""
    return bool(st.session_state.get(_BEGUN) == case.id)


def _fields(case: Case, source: Source | None, fold: str) -> None:
    fields = f"{fold}-{st.session_state.get(_taken(fold), 0)}"
    if source is None and begun_by_hand(case):
        into_view(f"begun-{case.id}")
    notices(fold)
    with st.form(f"form-{fields}", border=False):
        st.text_input(
            "Address of the page", value=(source.url or "") if source else "", type="url", key=f"{fields}-url"
        )
        st.text_input("Title of the page", key=f"{fields}-title")
        st.text_area(
            "The passage, in the page's own words",
            height=130,
            key=f"{fields}-text",
            placeholder="Copy the sentences that matter, unchanged",
        )
        st.form_submit_button(
            "Add this passage", icon=":material/content_paste:", on_click=_add, args=(case, fold, fields)
        )


def _add(case: Case, fold: str, fields: str) -> None:
    url, title, text = (st.session_state.get(f"{fields}-{name}") or "" for name in ("url", "title", "text"))
    taken = act(
        fold,
        lambda: workspace().service.add_passage_by_hand(case.id, url=url or None, title=title, text=text, by=author()),
    )
    if taken is not None:
        st.session_state[fold] = False
        # The next passage starts from empty fields; Streamlit empties one only when its key is new.
        st.session_state[_taken(fold)] = st.session_state.get(_taken(fold), 0) + 1


def _fold(case: Case, source: Source | None) -> str:
    return f"paste-{case.id}-{source.id if source else 'new'}"


def _taken(fold: str) -> str:
    return f"{fold}-taken"
