"""The post of a case, with its images, to read and to correct."""

from __future__ import annotations

from functools import partial

import streamlit as st

from crowdnotes.domain import Case
from crowdnotes.text.markdown import exact
from crowdnotes.wording import say
from pages.common.components import outside_text
from pages.common.layout import StepName
from pages.common.session import act, workspace
from pages.common.times import moment
from pages.common.where_to_look import MODE_LABELS
from pages.view.images import case_images, changed

_PLACE = StepName.POST.value


def post_panel(case: Case, *, busy: bool) -> None:
    """The whole post, its images, and room to change it."""
    outside_text(case.post.text, look="post", key=f"post-{case.id}")
    if case.post.context:
        st.caption(say("post.context"))
        outside_text(case.post.context, look="post", key=f"post-context-{case.id}")
    facts = [say("post.begun", when=moment(case.created_at)), say(MODE_LABELS[case.mode])]
    if case.post.url:
        facts.insert(0, exact(case.post.url))
    st.caption(" · ".join(facts))
    case_images(case, busy=busy)
    if case.decision is not None:
        return
    with st.form(f"edit-post-{case.id}", border=False):
        text = st.text_area(say("post.text"), value=case.post.text, height=130, disabled=busy)
        url = st.text_input(say("start.address"), value=case.post.url or "", type="url", disabled=busy)
        context = st.text_area(say("start.context"), value=case.post.context, height=70, disabled=busy)
        st.caption(say("post.what_goes" if case.evidence or case.draft else "post.searched_anew"))
        if busy:
            st.caption(say("progress.closed"))
        if st.form_submit_button(say("post.save"), icon=":material/save:", disabled=busy):
            _save(case, text or "", url or None, context or "")


def _save(case: Case, text: str, url: str | None, context: str) -> None:
    edit = partial(workspace().service.edit_post, case.id, text, url=url, context=context)
    act(_PLACE, lambda: changed(case, edit()))
    st.rerun()
