"""Step 5: the person decides. Approving is one of four ends; the other three are open from the start."""

from __future__ import annotations

import re

import streamlit as st

from crowdnotes.cases.approval import A_REASON
from crowdnotes.cases.suggestions import suggest_tags
from crowdnotes.domain import Case, Classification, DecisionKind
from crowdnotes.errors import WorkflowError
from crowdnotes.jobs.records import JobRecord
from crowdnotes.note_form import CLASSIFICATIONS, tags_of
from pages.parts.hand_off import hand_off
from pages.parts.link_checks import ask_again
from pages.parts.progress import under_way
from pages.parts.session import act, author, workspace
from pages.parts.steps import StepName, StepState, StepView, forget_folds, step
from pages.parts.text import host, moment, plain

_PLACE = StepName.DECIDE.value
_KINDS = {
    DecisionKind.APPROVED: ("Approve the note", ":material/check:"),
    DecisionKind.NOT_NEEDED: ("No note needed", ":material/comments_disabled:"),
    DecisionKind.INSUFFICIENT_EVIDENCE: ("Not enough evidence", ":material/search_off:"),
    DecisionKind.REJECTED: ("Reject the note", ":material/block:"),
}
_OVERRIDDEN = "You override it: approving puts your reason below on record."


def decide_step(case: Case | None, job: JobRecord | None) -> None:
    """Draw the step."""
    with step(case, _view(case)) as is_open:
        if case is None or not is_open:
            return
        if case.decision is not None:
            hand_off(case)
            return
        overrides: dict[str, str] = {}
        if case.draft is not None:
            _note_form(case)
            overrides = _approval(case, job)
        _ends(case, job, overrides)


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
    said = f":{colour}-badge[{decision.kind.value}] by {plain(decision.by, 40)}, {moment(decision.at)}"
    return StepView(name, StepState.DONE, said, "Open", stays_open=True)


def _note_form(case: Case) -> None:
    st.markdown("**What X's note form will ask you**")
    chosen = f"class-{case.id}"
    st.session_state[chosen] = case.classification
    st.radio(
        "About the post",
        list(Classification),
        format_func=CLASSIFICATIONS.__getitem__,
        key=chosen,
        on_change=_classify,
        args=(case.id, chosen),
        label_visibility="collapsed",
    )
    if case.classification is Classification.NOT_MISLEADING:
        st.caption("X never shows such a note on the post; only raters see it.")
    suggestions = {item.tag: item.why for item in suggest_tags(case)}
    marks = " :primary[:material/lightbulb:] marks what the words suggest." if suggestions else ""
    ask = "Tick at least one." if case.classification is Classification.MISLEADING else "Tick what fits."
    st.caption(f"Why? {ask}{marks}")
    with st.container(gap=None):
        for tag, label in tags_of(case.classification).items():
            _tag(case, tag, label, suggestions.get(tag))


def _tag(case: Case, tag: str, label: str, why: str | None) -> None:
    key = f"tag-{case.id}-{tag}"
    st.session_state[key] = tag in case.tags
    st.checkbox(
        f"{label} :small[:primary[:material/lightbulb:] :gray[{plain(why)}]]" if why else label,
        key=key,
        on_change=_tick,
        args=(case, tag, key),
    )


def _classify(case_id: str, key: str) -> None:
    chosen = st.session_state[key]
    act(_PLACE, lambda: workspace().service.set_classification(case_id, chosen, author()))


def _tick(case: Case, tag: str, key: str) -> None:
    ticked = bool(st.session_state[key])
    act(_PLACE, lambda: workspace().service.tick_tag(case.id, tag, author(), ticked=ticked))


def _approval(case: Case, job: JobRecord | None) -> dict[str, str]:
    """What approval waits for, with room for a reason that passes a check over; returns the reasons written."""
    waits = workspace().service.obstacles(case)
    written = {check: reason for refusal in waits if (check := _check(refusal)) and (reason := _reason(case, check))}
    still = {refusal.rule: refusal for refusal in workspace().service.obstacles(case, written)}
    if still:
        st.markdown(f":orange[:material/hourglass_top:] **Approval waits for {len(still)} more**")
    for refusal in waits:
        _wait(case, still.get(refusal.rule, refusal), passed_over=refusal.rule not in still)
    if any(refusal.rule.startswith("live:") for refusal in waits):
        ask_again(case, job)
    return written


