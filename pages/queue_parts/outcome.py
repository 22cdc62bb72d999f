"""What a reading of a case comes to: what was found, then approval, another end, or comments for the author."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from crowdnotes.cases import actions, approval, blinding, case_findings, moderation
from crowdnotes.cases.export import cited_urls, class_label, form_labels, is_demonstration
from crowdnotes.domain import (
    Act,
    Case,
    Comment,
    DecisionKind,
    DeskState,
    Obstacle,
    Pair,
    SentenceSupport,
    Support,
    text_sha256,
)
from crowdnotes.errors import InputError, WorkflowError
from crowdnotes.text.markdown import escaped, host
from crowdnotes.text.note_rules import NOTE_LIMIT, note_length
from crowdnotes.wording import plural
from pages.common.components import gate_path, outside_text, saved_on_pause, web_link
from pages.common.jury import jury_panel
from pages.common.layout import StepName
from pages.common.session import button, cases, notices, run_action, unsaved_words, workspace
from pages.common.sign_in import has_accounts
from pages.draft_parts.approval import lead, lead_to_what_is_left, leading, left_to_do, problems, reasons, typed_words
from pages.draft_parts.decision import draw_tags
from pages.queue_parts.claim import NOTICE_AREA, draw_claim_hint, next_case_button

LOOK_BY_FINDING = {
    Support.SUPPORTED: ("Supports", "check_circle", ":green[:material/check_circle:]"),
    Support.PARTLY: ("Partly", "contrast", ":orange[:material/contrast:]"),
    Support.UNSUPPORTED: ("Does not", "cancel", ":red[:material/cancel:]"),
    Support.WRONG_SOURCE: ("Wrong source", "link_off", ":red[:material/link_off:]"),
    Support.CANNOT_TELL: ("Cannot tell", "help", ":gray[:material/help:]"),
}
LABEL_BY_DECISION = {
    DecisionKind.APPROVED: "Approve",
    DecisionKind.NOT_NEEDED: "No note needed",
    DecisionKind.INSUFFICIENT_EVIDENCE: "Not enough evidence",
    DecisionKind.REJECTED: "Reject",
}
_MAX_NAMES = 5  # of people who can read a case, in one line
RETURN_NOTICE_AREA = "send-back"  # at the comments for the author
KEY_BY_DECISION = {
    DecisionKind.APPROVED: "a",
    DecisionKind.NOT_NEEDED: "d",
    DecisionKind.INSUFFICIENT_EVIDENCE: "e",
    DecisionKind.REJECTED: "x",
}


def get_finding(case: Case, pair: Pair) -> Support | None:
    return actions.own_finding(case, cases().actor.key, pair)


def go_to_pair(case: Case, number: int) -> None:
    st.session_state[f"pair-{case.id}"] = max(0, number)


def find_sentence(case: Case, pair: Pair) -> SentenceSupport | None:
    """Return the note's sentence of a pair; None for the whole note."""
    note = case.draft.text if case.draft else ""
    known = (it for it in case.sentences if it.evidence_id == pair.evidence_id)
    return next((it for it in known if it.words_in(note) == pair.words), None)


def describe_check(case: Case, sentence: SentenceSupport | None) -> str:
    """Return what a model says of a sentence, "" where none judged it. No reader sees it before they judge."""
    if sentence is None or sentence.support is Support.UNCHECKED:
        return ""
    by = sentence.by or (case.assessment.engine if case.assessment else "")
    if by in {check.by for check in case.sentence_checks}:  # a person compared them
        return ""
    return f"The checks: {sentence.support.as_text} ({escaped(by, 60)})"


def draw_summary(case: Case, found: Sequence[Pair], waits: Sequence[Obstacle], *, mine: bool) -> None:
    """Draw what is decided, what was found, and what comes of it: approve, send back with comments, or another end.

    `waits` is what refuses this person's approval.
    """
    left, right = st.columns([10, 11], gap="large")
    with left, st.container(key="validate-decided", gap="small"):
        _draw_note(case, mine=mine)
    with right:
        _draw_findings(case, found, waits, mine=mine)


