"""Step 5: what still stands in the way of approval, the decision, and what follows it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from crowdnotes.domain import (
    A_REASON,
    Case,
    Classification,
    DecisionKind,
    LinkCheck,
    LinkState,
    Obstacle,
    ObstacleId,
    ObstacleKind,
    StageName,
    missing_from,
    remaining,
)
from crowdnotes.handoff import (
    class_label,
    form_labels,
    is_demonstration,
    post_url,
    to_json,
    to_markdown,
)
from crowdnotes.jobs import JobRecord
from crowdnotes.text.markdown import count, escaped, exact, host
from crowdnotes.text.note_rules import CLASSIFICATIONS, tags_of
from crowdnotes.text.urls import canonical_url
from pages.view.components import badge, web_link
from pages.view.progress import job_panel, start, under_way
from pages.view.session import act, author, button, workspace
from pages.view.steps import StepName, StepState, StepView, arrive, forget_folds, step
from pages.view.times import moment

_PLACE = StepName.DECIDE.value
_KINDS = {
    DecisionKind.APPROVED: ("Approve the note", "check"),
    DecisionKind.NOT_NEEDED: ("No note needed", "comments_disabled"),
    DecisionKind.INSUFFICIENT_EVIDENCE: ("Not enough evidence", "search_off"),
    DecisionKind.REJECTED: ("Reject the note", "block"),
}
_WORD = "word"  # the field of the person's word on the decision


def decide_step(case: Case | None, job: JobRecord | None) -> None:
    """Draw the step."""
    with step(case, _view(case)) as is_open:
        if case is None or not is_open:
            return
        if case.decision is not None:
            hand_off(case)
            return
        if case.draft is not None:
            _note_form(case)
        waits = workspace().service.obstacles(case)
        if case.draft is not None:
            overrides(case, waits, job)
        _ends(case, waits, job)


def _view(case: Case | None) -> StepView:
    name = StepName.DECIDE
    if case is None:
        return StepView(name, StepState.LOCKED, "Comes last: approve, or find that no note is needed")
    decision = case.decision
    if decision is None and case.draft is None:
        return StepView(name, StepState.ACTIVE, "You may end here at any time: no note is a result too")
    if decision is None:
        return StepView(name, StepState.ACTIVE, "Yours alone: the program never decides")
    colour = {"approved": "green", "rejected": "red"}.get(decision.kind.value, "gray")
    said = f":{colour}-badge[{decision.kind.value}] by {escaped(decision.by, 40)}, {moment(decision.at)}"
    return StepView(name, StepState.DONE, said, stays_open=True)


def _note_form(case: Case) -> None:
    st.markdown("**What X's note form will ask you**")
    state, chosen = st.session_state, f"class-{case.id}"
    state[chosen] = case.classification
    st.radio(
        "About the post",
        list(Classification),
        format_func=CLASSIFICATIONS.__getitem__,
        key=chosen,
        on_change=act,
        args=(_PLACE, lambda: workspace().service.set_classification(case.id, state[chosen], author())),
        label_visibility="collapsed",
    )
    if case.classification is Classification.NOT_MISLEADING:
        st.caption("X never shows such a note on the post; only raters see it.")
    suggestions = {item.tag: item.why for item in workspace().service.suggested_tags(case)}
    marks = " :primary[:material/lightbulb:] marks what the words suggest." if suggestions else ""
    ask = "Tick at least one." if case.classification is Classification.MISLEADING else "Tick what fits."
    st.caption(f"Why? {ask}{marks}")
    with st.container(gap=None):
        for tag, label in tags_of(case.classification).items():
            _tag(case, tag, label, suggestions.get(tag))


def _tag(case: Case, tag: str, label: str, why: str | None) -> None:
    state, key = st.session_state, f"tag-{case.id}-{tag}"
    state[key] = tag in case.tags
    tick = partial(workspace().service.tick_tag, case.id, tag, author())
    st.checkbox(label, key=key, on_change=act, args=(_PLACE, lambda: tick(ticked=state[key])))
    if why:  # below the box and not in its label, which is read aloud as it is written here
        with st.container(key=f"suggested-{tag}"):
            st.markdown(f":small[:primary[:material/lightbulb:] :gray[{escaped(why)}]]")


def _ends(case: Case, waits: Sequence[Obstacle], job: JobRecord | None) -> None:
    """The four ends. Only approving waits: for what is listed above it, and for the work under way."""
    waits_for = "Waits for a note" if case.draft is None else "Waits for the work under way" if under_way(job) else None
    if waits_for is None and remaining(waits, reasons(case, waits)):
        waits_for = "Waits for what is listed above"
    kept_field(case, _WORD, "A word on your decision (optional, kept in the record)")
    with st.grid(4, min_column_width=170, gap="small"):
        for kind, (label, icon) in _KINDS.items():
            closed = waits_for if kind is DecisionKind.APPROVED else None
            key, decide = f"decide-{kind.value.replace(' ', '-')}", partial(_decide, case, kind, waits)
            button(label, key, _PLACE, decide, icon=icon, width="stretch", disabled=bool(closed), help=closed)


def _decide(case: Case, kind: DecisionKind, waits: Sequence[Obstacle]) -> None:
    seen = case.draft.sha256 if case.draft else None
    workspace().service.decide(
        case.id, kind, author(), reason=kept_words(case, _WORD), overrides=reasons(case, waits), seen=seen
    )
    forget_folds(case)
    arrive(StepName.DECIDE)
    job = workspace().runner.latest(case.id)
    if job is not None and under_way(job):  # nobody waits for it any more
        workspace().runner.cancel(job.id)


_OVERRIDDEN = "You override it: approving puts your reason below on record."


def overrides(case: Case, waits: Sequence[Obstacle], job: JobRecord | None) -> None:
    """Draw each obstacle, and the field for the reason that passes it over."""
    still = remaining(waits, reasons(case, waits))
    if still:
        things = count(len(still), "thing")
        st.markdown(f":orange[:material/hourglass_top:] **Approval waits for {things} more, listed here**")
    left = {item.id for item in still}
    for item in waits:
        _wait(item, passed_over=item.id not in left)
        if item.id.is_overridable and item.behind is None:
            _field(case, item.id)
    if any(item.id.kind is ObstacleKind.LINK_UNANSWERED for item in waits):
        ask_again(case, job)


def reasons(case: Case, waits: Sequence[Obstacle]) -> dict[ObstacleId, str]:
    """The reasons written so far, by what each passes over, as the fields stand now."""
    written = {item.id: kept_words(case, _field_name(case, item.behind or item.id)) for item in waits}
    return {obstacle: reason for obstacle, reason in written.items() if reason}


def kept_words(case: Case, field: str) -> str:
    """What such a field says now, also when it was typed just before a button was pressed."""
    return str(st.session_state.get(_key(case, field), case.decision_words.get(field)) or "").strip()


def kept_field(case: Case, field: str, label: str, placeholder: str = "") -> str:
    """A line to write in, kept in the case at every pause, so that a reload finds it; gives what it says."""
    state, key = st.session_state, _key(case, field)
    state.setdefault(key, case.decision_words.get(field, ""))
    st.text_input(
        label,
        key=key,
        placeholder=placeholder,
        live=True,
        on_change=act,
        args=(_PLACE, lambda: workspace().service.keep_decision_words(case.id, field, state.get(key) or "")),
        persist_state="page",
    )
    return kept_words(case, field)


def _wait(obstacle: Obstacle, *, passed_over: bool) -> None:
    sign = ":primary[:material/check:]" if passed_over else ":orange[:material/chevron_right:]"
    if obstacle.behind is not None:  # a gate that only waits for one before it
        by = obstacle.behind.subject
        how = f"Your reason for {by} goes on record for it too." if passed_over else f"A reason for {by} covers it too."
    else:
        how = _OVERRIDDEN if passed_over else obstacle.lifts
    st.markdown(f"{sign} {escaped(obstacle.sentence)} :gray[{escaped(how)}]")


def _field(case: Case, obstacle: ObstacleId) -> None:
    said = kept_field(
        case,
        _field_name(case, obstacle),
        f"Why approve although {obstacle.although(_site)}? (at least {A_REASON})",
        "Your reason stays in the record. Leave it empty to mend the note instead.",
    )
    missing = missing_from(said)
    if said and missing:
        st.markdown(f":small[:red[:material/error: Too short for a reason: it needs {missing}.]]")


def _key(case: Case, field: str) -> str:
    return f"words-{case.id}-{field}"


def _field_name(case: Case, obstacle: ObstacleId) -> str:
    """Names the very judgement that is passed over: a reason for one text says nothing about another."""
    assessment = case.assessment
    judged = f"{assessment.text_sha256}-{assessment.basis_sha256}" if assessment else "not-scored"
    return f"{obstacle.kind.value} {obstacle.subject} {judged}"


def _site(url: str) -> str:
    """The host, for a label: the whole address stands above it, and a note may leave the scheme out."""
    site = host(url if "://" in url else f"https://{url}")
    # Without escapes where none is needed: a label is also read aloud, as it is written here.
    return site if re.fullmatch(r"[a-z0-9.-]+", site) else escaped(site, 60)


_LOOKS = {
    LinkState.LIVE: ("green", "link"),
    LinkState.BLOCKED: ("orange", "block"),
    LinkState.UNREACHABLE: ("orange", "cloud_off"),
    LinkState.DEAD: ("red", "link_off"),
    LinkState.REFUSED: ("red", "gpp_bad"),
}


def _link_badge(check: LinkCheck | None) -> str:
    """Markdown of a badge that says in words how a link answered."""
    if check is None:
        return badge("gray", "help", "not checked yet")
    return badge(*_LOOKS[check.state], check.in_words)


def cited_links(case: Case) -> None:
    """The note's links, one a line, each with how it answered."""
    with st.container(key="cited-links", gap="xxsmall"):
        for url, check in workspace().service.link_checks(case):
            why = f" :small[:gray[{escaped(check.sentence, 200)}]]" if check is not None and check.sentence else ""
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.markdown(f":small[Link {escaped(host(_with_scheme(url)) or url, 60)}] {_link_badge(check)}{why}")
                web_link("Archived copy", check.archived_url if check is not None else None, "inventory_2")


