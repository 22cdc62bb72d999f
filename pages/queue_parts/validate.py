"""Validate a case: one sentence of the note next to one passage in its page, a key for each finding, then the next."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from crowdnotes.cases import actions, approval, blinding, moderation
from crowdnotes.cases.permissions import Clock
from crowdnotes.domain import (
    CLAIM_DURATION,
    FINDINGS,
    Act,
    Case,
    Comment,
    DecisionKind,
    DeskState,
    Evidence,
    Pair,
    SentenceSupport,
    Span,
    Support,
    remaining,
    text_sha256,
)
from crowdnotes.errors import CaseNotFoundError, InputError
from crowdnotes.text.markdown import day, escaped, title
from crowdnotes.wording import plural
from pages.common.components import (
    Judged,
    badge,
    changed_pieces,
    marked_text,
    passage_pieces,
    saved_on_pause,
    shortcut_keys,
    source_name,
    web_link,
)
from pages.common.search_report import source_badges
from pages.common.session import button, cases, notice_for, notices, run_action, show_notice, unsaved_words, workspace
from pages.common.times import clock_time
from pages.draft_parts.moderator_review import comment_in_words

_NOTICE_AREA = "validate"
_RENEW_CLAIM_BELOW = CLAIM_DURATION * 0.8  # an act sooner than this after the last renewal writes nothing
_LOOK_BY_FINDING = {
    Support.SUPPORTED: ("Supports", "check_circle", ":green[:material/check_circle:]"),
    Support.PARTLY: ("Partly", "contrast", ":orange[:material/contrast:]"),
    Support.UNSUPPORTED: ("Does not", "cancel", ":red[:material/cancel:]"),
    Support.WRONG_SOURCE: ("Wrong source", "link_off", ":red[:material/link_off:]"),
    Support.CANNOT_TELL: ("Cannot tell", "help", ":gray[:material/help:]"),
}
_PAIR: Judged = {"places": [".st-key-validate-note", ".st-key-validate-passage"], "looks": ["note", "passage"]}
_FINDING_KEYS = [str(number) for number, _ in enumerate(FINDINGS, start=1)]
_JUDGED_BY_KEY: dict[str, Judged] = {
    **dict.fromkeys(_FINDING_KEYS, _PAIR),
    "f": {"places": [".st-key-validate-summary"]},
    "b": {"places": [".st-key-validate-return"]},
}
# The other keys of this page judge nothing: they are their buttons' own. "a" takes the keyboard there alone.
_PRESSED_BY_KEY = {
    **{key: [f".st-key-finding-{key} button"] for key in _FINDING_KEYS},
    "f": [".st-key-keep-findings button"],
    "b": [".st-key-validate-send button"],
    "a": [".st-key-validate-approve button"],
}
_LABEL_BY_DECISION = {
    DecisionKind.NOT_NEEDED: "Not needed",
    DecisionKind.INSUFFICIENT_EVIDENCE: "Not enough evidence",
    DecisionKind.REJECTED: "Reject",
}


def claim_next() -> None:
    """Claim the next case for this person and show it; says so where nothing waits."""
    case = moderation.claim_next(cases())
    if case is None:
        st.toast("No case is waiting for you.", icon=":material/inbox:")
        back_to_queue()
    else:
        st.query_params["case"] = case.id


def back_to_queue() -> None:
    """Show the list."""
    st.query_params.pop("case", None)


def validate(case_id: str) -> None:
    """Draw the case for the person who reviews it."""
    me = workspace().actor
    try:
        cases().require(Act.REVIEW, case_id)
    except CaseNotFoundError as error:
        show_notice(notice_for(error))
        kept = (said for key, said in st.session_state.items() if str(key).startswith(f"comment-{case_id}-"))
        typed = {f"Comment {number}": str(said) for number, said in enumerate(kept, start=1) if said}
        if typed:
            unsaved_words(case_id, typed, "The case was deleted.", _NOTICE_AREA, None)
        return
    case = cases().get(case_id)
    lease, at = case.desk.lease, cases().now(Clock.DATABASE)
    mine = lease is not None and lease.holder.key == me.key and case.decision is None
    if mine and lease is not None and lease.until - at < _RENEW_CLAIM_BELOW:
        case = cases().apply(case_id, moderation.renew)
    _draw_head(case, mine=mine)
    notices(_NOTICE_AREA)
    for remark in blinding.remarks(case):
        st.caption(f":material/info: {escaped(remark)}")
    _draw_informed_readers(case)
    if case.desk.message:
        st.markdown(f":material/mail: :small[:gray[From the author:]] {escaped(case.desk.message)}")
    if case.draft is None:
        st.caption("This case has no note.")
    _draw_changes_since_own_reading(case)
    _draw_comments(case)
    found = blinding.pairs(case)
    open_pairs = [number for number, pair in enumerate(found) if _get_finding(case, pair) is None]
    if not mine:
        _draw_unsaved_comments(case, found)
    here = st.session_state.get(f"pair-{case.id}")
    if here is None and open_pairs:
        here = open_pairs[0]
    if here is not None and here < len(found):
        _draw_pair(case, found, here, mine=mine)
    else:
        _draw_summary(case, found, mine=mine)
    shortcut_keys(_PRESSED_BY_KEY, ("a",), _JUDGED_BY_KEY)


def _draw_informed_readers(case: Case) -> None:
    """Say why this person's reading would not count; an admin may let such readings count, with a reason."""
    if case.decision is not None:
        return
    if blinding.may_not_read_yet(case, cases().actor.key):
        st.warning(moderation.WHO_READS_INSTEAD, title=moderation.SEEN_BEFORE)
    if case.desk.state is DeskState.SUBMITTED and blinding.informed_keys(case) and workspace().may(Act.PEOPLE):
        key = f"admit-{case.id}"
        st.text_input("Why may they read it all the same?", key=key, live=True)
        admit = partial(_admit_readers, case.id, key)
        button("Admit them as readers", "admit-readers", _NOTICE_AREA, admit, icon="person_check")


