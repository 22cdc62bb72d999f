"""The Libraries page: your own collections of evidence, indexed on this machine."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from crowdnotes.domain import Hit
from crowdnotes.errors import InputError
from crowdnotes.jobs import JobRecord, JobState
from crowdnotes.text.markdown import day, escaped, record_place, title
from crowdnotes.workspace import LIBRARIES
from pages.view.components import web_link
from pages.view.engine import engine_panel
from pages.view.progress import under_way, watched
from pages.view.session import act, button, notices, page_body, workspace

if TYPE_CHECKING:
    from streamlit.typing import UploadedFile

_FOUND, _SEARCHED, _MINE = "library-found", "library-search", "library-job"
_TABLE, _FOLDER = "A table, one document a row", "A folder of documents"
_COLUMNS = {
    "text": "The text",
    "title": "The title or question",
    "url": "The web address",
    "date": "The date",
    "publisher": "The publisher",
}


def _library(name: str, about: str, *, is_broken: bool = False) -> None:
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center"):
            if is_broken:
                st.badge("cannot be read", color="red", icon=":material/error:")
            st.markdown(f"**{escaped(name)}**", width="stretch")
            with st.popover("Remove", icon=":material/delete:", type="tertiary"):
                st.markdown("Cases that used it keep what they read.")
                remove = partial(workspace().libraries.remove, name)
                button("Remove this library", f"remove-{name}", LIBRARIES, remove, icon="delete_forever")
        st.caption(about)


def _search(names: list[str]) -> None:
    st.subheader("Look something up", anchor=False)
    with st.form("search-library", border=False):
        name = st.selectbox("Library", names)
        query = st.text_input("A claim or question", type="search", placeholder="Does vitamin C prevent colds?")
        if st.form_submit_button("Search", icon=":material/search:"):
            # Without words the library says so itself, and what was found before goes.
            st.session_state[_FOUND] = act(_SEARCHED, lambda: workspace().libraries.search(name, query or "", k=10))
    notices(_SEARCHED)
    found: list[Hit] | None = st.session_state.get(_FOUND)
    if found is not None and not found:
        st.info("Nothing in this library fits.", icon=":material/search_off:")
    for hit in found or []:
        with st.container(border=True, gap="xsmall"):
            st.markdown(title(hit.title, "Without a title", 160))
            st.markdown(escaped(hit.snippet, 500))
            st.caption(record_place(hit.library or "", hit.record))
            web_link("Open the source", hit.url)


def _add_form(*, busy: bool) -> None:
    """Draw the form. It keeps what was filled in while a library is made and when one could not be."""
    with st.container(border=True, key="add-library"):
        st.subheader("Add a library", anchor=False)
        kinds = [_TABLE, _FOLDER]
        kind = st.segmented_control("What it is made from", kinds, default=_TABLE, key="library-kind", required=True)
        with st.form("add-library-form", border=False):
            uploads = _documents() if kind == _FOLDER else _table()
            name = st.text_input("What to call it", placeholder="letters, digits, - and _", key="library-name")
            columns = {} if kind == _FOLDER else _columns()
            replace = st.checkbox("Replace a library of that name", key="library-replace")
            # The fields stay open meanwhile: Streamlit empties one whose `disabled` changes.
            if st.form_submit_button("Add the library", type="primary", icon=":material/add:", disabled=busy):
                act(LIBRARIES, lambda: _add(uploads, name or "", columns, replace=replace))
                st.rerun()


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
        raise InputError("Choose a table or a folder first.")
    if not name.strip():
        raise InputError("Give the library a name first.")
    files = [(one.name, one.getvalue()) for one in uploads]
    st.session_state[_MINE] = workspace().index_library(files, name.strip(), columns, replace=replace).id


def _indexing(job: JobRecord) -> None:
    """How an indexing goes; and how it ended, for the person who started it."""
    if under_way(job):
        watched(job)
    if under_way(job) or job.id != st.session_state.get(_MINE):
        return
    step = job.steps[0]
    if job.state is JobState.DONE:
        st.success(escaped(step.summary), title="The library is ready.", icon=":material/check:")
    elif job.state is JobState.FAILED:
        words = f"{escaped(step.error)} {escaped(step.next_step)}"
        st.error(words, title="The library was not added.", icon=":material/error:")
    else:
        st.warning("Nothing was kept. Add it again.", title="The indexing was stopped.", icon=":material/stop:")
    close = partial(st.session_state.pop, _MINE)
    button("Close", "library-job-seen", LIBRARIES, close, icon="close", type="tertiary")


with page_body(
    "Libraries", "Your own collections of evidence, indexed and searched on this machine alone.", corner=engine_panel
):
    notices(LIBRARIES)
    job = workspace().runner.latest(LIBRARIES)  # whoever started it
    if job is not None:
        _indexing(job)
    libraries = workspace().libraries.list()
    broken = workspace().libraries.broken()
    if not libraries and not broken and not under_way(job):
        st.info(
            "Add a table below, and the Draft page can search it.",
            title="There is no library yet.",
            icon=":material/local_library:",
        )
    for library in libraries:
        about = f"{library.in_words} · added {day(library.created_at)}"
        if not library.has_addresses:
            about += "\n\n:material/link_off: Its records have no address. A note needs a link: X asks for one."
        _library(library.name, about)
    for damaged in broken:
        lost = "Its file is damaged, or of another version, so nothing is searched in it. Remove it, then add it again."
        _library(damaged, lost, is_broken=True)
    _add_form(busy=under_way(job))
    if libraries:
        _search([library.name for library in libraries])
