"""Step 2: read the evidence, and say of each passage whether the note may use it."""

from __future__ import annotations

from collections import Counter
from functools import partial

import streamlit as st

from crowdnotes.domain import (
    WAYBACK,
    Aim,
    AnswerKind,
    Case,
    ClaimKind,
    Evidence,
    FetchOutcome,
    Passage,
    Points,
    Source,
    SourceCategory,
    Verdict,
)
from crowdnotes.jobs import JobRecord
from crowdnotes.text.markdown import count, day, escaped, exact, host, record_place, title
from pages.view.components import badge, marked_text, passage_pieces, web_link
from pages.view.decision import cited_badge
from pages.view.more_evidence import (
    begun_by_hand,
    earlier_evidence,
    follow_up_below_cards,
    follow_up_buttons,
    follow_up_result,
    paste_box,
)
from pages.view.progress import job_panel
from pages.view.search_report import already_checked, category_mix, no_passage, search_report, source_badges
from pages.view.session import act, author, button, notices, workspace
from pages.view.steps import StepName, StepState, StepView, card_place, move_on, notices_of_gone_cards, step
from pages.view.where_to_look import add_sources


def evidence_step(case: Case | None, job: JobRecord | None) -> None:
    """Draw the step."""
    with step(case, _view(case)) as is_open:
        if case is None:
            return
        notices_of_gone_cards(case)
        if is_open:
            already_checked(case)
        job_panel(case, job, "gather")
        job_panel(case, job, "follow_up")
        if not is_open:
            return
        follow_up_result(case, job)
        _claim_record(case)
        search_report(case)
        category_mix(case)
        _cards(case, job)
        if not case.evidence:
            no_passage(case, job)
        _failed(case)
        if case.decision is None:
            follow_up_below_cards(case, job)
        earlier_evidence(case, job)
        if case.decision is None:
            _more(case, job)
            _on_to_the_draft(case)


def _on_to_the_draft(case: Case) -> None:
    """Nothing folds by itself while there may be more to inspect: the person says when they have read enough."""
    if case.used_evidence:
        about = "Folds the evidence away; it can be opened again at any time"
        on = partial(move_on, case, StepName.EVIDENCE, StepName.DRAFT)
        button("On to the draft", "to-draft", StepName.EVIDENCE.value, on, icon="arrow_downward", help=about)


def _cards(case: Case, job: JobRecord | None) -> None:
    """The passages; those that speak for the post's claim stand apart, so that nobody takes them for the others."""
    if case.evidence and case.decision is None:
        st.caption(
            "Open a passage, read it, then say what it is good for. "
            "Only passages that you read and use can carry the note."
        )
    left = workspace().service.swappable(case)
    other_side = [item for item in case.evidence if item.aim is Aim.OTHER_SIDE]
    for item in _in_reading_order(case):
        if item.aim is not Aim.OTHER_SIDE:
            _evidence_card(case, item, job, left)
    if not other_side:
        return
    with st.container(key="other-side", gap="small"):
        st.markdown("**:material/balance: The other side**")
        st.caption(
            "Looked for because it may speak for the post's claim: see whether it does. "
            "No note is written from it unless you read it and tick it."
        )
        for item in other_side:
            _evidence_card(case, item, job, left)


def _more(case: Case, job: JobRecord | None) -> None:
    more = st.expander(
        "More evidence: other links, another search",
        key=f"more-{case.id}",
        icon=":material/add:",
        on_change="rerun",
        expanded=not case.evidence and not case.stages and not begun_by_hand(case),
    )
    if more.open:
        with more:
            add_sources(case, job)
    paste_box(case, "Paste a passage yourself")


def _view(case: Case | None) -> StepView:
    if case is None:
        return StepView(StepName.EVIDENCE, StepState.LOCKED, "Comes after the post")
    done = case.decision is not None or (case.draft is not None and bool(case.used_evidence))
    state = StepState.DONE if done else StepState.ACTIVE
    return StepView(StepName.EVIDENCE, state, _tally(case), stays_open=case.decision is None)


def _tally(case: Case) -> str:
    """How far the evidence is: 2 links · 8 found · 4 read · 3 opened · 2 used · no later than 4 March 2026."""
    found = len(workspace().service.hits(case))
    read = sum(source.outcome is FetchOutcome.READ for source in case.sources)
    opened = sum(item.review.opened_at is not None for item in case.evidence)
    parts = [count(len(case.urls), "link")] if case.urls else []
    parts += [f"{found} found"] if found else []
    if case.sources or case.evidence or found:
        parts += [f"{read} read", f"{opened} opened", f"{len(case.used_evidence)} used"]
    else:
        parts.append("nothing gathered yet" if parts else "Nothing gathered yet")
    if case.until is not None:
        parts.append(f"no later than {day(case.until)}")
    return " · ".join(parts)


