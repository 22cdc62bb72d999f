"""The demonstration at work: what its example teaches, and the note that says too much."""

from __future__ import annotations

import streamlit as st

from crowdnotes.demonstration import Example, examples, is_demonstration_url
from crowdnotes.domain import Case
from pages.parts.session import act, author, workspace
from pages.parts.steps import StepName
from pages.parts.text import plain


def lesson(case: Case | None) -> None:
    """What the example teaches, while a case of an example is under way."""
    example = _example_of(case)
    if example is not None:
        st.caption(f":material/school: Demonstration: {plain(example.teaches)}")


def tempting_note(case: Case) -> None:
    """Offer an example's note that says more than its source, to see whether the review catches it."""
    example = _example_of(case)
    note = example.tempting_note if example else None
    if note is None or not case.used_evidence or (case.draft is not None and case.draft.text == note):
        return
    st.button(
        "Try the tempting note",
        key="tempting",
        icon=":material/school:",
        help="A note that says more than its source does. Score it, and see whether the review catches it.",
        on_click=_try,
        args=(case, note),
    )


def _example_of(case: Case | None) -> Example | None:
    # The pack is opened for cases that use its pages alone: a damaged one must not stop real work.
    if case is None or not any(is_demonstration_url(url) for url in (*case.urls, case.post.url or "")):
        return None
    return next((example for example in examples() if example.post.text == case.post.text), None)


def _try(case: Case, note: str) -> None:
    shown = case.draft.sha256 if case.draft else None
    act(StepName.DRAFT.value, lambda: workspace().service.edit_draft(case.id, note, author(), based_on=shown))