def _wait(case: Case, refusal: WorkflowError, *, passed_over: bool) -> None:
    sign = ":primary[:material/check:]" if passed_over else ":orange[:material/chevron_right:]"
    next_step = _OVERRIDDEN if passed_over else refusal.next_step
    st.markdown(f"{sign} {plain(refusal.message)} :gray[{plain(next_step)}]")
    check = _check(refusal)
    if check:
        st.text_input(
            f"Why approve although {_although(check)}? (at least {A_REASON})",
            key=_reason_key(case, check),
            placeholder="Your reason stays in the record. Leave it empty to mend the note instead.",
            persist_state="page",
        )


def _reason(case: Case, check: str) -> str:
    return str(st.session_state.get(_reason_key(case, check)) or "").strip()


def _reason_key(case: Case, check: str) -> str:
    """Names the very judgement that is passed over: a reason for one text says nothing about another."""
    assessment = case.assessment
    judged = f"{assessment.text_sha256}-{assessment.basis_sha256}" if assessment else "not-scored"
    return f"override-{case.id}-{check}-{judged}"


def _check(refusal: WorkflowError) -> str:
    """The check that a written reason can pass over; empty for a rule that nobody can."""
    if refusal.rule.startswith("gate "):
        return refusal.rule.removeprefix("gate ")
    return refusal.rule if refusal.rule.startswith(("link:", "live:")) else ""


def _although(check: str) -> str:
    if check.startswith("link:"):
        return f"the link to {_site(check.removeprefix('link:'))} was not inspected"
    if check.startswith("live:"):
        return f"the link to {_site(check.removeprefix('live:'))} was not found to answer"
    return f"the {check} gate did not pass"


def _site(url: str) -> str:
    """The host, for a label: the whole address stands above it, and a note may leave the scheme out."""
    site = host(url if "://" in url else f"https://{url}")
    # Without escapes where none is needed: a label is also read aloud, as it is written here.
    return site if re.fullmatch(r"[a-z0-9.-]+", site) else plain(site, 60)


def _ends(case: Case, job: JobRecord | None, overrides: dict[str, str]) -> None:
    """The four ends. Only approving waits: for what is listed above it, and for the work under way."""
    blocked = case.draft is None or under_way(job) or bool(workspace().service.obstacles(case, overrides))
    st.text_input(
        "A word on your decision (optional, kept in the record)", key=f"reason-{case.id}", persist_state="page"
    )
    with st.grid(4, min_column_width=170, gap="small"):
        for kind, (label, icon) in _KINDS.items():
            waits = kind is DecisionKind.APPROVED and blocked
            st.button(
                label,
                key=f"decide-{kind.value.replace(' ', '-')}",
                icon=icon,
                width="stretch",
                disabled=waits,
                help=_waits_for(case, job) if waits else None,
                on_click=_decide,
                args=(case, kind, overrides),
            )


def _waits_for(case: Case, job: JobRecord | None) -> str:
    if case.draft is None:
        return "Waits for a note"
    return "Waits for the work under way" if under_way(job) else "Waits for what is listed above"


def _decide(case: Case, kind: DecisionKind, overrides: dict[str, str]) -> None:
    reason = st.session_state.get(f"reason-{case.id}") or ""
    seen = case.draft.sha256 if case.draft else None

    def decide() -> Case:
        decided = workspace().service.decide(case.id, kind, author(), reason=reason, overrides=overrides, seen=seen)
        job = workspace().runner.latest(case.id)
        if job is not None and job.state.under_way:  # nobody waits for it any more
            workspace().runner.cancel(job.id)
        return decided

    if act(_PLACE, decide) is not None:
        forget_folds(case)