def _draw_note(case: Case, *, mine: bool) -> None:
    """Draw all that is approved: the note with its links and length, X's form, the checks, and the jury's verdict."""
    draft = case.draft
    if draft is None:
        return
    outside_text(draft.text, look="note", key=f"decided-{case.id}-{draft.sha256[:12]}")
    n = note_length(draft.text)
    st.caption(f":red[{n} of {NOTE_LIMIT} characters]" if n > NOTE_LIMIT else f"{n} of {NOTE_LIMIT} characters")
    with st.container(horizontal=True, gap="small"):
        for url in cited_urls(case):
            web_link(host(url), url)
    st.markdown(f":small[:gray[X's form:]] {escaped(class_label(case))}")
    if mine and case.decision is None:
        draw_tags(case, NOTICE_AREA, ":gray[T] ")
    else:
        labels = form_labels(case)
        st.markdown("\n".join(f"- {escaped(label)}" for label in labels) if labels else ":small[:gray[No tag.]]")
    if case.assessment is None:
        st.caption("The checks: NOT RUN")
    else:
        if not case.assessment_is_current:
            st.markdown(":orange-badge[:material/history: The note or its sources have changed. Score it again.]")
        stale = not case.assessment_is_current
        questions = case_findings.gate_questions()
        gate_path(case.assessment.gates, questions, stale=stale, key=f"decided-gates-{case.id}")
    jury_panel(case, busy=False)


def _draw_findings(case: Case, found: Sequence[Pair], waits: Sequence[Obstacle], *, mine: bool) -> None:
    with st.container(key="validate-summary", gap="small"):
        for number, pair in enumerate(found):
            support = get_finding(case, pair)
            sign = f"{LOOK_BY_FINDING[support][2]} **{LOOK_BY_FINDING[support][0]}**" if support else ":gray[○]"
            check = describe_check(case, find_sentence(case, pair)) if support else ""
            check = f"  \n:small[:gray[{check}]]" if check else ""
            with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False):
                whole = case.draft is not None and pair.words == case.draft.text
                words = "the whole note" if whole else escaped(pair.words, 160)
                st.markdown(f"{sign} {pair.evidence_id}: {words}{check}", width="stretch")
                go = partial(go_to_pair, case, number)
                back = "k" if number == len(found) - 1 else None  # as one pair back
                button("Look again", f"again-{number}", NOTICE_AREA, go, type="tertiary", shortcut=back)
        own, readers_left = blinding.reading_by(case, cases().actor.key), blinding.waits_for_readers(case)
        if case.decision is not None:
            draw_decision(case)
        elif case.desk.state is DeskState.RETURNED:
            st.success("The author has your comments.", icon=":material/reply:")
        elif own is not None and readers_left and case.desk.readers > 1:
            st.success(
                plural(
                    readers_left,
                    "Saved. 1 more moderator has to read it.",
                    "Saved. {n} more moderators have to read it.",
                ),
                icon=":material/group:",
            )
            _draw_who_reads_next(case)
            if blinding.readers_disagree(case):
                _draw_reader_differences(case)
            _draw_reasons(case, found)
        elif mine and found and own is None and all(get_finding(case, pair) for pair in found):
            what = "Every sentence is judged."
            if moderation.is_as_read(case, cases().actor.key):
                what = "The note and its sources are as you read them."
            st.caption(f"{what} Look again, or keep your findings.")
            if case.desk.readers > 1:
                st.caption("Once you keep them, they stay as they are until the others have read the note.")
            keep = partial(cases().apply, case.id, moderation.finish_reading)
            button(":gray[F] Keep my findings", "keep-findings", NOTICE_AREA, keep, icon="check", type="primary")
            return
        elif mine:
            _draw_outcome(case, found, waits)
            return
        else:
            draw_claim_hint(case)
        next_case_button("next-after", NOTICE_AREA)


