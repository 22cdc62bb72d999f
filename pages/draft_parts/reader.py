"""The reader: one passage in its page, what the person says of it, and the way to the next."""

from __future__ import annotations

import uuid
from functools import partial

import streamlit as st

from crowdnotes.cases import actions, case_findings, follow_up_stages
from crowdnotes.domain import (
    Aim,
    AnswerKind,
    Case,
    ClaimKind,
    DateOrigin,
    Evidence,
    FetchOutcome,
    Passage,
    Points,
    SentenceSupport,
    Span,
    Support,
    Verdict,
    first_shown,
)
from crowdnotes.evidence.demo_pages import is_demonstration_url
from crowdnotes.jobs import JobRecord, JobState
from crowdnotes.text.markdown import day, escaped, record_place, title
from crowdnotes.wording import fill
from pages.common.components import badge, marked_text, passage_pieces, scroll_into_view, source_name, web_link
from pages.common.layout import Area, card_place, go_to, next_area_button, redraw, scroll_target
from pages.common.progress import was_started_here
from pages.common.search_report import note_words, pasted_by, source_badges
from pages.common.session import (
    button,
    cases,
    keep_typed,
    key_of,
    notices,
    own_review,
    own_verdict,
    run_action,
    run_change,
    workspace,
)
from pages.draft_parts.more_evidence import follow_up_buttons
from pages.draft_parts.note import cited_badge

_MAX_FINDING_CHARACTERS = 400
_LABEL_BY_OTHER_VERDICT = {verdict: verdict.as_text.capitalize() for verdict in (Verdict.BACKGROUND, Verdict.REJECT)}
_LOOK_BY_ANSWER = {
    AnswerKind.STATED: ":green[:material/check: {}",
    AnswerKind.INFERRED: ":orange[:material/contrast: {}",
    AnswerKind.NONE: ":gray[:material/remove: {}",
}
_VERB_BY_ANSWER = {
    (AnswerKind.STATED, Points.AGAINST): "Contradicts",
    (AnswerKind.STATED, Points.FOR): "Confirms",
    (AnswerKind.STATED, Points.NEITHER): "Settles",
    (AnswerKind.INFERRED, Points.AGAINST): "Points against",
    (AnswerKind.INFERRED, Points.FOR): "Lends support to",
    (AnswerKind.INFERRED, Points.NEITHER): "Helps to judge",
}
_DONE_BY_VERDICT = {
    Verdict.USE: "{id} used.",
    Verdict.BACKGROUND: "{id} read, not cited.",
    Verdict.REJECT: "{id} rejected.",
}
_REJECTION_REASONS = ("Not about this claim", "Out of date", "Not reliable", "Repeats another source")


def chosen_source(case: Case) -> str | None:
    """Return the id of the passage that the reader shows; None before one was chosen, or when it is gone."""
    chosen = st.session_state.get(_chosen_passage_key(case))
    return chosen if chosen is not None and case.evidence_by_id(chosen) is not None else None


def open_source(case: Case, evidence_id: str, words: Span | None = None) -> None:
    """Show a passage in the reader and note that the person opened it; `words` are marked, offsets in its text."""
    st.session_state[_chosen_passage_key(case)] = evidence_id
    st.session_state[f"{_chosen_passage_key(case)}-words"] = (evidence_id, words)
    go_to(Area.SOURCES)
    item = case.evidence_by_id(evidence_id)
    if item is not None and case.decision is None:
        _mark_opened(case, item)


def read_source(case: Case, evidence_id: str, words: Span | None = None) -> None:
    """Do the same as `open_source`, for a button; what was opened before changes nothing but what shows it."""
    open_source(case, evidence_id, words)
    item = case.evidence_by_id(evidence_id)
    if item is not None and (case.decision is not None or own_review(item) is not None):
        redraw("tabs", "sources", "sentences")


def _mark_opened(case: Case, item: Evidence) -> None:
    if own_review(item) is None:
        cases().apply(case.id, actions.open_passage, item.id)


