"""The form that adds a library: a table or a folder of documents, a name, and which column is what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from crowdnotes.evidence.library import COLUMN_PARTS, FILE_KINDS, TABLE_KINDS
from pages.parts.library_job import start_indexing

if TYPE_CHECKING:
    from streamlit.typing import UploadedFile

_TABLE, _FOLDER = "A table, one document a row", "A folder of documents"
_COLUMNS = {
    "text": "The text",
    "title": "The title or question",
    "url": "The web address",
    "date": "The date",
    "publisher": "The publisher",
}


def add_form(*, busy: bool) -> None:
    """Draw the form. It keeps what was filled in while a library is made and when one could not be."""
    with st.container(border=True, key="add-library"):
        st.subheader("Add a library", anchor=False)
        kind = st.segmented_control(
            "What it is made from", [_TABLE, _FOLDER], default=_TABLE, key="library-kind", required=True
        )
        with st.form("add-library-form", border=False):
            uploads = _documents() if kind == _FOLDER else _table()
            name = st.text_input("What to call it", placeholder="letters, digits, - and _", key="library-name")
            columns = {} if kind == _FOLDER else _columns()
            replace = st.checkbox("Replace a library of that name", key="library-replace")
            # The fields stay open meanwhile: Streamlit empties one whose `disabled` changes.
            if st.form_submit_button("Add the library", type="primary", icon=":material/add:", disabled=busy):
                _add(uploads, name or "", columns, replace=replace)


def _table() -> list[UploadedFile]:
    upload = st.file_uploader("The table", type=[kind.removeprefix(".") for kind in TABLE_KINDS], key="library-table")
    return [upload] if upload is not None else []


def _documents() -> list[UploadedFile]:
    return st.file_uploader(
        "The folder (HTML, PDF, text and Markdown are read)",
        type=[kind.removeprefix(".") for kind in FILE_KINDS],
        accept_multiple_files="directory",
        key="library-folder",
    )


def _columns() -> dict[str, str]:
    """The column names that the person typed; a part that is left empty is guessed."""
    # With a key it stays as the person left it, whatever is told above it.
    with st.expander("Which column is what", key="library-columns", icon=":material/view_column:"):
        st.caption("Leave a field empty, and the column is guessed from its name and content.")
        typed = {
            part: st.text_input(_COLUMNS[part], placeholder="guessed", key=f"library-column-{part}")
            for part in COLUMN_PARTS
        }
    return {part: name.strip() for part, name in typed.items() if name and name.strip()}


def _add(uploads: list[UploadedFile], name: str, columns: dict[str, str], *, replace: bool) -> None:
    if not uploads:
        st.warning("Choose a table or a folder first.", icon=":material/upload_file:")
        return
    if not name.strip():
        st.warning("Give the library a name first.", icon=":material/edit:")
        return
    start_indexing([(one.name, one.getvalue()) for one in uploads], name.strip(), columns, replace=replace)
    st.rerun()
