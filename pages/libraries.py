"""The Libraries page: your own collections of evidence, indexed on this machine."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from crowdnotes.domain import Hit
from crowdnotes.errors import InputError
from crowdnotes.jobs import JobRecord, JobState
from crowdnotes.text.markdown import day, escaped, record_place, title
from crowdnotes.wording import say
from crowdnotes.workspace import LIBRARIES
from pages.common.components import web_link
from pages.common.engine_panel import engine_panel
from pages.common.navigation import page_body
from pages.common.progress import under_way, watched
from pages.common.search_report import note_words
from pages.common.session import act, button, notices, workspace

if TYPE_CHECKING:
    from streamlit.typing import UploadedFile

_FOUND, _SEARCHED, _MINE = "library-found", "library-search", "library-job"
_TABLE, _FOLDER = say("libraries.from_table"), say("libraries.from_folder")
_CHECKS, _NOTES = say("libraries.from_checks"), say("libraries.from_notes")
_COLUMNS = {
    "text": "libraries.text",
    "title": "libraries.of_title",
    "url": "libraries.url",
    "date": "libraries.date",
    "publisher": "libraries.publisher",
}


def _library(name: str, about: str, *, is_broken: bool = False) -> None:
    with st.container(horizontal=True, vertical_alignment="center", wrap=False, key=f"row-library-{name}"):
        with st.container(gap=None):
            bad = f":red-badge[:material/error: {say('libraries.broken')}] " if is_broken else ""
            st.markdown(f"{bad}**{escaped(name)}**")
            st.caption(about)
        with st.popover(say("libraries.remove"), icon=":material/delete:", type="tertiary"):
            st.markdown(say("libraries.remove_about"))
            remove = partial(workspace().remove_library, name)
            button(say("libraries.remove_it"), f"remove-{name}", LIBRARIES, remove, icon="delete_forever")


def _search(names: list[str]) -> None:
    st.header(say("libraries.look_up"), anchor=False)
    with st.form("search-library", border=False):
        name = st.selectbox(say("libraries.library"), names)
        query = st.text_input(say("libraries.query"), type="search", placeholder=say("libraries.query_example"))
        if st.form_submit_button(say("libraries.search"), icon=":material/search:"):
            # Without words the library says so itself, and what was found before goes.
            st.session_state[_FOUND] = act(_SEARCHED, lambda: workspace().libraries.search(name, query or "", k=10))
    notices(_SEARCHED)
    found: list[Hit] | None = st.session_state.get(_FOUND)
    if found is not None and not found:
        st.info(say("libraries.nothing"), icon=":material/search_off:")
    for place, hit in enumerate(found or []):
        with st.container(gap="xxsmall", key=f"row-hit-{place}"):
            st.markdown(title(hit.title, say("reader.untitled"), 160))
            if hit.notes:
                note_words(hit.notes[0])
            else:
                st.markdown(escaped(hit.snippet, 500))
            if hit.library:
                st.caption(record_place(hit.library, hit.record))
            web_link(say("reader.open_page"), hit.url)


def _add_form(*, busy: bool) -> None:
    """Draw the form. It keeps what was filled in while a library is made and when one could not be."""
    with st.container(key="add-library"):
        st.header(say("libraries.add_head"), anchor=False)
        kind = st.segmented_control(
            say("libraries.made_from"),
            [_TABLE, _FOLDER, _CHECKS, _NOTES],
            default=_TABLE,
            key="library-kind",
            required=True,
        )
        with st.form("add-library-form", border=False):
            uploads = _UPLOADS.get(kind or "", _table)()
            name = st.text_input(say("libraries.name"), placeholder=say("libraries.name_example"), key="library-name")
            columns = _columns() if kind == _TABLE else {}
            replace = st.checkbox(say("libraries.replace"), key="library-replace")
            # The fields stay open meanwhile: Streamlit empties one whose `disabled` changes.
            if st.form_submit_button(say("libraries.add"), type="primary", icon=":material/add:", disabled=busy):
                kinds = {_CHECKS: workspace().libraries.of_fact_checks, _NOTES: workspace().libraries.of_notes}
                of_kind = kinds.get(kind or "", "")
                act(LIBRARIES, lambda: _add(uploads, name or "", columns, of_kind, replace=replace))
                st.rerun()


def _table() -> list[UploadedFile]:
    upload = st.file_uploader(say("libraries.table"), type=list(workspace().libraries.table_kinds), key="library-table")
    return [upload] if upload is not None else []


def _feed() -> list[UploadedFile]:
    st.caption(say("libraries.checks_about"))
    kinds = list(workspace().libraries.check_kinds)
    upload = st.file_uploader(say("libraries.checks"), type=kinds, key="library-checks")
    return [upload] if upload is not None else []


def _public_notes() -> list[UploadedFile]:
    st.caption(say("libraries.notes_about"))
    upload = st.file_uploader(say("libraries.notes"), type=list(workspace().libraries.note_kinds), key="library-notes")
    return [upload] if upload is not None else []


def _documents() -> list[UploadedFile]:
    return st.file_uploader(
        say("libraries.folder"),
        type=list(workspace().libraries.file_kinds),
        accept_multiple_files="directory",
        key="library-folder",
    )


_UPLOADS = {_FOLDER: _documents, _CHECKS: _feed, _NOTES: _public_notes}


def _columns() -> dict[str, str]:
    """The column names that the person typed; a part that is left empty is guessed."""
    # With a key it stays as the person left it, whatever is told above it.
    with st.expander(say("libraries.columns"), key="library-columns", icon=":material/view_column:"):
        st.caption(say("libraries.columns_about"))
        typed = {
            part: st.text_input(say(label), placeholder=say("libraries.guessed"), key=f"library-column-{part}")
            for part, label in _COLUMNS.items()
        }
    return {part: name.strip() for part, name in typed.items() if name and name.strip()}


def _add(uploads: list[UploadedFile], name: str, columns: dict[str, str], kind: str, *, replace: bool) -> None:
    if not uploads:
        raise InputError(say("libraries.no_file"))
    if not name.strip():
        raise InputError(say("libraries.no_name"))
    files = [(one.name, one.getvalue()) for one in uploads]
    st.session_state[_MINE] = workspace().index_library(files, name.strip(), columns, replace=replace, kind=kind).id


def _indexing(job: JobRecord) -> None:
    """How an indexing goes; and how it ended, for the person who started it."""
    if under_way(job):
        watched(job)
    if under_way(job) or job.id != st.session_state.get(_MINE):
        return
    step = job.steps[0]
    if job.state is JobState.DONE:
        st.success(escaped(step.summary), title=say("libraries.ready"), icon=":material/check:")
    elif job.state is JobState.FAILED:
        words = f"{escaped(step.error)} {escaped(step.next_step)}"
        st.error(words, title=say("libraries.failed"), icon=":material/error:")
    else:
        st.warning(say("libraries.stopped_next"), title=say("libraries.stopped"), icon=":material/stop:")
    close = partial(st.session_state.pop, _MINE)
    button(say("libraries.close"), "library-job-seen", LIBRARIES, close, icon="close", type="tertiary")


def _rows() -> None:
    for library in libraries:
        about = say("libraries.row", about=library.in_words, day=day(library.created_at))
        if not library.has_addresses:
            about += f"  \n:material/link_off: {say('libraries.no_addresses')}"
        _library(library.name, about)
    for damaged in broken:
        _library(damaged, say("libraries.damaged"), is_broken=True)


with page_body(say("libraries.title"), say("libraries.about"), corner=engine_panel):
    notices(LIBRARIES)
    job = workspace().runner.latest(LIBRARIES)  # whoever started it
    if job is not None:
        _indexing(job)
    libraries = workspace().libraries.list()
    broken = workspace().libraries.broken()
    if not libraries and not broken and not under_way(job):
        st.info(say("libraries.none_next"), title=say("libraries.none"), icon=":material/local_library:")
    with st.container(gap=None, key="rows"):
        _rows()
    if libraries:
        _search([library.name for library in libraries])
    _add_form(busy=under_way(job))
