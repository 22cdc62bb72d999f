"""More evidence on the page: follow-up searches, passages pasted by hand, earlier sets brought back."""

from __future__ import annotations

from functools import partial

import streamlit as st

from crowdnotes.cases import actions, follow_up_stages, intake
from crowdnotes.domain import (
    Aim,
    Case,
    Evidence,
    EvidenceSet,
    FollowUpKind,
    FollowUpSearch,
    ProviderOutcome,
    Source,
)
from crowdnotes.errors import WorkflowError
from crowdnotes.jobs import JobRecord
from crowdnotes.text.markdown import escaped
from crowdnotes.wording import plural
from pages.common.components import source_name
from pages.common.layout import StepName, card_place
from pages.common.progress import start, under_way
from pages.common.search_report import failed_searches, failures
from pages.common.session import button, cases, close, keep_typed, notices, open_key, run_action
from pages.common.times import moment
from pages.common.where_to_look import own_words, own_words_box, places_chosen, places_to_search

_NOTICE_AREA = StepName.EVIDENCE.value
_PASSAGE_FOLLOW_UPS = frozenset({FollowUpKind.MORE_LIKE, FollowUpKind.SWAP})


def follow_up_buttons(case: Case, item: Evidence, job: JobRecord | None, left: frozenset[Aim]) -> None:
    """Below a passage: more like it, and another in its place while it is not in use."""
    busy, key = under_way(job), f"{case.id}-{item.id}"
    with st.container(horizontal=True, gap="small"):
        fold, icon = f"follow-up-{case.id}-{item.id}", ":material/library_add:"
        more = st.popover(
            "More like this", key=open_key(fold), icon=icon, type="tertiary", disabled=busy, on_change="rerun"
        )
        if more.open:
            with more:
                st.caption(f"Adds the best pages that say what {item.id} says.")
                _draw_follow_up_form(case, FollowUpKind.MORE_LIKE, fold, card_place(item.id), about=item.id)
        named = case.draft is not None and item.id in case.draft.evidence_ids
        if item.aim in left and not item.used and not named:
            swap, look = partial(_start_follow_up, case, FollowUpKind.SWAP, item.id), {"type": "tertiary"}
            look["help"] = "For the next best source"
            label, place = "Swap out", card_place(item.id)
            button(label, f"swap-{key}", place, swap, icon="swap_horiz", disabled=busy, **look)


def other_side(case: Case, job: JobRecord | None) -> None:
    """Draw a search for what speaks for the post's claim, folded."""
    key = f"follow-up-{case.id}-case"
    label, icon = "Find sources that support the post", ":material/balance:"
    fold = st.expander(label, key=open_key(key), icon=icon, on_change="rerun")
    if fold.open:
        with fold:
            _draw_follow_up_form(case, FollowUpKind.OTHER_SIDE, key, _NOTICE_AREA, busy=under_way(job))


def ask_again(case: Case, job: JobRecord | None, slow: ProviderOutcome) -> None:
    """Draw, next to a place that was too slow, a button to ask it once more and wait longer."""
    if case.decision is None:
        key, icon = f"again-{case.id}-{slow.provider}", ":material/hourglass_top:"
        # It is in a fold that is drawn alone: what it begins is shown elsewhere on the page.
        if st.button(
            f"Ask {slow.label} again, waiting up to 40 seconds",
            key=key,
            icon=icon,
            type="tertiary",
            disabled=under_way(job),
        ):
            run_action(_NOTICE_AREA, partial(_ask_provider_again, case, slow.provider))
            st.rerun()


def _ask_provider_again(case: Case, name: str) -> None:
    start(cases().apply(case.id, follow_up_stages.follow_up, FollowUpKind.AGAIN, services=[name]), "follow_up")


def add_by_hand(case: Case, job: JobRecord | None, label: str = "") -> None:
    """One more link, or a passage of the person's own: at one place of the page, with a `label` of that place."""
    fold, key = _paste_box_key(case, None), f"link-{case.id}"
    icon = ":material/add:"
    add = (
        st.expander(label, key=open_key(fold), icon=icon, on_change="rerun")
        if label
        else st.popover("Add a source", key=open_key(fold), icon=icon, type="tertiary", on_change="rerun")
    )
    if not add.open:
        return
    with add:
        st.text_input(
            "Link to one more page",
            key=f"{key}-url",
            icon=":material/link:",
            placeholder="https://…",
            disabled=under_way(job),
        )
        notices(key)
        go, look = partial(add_link, case, key=key), {"type": "primary", "disabled": under_way(job)}
        button("Read and add", f"{key}-go", key, go, icon="add_link", **look)
        st.markdown("**Or paste its text**")
        _draw_paste_fields(case, None, fold)