def _admit_readers(case_id: str, key: str) -> None:
    cases().apply(case_id, moderation.admit_readers, str(st.session_state.get(key) or ""))


def _draw_changes_since_own_reading(case: Case) -> None:
    """Show a reader what was changed since their reading; new words of the note are marked."""
    if what := moderation.what_changed(case, cases().actor.key):
        st.warning("Look again before you keep your findings.", title=f"{what} was changed.")
    before = moderation.text_read_before(case, cases().actor.key)
    if case.draft is None or before is None:
        return
    st.warning("Check the new words. Your findings on unchanged sentences are kept.", title="The note was changed.")
    if before:
        marked_text(changed_pieces(before, case.draft.text)[1], look="small", key=f"changed-{case.id}")


def _draw_comments(case: Case) -> None:
    """Draw what moderators asked for when they sent it back, and how it ended; one that nobody needs is resolved."""
    said = [item for item in case.suggestions if item.owed]
    if not said:
        return
    with st.container(key="validate-comments", gap="xxsmall"):
        st.caption("Moderators' comments")
        for item in said:
            with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False):
                st.markdown(comment_in_words(case, item), width="stretch")
                if item.waits and case.decision is None:
                    resolve = partial(cases().apply, case.id, moderation.resolve_comment, item.id)
                    button("Resolve", f"resolve-{item.id}", _NOTICE_AREA, resolve, icon="check")


def _get_finding(case: Case, pair: Pair) -> Support | None:
    return actions.own_finding(case, cases().actor.key, pair)


