"""Making a library of a table or a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from crowdnotes.jobs import JobRecord, JobState
from crowdnotes.text.markdown import escaped
from crowdnotes.workspace import LIBRARIES
from pages.view.progress import watched
from pages.view.session import act, workspace

if TYPE_CHECKING:
    from streamlit.typing import UploadedFile

_MINE = "library-job"
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
    upload = st.file_uploader("The table", type=list(workspace().libraries.table_kinds), key="library-table")
    return [upload] if upload is not None else []


def _documents() -> list[UploadedFile]:
    return st.file_uploader(
        "The folder (HTML, PDF, text and Markdown are read)",
        type=list(workspace().libraries.file_kinds),
        accept_multiple_files="directory",
        key="library-folder",
    )


def _columns() -> dict[str, str]:
    """The column names that the person typed; a part that is left empty is guessed."""
    # With a key it stays as the person left it, whatever is told above it.
    with st.expander("Which column is what", key="library-columns", icon=":material/view_column:"):
        st.caption("Leave a field empty, and the column is guessed from its name and content.")
        typed = {
            part: st.text_input(label, placeholder="guessed", key=f"library-column-{part}")
            for part, label in _COLUMNS.items()
        }
    return {part: name.strip() for part, name in typed.items() if name and name.strip()}


def _add(uploads: list[UploadedFile], name: str, columns: dict[str, str], *, replace: bool) -> None:
    if not uploads:
        st.warning("Choose a table or a folder first.", icon=":material/upload_file:")
        return
    if not name.strip():
        st.warning("Give the library a name first.", icon=":material/edit:")
        return
    files = [(one.name, one.getvalue()) for one in uploads]
    job = act(LIBRARIES, lambda: workspace().index_library(files, name.strip(), columns, replace=replace))
    if job is not None:
        st.session_state[_MINE] = job.id
    st.rerun()


def indexing() -> JobRecord | None:
    """The newest indexing, whoever started it."""
    return workspace().runner.latest(LIBRARIES)


def indexing_panel(job: JobRecord | None) -> None:
    """How an indexing goes; and how it ended, for the person who started it."""
    if job is None:
        return
    if job.state.under_way:
        watched(job)
    elif job.id == st.session_state.get(_MINE):
        _ended(job)


def _ended(job: JobRecord) -> None:
    step = job.steps[0]
    if job.state is JobState.DONE:
        st.success(escaped(step.summary), title="The library is ready.", icon=":material/check:")
    elif job.state is JobState.FAILED:
        title = "The library was not added."
        st.error(f"{escaped(step.error)} {escaped(step.next_step)}", title=title, icon=":material/error:")
    else:
        st.warning("Nothing was kept. Add it again.", title="The indexing was stopped.", icon=":material/stop:")
    st.button("Close", key="library-job-seen", type="tertiary", icon=":material/close:", on_click=_seen)


def _seen() -> None:
    st.session_state.pop(_MINE, None)
