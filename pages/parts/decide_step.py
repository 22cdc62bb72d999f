"""Step 5: the person decides. Approving is one of four ends; the other three are open from the start."""

from __future__ import annotations

import streamlit as st

from crowdnotes.cases.suggestions import suggest_tags
from crowdnotes.domain import Case, Classification, DecisionKind
from crowdnotes.jobs.records import JobRecord
from crowdnotes.note_form import CLASSIFICATIONS, tags_of
from pages.parts.hand_off import hand_off
from pages.parts.overrides import kept_field, kept_words, overrides, reasons
from pages.parts.progress import under_way
from pages.parts.session import act, author, workspace
from pages.parts.steps import StepName, StepState, StepView, arrive, forget_folds, step
from pages.parts.text import moment, plain

_PLACE = StepName.DECIDE.value
_KINDS = {
    DecisionKind.APPROVED: ("Approve the note", ":material/check:"),
    DecisionKind.NOT_NEEDED: ("No note needed", ":material/comments_disabled:"),
    DecisionKind.INSUFFICIENT_EVIDENCE: ("Not enough evidence", ":material/search_off:"),
    DecisionKind.REJECTED: ("Reject the note", ":material/block:"),
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
            overrides(case, job)
        _ends(case, job)


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
    st.checkbox(label, key=key, on_change=_tick, args=(case, tag, key))
    if why:  # below the box and not in its label, which is read aloud as it is written here
        with st.container(key=f"suggested-{tag}"):
            st.markdown(f":small[:primary[:material/lightbulb:] :gray[{plain(why)}]]")


def _classify(case_id: str, key: str) -> None:
    chosen = st.session_state[key]
    act(_PLACE, lambda: workspace().service.set_classification(case_id, chosen, author()))


def _tick(case: Case, tag: str, key: str) -> None:
    ticked = bool(st.session_state[key])
    act(_PLACE, lambda: workspace().service.tick_tag(case.id, tag, author(), ticked=ticked))


def _ends(case: Case, job: JobRecord | None) -> None:
    """The four ends. Only approving waits: for what is listed above it, and for the work under way."""
    blocked = case.draft is None or under_way(job) or bool(workspace().service.obstacles(case, reasons(case)))
    kept_field(case, _WORD, "A word on your decision (optional, kept in the record)")
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
                args=(case, kind),
            )


def _waits_for(case: Case, job: JobRecord | None) -> str:
    if case.draft is None:
        return "Waits for a note"
    return "Waits for the work under way" if under_way(job) else "Waits for what is listed above"


def _decide(case: Case, kind: DecisionKind) -> None:
    seen = case.draft.sha256 if case.draft else None

    def decide() -> Case:
        decided = workspace().service.decide(
            case.id, kind, author(), reason=kept_words(case, _WORD), overrides=reasons(case), seen=seen
        )
        job = workspace().runner.latest(case.id)
        if job is not None and job.state.under_way:  # nobody waits for it any more
            workspace().runner.cancel(job.id)
        return decided

    if act(_PLACE, decide) is not None:
        forget_folds(case)
        arrive(StepName.DECIDE)