def _draw_head(case: Case, *, mine: bool) -> None:
    """Draw the post, the case's status, and the button to take it."""
    lease = case.desk.lease
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="validate-head"):
        button("Queue", "validate-back", _NOTICE_AREA, back_to_queue, icon="arrow_back", type="tertiary")
        st.markdown(badge("green" if mine else "gray", "", _describe_case_state(case, mine=mine)), width="content")
        st.fragment(_draw_other_viewers, run_every=30)(case.id)
        st.space("stretch")
        if mine:
            button("Give it back", "release", _NOTICE_AREA, partial(_release_case, case), icon="undo", type="tertiary")
        elif (label := _get_claim_label(case)) is not None:
            is_held = lease is not None and lease.holds(cases().now(Clock.DATABASE))
            claim = partial(cases().apply, case.id, moderation.take_over if is_held else moderation.claim)
            look = {"icon": "front_hand", "type": "primary"} if lease is None else {"icon": "swap_horiz"}
            button(label, "claim", _NOTICE_AREA, claim, shortcut="w", **look)
        st.page_link(
            "pages/draft.py",
            label="Open in Draft",
            icon=":material/edit_note:",
            query_params={"case": case.id},
        )
    with st.container(key="validate-post"):
        st.markdown(f":small[:gray[Post:]] {escaped(case.post.text, 400)}")


def _get_claim_label(case: Case) -> str | None:
    """Return the label of the button by which this person claims the case; None where they cannot."""
    if case.decision is not None or _has_read(case) or blinding.may_not_read_yet(case, cases().actor.key):
        return None
    if case.desk.lease is not None:
        return "Take over"
    return "Work on this case" if case.desk_state is DeskState.SUBMITTED else None


def _has_read(case: Case) -> bool:
    """Return whether this person has read it and others still have to: they cannot claim it again."""
    return blinding.reading_by(case, cases().actor.key) is not None and blinding.waits_for_readers(case) > 0


def _draw_claim_hint(case: Case) -> None:
    label = _get_claim_label(case)
    if label is not None:
        st.caption(f"Press “{label}” to record what you find.")


def _describe_case_state(case: Case, *, mine: bool) -> str:
    lease = case.desk.lease
    if case.decision is not None:
        return case.decision.as_text
    if mine and lease is not None:
        return f"yours until {clock_time(lease.until)}"
    if lease is not None and lease.holds(cases().now(Clock.DATABASE)):
        return f"{lease.holder.name} is working on this"
    return case.desk_state.as_text


def _draw_other_viewers(case_id: str) -> None:
    """Who else has it open; asked again every half minute."""
    for name in cases().note_presence(case_id):
        st.markdown(badge("blue", "visibility", f"{name} is looking at this"), width="content")


def _draw_pair(case: Case, found: Sequence[Pair], here: int, *, mine: bool) -> None:
    pair = found[here]
    item, sentence = case.evidence_by_id(pair.evidence_id), _find_sentence(case, pair)
    if item is None:
        return
    left, right = st.columns([11, 10], gap="medium")
    with right, st.container(key="validate-note", gap="small"):
        _draw_marked_note(case, pair)
        _draw_check_results(case, pair, sentence)
        _draw_finding_buttons(case, found, here, mine=mine)
    with left, st.container(key="validate-passage", gap="small"):
        _draw_passage(case, item, sentence)


def _find_sentence(case: Case, pair: Pair) -> SentenceSupport | None:
    note = case.draft.text if case.draft else ""
    known = (it for it in case.sentences if it.evidence_id == pair.evidence_id)
    return next((it for it in known if it.words_in(note) == pair.words), None)


def _draw_marked_note(case: Case, pair: Pair) -> None:
    """Draw the whole note with the sentence marked."""
    note = case.draft.text if case.draft else ""
    start = note.find(pair.words)
    pieces = [
        {"text": note[:start], "kind": "", "title": ""},
        {"text": pair.words, "kind": "mark", "title": ""},
        {"text": note[start + len(pair.words) :], "kind": "", "title": ""},
    ]
    st.caption(
        "No sentence uses this source alone. Compare it with the whole note."
        if pair.words == note
        else "Compare the marked sentence with this source."
    )
    shown = [piece for piece in pieces if piece["text"]]
    marked_text(shown, look="note", key=f"validate-note-{case.id}-{start}-{len(pair.words)}")  # type: ignore[arg-type]