def follow_up_result(case: Case, job: JobRecord | None) -> None:
    """Draw the result of the newest follow-up search."""
    asked = _find_newest_follow_up(case)
    if asked is None or (asked.kind is FollowUpKind.SWAP and asked.added and case.evidence_by_id(asked.about)):
        return  # nothing, or what was swapped was brought back since
    with st.container(key="follow-up-result", gap="xsmall"):
        title = escaped(asked.as_text[:1].upper() + asked.as_text[1:])
        if asked.search_not_run:
            st.warning(escaped(asked.outcome), title=title, icon=":material/warning:")
        else:
            icon = ":material/check:" if asked.added else ":material/search_off:"
            st.info(escaped(asked.outcome), title=title, icon=icon)
        failures(_find_unanswered(case, asked))
        if asked.kind is FollowUpKind.SWAP and any(item.id == asked.about for item in case.taken_away):
            closed = under_way(job) or case.decision is not None
            _draw_restore_button(case, asked.about, f"Bring {asked.about} back", closed=closed, place="result")


def _find_newest_follow_up(case: Case) -> FollowUpSearch | None:
    """Return the newest follow-up search that has ended, while its passages are here and nothing was gathered anew."""
    asked = next((asked for asked in reversed(case.follow_ups) if asked.finished_at is not None), None)
    if asked is None or asked.finished_at is None or any(case.evidence_by_id(name) is None for name in asked.added):
        return None
    gathered = max((stage.finished_at for stage in case.stages if stage.name.value == "passages"), default=None)
    return None if gathered is not None and gathered > asked.finished_at else asked


def _find_unanswered(case: Case, asked: FollowUpSearch) -> list[ProviderOutcome]:
    """Return the places that gave this search no answer, without those whose words the search report has."""
    shown_already = {(item.provider, item.state, item.sentence) for item in failed_searches(case)}
    unanswered = (item for item in asked.outcomes if item.gave_no_answer)
    return [item for item in unanswered if (item.provider, item.state, item.sentence) not in shown_already]


def _draw_follow_up_form(
    case: Case, kind: FollowUpKind, key: str, place: str, *, about: str = "", busy: bool = False
) -> None:
    places_to_search(key, case, about=False)
    own_words_box(key)
    go = partial(_start_follow_up, case, kind, about, key)
    button("Search", f"{key}-go", place, go, icon="search", type="primary", disabled=busy)


def _start_follow_up(case: Case, kind: FollowUpKind, about: str, key: str = "") -> None:
    """Put the follow-up search on record and begin."""
    places, words = places_chosen(key), own_words(key)

    def ask() -> Case:
        if kind in _PASSAGE_FOLLOW_UPS:
            _refuse_if_changed(case)
        return cases().apply(case.id, follow_up_stages.follow_up, kind, about=about, own_words=words, **places)

    asked = keep_typed({"Search words": words, "Link": about if kind is FollowUpKind.LINK else ""}, ask)
    if key:
        close(key)
    start(asked, "follow_up")


def _refuse_if_changed(drawn: Case) -> None:
    """WorkflowError when the passages are no longer those that the person had before them."""
    newest = cases().get(drawn.id)
    if [item.id for item in newest.evidence] != [item.id for item in drawn.evidence]:
        raise WorkflowError(
            "evidence changed",
            "Nothing was done: the sources were changed elsewhere.",
            "Look at them first.",
        )


def add_link(case: Case, url: str = "", *, key: str = "") -> None:
    """Read one more page: that of the address, or what was typed into the field of `key`."""
    _start_follow_up(case, FollowUpKind.LINK, url or st.session_state.get(f"{key}-url") or "")
    close(_paste_box_key(case, None))


def earlier_evidence(case: Case, job: JobRecord | None) -> None:
    """Every earlier set, the newest first, and the passages that are not here any more. Folded away."""
    sets = case.earlier_evidence
    if not sets:
        return
    label = plural(len(sets), "Earlier sources (1 set)", "Earlier sources ({n} sets)")
    with st.expander(label, key=f"earlier-{case.id}", icon=":material/history:", on_change="rerun") as fold:
        if not fold.open:
            return
        closed = under_way(job) or case.decision is not None
        gone = case.taken_away
        if gone:
            st.markdown("**Removed sources**")
            for item in gone:
                with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                    st.markdown(_describe_passage(item), width="stretch")
                    _draw_restore_button(case, item.id, "Bring back", closed=closed)
        st.markdown("**Earlier sets**")
        for number in reversed(range(len(sets))):
            _draw_earlier_set(case, number, sets[number], closed=closed)