def in_reading_order(case: Case) -> list[Evidence]:
    """Return those first that state what settles the claim, then what helps to infer it.

    What repeats the post comes after the others, then weak ones and the other side.
    """
    answers = case.settlement.answers(case.evidence) if case.settlement is not None else ()
    places = {item.id: place for place, (item, _) in enumerate(answers)}
    weak = case_findings.weak_sources(case, workspace().embedder.thresholds.relevant)
    repeating = case_findings.repeating_passages(case)
    return sorted(
        case.evidence,
        key=lambda item: (
            item.aim is Aim.OTHER_SIDE,
            item.id in weak,
            item.id in repeating,
            places.get(item.id, len(places)),
        ),
    )


def repetition_line(case: Case, item: Evidence) -> None:
    """Say where a passage only repeats the post."""
    if item.id in case_findings.repeating_passages(case):
        st.markdown(":small[:orange[:material/repeat: Repeats the post and does not correct it.]]")


def is_weak(case: Case, item: Evidence) -> bool:
    """Return whether a source has little to do with the post, and nobody has opened it yet."""
    known = bool(item.reviews) or chosen_source(case) == item.id
    return not known and item.id in case_findings.weak_sources(case, workspace().embedder.thresholds.relevant)


def use_tick(case: Case, item: Evidence, name: str) -> None:
    """Draw the checkbox that uses a passage in the note, disabled until the passage was opened."""
    opened = own_review(item) is not None or chosen_source(case) == item.id
    key = key_of(name, _is_used(case, item))
    # A tap on it, while it is disabled, opens the source: page.css lets it through. Its value is its default too: until
    # a busy browser has drawn a new one, it may send the default, which Streamlit takes for an act of the person.
    st.checkbox(
        f"Use {item.id} in the note" if opened or case.decision is not None else f"Read {item.id} first",
        value=_is_used(case, item),
        key=key,
        disabled=not opened or case.decision is not None,
        on_change=run_change,
        args=(
            card_place(item.id),
            name,
            key,
            lambda: _save_verdict(case, item, Verdict.USE if st.session_state[key] else None),
        ),
        width="content",
    )


def _is_used(case: Case, item: Evidence) -> bool:
    return own_verdict(item) is Verdict.USE and not st.session_state.get(_rejecting_key(case, item))


def lead_to_source(case: Case) -> None:
    """Draw what comes before the note, and the way there: the first source, or the pane where none is yet."""
    item = case.evidence_by_id(chosen_source(case) or "") or next(iter(in_reading_order(case)), None)
    if item is None:
        st.markdown("A note says what its sources say. First find a source, or add one.")
        next_area_button(Area.SOURCES, "Go to the sources")
        return
    st.markdown(f"A note says what its sources say. First read one and tick “Use {item.id} in the note”.")
    name = f"Read {item.id}" if own_review(item) is None else f"Go to {item.id}"
    button(name, "before-note", card_place(item.id), partial(read_source, case, item.id), icon="menu_book")


def reader(case: Case, job: JobRecord | None) -> None:
    """Draw the chosen passage with its verdict; before one is chosen, what to do."""
    if not case.evidence:
        return
    chosen = case.evidence_by_id(chosen_source(case) or "")
    with st.container(key="reader", gap="small"):
        _draw_reader_navigation(case, chosen)
        if chosen is None:
            if case.decision is None:
                st.caption("Only sources that you opened can support the note.")
            return
        scroll_target(Area.SOURCES)
        _draw_verdict_controls(case, chosen)
        _draw_supported_sentences(case, chosen)
        notices(card_place(chosen.id))
        _draw_source_head(case, chosen)
        passage, caption = _mark_answering_words(case, chosen)
        marked_text(passage_pieces(passage), look="passage", key=f"passage-{case.id}-{chosen.id}")
        st.caption(caption)
        if case.decision is None:
            follow_up_buttons(case, chosen, job, follow_up_stages.swap_candidates(case))


