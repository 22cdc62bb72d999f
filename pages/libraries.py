"""The Libraries page: your own collections of evidence, indexed on this machine."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from crowdnotes.domain import Act, Hit
from crowdnotes.errors import InputError, LibraryError
from crowdnotes.jobs import JobRecord, JobState
from crowdnotes.text.markdown import day, escaped, record_place, title
from crowdnotes.workspace import LIBRARIES
from pages.common.components import web_link
from pages.common.engine_panel import engine_panel
from pages.common.navigation import page_body
from pages.common.progress import under_way, watched
from pages.common.search_report import note_words
from pages.common.session import button, notices, run_action, workspace

if TYPE_CHECKING:
    from streamlit.typing import UploadedFile

_RESULTS_KEY, _SEARCH_NOTICE_AREA, _OWN_JOB_KEY = "library-found", "library-search", "library-job"
_ROWS_NOTICE_AREA, _MAX_NAME_CHARACTERS = "library-rows", 40
_PREVIEW_KEY = "library-preview"
_MAX_PREVIEW_CHARACTERS = 200
_TABLE_KIND, _FOLDER_KIND = "A table", "A folder"
_FACT_CHECKS_KIND, _NOTES_KIND = "Fact-checks", "Notes on X"
_LABEL_BY_COLUMN = {
    "text": "Text",
    "title": "Title or question",
    "url": "Web address",
    "date": "Date",
    "publisher": "Publisher",
}


def _draw_library_row(name: str, about: str, *, is_broken: bool = False) -> None:
    with st.container(horizontal=True, vertical_alignment="center", wrap=False, key=f"row-library-{name}"):
        with st.container(gap=None):
            bad = ":red-badge[:material/error: cannot be read] " if is_broken else ""
            st.markdown(f"{bad}**{escaped(name)}**")
            st.caption(about)
        if not workspace().may(Act.SET_UP):
            return
        with st.popover("Remove", icon=":material/delete:", type="tertiary"):
            st.markdown("Cases keep what they read from it.")
            remove = partial(workspace().remove_library, name)
            button("Remove this library", f"remove-{name}", _ROWS_NOTICE_AREA, remove, icon="delete_forever")


def _draw_library_search(names: list[str]) -> None:
    st.header("Search a library", anchor=False)
    with st.form("search-library", border=False):
        name = st.selectbox("Library", names)
        query = st.text_input("A claim or question", type="search", placeholder="Does vitamin C prevent colds?")
        if st.form_submit_button("Search", icon=":material/search:"):
            # Without words the library says so itself, and what was found before goes.
            st.session_state[_RESULTS_KEY] = run_action(
                _SEARCH_NOTICE_AREA, lambda: workspace().libraries.search(name, query or "", k=10)
            )
    notices(_SEARCH_NOTICE_AREA)
    found: list[Hit] | None = st.session_state.get(_RESULTS_KEY)
    if found is not None and not found:
        st.info("Nothing found in this library.", icon=":material/search_off:")
    for place, hit in enumerate(found or []):
        with st.container(gap="xxsmall", key=f"row-hit-{place}"):
            st.markdown(title(hit.title, "No title", 160))
            if hit.notes:
                note_words(hit.notes[0])
            else:
                st.markdown(escaped(hit.snippet, 500))
            if hit.library:
                st.caption(record_place(hit.library, hit.record))
            web_link("Open the source", hit.url)


def _draw_library_form(job: JobRecord | None) -> None:
    """Draw the form. It keeps what was filled in while a library is made and when one could not be."""
    with st.container(key="add-library"):
        st.header("Add a library", anchor=False)
        kind = st.segmented_control(
            "Made from",
            [_TABLE_KIND, _FOLDER_KIND, _FACT_CHECKS_KIND, _NOTES_KIND],
            default=_TABLE_KIND,
            key="library-kind",
            required=True,
        )
        uploads = _UPLOAD_FIELD_BY_KIND.get(kind or "", _upload_table)()
        columns = _ask_columns(uploads[0]) if kind == _TABLE_KIND and uploads else {}
        name = st.text_input(
            "Name of the library",
            placeholder=_name_of_upload(uploads[0].name) if uploads else "as the file or folder",
            help="Letters, digits, - and _",
            key="library-name",
        )
        replace = st.checkbox("Replace a library with the same name", key="library-replace")
        # The fields stay open meanwhile: Streamlit empties one whose `disabled` changes.
        if st.button("Add the library", type="primary", icon=":material/add:", disabled=under_way(job)):
            kinds = {
                _FACT_CHECKS_KIND: workspace().libraries.of_fact_checks,
                _NOTES_KIND: workspace().libraries.of_notes,
            }
            of_kind = kinds.get(kind or "", "")
            run_action(LIBRARIES, lambda: _add_library(uploads, name or "", columns, of_kind, replace=replace))
            st.rerun()
        notices(LIBRARIES)
        if job is not None:
            _draw_indexing_job(job)


def _upload_table() -> list[UploadedFile]:
    upload = st.file_uploader(
        "The table, one document a row", type=list(workspace().libraries.table_kinds), key="library-table"
    )
    return [upload] if upload is not None else []


def _upload_fact_checks() -> list[UploadedFile]:
    st.caption(
        "The feed of Data Commons, a file of Fact-Check Insights, or a page with JSON-LD. Too large? Use "
        "`crowdnotes library add FILE --name NAME --kind fact-checks`."
    )
    kinds = list(workspace().libraries.check_kinds)
    upload = st.file_uploader("The file of fact-checks (ClaimReview)", type=kinds, key="library-checks")
    return [upload] if upload is not None else []


def _upload_public_notes() -> list[UploadedFile]:
    st.caption(
        "X's public file of notes, as downloaded. To know which notes X showed, add the folder or the index: "
        "`crowdnotes library add FOLDER --name NAME --kind notes`."
    )
    upload = st.file_uploader("The file of notes", type=list(workspace().libraries.note_kinds), key="library-notes")
    return [upload] if upload is not None else []


def _upload_folder() -> list[UploadedFile]:
    return st.file_uploader(
        "The folder (HTML, PDF, text and Markdown files)",
        type=list(workspace().libraries.file_kinds),
        accept_multiple_files="directory",
        key="library-folder",
    )


_UPLOAD_FIELD_BY_KIND = {
    _FOLDER_KIND: _upload_folder,
    _FACT_CHECKS_KIND: _upload_fact_checks,
    _NOTES_KIND: _upload_public_notes,
}


def _ask_columns(upload: UploadedFile) -> dict[str, str]:
    """Draw the columns as they are guessed, each to be changed, with the first rows; return them, "" for none."""
    state = st.session_state
    if state.get(_PREVIEW_KEY, ("",))[0] != upload.file_id:
        with st.spinner("Looking through the file…"):
            try:
                found = workspace().libraries.preview(upload.name, upload.getvalue())
                state[_PREVIEW_KEY] = upload.file_id, found, None
            except LibraryError as error:
                state[_PREVIEW_KEY] = upload.file_id, None, error
    _, preview, fault = state[_PREVIEW_KEY]
    if preview is None:
        st.error(escaped(fault.next_step), title=escaped(fault.message), icon=":material/error:")
        return {}
    if preview.remark:
        st.warning(escaped(preview.remark), icon=":material/spellcheck:")
    chosen = {}
    named = [name for name in preview.names if name]  # a column of row numbers often has no name
    with st.container(horizontal=True, gap="small", key="library-columns"):
        for part, label in _LABEL_BY_COLUMN.items():
            names = named if part == "text" else ["", *named]
            guessed = getattr(preview.guessed, part, None) or ""
            chosen[part] = st.selectbox(
                label,
                names,
                index=names.index(guessed) if guessed in names else None,
                placeholder="Choose a column",
                format_func=lambda name: name or "none",
                key=f"library-column-{part}-{upload.file_id}",
                width=220,
            )
    shown = {_LABEL_BY_COLUMN[part]: column for part, column in chosen.items() if column}
    if shown:
        cells = {
            label: [escaped(str(row.get(column) or ""), _MAX_PREVIEW_CHARACTERS) for row in preview.first]
            for label, column in shown.items()
        }
        st.table(cells, hide_index=True)
        if preview.total > len(preview.first):
            st.caption(f"The first {len(preview.first)} of {preview.total:,} rows.")
    return {part: column or "" for part, column in chosen.items()}


def _add_library(uploads: list[UploadedFile], name: str, columns: dict[str, str], kind: str, *, replace: bool) -> None:
    if not uploads:
        raise InputError("Choose a table or a folder first.")
    if columns and not columns["text"]:
        raise InputError("Choose the column that holds the text.")
    files = [(one.name, one.getvalue()) for one in uploads]
    name = name.strip() or _name_of_upload(uploads[0].name)
    st.session_state[_OWN_JOB_KEY] = workspace().index_library(files, name, columns, replace=replace, kind=kind).id


def _name_of_upload(path: str) -> str:
    """Return the folder's name of "folder/file.pdf", else the file's without its ending, as a library's name."""
    parts = [part for part in re.split(r"[\\/]", path) if part.strip(".")]  # of any system
    stem = parts[0] if len(parts) > 1 else "".join(parts).split(".")[0]
    return re.sub(r"[^A-Za-z0-9]+", "-", stem).strip("-")[:_MAX_NAME_CHARACTERS] or "library"


