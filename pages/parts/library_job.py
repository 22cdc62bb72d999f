"""Indexing an uploaded table: long work outside the page's run, one library at a time."""

from __future__ import annotations

import tempfile
from pathlib import Path

import streamlit as st

from crowdnotes.evidence.library import LibraryInfo
from crowdnotes.jobs.records import JobRecord, JobState, Progress, Step
from pages.parts.progress import LIBRARIES, watched
from pages.parts.session import act, workspace
from pages.parts.text import count, plain

_MINE = "library-job"


def start_indexing(file_name: str, content: bytes, name: str, *, replace: bool) -> None:
    """Make a library of a table; what forbids it is shown on the page."""
    libraries = workspace().libraries  # looked up here: the job's thread has no page around it

    def run(progress: Progress) -> str:
        with tempfile.TemporaryDirectory() as folder:
            # Only the ending is taken from the browser's name: the rest could be a path.
            path = Path(folder) / f"upload{Path(file_name).suffix.lower()}"
            path.write_bytes(content)
            return described(libraries.add(path, name, replace=replace, progress=progress.count))

    step = Step(name="index", title="Read and index the records", run=run, finished=lambda: None)
    job = act(LIBRARIES, lambda: workspace().runner.start(LIBRARIES, "index", [step]))
    if job is not None:
        st.session_state[_MINE] = job.id


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


def described(info: LibraryInfo) -> str:
    """What a library holds and what was left out, in one line."""
    parts = [count(info.records, "record")]
    if info.duplicates:
        parts.append(f"{count(info.duplicates, 'exact copy', 'exact copies')} left out")
    if info.skipped:
        parts.append(f"{info.skipped:,} without readable text passed over")
    return " · ".join(parts)


def _ended(job: JobRecord) -> None:
    step = job.steps[0]
    if job.state is JobState.DONE:
        st.success(plain(step.summary), title="The library is ready.", icon=":material/check:")
    elif job.state is JobState.FAILED:
        title = "The table could not become a library."
        st.error(f"{plain(step.error)} {plain(step.next_step)}", title=title, icon=":material/error:")
    else:
        st.warning("Nothing was kept. Add the table again.", title="The indexing was stopped.", icon=":material/stop:")