def _draw_reader_navigation(case: Case, chosen: Evidence | None) -> None:
    """Draw the way to the passage before and after, and to the page itself."""
    order = in_reading_order(case)
    place = order.index(chosen) if chosen is not None else -1
    after, before = order[(place + 1) % len(order)], order[place - 1] if place > 0 else order[-1]
    with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="xsmall", key="reader-walk"):
        if chosen is None:
            unread = next((item for item in order if own_review(item) is None), None)
            first = unread or after
            fits = unread is not None and not is_weak(case, unread)
            look = {"type": "primary" if fits else "secondary", "icon": "menu_book"}
            button(f"Read {first.id}", "next-source", "", partial(read_source, case, first.id), **look)
            return
        st.markdown(f"**{chosen.id}** {title(chosen.source.title, 'No title', 90)}", width="stretch")
        back, on = partial(read_source, case, before.id), partial(read_source, case, after.id)
        about = {"type": "tertiary", "disabled": len(order) == 1}
        button("", "previous-source", "", back, icon="chevron_left", help=f"Previous source, {before.id} (K)", **about)
        button("", "next-source", "", on, icon="chevron_right", help=f"Next source, {after.id} (J)", **about)


def _draw_verdict_controls(case: Case, item: Evidence) -> None:
    """Draw use, background and reject: always at the same place, so that the pointer can stay there."""
    state, key, waiting = st.session_state, f"{case.id}-{item.id}", _rejecting_key(case, item)
    closed = case.decision is not None
    verdict = Verdict.REJECT if state.get(waiting) else own_verdict(item)
    other = verdict if verdict in _LABEL_BY_OTHER_VERDICT else None
    name = f"otherwise-{key}"
    otherwise = key_of(name, other)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="reader-verdict"):
        use_tick(case, item, f"reader-use-{key}")
        st.segmented_control(
            f"Or, of {item.id}",
            list(_LABEL_BY_OTHER_VERDICT),
            default=other,
            format_func=lambda value: _LABEL_BY_OTHER_VERDICT[value],
            key=otherwise,
            disabled=closed,
            on_change=run_change,
            args=(card_place(item.id), name, otherwise, lambda: _save_verdict(case, item, state[otherwise])),
            label_visibility="collapsed",
        )
        st.space("stretch")
        with st.container(key="open-source", width="content", horizontal=True, gap="small"):
            web_link("Open the source", item.source.url)
            web_link("Archived copy", item.source.archived_url, "inventory_2")
    _draw_rejection_reason(case, item)
    _draw_way_on(case, item)
    _draw_other_verdicts(item)


