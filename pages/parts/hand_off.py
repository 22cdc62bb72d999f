"""After the decision: the words to copy, the tags to tick, files to keep, and the way back."""

from __future__ import annotations

import streamlit as st

from crowdnotes.domain import Case, DecisionKind
from crowdnotes.handoff import although, class_label, form_labels, is_demonstration, post_url, to_json, to_markdown
from pages.parts.session import act, author, workspace
from pages.parts.steps import StepName, arrive, forget_folds
from pages.parts.text import exact, plain

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
        st.markdown(f"Your word on it: {plain(decision.reason)}")
    for item in decision.overrides:
        why = f"Approved although **{although(case, item.check, exact)}**. Reason: {plain(item.reason)}"
        st.markdown(f":orange[:material/priority_high:] {why}")
    _files(case)


def _approved(case: Case) -> None:
    text = case.draft.text if case.draft else ""
    if is_demonstration(case):
        st.warning("Its links lead to invented pages.", title="A demonstration: do not post this note.")
    st.markdown("**1.** Copy the note")
    st.code(text, language=None, wrap_lines=True)
    st.markdown("**2.** On X, choose “Write a Community Note” under the post, and say")
    st.markdown(f":primary[:material/radio_button_checked:] {plain(class_label(case))}")
    for label in form_labels(case):
        st.markdown(f":primary[:material/check_box:] {plain(label)}")
    url = post_url(case)
    if url:
        st.link_button("Open the post on X", url, icon=":material/open_in_new:", type="primary")
    else:
        st.caption("The case has no address on X: find the post there yourself.")


def _files(case: Case) -> None:
    with st.container(horizontal=True):
        st.download_button(
            "Markdown",
            data=lambda: to_markdown(case),
            file_name=f"note-{case.id}.md",
            mime="text/markdown",
            icon=":material/download:",
            on_click="ignore",
            help="The case as a page to read and keep",
        )
        st.download_button(
            "JSON",
            data=lambda: to_json(case),
            file_name=f"note-{case.id}.json",
            mime="application/json",
            icon=":material/download:",
            on_click="ignore",
            help="The case with its whole record, for programs",
        )
        st.button("Reopen the case", key="reopen", icon=":material/lock_open:", on_click=_reopen, args=(case,))


def _reopen(case: Case) -> None:
    if act(StepName.DECIDE.value, lambda: workspace().service.reopen(case.id, author())) is not None:
        forget_folds(case)
        arrive(StepName.DECIDE)