def _draw_who_reads_next(case: Case) -> None:
    """Say who can read it, or what an admin can do where nobody can."""
    settings, people = workspace().settings, workspace().people
    others = blinding.possible_readers(case, people.moderators(), four_eyes=settings.four_eyes)
    if others:
        names = ", ".join(escaped(it.name, 40) for it in others[:_MAX_NAMES])
        more = plural(len(others) - _MAX_NAMES, " and 1 more", " and {n} more") if len(others) > _MAX_NAMES else ""
        st.caption(f"Who can read it: {names}{more}.")
        return
    ways = ["make one more person a moderator on the People page"] if has_accounts(settings) else []
    ways += [] if settings.two_readers else ["choose it in the queue and ask for one reader"]
    ways += ["admit who saw the findings"] if blinding.informed_keys(case) else []
    what = f"An admin can {', or '.join(ways)}." if ways else "CROWDNOTES_TWO_READERS is set, so every case needs two."
    st.warning(what, title="Nobody else can read it.")


def draw_decision(case: Case) -> None:
    """Say how a decided case ended, and offer the way back."""
    decision = case.decision
    if decision is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.success(f"This case is decided: {decision.as_text}.", icon=":material/check:")
        if workspace().may(Act.REOPEN, case):
            own = decision.by_key == workspace().actor.key and case.desk.state is DeskState.SUBMITTED
            label, icon = ("Undo", "undo") if own else ("Reopen the case", "lock_open")
            again = partial(_reopen, case, claims=own)
            button(label, "validate-reopen", NOTICE_AREA, again, icon=icon)
    if case.outcome_line:
        st.markdown(escaped(case.outcome_line))


def _reopen(case: Case, *, claims: bool) -> None:
    cases().apply(case.id, actions.reopen)
    if claims:  # else the next moderator could have it before who decided it by mistake
        cases().apply(case.id, moderation.claim)


def _draw_reasons(case: Case, found: Sequence[Pair]) -> None:
    """Draw a field for each objection, in which a reader who has finished says why; the next see it once they have."""
    wrong = _find_unsupported_pairs(case, found)
    if wrong:
        st.caption("If you like, say why. Other moderators see it once they have read the note themselves.")
    for pair, (_, comment) in zip(wrong, _list_comment_keys(case, wrong), strict=False):
        label = f"{pair.evidence_id}: {escaped(pair.words, 90)}"
        st.text_input(label, placeholder="Why?", live=True, **_kept_in_case(case, comment))


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
    if decision is not None and decision.by_key != workspace().actor.key:
        typed |= typed_words(case)
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


def _draw_outcome(case: Case, found: Sequence[Pair], waits: Sequence[Obstacle]) -> None:
    if blinding.readers_disagree(case):
        _draw_reader_differences(case)
    for step in (StepName.REVIEW, StepName.DECIDE):
        notices(step.value)
    left = left_to_do(case, waits)
    returns_first = bool(left and _find_unsupported_pairs(case, found))  # the author has to mend it
    if returns_first:
        _draw_return_form(case, found, type="primary")
    problems(case, waits, workspace().runner.latest(case.id), on_draft=False)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="validate-ends"):
        for kind, name in LABEL_BY_DECISION.items():
            key = KEY_BY_DECISION[kind]
            look: dict[str, Any] = {"type": "tertiary"}
            act = partial(_decide_case, case, kind, waits)
            if kind is DecisionKind.APPROVED:
                name = "Approve as practice" if is_demonstration(case) else name  # noqa: PLW2901
                look = {"type": "secondary" if returns_first else "primary", "icon": "check"}
                if left:
                    name += plural(len(left), ": {n} thing left", ": {n} things left")  # noqa: PLW2901
                    look["icon"], act = "checklist", partial(lead_to_what_is_left, case, waits)
            button(f":gray[{key.upper()}] {name}", f"decide-{key}", NOTICE_AREA, act, **look)
    if not returns_first:
        _draw_return_form(case, found)
    leading()


