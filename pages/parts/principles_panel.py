"""The six principles: how the note stands with each, the words at fault, and wording that would mend it."""

from __future__ import annotations

import streamlit as st

from crowdnotes.domain import Assessment, Case, GateStatus, PrincipleResult
from pages.parts.components import outside_text
from pages.parts.session import act, author, notices, workspace
from pages.parts.text import plain

SIGNS = {
    GateStatus.PASS: ":green[:material/check_circle:]",
    GateStatus.FAIL: ":red[:material/cancel:]",
    GateStatus.NOT_RUN: ":gray[:material/do_not_disturb_on:]",
}
_WORDS = {GateStatus.PASS: "passed", GateStatus.FAIL: "failed", GateStatus.NOT_RUN: "not run"}
_PLACE = "principles"


def principles_panel(case: Case, assessment: Assessment) -> None:
    """All six; a rewrite is offered while the scores are of the note as it stands."""
    st.markdown("**Principles of a good note**")
    notices(_PLACE)
    with st.grid("auto", min_column_width=300, gap="small"):
        for result in assessment.principles:
            _principle(case, result)


def _principle(case: Case, result: PrincipleResult) -> None:
    stale = not case.assessment_is_current
    with st.container(gap=None):
        name = result.principle.value
        sign = ":gray[:material/history:]" if stale else SIGNS[result.status]
        st.markdown(f"{sign} **{name[:1].upper()}{name[1:]}:** {_WORDS[result.status]}")
        st.caption(plain(result.reason))
        _findings(result)
        if result.rewrite and not stale and case.decision is None:
            _rewrite(case, result)


def _findings(result: PrincipleResult) -> None:
    """What it objects to; where the principle passes, remarks in grey, which a person may weigh otherwise."""
    messages = [plain(message, 200) for message in dict.fromkeys(finding.message for finding in result.findings)]
    if result.status is GateStatus.FAIL:
        for message in messages:
            st.markdown(f":small[:orange[:material/arrow_right:] {message}]")
    elif messages:
        st.caption("Remarks")
        for message in messages:
            st.markdown(f":small[:gray[:material/arrow_right: {message}]]")


def _rewrite(case: Case, result: PrincipleResult) -> None:
    key = result.principle.name.lower()
    st.caption("The model suggests:")
    outside_text(result.rewrite, look="note", key=f"rewrite-{key}")
    st.button(
        "Take this wording",
        key=f"take-rewrite-{key}",
        icon=":material/edit_note:",
        help="Undo brings the old words back. The note is to be scored again.",
        on_click=_take,
        args=(case, result.rewrite),
    )


def _take(case: Case, text: str) -> None:
    draft = case.draft
    if draft is not None:
        act(_PLACE, lambda: workspace().service.edit_draft(case.id, text, author(), based_on=draft.sha256))
