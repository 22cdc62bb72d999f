"""What a reading of a case comes to: what was found, then approval, another end, or comments for the author."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from crowdnotes.cases import actions, approval, blinding, moderation
from crowdnotes.domain import Act, Case, Comment, DecisionKind, DeskState, Pair, Support, remaining, text_sha256
from crowdnotes.errors import InputError
from crowdnotes.text.markdown import escaped
from crowdnotes.wording import plural
from pages.common.components import saved_on_pause
from pages.common.session import button, cases, run_action, unsaved_words, workspace
from pages.queue_parts.claim import NOTICE_AREA, claim_next, draw_claim_hint

LOOK_BY_FINDING = {
    Support.SUPPORTED: ("Supports", "check_circle", ":green[:material/check_circle:]"),
    Support.PARTLY: ("Partly", "contrast", ":orange[:material/contrast:]"),
    Support.UNSUPPORTED: ("Does not", "cancel", ":red[:material/cancel:]"),
    Support.WRONG_SOURCE: ("Wrong source", "link_off", ":red[:material/link_off:]"),
    Support.CANNOT_TELL: ("Cannot tell", "help", ":gray[:material/help:]"),
}
_LABEL_BY_DECISION = {
    DecisionKind.NOT_NEEDED: "Not needed",
    DecisionKind.INSUFFICIENT_EVIDENCE: "Not enough evidence",
    DecisionKind.REJECTED: "Reject",
}


def get_finding(case: Case, pair: Pair) -> Support | None:
    return actions.own_finding(case, cases().actor.key, pair)


def go_to_pair(case: Case, number: int) -> None:
    st.session_state[f"pair-{case.id}"] = max(0, number)


def draw_summary(case: Case, found: Sequence[Pair], *, mine: bool) -> None:
    """Draw what was found, and what comes of it: approve, send back with comments, or another end."""
    with st.container(key="validate-summary", gap="xxsmall"):
        for number, pair in enumerate(found):
            support = get_finding(case, pair)
            sign = LOOK_BY_FINDING[support][2] if support else ":gray[○]"
            with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False):
                whole = case.draft is not None and pair.words == case.draft.text
                words = "the whole note" if whole else escaped(pair.words, 160)
                st.markdown(f"{sign} **{pair.evidence_id}** {words}", width="stretch")
                go = partial(go_to_pair, case, number)
                back = "k" if number == len(found) - 1 else None  # as one pair back
                button("Look again", f"again-{number}", NOTICE_AREA, go, type="tertiary", shortcut=back)
        own, waits = blinding.reading_by(case, cases().actor.key), blinding.waits_for_readers(case)
        if case.decision is not None:
            st.success(f"This case is decided: {case.decision.as_text}.", icon=":material/check:")
        elif case.desk.state is DeskState.RETURNED:
            st.success("The author has your comments.", icon=":material/reply:")
        elif own is not None and waits and case.desk.readers > 1:
            st.success(
                plural(
                    waits,
                    "Saved. 1 more moderator has to read it.",
                    "Saved. {n} more moderators have to read it.",
                ),
                icon=":material/group:",
            )
        elif mine and found and own is None and all(get_finding(case, pair) for pair in found):
            st.caption(
                "The note and its sources are as you read them. Keep your findings, or look again."
                if moderation.is_as_read(case, cases().actor.key)
                else "These are your earlier findings. Look again, or keep them."
            )
            keep = partial(cases().apply, case.id, moderation.finish_reading)
            button(":gray[F] Keep my findings", "keep-findings", NOTICE_AREA, keep, icon="check", type="primary")
            return
        elif mine:
            _draw_outcome(case, found)
            return
        else:
            draw_claim_hint(case)
        button(
            "Next case for me", "next-after", NOTICE_AREA, claim_next, icon="play_arrow", type="primary", shortcut="n"
        )


def _collect_typed_comments(case: Case, found: Sequence[Pair]) -> dict[str, str]:
    """Return what was typed for the author and not sent, by what it is about."""
    wrong = _find_unsupported_pairs(case, found)
    said = {}
    for number, (words, comment) in enumerate(_list_comment_keys(case, wrong)):
        about = "the whole note"
        if words or number < len(wrong):
            about = _get_typed_words(case, words) if words else wrong[number].words
        if text := _get_typed_words(case, comment):
            said[f"{number + 1}. {about or 'no words of the note'}"] = text
    return said


def draw_unsaved_comments(case: Case, found: Sequence[Pair]) -> None:
    """Draw what was typed for the author when the case went to another person, or ended."""
    decision = case.decision
    typed = _collect_typed_comments(case, found)
    typed = {about: text for about, text in typed.items() if decision is None or text != decision.reason}
    if not typed:
        return
    keep = None
    if decision is not None:
        why = f"The case is decided: {decision.as_text}."
        keep = partial(cases().apply, case.id, actions.reopen) if workspace().may(Act.REOPEN, case) else None
    elif case.desk.state is DeskState.SUBMITTED:
        why = "Another moderator has this case now. Copy what you need, or take it over."
    else:
        why = "The case is with its author now. Copy what you need."
    unsaved_words(case.id, typed, why, NOTICE_AREA, keep)
    if decision is None:
        _draw_comment_fields(case, found)


def _draw_outcome(case: Case, found: Sequence[Pair]) -> None:
    if blinding.readers_disagree(case):
        _draw_reader_differences(case)
    waits = remaining(approval.obstacles_for(cases(), case), {})
    if waits:
        to_do = plural(len(waits), "1 thing left before you can approve", "{n} things left before you can approve")
        st.markdown(f"**{to_do}**")
        st.markdown("\n".join(f"- {escaped(item.sentence, 240)}" for item in waits))
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="validate-ends"):
        approve = partial(_decide_case, case, DecisionKind.APPROVED)
        look = {"type": "primary", "disabled": bool(waits)}
        button(":gray[A] Approve", "validate-approve", NOTICE_AREA, approve, icon="check", **look)
        for kind, name in _LABEL_BY_DECISION.items():
            button(
                name, f"validate-{kind.name.lower()}", NOTICE_AREA, partial(_decide_case, case, kind), type="tertiary"
            )
    with st.container(border=True, key="validate-return", gap="small"):
        st.markdown("**Comments for the author**")
        _draw_comment_fields(case, found)
        send = partial(_send_back, case, _find_unsupported_pairs(case, found))
        button(":gray[B] Send back", "validate-send", NOTICE_AREA, send, icon="reply")


def _find_unsupported_pairs(case: Case, found: Sequence[Pair]) -> list[Pair]:
    """Return the pairs that ask for a comment."""
    return [pair for pair in dict.fromkeys(found) if get_finding(case, pair) not in (None, Support.SUPPORTED)]


def _list_comment_keys(case: Case, wrong: Sequence[Pair]) -> list[tuple[str, str]]:
    """Return the keys of what may be typed, in order: words of the note ("" if known), and the comment on them."""
    # By what it is about, so that no comment moves to another passage once a finding is changed.
    of_pairs = [("", f"comment-{case.id}-{it.evidence_id}-{text_sha256(it.words)[:8]}") for it in wrong]
    of_words_start = f"comment-{case.id}-words-"
    kept = (it.field.removeprefix(of_words_start) for it in case.typed_words if it.by_key == workspace().actor.key)
    fewest = max([1, *(int(number) + 1 for number in kept if number.isdigit())])
    own = range(max(fewest, st.session_state.get(f"comments-{case.id}", 1)))
    of_words = [(f"words-{case.id}-{number}", f"comment-{case.id}-words-{number}") for number in own]
    return [*of_pairs, *of_words, ("", f"comment-{case.id}-all")]


def _draw_comment_fields(case: Case, found: Sequence[Pair]) -> None:
    """Draw a comment for each pair that does not hold, for any words of the note, and for the whole."""
    wrong = _find_unsupported_pairs(case, found)
    *fields, (_, general) = _list_comment_keys(case, wrong)
    for number, (words, comment) in enumerate(fields):
        if not words:
            pair, support = wrong[number], get_finding(case, wrong[number])
            label = f"{pair.evidence_id}, {support.as_text if support else ''}: {escaped(pair.words, 90)}"
            st.text_input(label, placeholder="What should change?", live=True, **_kept_in_case(case, comment))
            continue
        left, right = st.columns(2, gap="small")
        left.text_input(
            "Words of the note (optional)", placeholder="Copied from the note", live=True, **_kept_in_case(case, words)
        )
        right.text_input(
            "Comment on these words", placeholder="What should change?", live=True, **_kept_in_case(case, comment)
        )
    count = f"comments-{case.id}"
    more = partial(st.session_state.__setitem__, count, st.session_state.get(count, 1) + 1)
    button("Comment on other words", "validate-more", NOTICE_AREA, more, icon="add", type="tertiary")
    box = f"whole-{case.id}"
    with st.container(key=box):
        st.text_area("About the whole note", height=80, **_kept_in_case(case, general))
    saved_on_pause(box)


def _kept_in_case(case: Case, key: str) -> dict[str, Any]:
    """Return what makes a field keep its words in the case at each pause, so that no reload loses any."""
    state = st.session_state
    state.setdefault(key, _get_typed_words(case, key))
    save = partial(_save_typed_words, case.id, key)
    return {"key": key, "on_change": run_action, "args": (NOTICE_AREA, save), "persist_state": "page"}


def _get_typed_words(case: Case, key: str) -> str:
    return str(st.session_state.get(key, case.words_of(workspace().actor.key, key)) or "").strip()


def _save_typed_words(case_id: str, key: str) -> None:
    cases().apply(case_id, actions.save_decision_text, key, st.session_state.get(key) or "")


def _draw_reader_differences(case: Case) -> None:
    """Draw what each reader found where they differ; shown once all have read."""
    st.warning("The readers disagree.", icon=":material/group:")
    for reading in blinding.counted_readings(case):
        findings = ", ".join(f"{it.evidence_id}: {it.support.as_text}" for it in reading.findings)
        st.markdown(f"- {escaped(reading.reader.name, 40)}: {findings}")


def _decide_case(case: Case, kind: DecisionKind) -> None:
    seen = case.draft.sha256 if case.draft else None
    why = _get_typed_words(case, f"comment-{case.id}-all")
    approval.decide_case(cases(), case.id, kind, reason=why, seen=seen)


def _send_back(case: Case, wrong: Sequence[Pair]) -> None:
    note = case.draft.text if case.draft else ""
    comments = []
    *fields, (_, general) = _list_comment_keys(case, wrong)
    for number, (words, comment) in enumerate(fields):
        text, pair = _get_typed_words(case, comment), wrong[number] if number < len(wrong) else None
        about = pair.words if pair is not None else _get_typed_words(case, words)
        if about and pair is None and not text:
            raise InputError(f"Say what should change about “{about}”, or leave these words out.")
        comments.append(Comment(text, pair.evidence_id if pair else "", "" if about == note else about))
    cases().apply(case.id, moderation.send_back, comments, _get_typed_words(case, general))
    for key in (*(key for keys in fields for key in keys if key), general):
        st.session_state.pop(key, None)
        cases().apply(case.id, actions.save_decision_text, key, "")
    st.session_state.pop(f"comments-{case.id}", None)
    go_to_pair(case, len(blinding.pairs(case)))