def _draw_return_form(case: Case, found: Sequence[Pair], **look: Any) -> None:
    with st.container(border=True, key="validate-return", gap="small"):
        st.markdown("**Comments for the author**")
        _draw_comment_fields(case, found)
        notices(RETURN_NOTICE_AREA)
        send = partial(_send_back, case, _find_unsupported_pairs(case, found))
        button(":gray[B] Send back", "validate-send", RETURN_NOTICE_AREA, send, icon="reply", **look)


def _find_unsupported_pairs(case: Case, found: Sequence[Pair]) -> list[Pair]:
    """Return the pairs that ask for a comment."""
    return [pair for pair in dict.fromkeys(found) if get_finding(case, pair) not in (None, Support.SUPPORTED)]


def _list_comment_keys(case: Case, wrong: Sequence[Pair]) -> list[tuple[str, str]]:
    """Return the keys of what may be typed, in order: words of the note ("" if known), and the comment on them."""
    # By what it is about, so that no comment moves to another passage once a finding is changed.
    of_pairs = [("", _comment_key(case, it)) for it in wrong]
    of_words_start = f"comment-{case.id}-words-"
    kept = (it.field.removeprefix(of_words_start) for it in case.typed_words if it.by_key == workspace().actor.key)
    fewest = max([1, *(int(number) + 1 for number in kept if number.isdigit())])
    own = range(max(fewest, st.session_state.get(f"comments-{case.id}", 1)))
    of_words = [(f"words-{case.id}-{number}", f"comment-{case.id}-words-{number}") for number in own]
    return [*of_pairs, *of_words, ("", f"comment-{case.id}-all")]


def _comment_key(case: Case, pair: Pair) -> str:
    return f"comment-{case.id}-{pair.evidence_id}-{text_sha256(pair.words)[:8]}"


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
        st.text_area(
            "About the whole note", placeholder="What should change?", height=80, **_kept_in_case(case, general)
        )
        if st.session_state.get(_asks_why_key(case)) and not _get_typed_words(case, general):
            st.markdown(f":small[:red[:material/error: {approval.WHY_REJECT} The author reads it.]]")
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
    """Draw what each reader found where they differ, and why if they said so; for readers who have finished."""
    st.warning("The readers disagree.", icon=":material/group:")
    readings = blinding.counted_readings(case)
    for pair in blinding.pairs(case):
        found = {it.reader: support for it in readings if (support := it.by_pair.get((pair.words, pair.evidence_id)))}
        if len(set(found.values())) < 2:
            continue
        lines = [f"{pair.evidence_id}: {escaped(pair.words, 160)}"]
        for reader, support in found.items():
            why = case.words_of(reader.key, _comment_key(case, pair))
            lines.append(f"- {escaped(reader.name, 40)}: **{support.as_text}** {escaped(why)}".rstrip())
        st.markdown("\n".join(lines))


def _decide_case(case: Case, kind: DecisionKind, waits: Sequence[Obstacle]) -> None:
    seen = case.draft.sha256 if case.draft else None
    why = _get_typed_words(case, f"comment-{case.id}-all")
    overrides = reasons(case, waits) if kind is DecisionKind.APPROVED else {}
    try:
        approval.decide_case(cases(), case.id, kind, reason=why, overrides=overrides, seen=seen)
    except WorkflowError as refusal:
        if refusal.rule != "reason needed":
            raise
        st.session_state[_asks_why_key(case)] = True  # said at the field, which the keyboard goes to
        lead(None, f".st-key-whole-{case.id}")


def _asks_why_key(case: Case) -> str:
    return f"asks-why-rejected-{case.id}"


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