def _draw_check_results(case: Case, pair: Pair, sentence: SentenceSupport | None) -> None:
    """Draw what the program's checks say of the sentence and the passage, and the hints where to look."""
    results = []
    if sentence is not None and sentence.support is not Support.UNCHECKED:
        by = sentence.by or (case.assessment.engine if case.assessment else "")
        results.append(f"The checks: {sentence.support.as_text} ({escaped(by, 60)})")
    for gate in case.assessment.visible_gates if case.assessment is not None and case.assessment_is_current else ():
        about = [it for it in gate.findings if it.evidence_id == pair.evidence_id and not it.ok]
        results += [f"{gate.gate.as_text.capitalize()}: {escaped(it.message, 240)}" for it in about]
    results += [escaped(doubt) for doubt in dict.fromkeys(sentence.doubts if sentence else ())]
    if results:
        st.markdown("\n".join(f"- :small[{line}]" for line in results))
    else:
        st.caption("The checks found nothing here.")


def _draw_finding_buttons(case: Case, found: Sequence[Pair], here: int, *, mine: bool) -> None:
    """Five buttons with their keys, and the way through the pairs."""
    chosen = _get_finding(case, found[here])
    st.markdown(f"**Does {found[here].evidence_id} support the marked words?**")
    with st.container(gap="xsmall", key="validate-findings"):
        for number, support in enumerate(FINDINGS, start=1):
            name, icon, _ = _LOOK_BY_FINDING[support]
            button(
                f":gray[{number}] {name}",
                f"finding-{number}",
                _NOTICE_AREA,
                partial(_save_finding, case, found, here, support),
                icon=icon,
                type="primary" if support is chosen else "secondary",
                width="stretch",
                disabled=not mine,
            )
    if not mine:
        _draw_claim_hint(case)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="validate-walk"):
        back, on = partial(_go_to_pair, case, here - 1), partial(_go_to_pair, case, here + 1)
        about = {"type": "tertiary"}
        button("", "pair-back", _NOTICE_AREA, back, icon="chevron_left", disabled=here == 0, shortcut="k", **about)
        signs = (_LOOK_BY_FINDING[known][2] if (known := _get_finding(case, pair)) else ":gray[○]" for pair in found)
        st.markdown(f"{here + 1} of {len(found)} {' '.join(signs)}", width="content")
        button("", "pair-on", _NOTICE_AREA, on, icon="chevron_right", shortcut="j", **about)


def _draw_passage(case: Case, item: Evidence, sentence: SentenceSupport | None) -> None:
    """Draw the passage in its page with the words marked that are nearest to the sentence, and where it is from."""
    source = item.source
    st.markdown(f"**{item.id}** {title(source.title, 'No title', 90)}")
    facts = [escaped(source_name(source), 80)]
    if source.stated_day and source.date_origin:
        facts.append(day(source.stated_day))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        badges = source_badges(source, case.post, case.until, item.passage.page)
        st.markdown(f"{badges} :small[:gray[{' · '.join(facts)}]]", width="stretch")
        web_link("Open the source", source.url)
    passage = item.passage
    if sentence is not None and sentence.carrier is not None and sentence.carrier.end <= len(passage.text):
        marks: tuple[Span, ...] = (sentence.carrier,)
        passage = passage.replace(marks=marks)
    marked_text(passage_pieces(passage), look="passage", key=f"validate-passage-{case.id}-{item.id}")


def _go_to_pair(case: Case, number: int) -> None:
    st.session_state[f"pair-{case.id}"] = max(0, number)


