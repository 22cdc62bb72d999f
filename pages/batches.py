"""The page of batches: a file whose posts become a case each, how far that is, and the result of each row."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import streamlit as st

from crowdnotes.batches import (
    BAD,
    DELETED,
    DONE,
    FAILED,
    NO_NOTE,
    RUNNING,
    WAITING,
    Batch,
    BatchSummary,
    batch_runner,
    kept_batches,
    may_cost,
)
from crowdnotes.jobs import JobRecord, JobRunner, JobState
from crowdnotes.post_files import FILE_KINDS, Preview, Row, UnknownColumnsError, preview_of
from crowdnotes.text.markdown import escaped
from crowdnotes.wording import fill, plural
from pages.common.components import badge, first_shown
from pages.common.engine_panel import engine_panel
from pages.common.navigation import page_body, redirect_through_app
from pages.common.progress import under_way
from pages.common.session import button, download, notices, show_errors, workspace
from pages.common.times import time_mark

if TYPE_CHECKING:
    from streamlit.typing import UploadedFile

_NOTICE_AREA = "batches"
_PAGE_SIZE, _MAX_BATCHES_LISTED = 20, 50
_MAX_PREVIEW_CHARACTERS, _MAX_ROW_CHARACTERS = 300, 90
_POLL_SECONDS = 2.0
_DEFAULT_CONCURRENT_POSTS = 8
_BADGE_BY_ROW_STATE = {
    FAILED: ("red", "{n} failed"),
    NO_NOTE: ("violet", "{n} without a note"),
    BAD: ("orange", "{n} not usable"),
    DONE: ("green", "{n} done"),
    RUNNING: ("blue", "{n} at work"),
    WAITING: ("gray", "{n} waiting"),
    DELETED: ("gray", "{n} deleted"),
}
_NEW = "new"  # in the place of a batch's id, in the names of fields
_T = TypeVar("_T")


@st.cache_resource(show_spinner=False)
def _get_batch_runner() -> JobRunner:
    return batch_runner(workspace())


# --- a new one ---


def _with_upload_as_file(upload: UploadedFile, does: Callable[[Path], _T]) -> _T:
    """Do something with the upload as a file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"posts{Path(upload.name).suffix.lower()}"
        file.write_bytes(upload.getbuffer())
        return does(file)


def _draw_upload_form() -> None:
    st.header("A new file", anchor=False)
    upload = st.file_uploader(
        "CSV, JSON or Parquet",
        type=list(FILE_KINDS),
        key="batch-file",
        help="One post a row, in a column “text”; also “id”, “links” (to sources) and “url” (of the post).",
    )
    if upload is None:
        return
    notices(_NOTICE_AREA)
    posts, links = (st.session_state.get(key) or "" for key in ("batch-posts", "batch-links"))
    seen: tuple[tuple[str, str, str], Preview | UnknownColumnsError] | None = st.session_state.get("batch-preview")
    if seen is None or seen[0][0] != upload.file_id:
        posts = links = ""
    asked = upload.file_id, posts, links
    if seen is None or seen[0] != asked:
        with st.spinner("Looking through the file…"):
            look = partial(_look_through, name=upload.name, posts=posts, links=links)
            seen = st.session_state["batch-preview"] = (asked, _with_upload_as_file(upload, look))
    preview = seen[1]
    if isinstance(preview, UnknownColumnsError):
        st.warning(
            "Choose the column that holds the posts.",
            title="The file has no column “text”.",
            icon=":material/view_column:",
        )
        _ask_column("batch-posts", "Column with the posts", preview.columns)
        return
    with st.container(horizontal=True):
        if len(preview.columns) > 1:
            _ask_column("batch-posts", "Column with the posts", preview.columns, preview.posts)
        if preview.link_columns:
            _ask_column("batch-links", "Column with links to sources", preview.link_columns, preview.links)
    _draw_preview(preview)
    if preview.usable:
        _draw_places()
        _warn_of_posts_without_link(preview)
        _draw_budget_fields(_NEW)
        label = plural(preview.usable, "Start with 1 post", "Start with {n:,} posts")
        begin = partial(_create_batch, upload, posts, links)
        button(label, "batch-keep", _NOTICE_AREA, begin, icon="play_arrow", type="primary")