def _draw_indexing_job(job: JobRecord) -> None:
    """Draw how an indexing goes; and how it ended, for the person who started it."""
    if under_way(job):
        watched(job)
        st.caption("You may leave this page: it goes on, and the library is in the list once it is ready.")
    if under_way(job) or job.id != st.session_state.get(_OWN_JOB_KEY):
        return
    step = job.steps[0]
    if job.state is JobState.DONE:
        st.success(escaped(step.summary), title="The library is ready.", icon=":material/check:")
    elif job.state is JobState.FAILED:
        words = f"{escaped(step.error)} {escaped(step.next_step)}"
        st.error(words, title="The library was not added.", icon=":material/error:")
    else:
        st.warning("Nothing was kept. Add it again.", title="The indexing was stopped.", icon=":material/stop:")
    close = partial(st.session_state.pop, _OWN_JOB_KEY)
    button("Close", "library-job-seen", LIBRARIES, close, icon="close", type="tertiary")


def _draw_library_rows() -> None:
    for library in libraries:
        about = f"{library.as_text} · added {day(library.created_at)}"
        if not library.has_addresses:
            about += "  \n:material/link_off: No web addresses. X needs a link in every note."
        _draw_library_row(library.name, about)
    for damaged in broken:
        _draw_library_row(
            damaged,
            "We cannot search it: its file is damaged or of another version. Remove it and add it again.",
            is_broken=True,
        )


with page_body("Libraries", "Your own collections of sources, searched on this computer alone.", corner=engine_panel):
    notices(_ROWS_NOTICE_AREA)
    job = workspace().runner.latest(LIBRARIES)  # started by anyone
    libraries = workspace().libraries.list()
    broken = workspace().libraries.broken()
    may_change = workspace().may(Act.SET_UP)
    if not may_change:
        st.caption("Only admins may add and remove libraries.")
    if not libraries and not broken and not under_way(job):
        st.info(
            "Add a table or a folder below. The Draft page then searches it."
            if may_change
            else "Ask an admin to add one. The Draft page then searches it.",
            title="There is no library yet.",
            icon=":material/local_library:",
        )
    with st.container(gap=None, key="rows"):
        _draw_library_rows()
    if libraries:
        _draw_library_search([library.name for library in libraries])
    if may_change:
        _draw_library_form(job)
