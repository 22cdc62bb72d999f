"""A passage copied by hand, from a page that the program could not read or never saw."""

from __future__ import annotations

import streamlit as st

from crowdnotes.domain import Case, Source
from pages.parts.session import act, author, notices, workspace


def paste_box(case: Case, label: str, source: Source | None = None) -> None:
    """Room to paste a passage, for `source` if the program could not read it.

    Open until the person folds it or the passage was taken; what was typed stays when it could not be.
    """
    fold = f"paste-{case.id}-{source.id if source else 'new'}"
    box = st.expander(label, key=fold, icon=":material/content_paste:", on_change="rerun")
    if box.open:
        with box:
            _fields(case, source, fold)


def _fields(case: Case, source: Source | None, fold: str) -> None:
    fields = f"{fold}-{st.session_state.get(_taken(fold), 0)}"
    notices(fold)
    with st.form(f"form-{fields}", border=False):
        st.text_input(
            "Address of the page", value=(source.url or "") if source else "", type="url", key=f"{fields}-url"
        )
        st.text_input("Title of the page", key=f"{fields}-title")
        st.text_area(
            "The passage, in the page's own words",
            height=130,
            key=f"{fields}-text",
            placeholder="Copy the sentences that matter, unchanged",
        )
        st.form_submit_button(
            "Add this passage", icon=":material/content_paste:", on_click=_add, args=(case, fold, fields)
        )


def _add(case: Case, fold: str, fields: str) -> None:
    url, title, text = (st.session_state.get(f"{fields}-{name}") or "" for name in ("url", "title", "text"))
    taken = act(
        fold,
        lambda: workspace().service.add_passage_by_hand(case.id, url=url or None, title=title, text=text, by=author()),
    )
    if taken is not None:
        st.session_state[fold] = False
        # The next passage starts from empty fields; Streamlit empties one only when its key is new.
        st.session_state[_taken(fold)] = st.session_state.get(_taken(fold), 0) + 1


def _taken(fold: str) -> str:
    return f"{fold}-taken"