def _look_through(file: Path, *, name: str, posts: str, links: str) -> Preview | UnknownColumnsError:
    """Return what the file would become, or that nobody knows which column holds its posts."""
    try:
        return preview_of(file, name, posts, links)
    except UnknownColumnsError as error:
        return error


def _ask_column(key: str, label: str, columns: Sequence[str], found: str = "") -> None:
    """Let the person say which column holds what the label says; `found` is the one in use."""
    st.session_state[key] = found or None
    st.selectbox(label, columns, index=None, placeholder="Choose a column", key=key, width=320)


def _list_places() -> list[str]:
    """Return the libraries and services that are searched for each post."""
    services = {item.name: item.label for item in workspace().services()}
    names = [info.name for info in workspace().libraries.list()]
    return [*names, *(services[name] for name in workspace().services_at_first() if name in services)]


def _warn_of_posts_without_link(preview: Preview) -> None:
    """Say which posts can get no note, before the start."""
    if not preview.unlinked or _list_places():
        return
    if preview.links:
        mend = f"Add the missing links to “{escaped(preview.links, 60)}” in the file"
    else:
        mend = "Choose the column of links above" if preview.link_columns else "Add a column “links” to the file"
    st.warning(
        f"{mend}, or set up a search first.",
        title=plural(
            preview.unlinked,
            "1 of {all} has no link and no search is set up: it will get no note.",
            "{n:,} of {all} have no link and no search is set up: they will get no note.",
            all=plural(preview.usable, "1 post", "{n:,} posts"),
        ),
        icon=":material/link_off:",
    )


def _draw_places() -> None:
    """Draw which libraries and services are searched for each post."""
    places = _list_places()
    if places:
        st.caption(f"For each post we search: {escaped(', '.join(places))}.")
    else:
        st.caption("No library and no search service is set up, so only the links of each row are read.")


def _draw_preview(preview: Preview) -> None:
    known = {"id": "name", "url": "address of the post"}
    use_by_column = {name: known[name.strip().lower()] for name in preview.columns if name.strip().lower() in known}
    use_by_column |= {preview.posts: "post", preview.links: "links to sources"}
    names = [
        badge("green", "", f"{name}: {use_by_column[name]}") if name in use_by_column else badge("gray", "", name)
        for name in preview.columns[:_PAGE_SIZE]
    ]
    st.markdown(f"Columns: {' '.join(names)}")
    if not all(name in use_by_column for name in preview.columns):
        st.caption("Grey columns are not used.")
    if preview.remark:
        st.warning(escaped(preview.remark), icon=":material/spellcheck:")
    if preview.first:
        # Not as a dataframe, whose own button would save the posts as they are, formulas included.
        cells = [_to_preview_row(row) for row in preview.first]
        filled = [name for name in cells[0] if any(row[name] for row in cells)]
        st.table([{name: row[name] for name in filled} for row in cells], hide_index=True)
        if preview.usable > len(preview.first):
            st.caption(f"The first {len(preview.first)} of {preview.usable:,} posts.")
    if preview.repeats:
        named = [f"row {again:,} (as row {first:,})" for again, first in preview.repeated]
        if preview.repeats > len(named):
            named.append(f"and {preview.repeats - len(named):,} more")
        st.warning(
            f"The same post as in an earlier row: {', '.join(named)}. Each row becomes a case of its own.",
            title=plural(preview.repeats, "1 post is repeated", "{n:,} posts are repeated"),
            icon=":material/content_copy:",
        )
    if preview.broken:
        lines = "\n".join(f"- Row {row.number:,}: {escaped(row.problem, 200)}" for row in preview.broken)
        more = (
            f"And {preview.bad - len(preview.broken):,} more, each with its reason in the results."
            if preview.bad > len(preview.broken)
            else ""
        )
        all_rows = preview.usable + preview.bad
        st.warning(
            f"{lines}\n\n{more}",
            title=f"{preview.bad:,} of {all_rows:,} rows cannot be used",
            icon=":material/rule:",
        )
    elif not preview.first:
        st.info("The file has no rows.", icon=":material/inbox:")


def _to_preview_row(row: Row) -> dict[str, str]:
    name = row.name if row.name != str(row.number) else ""
    cells = {"id": name, "text": row.text, "links": " ".join(row.links), "url": row.url}
    return {name: escaped(cell, _MAX_PREVIEW_CHARACTERS) for name, cell in cells.items()}