def _draw_way_on(case: Case, item: Evidence) -> None:
    """Say what the person chose, and lead to the next passage that has no verdict yet, if there is one."""
    verdict = own_verdict(item)
    order = in_reading_order(case)
    place = order.index(item)
    waiting = next((other for other in (*order[place + 1 :], *order[:place]) if own_verdict(other) is None), None)
    if case.decision is not None or verdict is None or waiting is None:
        return
    with st.container(key="way-on", horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(fill(_DONE_BY_VERDICT[verdict], id=item.id), width="content")
        go_on = partial(open_source, case, waiting.id)
        button(f"Next: {waiting.id} :material/arrow_forward:", "next-unjudged", "", go_on, type="tertiary")


def _draw_other_verdicts(item: Evidence) -> None:
    """Draw what other readers chose, and whose choice counts for the note where it is not one's own."""
    own, counts = own_review(item), item.working
    for review in item.reviews:
        if review is not own and review.verdict is not None:
            about = {"name": escaped(review.reader.name, 40), "verdict": review.verdict.as_text}
            if review.reason:
                st.caption(fill("{name} chose: {verdict} ({reason})", **about, reason=escaped(review.reason)))
            else:
                st.caption(fill("{name} chose: {verdict}", **about))
    if counts is not None and counts is not own and own is not None and own.verdict is not None:
        st.caption(f"The newest choice counts: {escaped(counts.reader.name, 40)}.")


def _save_verdict(case: Case, item: Evidence, verdict: Verdict | None) -> None:
    """Save a verdict. A rejection waits for its reason; until then the passage has no verdict."""
    rejecting = verdict is Verdict.REJECT
    _mark_opened(case, item)
    st.session_state[_rejecting_key(case, item)] = False
    cases().apply(case.id, actions.judge, item.id, None if rejecting else verdict, "")
    st.session_state[_rejecting_key(case, item)] = rejecting


def _draw_rejection_reason(case: Case, item: Evidence) -> None:
    """Draw the reasons to choose from and a field for another one, or the reason that was given."""
    own = own_review(item)
    given = own.reason if own is not None else ""
    if not st.session_state.get(_rejecting_key(case, item)):
        if given:
            st.caption(escaped(given) if case.recorded_answers else f"Your reason: {escaped(given)}")
        return
    place = card_place(item.id)
    with st.container(key="reject-reasons", gap="xsmall"):
        st.caption("Why do you reject it? (kept in the record)")
        with st.container(horizontal=True, gap="xsmall"):
            for number, name in enumerate(_REJECTION_REASONS, start=1):
                button(f":gray[{number}] {name}", f"reject-{number}", place, partial(_save_rejection, case, item, name))
        with st.form(f"reject-{case.id}-{item.id}", border=False):
            key = f"reject-reason-{case.id}-{item.id}"
            st.text_input("Another reason", given, key=key)
            saving = (place, partial(_save_typed_rejection, case, item, key))
            st.form_submit_button("Reject this source", icon=":material/block:", on_click=run_action, args=saving)


def _save_typed_rejection(case: Case, item: Evidence, key: str) -> None:
    reason = st.session_state.get(key) or ""
    keep_typed({"Why you reject the source": reason}, partial(_save_rejection, case, item, reason))


def _save_rejection(case: Case, item: Evidence, reason: str) -> None:
    cases().apply(case.id, actions.judge, item.id, Verdict.REJECT, reason)
    st.session_state.pop(_rejecting_key(case, item))


_LABEL_BY_SUPPORT = {
    Support.SUPPORTED: "Supports",
    Support.PARTLY: "Supports partly",
    Support.UNSUPPORTED: "Does not support",
    Support.UNCHECKED: "Closest source to",
}


def _draw_supported_sentences(case: Case, item: Evidence) -> None:
    """Draw a button for each sentence of the note that rests on this passage; it leads to the sentence."""
    leaning = [(n, found) for n, found in enumerate(case.sentences, start=1) if found.evidence_id == item.id]
    if not leaning:
        return
    with st.container(key="in-the-note", horizontal=True, vertical_alignment="center", gap="small"):
        for name in ("Supports", "Checked, warnings left", *list(_LABEL_BY_SUPPORT.values())[1:]):
            numbered = [(number, found) for number, found in leaning if _label_support(case, found) == name]
            if numbered:
                st.markdown(f":small[{name}]", width="content")
            for number, found in numbered:
                show = partial(_show_sentence, case, number, found)
                button(f"sentence {number}", f"to-sentence-{number}", "", show, type="tertiary")


def _label_support(case: Case, found: SentenceSupport) -> str:
    return "Checked, warnings left" if case.has_open_hint(found) else _LABEL_BY_SUPPORT[found.support]


def _show_sentence(case: Case, number: int, sentence: SentenceSupport) -> None:
    """Bring a sentence of the note into view, and mark the words that are nearest to it."""
    if sentence.evidence_id is not None:
        open_source(case, sentence.evidence_id, sentence.carrier)
    go_to(Area.NOTE)
    st.session_state[f"sentence-{case.id}"] = (number, uuid.uuid4().hex[:8])


def arrive_after_scoring(case: Case, job: JobRecord | None) -> bool:
    """Let the page come to the first sentence to judge once a scoring of this tab is done; return whether it does."""
    if job is None or job.kind != "assess" or job.state is not JobState.DONE or not was_started_here(job):
        return False
    assessment = case.assessment if case.assessment_is_current and case.decision is None else None
    unjudged = (n for n, found in enumerate(case.sentences, start=1) if found.support is Support.UNCHECKED)
    first = next(unjudged, None) if assessment is not None and assessment.is_compared_by_person else None
    if first is None:
        return False
    if st.session_state.get(f"scored-{case.id}") != job.id:  # once: then the person goes where they want
        st.session_state[f"scored-{case.id}"] = job.id
        st.session_state[f"sentence-{case.id}"] = (first, f"{job.id} scored")
    return True


def arrival_at_sentence(case: Case, number: int) -> None:
    """Mark where a sentence of the note begins: the page comes here when the reader or a scoring leads to it."""
    wanted, token = st.session_state.get(f"sentence-{case.id}", (0, ""))
    if wanted == number:
        scroll_into_view(token, "sentence", name=f"Sentence {number}")


def _draw_source_head(case: Case, item: Evidence) -> None:
    """Draw where it is from, why it was chosen, what the model found in it, and what a reader must know of it."""
    source = item.source
    page, by = item.passage.page, pasted_by(case, source)
    badges = [source_badges(source, case.post, case.until, page, pasted_by=by), cited_badge(case, source.url)]
    if case.assessment is not None and item.id in case.assessment.marked:
        badges.append(
            badge(
                "orange",
                "warning",
                "the AI found instructions to programs here: cannot support a sentence",
            )
        )
    elif case_findings.holds_injection(item):
        badges.append(badge("orange", "warning", "contains instructions to programs: no AI gets these words"))
    if item.aim is Aim.OTHER_SIDE:
        badges.append(badge("gray", "balance", "the other side: may support the post"))
    facts = [escaped(source_name(source), 80)]
    if source.published and source.date_origin is DateOrigin.FILE:
        facts.append(f"{day(source.published)} (date of the file)")  # what it holds may be older: it has no date
    elif source.published and source.date_origin:
        facts.append(f"{day(source.published)} (date from {source.date_origin.as_text})")
    elif source.year:
        facts.append(str(source.year))
    if source.library:
        facts.append(record_place(source.library, source.record))
    with st.container(gap="xxsmall"):
        st.markdown(f"{' '.join(filter(None, badges))} :small[:gray[{' · '.join(facts)}]]")
        repetition_line(case, item)
        is_example = is_demonstration_url(source.url or "")
        if is_example or not source.by_hand:  # else the badge says who pasted it
            why = "The example brings this link." if is_example else item.why
            st.markdown(f":small[{escaped(why[:1].upper() + why[1:], 240)}]")
        for check in source.fact_checks:
            st.markdown(f":small[:material/fact_check: {escaped(check.sentence, _MAX_FINDING_CHARACTERS)}]")
        if (note := first_shown(source.notes)) is not None:
            note_words(note)
        _draw_model_answers(case, item)
        if source.outcome is FetchOutcome.READ and source.outcome_detail and not source.by_hand:
            st.caption(escaped(source.outcome_detail, 300))


def _draw_model_answers(case: Case, item: Evidence) -> None:
    """Draw what the model found in the passage, a line for each answer."""
    claims = [claim.in_full for claim in case.claims if claim.kind is ClaimKind.CHECKABLE]
    for found in case.settlement.all_of(item) if case.settlement is not None else ():
        verb = _VERB_BY_ANSWER.get((found.answer, found.points))
        look, said = _LOOK_BY_ANSWER[found.answer], f"{verb} the claim" if verb else "No answer"
        if verb and found.claim > 1:  # no tick: the note is about the first claim
            named = f"“{claims[found.claim - 1]}”" if found.claim <= len(claims) else "in the post"
            look, said = ":gray[:material/arrow_right: {}", f"On another claim {escaped(named, 120)}"
        st.markdown(f":small[{look.format(said)}]: {escaped(found.tells, _MAX_FINDING_CHARACTERS)}]")


def _mark_answering_words(case: Case, item: Evidence) -> tuple[Passage, str]:
    """Return the passage with the words marked that matter, and what the marks are."""
    shown, words = st.session_state.get(f"{_chosen_passage_key(case)}-words", ("", None))
    if shown == item.id and words is not None and words.end <= len(item.passage.text):
        return item.passage.replace(marks=(words,)), "Highlighted: the words closest to the sentence"
    found = case.settlement.all_of(item) if case.settlement is not None else []
    spans = tuple(answer.span for answer in found if answer.span is not None)
    if case_findings.is_far(case, item, workspace().embedder.thresholds.relevant):
        return item.passage.replace(
            marks=()
        ), "No sentence here is close to the post: perhaps it is about something else."
    if not spans:
        return item.passage, "Highlighted: the sentences closest to the post"
    return item.passage.replace(marks=spans), "Highlighted by the AI: the words that settle the claim"


def _rejecting_key(case: Case, item: Evidence) -> str:
    return f"rejecting-{case.id}-{item.id}"


def _chosen_passage_key(case: Case) -> str:
    return f"reader-{case.id}"
