"""One passage: where it is from, why it is here, its words in context, and the person's verdict."""

from __future__ import annotations

import streamlit as st

from crowdnotes.domain import Aim, Case, Evidence, FetchOutcome, SourceCategory, Verdict
from crowdnotes.engines.orders import holds_orders
from crowdnotes.jobs.records import JobRecord
from pages.parts.badges import source_badges
from pages.parts.components import marked_text, passage_pieces
from pages.parts.link_checks import card_badge
from pages.parts.look_again import look_from_card
from pages.parts.session import act, author, notices, workspace
from pages.parts.steps import card_place
from pages.parts.text import day, host, plain, record_place, title, web_url

_OTHERWISE = {Verdict.BACKGROUND: "Background only", Verdict.REJECT: "Reject"}

_KINDS = {SourceCategory.OTHER: "other kind of source"}


def evidence_card(case: Case, item: Evidence, job: JobRecord | None, left: frozenset[Aim]) -> None:
    """Draw the card. Its verdict can be chosen only after the passage was opened."""
    key = f"{case.id}-{item.id}"
    with st.container(border=True, key=f"card-{item.id}", gap="small"):
        _head(case, item)
        read = st.expander(
            "Read the passage",
            key=f"open-{key}",
            icon=":material/menu_book:",
            on_change="rerun",
        )
        if read.open:
            _opened(case, item)
            with read:
                marked_text(passage_pieces(item.passage), look="passage", key=f"passage-{key}")
                st.caption("Marked: the sentences closest to the post. Grey: what stands around the passage.")
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            _verdict(case, item, key)
            if case.decision is None:
                st.space("stretch")
                look_from_card(case, item, job, left)
        _reason(case, item, key)
        notices(card_place(item.id))


def _head(case: Case, item: Evidence) -> None:
    source = item.source
    url = web_url(source.url)
    archived = web_url(source.archived_url)
    badges = source_badges(source, case.post, case.until, item.passage.page)
    facts = [plain(source.publisher or host(source.url) or source.library or "unknown publisher", 80)]
    if source.published and source.date_origin:
        facts.append(f"{day(source.published)} (date from {source.date_origin.value})")
    if source.library:
        facts.append(record_place(source.library, source.record))
    with st.container(gap=None):
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.badge(item.id, color="blue" if item.used else "gray", icon=":material/check:" if item.used else None)
            if badges:
                st.markdown(badges, width="content")
            st.badge(_KINDS.get(source.category, source.category.value), color="gray")
            if item.review.opened_at is not None:
                st.badge("opened", color="gray", icon=":material/done_all:")
            if item.review.verdict is Verdict.REJECT:
                st.badge("rejected", color="red", icon=":material/block:")
            answers = card_badge(case, source.url)
            if answers:
                st.markdown(answers, width="content")
            st.space("stretch")
            if archived:
                st.link_button("Archived copy", archived, type="tertiary", icon=":material/inventory_2:")
            if url:
                st.link_button("Open the source", url, type="tertiary", icon=":material/open_in_new:")
        st.markdown(title(source.title, "Without a title", 200))
        st.markdown(f":small[:gray[{' · '.join(facts)}]]")
        st.markdown(f":small[Chosen because: {plain(item.why, 240)}]")
        if source.outcome is FetchOutcome.READ and source.outcome_detail and not source.by_hand:
            st.caption(plain(source.outcome_detail, 300))
        if holds_orders(item.passage.text):
            st.markdown(":orange-badge[:material/warning: some words speak to programs: no engine is given them]")
        if item.aim is Aim.OTHER_SIDE:
            st.markdown(":gray-badge[:material/balance: the other side: may speak for the post's claim]")


def _opened(case: Case, item: Evidence) -> None:
    """Note, on the server, that the passage is before the person's eyes; draw the page again with that known."""
    if item.review.opened_at is None and case.decision is None:
        opened = act(card_place(item.id), lambda: workspace().service.open_passage(case.id, item.id, author()))
        if opened is not None:
            st.rerun()


def _verdict(case: Case, item: Evidence, key: str) -> None:
    """A tick for what the note may use; beside it what else a read passage can be."""
    opened = item.review.opened_at is not None
    used, otherwise, waiting = f"use-{key}", f"otherwise-{key}", f"rejecting-{key}"
    verdict = Verdict.REJECT if st.session_state.get(waiting) else item.review.verdict
    st.session_state[used] = verdict is Verdict.USE
    st.session_state[otherwise] = verdict if verdict in _OTHERWISE else None
    closed = not opened or case.decision is not None
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", width="content"):
        st.checkbox(
            "Use in the note" if opened else "Use in the note (read the passage first)",
            key=used,
            disabled=closed,
            on_change=_use,
            args=(case.id, item.id, key),
        )
        st.segmented_control(
            "Or else",
            list(_OTHERWISE),
            format_func=_OTHERWISE.__getitem__,
            key=otherwise,
            disabled=closed,
            on_change=_set_aside,
            args=(case.id, item.id, key),
            label_visibility="collapsed",
        )


def _reason(case: Case, item: Evidence, key: str) -> None:
    """Why it is rejected: asked for, or told."""
    waiting = f"rejecting-{key}"
    if st.session_state.get(waiting):
        with st.form(f"reject-{key}", border=False):
            reason = st.text_input("Why is it rejected? (a few words, kept in the record)", value=item.review.reason)
            if st.form_submit_button("Reject this passage", icon=":material/block:"):
                saved = act(
                    card_place(item.id),
                    lambda: workspace().service.judge(case.id, item.id, Verdict.REJECT, reason or "", author()),
                )
                if saved is not None:
                    st.session_state.pop(waiting)
                st.rerun()
    elif item.review.reason:
        st.caption(f"Your reason: {plain(item.review.reason)}")


def _use(case_id: str, evidence_id: str, key: str) -> None:
    verdict = Verdict.USE if st.session_state[f"use-{key}"] else None
    _judge(case_id, evidence_id, key, verdict)


def _set_aside(case_id: str, evidence_id: str, key: str) -> None:
    _judge(case_id, evidence_id, key, st.session_state[f"otherwise-{key}"])


def _judge(case_id: str, evidence_id: str, key: str, verdict: Verdict | None) -> None:
    """Save a verdict. A rejection waits for its reason; what was said before no longer holds meanwhile."""
    rejecting = verdict is Verdict.REJECT
    now = None if rejecting else verdict
    saved = act(card_place(evidence_id), lambda: workspace().service.judge(case_id, evidence_id, now, "", author()))
    st.session_state[f"rejecting-{key}"] = rejecting and saved is not None
