"""A passage copied by hand, from a page that the program could not read or never saw."""

from __future__ import annotations

import streamlit as st

from crowdnotes.domain import Case, Source
from pages.parts.components import into_view
from pages.parts.session import act, author, notices, workspace

_BEGUN = "begun-by-hand"


def paste_box(case: Case, label: str, source: Source | None = None) -> None:
    """Room to paste a passage, for `source` if the program could not read it.

    Open until the person folds it or the passage was taken; what was typed stays when it could not be.
    """
    fold = _fold(case, source)
    box = st.expander(label, key=fold, icon=":material/content_paste:", on_change="rerun")
    if box.open:
        with box:
            _fields(case, source, fold)


def open_paste_box(case: Case) -> None:
    """Begin a case with a passage of the person's own: the box is open, and the page goes to it."""
    st.session_state[_fold(case, None)] = True
    st.session_state[_BEGUN] = case.id


def begun_by_hand(case: Case) -> bool:
    """Whether this tab began the case with `open_paste_box`, and none after it."""
    return bool(st.session_state.get(_BEGUN) == case.id)


def _fields(case: Case, source: Source | None, fold: str) -> None:
    fields = f"{fold}-{st.session_state.get(_taken(fold), 0)}"
    if source is None and begun_by_hand(case):
        into_view(f"begun-{case.id}")
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


def _fold(case: Case, source: Source | None) -> str:
    return f"paste-{case.id}-{source.id if source else 'new'}"


def _taken(fold: str) -> str:
    return f"{fold}-taken"