def _create_batch(upload: UploadedFile, posts: str, links: str) -> None:
    """Keep the posts of the file, and begin to work on them, unless the file was chosen before."""
    keep = partial(Batch, workspace(), name=Path(upload.name).name, posts=posts, links=links)
    batch = _with_upload_as_file(upload, keep)
    _open_batch(batch.id)
    if batch.job() is None:
        _start_batch(batch.id, _NEW)


def _open_batch(batch_id: str | None) -> None:
    if batch_id is None:
        st.query_params.pop("batch", None)
    else:
        st.query_params["batch"] = batch_id


def _draw_batch_list(there: Sequence[BatchSummary]) -> None:
    if not there:
        return
    st.header("Files so far", anchor=False)
    with st.container(gap=None, key="batch-list"):
        for one in there:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                time_mark(one.created_at)
                show = partial(_open_batch, one.id)
                button(escaped(one.name, 60), f"batch-open-{one.id}", _NOTICE_AREA, show, type="tertiary")
                st.markdown(_count_progress(Batch(workspace(), one.id))[0])


# --- one of them ---


def _count_progress(batch: Batch) -> tuple[str, float, int, int]:
    """Its states as badges, what it cost so far, how many rows are over, and all of them."""
    counts, dollars = batch.counts()
    marks = " ".join(
        badge(colour, "", fill(words, n=f"{counts[state]:,}"))
        for state, (colour, words) in _BADGE_BY_ROW_STATE.items()
        if counts[state]
    )
    return marks, dollars, counts.total() - counts[WAITING] - counts[RUNNING], counts.total()


def _start_batch(batch_id: str, fields: str, *, again: bool = False) -> None:
    """Begin or go on, as the fields of that name say; `again` with the rows that failed too."""
    values = [st.session_state.get(f"batch-{name}-{fields}") for name in ("budget", "day-budget")]
    batch = Batch(workspace(), batch_id, budget=values[0], day_budget=values[1])
    if again:
        batch.retry_failed()
    batch.start(_get_batch_runner(), st.session_state.get(f"batch-at-once-{fields}") or _DEFAULT_CONCURRENT_POSTS)


def _draw_budget_fields(fields: str, budget: float | None = None, day_budget: float | None = None) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if may_cost(workspace()) or budget is not None or day_budget is not None:
            for name, value in (("budget", budget), ("day-budget", day_budget)):
                st.number_input(
                    "Budget in dollars" if name == "budget" else "Budget of a day, all files",
                    min_value=0.0,
                    value=value,
                    format="%.2f",
                    key=f"batch-{name}-{fields}",
                    placeholder="none",
                    width=200,
                )
        st.number_input("Posts at once", 1, 1000, _DEFAULT_CONCURRENT_POSTS, key=f"batch-at-once-{fields}", width=160)


def _explain_job_end(job: JobRecord | None) -> None:
    if job is None or job.state.under_way or job.state is JobState.DONE:
        return
    step = job.steps[0]
    if job.state is JobState.FAILED:
        st.error(escaped(step.next_step), title=escaped(step.error), icon=":material/error:")
    elif job.state is JobState.CANCELLED:
        st.warning(
            "Posts at work ended. Go on with those that wait.",
            title="It was stopped.",
            icon=":material/pause_circle:",
        )
    else:
        st.warning(
            "Go on where it was: no post is taken twice.",
            title="The app that ran it ended.",
            icon=":material/pause_circle:",
        )


