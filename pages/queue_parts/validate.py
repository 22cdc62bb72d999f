"""Validate a case: one sentence of the note next to one passage in its page, a key for each finding, then the next."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from crowdnotes.cases import approval, blinding, moderation
from crowdnotes.cases.permissions import Clock
from crowdnotes.domain import (
    CLAIM_DURATION,
    FINDINGS,
    Act,
    Case,
    DecisionKind,
    DeskState,
    Evidence,
    Pair,
    SentenceSupport,
    Span,
    Support,
)
from crowdnotes.errors import CaseNotFoundError
from crowdnotes.text.markdown import day, escaped, title
from pages.common.components import (
    Judged,
    changed_pieces,
    marked_text,
    passage_pieces,
    read_aloud,
    scroll_into_view,
    shortcut_keys,
    source_name,
    web_link,
)
from pages.common.search_report import pasted_by, source_badges
from pages.common.session import (
    button,
    cases,
    name_tab_after_case,
    notice_for,
    notices,
    show_notice,
    unsaved_words,
    workspace,
)
from pages.draft_parts.approval import left_to_do
from pages.draft_parts.moderator_review import comment_in_words
from pages.queue_parts.claim import (
    HELP_KEY,
    NOTICE_AREA,
    draw_claim_hint,
    draw_head,
    draw_lost_claim,
    next_case_button,
)
from pages.queue_parts.outcome import (
    KEY_BY_DECISION,
    LABEL_BY_DECISION,
    LOOK_BY_FINDING,
    RETURN_NOTICE_AREA,
    describe_check,
    draw_decision,
    draw_summary,
    draw_unsaved_comments,
    find_sentence,
    get_finding,
    go_to_pair,
)

_RENEW_CLAIM_BELOW = CLAIM_DURATION * 0.8  # an act sooner than this after the last renewal writes nothing
_PAIR: Judged = {
    "places": [".st-key-validate-note", ".st-key-validate-passage"],
    "looks": ["note", "passage"],
    "marks": True,
}
_ENDS: Judged = {"places": [".st-key-validate-ends"], "twice": True}
_REJECTION: Judged = {**_ENDS, "leads": True}  # to the field for the reason
_NOTE: Judged = {"places": [".st-key-validate-decided"], "looks": ["note"], "twice": True}
_JUDGED_BY_DECISION = {DecisionKind.APPROVED: _NOTE, DecisionKind.REJECTED: _REJECTION}
_FINDING_KEYS = [str(number) for number, _ in enumerate(FINDINGS, start=1)]
_JUDGED_BY_KEY: dict[str, Judged] = {
    key: {**rule, "words": {"look": "Read this", "ready": f"Press {{key}} again{does}"}}
    for key, rule, does in (
        *((key, _PAIR, f": {LOOK_BY_FINDING[it][0]}") for key, it in zip(_FINDING_KEYS, FINDINGS, strict=True)),
        ("f", Judged(places=[".st-key-validate-summary"]), " to keep your findings"),
        ("b", Judged(places=[".st-key-validate-return"], twice=True, leads=True), " to send it back"),
        *(
            (key, _JUDGED_BY_DECISION.get(kind, _ENDS), f": {LABEL_BY_DECISION[kind]}")
            for kind, key in KEY_BY_DECISION.items()
        ),
    )
}
# The first is on the first objection, or else on the whole note.
_COMMENTS = "[class*=st-key-comment-]:not([class*=-words-]) :is(textarea, input[type=text])"
_ANY_COMMENT = "[class*=st-key-comment-] :is(textarea, input[type=text]):not(:placeholder-shown)"
# The other keys of this page judge nothing: they are their buttons' own.
_PRESSED_BY_KEY = {
    **{key: [f".st-key-finding-{key} button"] for key in _FINDING_KEYS},
    "f": [".st-key-keep-findings button"],
    "t": [".st-key-suggested-0 button"],
    "c": [f".st-key-validate-return {_COMMENTS}"],
    # Without a comment there is nothing to send.
    "b": [f".st-key-validate-return:not(:has({_ANY_COMMENT})) {_COMMENTS}", ".st-key-validate-send button"],
    **{key: [f".st-key-decide-{key} button"] for key in KEY_BY_DECISION.values()},
    **HELP_KEY,
}


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
            unsaved_words(case_id, typed, "The case was deleted.", NOTICE_AREA, None)
        return
    case = cases().get(case_id)
    name_tab_after_case(case, "Queue")
    lease, at = case.desk.lease, cases().now(Clock.DATABASE)
    mine = lease is not None and lease.holder.key == me.key and case.decision is None
    if mine and lease is not None and lease.until - at < _RENEW_CLAIM_BELOW:
        case = cases().apply(case_id, moderation.renew)
    draw_head(case, mine=mine)
    notices(NOTICE_AREA)
    if not mine:  # the fields for comments, with their messages, are gone
        notices(RETURN_NOTICE_AREA)
    draw_lost_claim(case)
    for remark in blinding.remarks(case):
        st.caption(f":material/info: {escaped(remark)}")
    _draw_informed_readers(case)
    if case.draft is None:
        st.caption("This case has no note.")
    _draw_changes_since_own_reading(case)
    _draw_comments(case)
    found = blinding.pairs(case)
    open_pairs = [number for number, pair in enumerate(found) if get_finding(case, pair) is None]
    if not mine:
        draw_unsaved_comments(case, found)
    here = st.session_state.get(f"pair-{case.id}")
    if here is None and open_pairs:
        here = open_pairs[0]
    waits = approval.obstacles_for(cases(), case) if mine else ()
    if here is not None and here < len(found):
        _draw_pair(case, found, here, mine=mine)
    else:
        draw_summary(case, found, waits, mine=mine)
    judged = dict(_JUDGED_BY_KEY)
    if left_to_do(case, waits):
        del judged["a"]  # it decides nothing yet, and leads at once to what is left
    shortcut_keys(_PRESSED_BY_KEY, (), judged)


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
        button("Admit them as readers", "admit-readers", NOTICE_AREA, admit, icon="person_check")


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
                    button("Resolve", f"resolve-{item.id}", NOTICE_AREA, resolve, icon="check")


def _draw_pair(case: Case, found: Sequence[Pair], here: int, *, mine: bool) -> None:
    pair = found[here]
    item, sentence = case.evidence_by_id(pair.evidence_id), find_sentence(case, pair)
    if item is None:
        return
    if not mine:
        draw_decision(case)
        next_case_button("next-here", NOTICE_AREA)
    left, right = st.columns([11, 10], gap="medium")
    with right, st.container(key="validate-note", gap="small"):
        _draw_marked_note(case, pair)
        _draw_check_results(case, pair, sentence)
        _draw_finding_buttons(case, found, here, mine=mine)
    with left, st.container(key="validate-passage", gap="small"):
        if mine:
            scroll_into_view(f"{case.id} {pair.evidence_id} {pair.words}", "validate-passage")
        _draw_passage(case, item, sentence)


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
        "No sentence uses this source alone. Compare the whole note."
        if pair.words == note
        else "Compare the marked sentence with this source."
    )
    shown = [piece for piece in pieces if piece["text"]]
    marked_text(shown, look="note", key=f"validate-note-{case.id}-{start}-{len(pair.words)}")  # type: ignore[arg-type]


def _draw_check_results(case: Case, pair: Pair, sentence: SentenceSupport | None) -> None:
    """Draw the hints where to look; once the reader has judged, also what the checks say of sentence and passage."""
    is_judged, results = get_finding(case, pair) is not None, []
    if is_judged and (said := describe_check(case, sentence)):
        results.append(said)
    gates = case.assessment.found if case.assessment is not None and case.assessment_is_current else ()
    for gate in gates if is_judged else ():
        about = [it for it in gate.findings if it.evidence_id == pair.evidence_id and not it.ok]
        results += [f"{gate.gate.as_text.capitalize()}: {escaped(it.message, 240)}" for it in about]
    results += [escaped(doubt) for doubt in dict.fromkeys(sentence.doubts if sentence else ())]
    if results:
        st.markdown("\n".join(f"- :small[{line}]" for line in results))
    if not is_judged:
        st.caption("You see what the checks say once you have judged.")
    elif not results:
        st.caption("The checks found nothing here.")


def _draw_finding_buttons(case: Case, found: Sequence[Pair], here: int, *, mine: bool) -> None:
    """Five buttons with their keys, and the way through the pairs."""
    chosen = get_finding(case, found[here])
    st.markdown(f"**Does {found[here].evidence_id} support the marked words?**")
    with st.container(gap="xsmall", key="validate-findings"):
        for number, support in enumerate(FINDINGS, start=1):
            name, icon, _ = LOOK_BY_FINDING[support]
            button(
                f":gray[{number}] {name}",
                f"finding-{number}",
                NOTICE_AREA,
                partial(_save_finding, case, found, here, support),
                icon=icon,
                type="primary" if support is chosen else "secondary",
                width="stretch",
                disabled=not mine,
            )
    if not mine:
        draw_claim_hint(case)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="validate-walk"):
        back, on = partial(go_to_pair, case, here - 1), partial(go_to_pair, case, here + 1)
        about = {"type": "tertiary"}
        button("", "pair-back", NOTICE_AREA, back, icon="chevron_left", disabled=here == 0, shortcut="k", **about)
        known = [LOOK_BY_FINDING[own] if (own := get_finding(case, pair)) else None for pair in found]
        signs = " ".join(look[2] if look else ":gray[○]" for look in known)
        spoken = "; ".join(f"{n}: {look[0] if look else 'not judged'}" for n, look in enumerate(known, start=1))
        st.markdown(f"{here + 1} of {len(found)} {signs} {read_aloud(spoken)}", width="content")
        button("", "pair-on", NOTICE_AREA, on, icon="chevron_right", shortcut="j", **about)


def _draw_passage(case: Case, item: Evidence, sentence: SentenceSupport | None) -> None:
    """Draw the passage in its page with the words marked that are nearest to the sentence, and where it is from."""
    source = item.source
    st.markdown(f"**{item.id}** {title(source.title, 'No title', 90)}")
    facts = [escaped(source_name(source), 80)]
    if source.stated_day and source.date_origin:
        facts.append(day(source.stated_day))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        page, by = item.passage.page, pasted_by(case, source)
        badges = source_badges(source, case.post, case.until, page, pasted_by=by)
        st.markdown(f"{badges} :small[:gray[{' · '.join(facts)}]]", width="stretch")
        web_link("Open the source", source.url)
    passage = item.passage
    if sentence is not None and sentence.carrier is not None and sentence.carrier.end <= len(passage.text):
        marks: tuple[Span, ...] = (sentence.carrier,)
        passage = passage.replace(marks=marks)
    marked_text(passage_pieces(passage), look="passage", key=f"validate-passage-{case.id}-{item.id}")


def _save_finding(case: Case, found: Sequence[Pair], here: int, support: Support) -> None:
    """Keep it and show the next pair without a finding; after the last one the reading is finished, or can be."""
    pair = found[here]
    saved = cases().apply(case.id, moderation.judge_pair, pair.words, pair.evidence_id, support)
    order = [*range(here + 1, len(found)), *range(here)]
    following = next((number for number in order if get_finding(saved, found[number]) is None), None)
    if following is None:
        if not moderation.finishes_in_own_step(saved, cases().actor.key):
            cases().apply(case.id, moderation.finish_reading)
        go_to_pair(case, len(found))
    else:
        go_to_pair(case, following)