def _failed(case: Case) -> None:
    failed = [source for source in case.sources if source.outcome is not FetchOutcome.READ]
    if not failed:
        return
    st.markdown(f"**{count(len(failed), 'source')} could not be read**")
    st.caption("A page that could not be read says nothing for or against the post.")
    copies = Counter(_of_copies(source) for source in failed)
    shared = {said: times for said, times in copies.items() if said and times > 1}
    for said, times in shared.items():
        which = "" if times == len(failed) else f" ({times} of these {len(failed)})"
        st.caption(f":material/inventory_2: {escaped(said, 300)}{which}")
    for source in failed:
        _failed_source(case, source, told=frozenset(shared))


def _of_copies(source: Source) -> str:
    """What the archive said of the source; empty where it was not asked."""
    _, name, said = source.outcome_detail.partition(WAYBACK)
    return name + said


def _failed_source(case: Case, source: Source, *, told: frozenset[str]) -> None:
    """A source that could not be read; what the archive said stands above the list where it is `told` there."""
    badges = source_badges(source, case.post, case.until) if source.published or source.notices else ""
    with st.container(border=True, key=f"failed-{source.id.replace(':', '-')}", gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            name = escaped(host(source.url) or source.title, 60)
            st.markdown(f"{badge('orange', 'link_off', source.outcome.value)} {badges} **{name}**", width="content")
            st.space("stretch")
            web_link("Archived copy", source.archived_url, "inventory_2")
            web_link("Open it", source.url)
        st.markdown(f":small[{exact(source.url)}]" if source.url else f":small[{escaped(source.title, 160)}]")
        of_copies = _of_copies(source)
        st.markdown(escaped(source.outcome_detail.removesuffix(of_copies if of_copies in told else ""), 300))
        if case.decision is None:
            paste_box(case, "Open it yourself and paste the passage", source)


_LONGEST = 400
_NOT_CHECKABLE = {
    ClaimKind.OPINION: "an opinion",
    ClaimKind.SATIRE: "satire",
    ClaimKind.PREDICTION: "a prediction",
    ClaimKind.PERSONAL: "a personal story",
}
_POINTS = {Points.AGAINST: ", against the claim", Points.FOR: ", for the claim", Points.NEITHER: ""}


def _claim_record(case: Case) -> None:
    """The claim in full words, what would settle it, and how far the passages do. Nothing where no model has said."""
    claims = [claim for claim in case.claims if claim.statement]
    if not claims:
        return
    claim = claims[0]
    with st.container(key="claim", gap="xsmall"):
        if claim.kind is not ClaimKind.CHECKABLE:
            st.info(
                "If that is so, nothing can be checked, and “not needed” is the decision. You can still bring sources.",
                title=f"The model reads this post as {_NOT_CHECKABLE[claim.kind]}.",
                icon=":material/help:",
            )
            return
        st.markdown(f"**The claim, as the model reads it:** {escaped(claim.statement, _LONGEST)}")
        about = [
            f"{name}: {escaped(said, _LONGEST)}"
            for name, said in (("What it implies", claim.implies), ("What would settle it", claim.settled_by))
            if said
        ]
        about += [f"Since: {day(claim.since)}"] if claim.since else []
        about += [f"It also claims: {escaped(other.statement, _LONGEST)}" for other in claims[1:]]
        for line in about:
            st.caption(line)
        _settled(case)


def _settled(case: Case) -> None:
    evidence = case.judging_evidence
    if case.settlement is None or not evidence:
        return
    if stated := case.settlement.stated(evidence):
        said = f"{len(stated)} of {len(evidence)} passages state what settles it, says the model"
        st.markdown(f":green-badge[:material/check: {said}]")
        return
    helping = len(case.settlement.answers(evidence))
    helps = f"{helping} help to infer it" if helping else "none answers it"
    st.markdown(f":orange-badge[:material/search_off: No passage states what settles it, says the model; {helps}]")
    if case.settlement.missing:
        st.caption(f"Missing: {escaped(case.settlement.missing, _LONGEST)}")


def _answer_line(case: Case, item: Evidence) -> None:
    """What the model found in one passage, a line for each answer."""
    for found in case.settlement.all_of(item) if case.settlement is not None else ():
        it = "it" if found.claim == 1 else "what it also claims"
        how = {
            AnswerKind.STATED: f":green[:material/check: States {it}",
            AnswerKind.INFERRED: f":orange[:material/contrast: Helps to infer {it}",
            AnswerKind.NONE: ":gray[:material/remove: Background",
        }[found.answer]
        points = "" if found.answer is AnswerKind.NONE else _POINTS[found.points]
        st.markdown(f":small[{how}{points}]: {escaped(found.tells, _LONGEST)}]")


def _in_reading_order(case: Case) -> list[Evidence]:
    """The passages, those first that state what settles the claim, then those that help to infer it."""
    settlement = case.settlement
    if settlement is None:
        return list(case.evidence)
    places = {item.id: place for place, (item, _) in enumerate(settlement.answers(case.evidence))}
    return sorted(case.evidence, key=lambda item: places.get(item.id, len(places)))


def _as_answered(case: Case, item: Evidence) -> tuple[Passage, str]:
    """The passage with the words marked that answer the claim, and what the marks are."""
    found = case.settlement.all_of(item) if case.settlement is not None else []
    spans = tuple(answer.span for answer in found if answer.span is not None)
    if not spans:
        return item.passage, "Marked: the sentences closest to the post. Grey: what stands around the passage."
    passage = item.passage.model_copy(update={"marks": spans})
    return passage, "Marked: the words that answer the claim, says the model. Grey: what stands around the passage."


_OTHERWISE = {Verdict.BACKGROUND: "Background only", Verdict.REJECT: "Reject"}

_KINDS = {SourceCategory.OTHER: "other kind of source"}


def _evidence_card(case: Case, item: Evidence, job: JobRecord | None, left: frozenset[Aim]) -> None:
    """Draw the card. Its verdict can be chosen only after the passage was opened."""
    key = f"{case.id}-{item.id}"
    with st.container(border=True, key=f"card-{item.id}", gap="small"):
        _head(case, item)
        read = st.expander("Read the passage", key=f"open-{key}", icon=":material/menu_book:", on_change="rerun")
        if read.open:
            _opened(case, item)
            with read:
                passage, told = _as_answered(case, item)
                marked_text(passage_pieces(passage), look="passage", key=f"passage-{key}")
                st.caption(told)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            _verdict(case, item, key)
            if case.decision is None:
                st.space("stretch")
                follow_up_buttons(case, item, job, left)
        _reason(case, item, key)
        notices(card_place(item.id))


def _head(case: Case, item: Evidence) -> None:
    source = item.source
    badges = [
        badge("blue" if item.used else "gray", "check" if item.used else "", item.id),
        source_badges(source, case.post, case.until, item.passage.page),
        badge("gray", "", _KINDS.get(source.category, source.category.value)),
        badge("gray", "done_all", "opened") if item.review.opened_at is not None else "",
        badge("red", "block", "rejected") if item.review.verdict is Verdict.REJECT else "",
        cited_badge(case, source.url),
    ]
    facts = [escaped(source.publisher or host(source.url) or source.library or "unknown publisher", 80)]
    if source.published and source.date_origin:
        facts.append(f"{day(source.published)} (date from {source.date_origin.value})")
    if source.library:
        facts.append(record_place(source.library, source.record))
    with st.container(gap=None):
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.markdown(" ".join(filter(None, badges)), width="content")
            st.space("stretch")
            web_link("Archived copy", source.archived_url, "inventory_2")
            web_link("Open the source", source.url)
        st.markdown(title(source.title, "Without a title", 200))
        st.markdown(f":small[:gray[{' · '.join(facts)}]]")
        st.markdown(f":small[Chosen because: {escaped(item.why, 240)}]")
        _answer_line(case, item)
        if source.outcome is FetchOutcome.READ and source.outcome_detail and not source.by_hand:
            st.caption(escaped(source.outcome_detail, 300))
        if case.assessment is not None and item.id in case.assessment.marked:
            st.markdown(":orange-badge[:material/warning: speaks to programs, says the model: it carries no gate]")
        elif workspace().service.holds_injection(item):
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
    state, place, opened = st.session_state, card_place(item.id), item.review.opened_at is not None
    used, otherwise, waiting = f"use-{key}", f"otherwise-{key}", f"rejecting-{key}"
    verdict = Verdict.REJECT if state.get(waiting) else item.review.verdict
    state[used] = verdict is Verdict.USE
    state[otherwise] = verdict if verdict in _OTHERWISE else None
    closed = not opened or case.decision is not None
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", width="content"):
        st.checkbox(
            "Use in the note" if opened else "Use in the note (read the passage first)",
            key=used,
            disabled=closed,
            on_change=act,
            args=(place, lambda: _judge(case, item, waiting, Verdict.USE if state[used] else None)),
        )
        st.segmented_control(
            "Or else",
            list(_OTHERWISE),
            format_func=_OTHERWISE.__getitem__,
            key=otherwise,
            disabled=closed,
            on_change=act,
            args=(place, lambda: _judge(case, item, waiting, state[otherwise])),
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
        st.caption(f"Your reason: {escaped(item.review.reason)}")


def _judge(case: Case, item: Evidence, waiting: str, verdict: Verdict | None) -> None:
    """Save a verdict. A rejection waits for its reason; what was said before no longer holds meanwhile."""
    rejecting = verdict is Verdict.REJECT
    st.session_state[waiting] = False
    workspace().service.judge(case.id, item.id, None if rejecting else verdict, "", author())
    st.session_state[waiting] = rejecting