def _draw_batch_status(batch: Batch, kept: BatchSummary) -> None:
    job = batch.job()
    marks, dollars, over, n = _count_progress(batch)
    st.markdown(marks)
    st.progress(over / n if n else 0.0, f"{over:,} of {n:,} rows")
    counts, _ = batch.counts()
    bound = f" of ${kept.budget:,.2f}" if kept.budget is not None else ""
    sentences = [f"Cost so far: ${dollars:,.2f}{bound}."] if dollars or bound or may_cost(workspace()) else []
    if dollars and counts[RUNNING]:
        sentences.append("That includes the most that the posts at work may cost.")
    if job is not None and under_way(job):
        sentences.append(job.steps[0].note)
    if sentences:
        st.markdown(escaped(" ".join(sentences)))
    if under_way(job):
        if not workspace().runner.has_workers():
            st.caption("This waits until a worker is started.")
        button("Stop", f"batch-stop-{kept.id}", _NOTICE_AREA, batch.stop, icon="stop_circle")
        return
    _explain_job_end(job)
    if kept.rows is None:
        st.warning(
            "Choose it again under “All files”: it goes on where it was cut off.",
            title="The file was not read to its end.",
            icon=":material/content_cut:",
        )
    elif counts[WAITING] or counts[RUNNING] or counts[FAILED]:
        _draw_places()
        _draw_budget_fields(kept.id, kept.budget, kept.day_budget)
        with st.container(horizontal=True):
            if counts[WAITING] or counts[RUNNING]:
                label = "Go on" if job is not None else "Start"
                go = partial(_start_batch, kept.id, kept.id)
                button(label, f"batch-start-{kept.id}", _NOTICE_AREA, go, icon="play_arrow", type="primary")
            if counts[FAILED]:
                again = partial(_start_batch, kept.id, kept.id, again=True)
                button(
                    plural(counts[FAILED], "Try 1 failed row again", "Try {n:,} failed rows again"),
                    f"batch-again-{kept.id}",
                    _NOTICE_AREA,
                    again,
                    icon="replay",
                )


def _draw_batch_results(batch: Batch) -> None:
    counts, _ = batch.counts()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        state = st.selectbox(
            "Rows",
            list(_BADGE_BY_ROW_STATE),
            index=None,
            placeholder="All",
            format_func=lambda state: fill(_BADGE_BY_ROW_STATE[state][1], n="").strip(),
            key="batch-state",
            width=220,
        )
        name = f"{Path(batch.kept().name).stem or 'posts'}-results.csv"
        download("Results as CSV", lambda _: _results_as_csv(batch), name, "text/csv")
    first = first_shown(counts[state] if state else counts.total(), _PAGE_SIZE, f"batch-page-{state}")
    with st.container(gap="xsmall", key="batch-rows"):
        for row in batch.some(state, _PAGE_SIZE, first):
            _draw_batch_row(row)


def _draw_batch_row(row: Mapping[str, Any]) -> None:
    colour, words = _BADGE_BY_ROW_STATE[row["state"]]
    number = f"row {row['number']:,}"
    place = number if row["name"] == str(row["number"]) else f"{number} · {escaped(row['name'], 60)}"
    post = escaped(row["post"], _MAX_ROW_CHARACTERS)
    with st.container(gap=None, key=f"batch-{row['number']}"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"{badge(colour, '', fill(words, n='').strip())} :gray[:small[{place}]]", width="content")
            if row["case_id"]:
                params = {"case": row["case_id"]}
                st.page_link("pages/draft.py", label=post or f"Open {number}", icon="", query_params=params)
            elif post:
                st.markdown(f":small[{post}]", width="content")
        if row["reason"]:
            st.markdown(f":gray[:small[{escaped(row['reason'], 300)}]]")


def _results_as_csv(batch: Batch) -> str:
    table = io.StringIO()
    batch.write_results(table)
    return table.getvalue()


def _draw_batch(batch_id: str, was_under_way: bool) -> None:
    with show_errors():
        batch = Batch(workspace(), batch_id)
        if under_way(batch.job()) != was_under_way:
            st.rerun()
        _draw_batch_status(batch, batch.kept())
        _draw_batch_results(batch)


def _describe_results() -> str:
    """Return what each post becomes, with the engine in use."""
    made = ", a note and its scores" if workspace().engine.uses_language_model else " and sentences to quote"
    return f"Each post becomes a case with sources{made}. A person then decides each."


redirect_through_app()  # before the engine is asked for
opened = st.query_params.get("batch")
with page_body(
    "Posts from a file",
    "" if opened else _describe_results(),
    corner=engine_panel,
):
    with st.container(horizontal=True):
        st.page_link("pages/cases.py", label="Cases", icon=":material/arrow_back:")
        if opened:
            back = partial(_open_batch, None)
            button("All files", "batch-back", _NOTICE_AREA, back, icon="arrow_back", type="tertiary")
    if opened:
        shown = Batch(workspace(), opened)
        st.subheader(escaped(shown.kept().name, 80), anchor=False)
        notices(_NOTICE_AREA)
        works = under_way(shown.job())
        st.fragment(_draw_batch, run_every=_POLL_SECONDS if works else None)(opened, works)
    else:
        earlier = kept_batches(workspace(), _MAX_BATCHES_LISTED)
        with show_errors():
            _draw_upload_form()
        _draw_batch_list(earlier)
