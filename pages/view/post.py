"""Step 1 of a case: its post, with its images, to read and to correct."""

from __future__ import annotations

import streamlit as st

from crowdnotes.domain import Case
from crowdnotes.jobs import JobRecord
from crowdnotes.text.markdown import count, escaped, exact
from pages.view.components import outside_text
from pages.view.images import case_images, changed
from pages.view.progress import under_way
from pages.view.session import act, author, workspace
from pages.view.steps import StepName, StepState, StepView, step
from pages.view.times import moment
from pages.view.where_to_look import MODE_LABELS

_PLACE = StepName.POST.value
_SHOWN = 180  # characters of a folded post: two lines at most on a wide screen, where they stay in view
_WHAT_GOES = (
    "Other words begin the case anew. Passages and their ticks go to “Earlier evidence” in step 2, from where they can "
    "be brought back; a page that is read again has no tick. Candidates and scores go for good. "
    "The note goes too: once a passage is in use again, Undo in step 3 brings back its words."
)


def post_step(case: Case, job: JobRecord | None) -> None:
    """Draw the step: a line, which unfolds."""
    images = f" :material/image: {count(len(case.post.images), 'image')}" if case.post.images else ""
    words = f"“{escaped(case.post.text, _SHOWN)}”" if case.post.text else ":orange[Its words are not known yet]"
    view = StepView(StepName.POST, StepState.DONE, f"{words}{images}")
    with step(case, view) as is_open:
        if is_open:
            with st.container(key="post-body"):
                _existing(case, busy=under_way(job))


def _existing(case: Case, *, busy: bool) -> None:
    outside_text(case.post.text, look="post", key=f"post-{case.id}")
    facts = [f"Case opened {moment(case.created_at)}", MODE_LABELS[case.mode].lower()]
    if case.post.url:
        facts.insert(0, exact(case.post.url))
    st.caption(" · ".join(facts))
    case_images(case, busy=busy)
    if case.decision is not None:
        return
    with st.form(f"edit-post-{case.id}", border=False):
        text = st.text_area("Text of the post", value=case.post.text, height=130, disabled=busy)
        url = st.text_input("Address of the post on X (optional)", value=case.post.url or "", type="url", disabled=busy)
        st.caption(_WHAT_GOES if case.evidence or case.draft else "For other words the evidence is gathered anew.")
        if busy:
            st.caption("Opens when the work under way has ended.")
        if st.form_submit_button("Save the post", icon=":material/save:", disabled=busy):
            _save(case, text or "", url or None)


def _save(case: Case, text: str, url: str | None) -> None:
    act(_PLACE, lambda: changed(case, workspace().service.edit_post(case.id, text, author(), url=url)))
    st.rerun()