def cited_badge(case: Case, url: str | None) -> str:
    """Markdown of the badge for a source that the note cites; empty when it does not."""
    checks = workspace().service.link_checks(case) if url else ()
    mine = (check for cited, check in checks if url and canonical_url(cited) == canonical_url(url))
    return next((f":small[link] {_link_badge(check)}" for check in mine), "")


def ask_again(case: Case, job: JobRecord | None) -> None:
    """A button that asks every link of the note again, and how that goes."""
    job_panel(case, job, "links")
    about = "Asks every link of the note now, up to three times each, as X's own check does"
    again, busy = partial(start, case, "links"), under_way(job)
    button("Check the links again", "check-links", _PLACE, again, icon="sync", disabled=busy, help=about)


def asking(job: JobRecord | None) -> bool:
    """Whether all that is still under way is asking the links."""
    current = job.current if job is not None and job.state.under_way else None
    return current is not None and current.name == StageName.LINKS.value


def stop_asking(case: Case) -> None:
    """End a check of the links that is under way, so that something else can start; it takes a moment."""
    runner = workspace().runner
    job = runner.latest(case.id)
    if job is not None and asking(job):
        runner.cancel(job.id)
        runner.wait(job.id, timeout=2)


def _with_scheme(url: str) -> str:
    return url if "://" in url else f"https://{url}"