def _draw_restore_button(case: Case, evidence_id: str, label: str, *, closed: bool, place: str = "earlier") -> None:
    """Draw a button that brings a passage back; `place` distinguishes two such buttons."""
    key = f"bring-back-{case.id}-{evidence_id}-{place}"
    back = partial(cases().apply, case.id, actions.restore_passage, evidence_id)
    button(label, key, _NOTICE_AREA, back, icon="undo", type="tertiary", disabled=closed)


def _draw_earlier_set(case: Case, number: int, earlier: EvidenceSet, *, closed: bool) -> None:
    when = moment(earlier.at) if earlier.at is not None else "Time not recorded"
    why = f" · before: {escaped(earlier.why, 120)}" if earlier.why else ""
    with st.container(border=True, gap="xsmall", key=f"earlier-set-{number}"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"{when}{why}", width="stretch")
            button(
                "Bring these back",
                f"bring-back-{case.id}-set-{number}",
                _NOTICE_AREA,
                partial(cases().apply, case.id, actions.restore_evidence_set, number),
                icon="settings_backup_restore",
                type="tertiary",
                disabled=closed or earlier.evidence == case.evidence,
                help="Sources that the note uses stay.",
            )
        st.markdown("  \n".join(_describe_passage(item) for item in earlier.evidence))


def _describe_passage(item: Evidence) -> str:
    where = escaped(source_name(item.source), 50)
    read = " · opened" if item.reviews else ""
    return f":small[**{item.id}** {escaped(item.source.title, 110)} :gray[{where}{read}]]"


PASTED_TEXT_SELECTOR = "[class*=st-key-paste-][class*=-text] textarea"
_BEGUN_BY_HAND_KEY = "begun-by-hand"


def paste_box(case: Case, label: str, source: Source | None = None) -> None:
    """Draw a box to paste a passage, for `source` if the program could not read it.

    Open until the person folds it, that of one page until its passage was taken; what was typed stays where it
    could not be.
    """
    fold = _paste_box_key(case, source)
    box = st.expander(label, key=open_key(fold), icon=":material/content_paste:", on_change="rerun")
    if box.open:
        with box:
            _draw_paste_fields(case, source, fold)


def open_paste_box(case: Case) -> None:
    """Begin a case with a passage of the person's own: the box is open."""
    st.session_state[open_key(_paste_box_key(case, None))] = True
    st.session_state[_BEGUN_BY_HAND_KEY] = case.id


def begun_by_hand(case: Case) -> bool:
    """Return whether this tab began the case with `open_paste_box`, and none after it."""
    return bool(st.session_state.get(_BEGUN_BY_HAND_KEY) == case.id)


def _draw_paste_fields(case: Case, source: Source | None, fold: str) -> None:
    # The next passage starts from empty fields; Streamlit empties one only when its key is new.
    fields = f"{fold}-{st.session_state.get(f'{fold}-taken', 0)}"
    notices(fold)
    if taken := st.session_state.get(f"{fold}-taken"):
        added = plural(
            taken,
            "{n} text added. Paste the next one.",
            "{n} texts added. Paste the next one.",
        )
        st.caption(f":green[:material/check: {added}]")
        button("Done", f"{fold}-done", fold, partial(close, fold), icon="check")
    with st.form(f"form-{fields}", border=False):
        st.text_area(
            "Text from the page",
            height=130,
            key=f"{fields}-text",
            placeholder="Copy the sentences that matter, unchanged",
        )
        # A field of type "url" keeps back what is no address, and the reason with it.
        address = (source.url or "") if source else ""
        icon, shape = ":material/link:", "https://…"
        st.text_input("Address of the page", value=address, key=f"{fields}-url", icon=icon, placeholder=shape)
        st.text_input("Title of the page", key=f"{fields}-title")
        add, icon = partial(_add_pasted_passage, case, fold, fields), ":material/content_paste:"
        st.form_submit_button("Add this text", icon=icon, on_click=run_action, args=(fold, add))


def _add_pasted_passage(case: Case, fold: str, fields: str) -> None:
    url, title, text = (st.session_state.get(f"{fields}-{name}") or "" for name in ("url", "title", "text"))
    save = partial(intake.add_passage_by_hand, cases(), case.id, url=url or None, title=title, text=text)
    keep_typed({"Text from the page": text, "Address of the page": url, "Title of the page": title}, save)
    if fold != _paste_box_key(case, None):  # the box of one page closes; the other waits for the next passage
        close(fold)
    st.session_state[f"{fold}-taken"] = st.session_state.get(f"{fold}-taken", 0) + 1


def _paste_box_key(case: Case, source: Source | None) -> str:
    return f"paste-{case.id}-{source.id if source else 'new'}"
