"""What X's public data shows: one note's story, surges of posts, and how late notes come; and how it gets here."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import streamlit as st

from crowdnotes.bridging.thresholds import Thresholds
from crowdnotes.domain import Act
from crowdnotes.errors import InputError
from crowdnotes.jobs import JobRecord, JobState
from crowdnotes.public_data.database import index_path, is_made_up, reading
from crowdnotes.public_data.indexing import index_files
from crowdnotes.public_data.open_posts import span_sentence
from crowdnotes.text.markdown import escaped
from crowdnotes.workspace import PUBLIC_DATA
from pages.common.components import web_link, what_x_can_change
from pages.common.navigation import page_body
from pages.common.progress import under_way, watched
from pages.common.session import button, cases, notices, workspace
from pages.public_data_parts.note_story import note_story
from pages.public_data_parts.open_posts import SHOW_INSULTS_KEY
from pages.public_data_parts.surges_and_delays import late_notes, surge_days

if TYPE_CHECKING:
    from streamlit.typing import UploadedFile

_LABEL_BY_VIEW: Final = {"note": "A note's story", "surges": "Surges", "delays": "Delays"}
_FILES_KEY, _FOLDER_KEY = "public-files", "public-folder"


def _draw_empty_state(job: JobRecord | None) -> None:
    """Say which files to download and where, and take them."""
    st.info(
        "X lets everybody who is signed in download its notes and ratings. Take these files, zipped or not:\n\n"
        "- **notes**: what each note says\n- **noteStatusHistory**: what X decided\n"
        "- **ratings**: how people rated; there are several, and one is enough to begin",
        title="There is no public data yet.",
        icon=":material/database:",
    )
    web_link("Download from X", "https://x.com/i/communitynotes/download-data", icon="download")
    if workspace().may(Act.SET_UP):
        _draw_form(job)
        made_up = partial(_start_indexing, made_up=True)
        button("Try it with made-up data", "public-made-up", PUBLIC_DATA, made_up, icon="school", type="tertiary")
    else:
        st.caption("An admin can add them here.")


def _draw_form(job: JobRecord | None) -> None:
    st.file_uploader("Upload the files", type=["tsv", "zip"], accept_multiple_files=True, key=_FILES_KEY)
    st.text_input(
        "Or name their folder on the computer that runs CrowdNotes",
        placeholder="/home/you/community-notes",
        key=_FOLDER_KEY,
        persist_state="session",
    )
    button("Add the data", "public-add", PUBLIC_DATA, _add_data, icon="add", type="primary")
    notices(PUBLIC_DATA)
    if job is not None and job.state is JobState.FAILED:
        step = job.steps[0]
        words = f"{escaped(step.error)} {escaped(step.next_step)}"
        st.error(words, title="The data was not added.", icon=":material/error:")


def _add_data() -> None:
    uploads: list[UploadedFile] = st.session_state.get(_FILES_KEY) or []
    folder = (st.session_state.get(_FOLDER_KEY) or "").strip()
    if not uploads and not folder:
        raise InputError("There are no files yet.", "Upload them, or name their folder.")
    if uploads:
        _start_indexing(files=[(one.name, one.getvalue()) for one in uploads])
    else:
        _start_indexing(Path(folder))


def _start_indexing(
    folder: Path | None = None, files: Sequence[tuple[str, bytes]] = (), *, made_up: bool = False
) -> None:
    index, lines = index_path(workspace().settings.data_dir), Thresholds(raters=workspace().settings.bridging_raters)
    run = partial(index_files, index, lines, cases().now(), folder, files, made_up=made_up)
    workspace().start_without_case(PUBLIC_DATA, "index", "Read the files", lambda progress: run(progress.count))


def _delete_data() -> None:
    cases().require(Act.SET_UP)
    index_path(workspace().settings.data_dir).unlink(missing_ok=True)


@st.cache_data(show_spinner=False, max_entries=4)
def _describe_data(index: str, version: float) -> tuple[bool, str]:
    """Return whether the data is made up, and its dates."""
    del version
    with reading(Path(index)) as connection:
        return is_made_up(connection), span_sentence(connection)


def _draw_data_fold(job: JobRecord | None, *, made_up: bool) -> None:
    """Draw what was added last, and how to add more or delete all."""
    with st.expander("Add or delete data", icon=":material/database:", key="public-data-fold"):
        if job is not None and job.state is JobState.DONE:
            st.caption(escaped(job.steps[0].summary, 600))
        if made_up:
            st.caption("Delete the made-up data before you add real files.")
        else:
            _draw_form(job)
        with st.popover("Delete the data", icon=":material/delete:", type="tertiary"):
            st.markdown("This deletes what was read here. Your downloaded files stay.")
            button("Delete the data", "public-delete", PUBLIC_DATA, _delete_data, icon="delete_forever")


def _draw_views(index: Path) -> None:
    chosen = st.segmented_control(
        "View",
        list(_LABEL_BY_VIEW),
        default="note",
        required=True,
        format_func=lambda view: _LABEL_BY_VIEW[view],
        label_visibility="collapsed",
        key="view",
        bind="query-params",
    )
    st.toggle(
        "Show insults", key=SHOW_INSULTS_KEY, help="Notes are strangers' words. Those that insult people are hidden."
    )
    if chosen == "surges":
        surge_days(index)
    elif chosen == "delays":
        late_notes(index)
    else:
        note_story(index)
        what_x_can_change()


with page_body(
    "Public data",
    "The story of a note, days on which many posts got notes, and how late notes come.",
):
    index = index_path(workspace().settings.data_dir)
    job = workspace().runner.latest(PUBLIC_DATA)  # started by anyone
    if job is not None and under_way(job):
        watched(job)
    elif not index.is_file():
        _draw_empty_state(job)
    else:
        made_up, dates = _describe_data(str(index), index.stat().st_mtime)
        if made_up:
            st.warning("Made-up data: these notes and people are not real.", icon=":material/school:")
        if dates:
            st.caption(dates)
        _draw_views(index)
        if workspace().may(Act.SET_UP):
            _draw_data_fold(job, made_up=made_up)