def _save_finding(case: Case, found: Sequence[Pair], here: int, support: Support) -> None:
    """Keep it and show the next pair without a finding; after the last one the reading is finished."""
    pair = found[here]
    saved = cases().apply(case.id, moderation.judge_pair, pair.words, pair.evidence_id, support)
    order = [*range(here + 1, len(found)), *range(here)]
    following = next((number for number in order if _get_finding(saved, found[number]) is None), None)
    if following is None:
        cases().apply(case.id, moderation.finish_reading)
        _go_to_pair(case, len(found))
    else:
        _go_to_pair(case, following)


def _release_case(case: Case) -> None:
    cases().apply(case.id, moderation.release)
    back_to_queue()


# --- after the last pair ---


def _draw_summary(case: Case, found: Sequence[Pair], *, mine: bool) -> None:
    """Draw what was found, and what comes of it: approve, send back with comments, or another end."""
    with st.container(key="validate-summary", gap="xxsmall"):
        for number, pair in enumerate(found):
            support = _get_finding(case, pair)
            sign = _LOOK_BY_FINDING[support][2] if support else ":gray[○]"
            with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False):
                whole = case.draft is not None and pair.words == case.draft.text
                words = "the whole note" if whole else escaped(pair.words, 160)
                st.markdown(f"{sign} **{pair.evidence_id}** {words}", width="stretch")
                go = partial(_go_to_pair, case, number)
                back = "k" if number == len(found) - 1 else None  # as one pair back
                button("Look again", f"again-{number}", _NOTICE_AREA, go, type="tertiary", shortcut=back)
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
        elif mine and found and own is None and all(_get_finding(case, pair) for pair in found):
            st.caption(
                "The note and its sources are as you read them. Keep your findings, or look again."
                if moderation.is_as_read(case, cases().actor.key)
                else "These are your earlier findings. Look again, or keep them."
            )
            keep = partial(cases().apply, case.id, moderation.finish_reading)
            button(":gray[F] Keep my findings", "keep-findings", _NOTICE_AREA, keep, icon="check", type="primary")
            return
        elif mine:
            _draw_outcome(case, found)
            return
        else:
            _draw_claim_hint(case)
        button(
            "Next case for me", "next-after", _NOTICE_AREA, claim_next, icon="play_arrow", type="primary", shortcut="n"
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


def _draw_unsaved_comments(case: Case, found: Sequence[Pair]) -> None:
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
    unsaved_words(case.id, typed, why, _NOTICE_AREA, keep)
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
        button(":gray[A] Approve", "validate-approve", _NOTICE_AREA, approve, icon="check", **look)
        for kind, name in _LABEL_BY_DECISION.items():
            button(
                name, f"validate-{kind.name.lower()}", _NOTICE_AREA, partial(_decide_case, case, kind), type="tertiary"
            )
    with st.container(border=True, key="validate-return", gap="small"):
        st.markdown("**Comments for the author**")
        _draw_comment_fields(case, found)
        send = partial(_send_back, case, _find_unsupported_pairs(case, found))
        button(":gray[B] Send back", "validate-send", _NOTICE_AREA, send, icon="reply")


def _find_unsupported_pairs(case: Case, found: Sequence[Pair]) -> list[Pair]:
    """Return the pairs that ask for a comment."""
    return [pair for pair in dict.fromkeys(found) if _get_finding(case, pair) not in (None, Support.SUPPORTED)]


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
            pair, support = wrong[number], _get_finding(case, wrong[number])
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
    button("Comment on other words", "validate-more", _NOTICE_AREA, more, icon="add", type="tertiary")
    box = f"whole-{case.id}"
    with st.container(key=box):
        st.text_area("About the whole note", height=80, **_kept_in_case(case, general))
    saved_on_pause(box)


def _kept_in_case(case: Case, key: str) -> dict[str, Any]:
    """Return what makes a field keep its words in the case at each pause, so that no reload loses any."""
    state = st.session_state
    state.setdefault(key, _get_typed_words(case, key))
    save = partial(_save_typed_words, case.id, key)
    return {"key": key, "on_change": run_action, "args": (_NOTICE_AREA, save), "persist_state": "page"}


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
    _go_to_pair(case, len(blinding.pairs(case)))