_ENDS = {
    DecisionKind.NOT_NEEDED: "You found that the post needs no note. That is a result: nothing is posted.",
    DecisionKind.INSUFFICIENT_EVIDENCE: "You found too little evidence. That is a result: nothing is posted.",
    DecisionKind.REJECTED: "You rejected the note. Nothing is posted.",
}


def hand_off(case: Case) -> None:
    """What a decided case offers."""
    decision = case.decision
    if decision is None:
        return
    if decision.kind is DecisionKind.APPROVED:
        _approved(case)
    else:
        st.markdown(_ENDS[decision.kind])
    if decision.reason:
        st.markdown(f"Your word on it: {escaped(decision.reason)}")
    for item in decision.overrides:
        why = f"Approved although **{item.obstacle.although(exact)}**. Reason: {escaped(item.reason)}"
        st.markdown(f":orange[:material/priority_high:] {why}")
    _files(case)


def _approved(case: Case) -> None:
    text = case.draft.text if case.draft else ""
    if is_demonstration(case):
        st.warning("Its links lead to invented pages.", title="A demonstration: do not post this note.")
    st.markdown("**1.** Copy the note")
    st.code(text, language=None, wrap_lines=True)
    st.markdown("**2.** On X, choose “Write a Community Note” under the post, and say")
    st.markdown(f":primary[:material/radio_button_checked:] {escaped(class_label(case))}")
    for label in form_labels(case):
        st.markdown(f":primary[:material/check_box:] {escaped(label)}")
    url = post_url(case)
    if url:
        st.link_button("Open the post on X", url, icon=":material/open_in_new:", type="primary")
    else:
        st.caption("The case has no address on X: find the post there yourself.")


def _files(case: Case) -> None:
    with st.container(horizontal=True):
        about, program = "The case as a page to read and keep", "The case with its whole record, for programs"
        _file("Markdown", about, partial(to_markdown, case), f"note-{case.id}.md", "text/markdown")
        _file("JSON", program, partial(to_json, case), f"note-{case.id}.json", "application/json")
        button("Reopen the case", "reopen", _PLACE, partial(_reopen, case), icon="lock_open")


def _file(label: str, about: str, make: Callable[[], str], name: str, mime: str) -> None:
    icon = ":material/download:"
    st.download_button(label, make, name, mime, help=about, on_click="ignore", icon=icon)


def _reopen(case: Case) -> None:
    workspace().service.reopen(case.id, author())
    forget_folds(case)
    arrive(StepName.DECIDE)
