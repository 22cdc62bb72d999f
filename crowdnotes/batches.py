"""Batches: each row of a file becomes a case, worked on as any other; a person reads and decides them, as always.

Rows are in the database, so that a batch goes on where it was stopped; one that cannot be used keeps its sentence.
What a case may cost at most (`CROWDNOTES_LLM_BUDGET_DOLLARS`) is set aside before its row begins and replaced by
what it cost when it has ended: no number of workers can pass the budget.

A batch at work is a job, of which the database allows one: of two processes that run the same file the second is
refused, and one wrongly taken for dead begins nothing more. The id of a row's case is on record before the case.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, TextIO

from sqlalchemy import ColumnElement, Connection, Select, func, select, text, update
from sqlalchemy import case as sql_case

from crowdnotes.cases import intake
from crowdnotes.cases.case_findings import count_searches, why_no_sources
from crowdnotes.cases.intake import new_case_id
from crowdnotes.domain import INFERRED, Act, Case, Mode, StageName
from crowdnotes.engines.choice import is_free, price_is_known
from crowdnotes.errors import CaseNotFoundError, CrowdNotesError, InputError, JobCancelled, JobError
from crowdnotes.jobs import Fence, JobRecord, JobRunner, JobState, Progress, Step, StepState, plain_step
from crowdnotes.post_files import Row, other_columns, rows_of
from crowdnotes.storage.database import insert_into, now_of, reading, writing
from crowdnotes.storage.tables import batch_rows, batches, cases, storable_text, tombstones
from crowdnotes.text.markdown import clip
from crowdnotes.text.table_files import write_table
from crowdnotes.wording import plural
from crowdnotes.workspace import Workspace

WAITING, RUNNING, DONE, FAILED, BAD = "waiting", "running", "done", "failed", "not usable"
NO_NOTE = "no note"  # all was done, and gave no note
DELETED = "deleted"  # a person deleted the case; never stored, as the record of the deletion says so
_NO_LINK = "This row has no link, and no search is set up."
_MAX_SAME_FAILURES = 5  # failures for one reason, one after the other: the next rows would fail too
_MAX_PARALLEL_BATCHES = 8
_ROWS_PER_CHUNK = 500  # rows in memory
_POLL_SECONDS = 0.2
_REPORT_SECONDS = 1.0
_RESULT_COLUMNS = ("number", "name", "post", "state", "case_id", "reason", "dollars")
_MAX_POST_CHARACTERS = 160  # of a post, where its row is shown
_STORED_POST_CHARACTERS = 2_000  # of a row's document, enough for those of any script
_STORED_POST_PATTERN = re.compile(r'\{"text": "((?:[^"\\]|\\u[0-9a-f]{4}|\\[^u])*)')
_BUDGET_LOCK = 0x63726F776E62  # an advisory lock: one row is begun at a time, by any process


@dataclass(frozen=True, slots=True)
class BatchSummary:
    """A batch as it is listed; `rows` is None where its file was not read to the end."""

    id: str
    name: str
    created_at: datetime
    rows: int | None
    budget: float | None
    day_budget: float | None


class Batch:
    """The rows of a file, or of one that was read before and is named by its id, worked on as the workspace's person.

    Safe to run again, also where it was killed. `budget` and `day_budget` are in dollars, `name` is what people call
    the file, `posts` and `links` name its columns, see `rows_of`. Raises InputError; NotAllowedError; StoreError and
    its kinds.
    """

    def __init__(
        self,
        workspace: Workspace,
        file: Path | str,
        *,
        budget: float | None = None,
        day_budget: float | None = None,
        name: str = "",
        posts: str = "",
        links: str = "",
    ) -> None:
        workspace.cases.require(Act.BATCH)
        self._workspace = workspace
        self._engine = workspace.runner.engine
        self._bounds = (budget, day_budget)
        self._each = workspace.settings.llm.budget_dollars if workspace.engine.uses_language_model else 0.0
        self._is_bound = budget is not None or day_budget is not None
        self._fence: Fence | None = None
        self._stop: CrowdNotesError | None = None
        if self._is_bound and self._each is None:
            raise InputError(
                "A batch with a budget also needs a budget for each case.", "Set CROWDNOTES_LLM_BUDGET_DOLLARS."
            )
        if self._each and self._is_bound and not price_is_known(workspace.choice, workspace.settings.llm):
            raise InputError(
                "We do not know the model's price, so we cannot keep to the budget.",
                "Set CROWDNOTES_LLM_DOLLARS_PER_MILLION_INPUT and …_OUTPUT, or run the batch without a budget.",
            )
        if isinstance(file, str):
            self.id = file
            self.kept()
            return
        if file.exists() and not file.is_file():  # a pipe would be waited for, and is read once
            raise InputError(f"{file} is not a file.", "Save the table as a file.")
        try:
            with file.open("rb") as content:
                digest = hashlib.file_digest(content, "sha256")
        except OSError as error:
            raise InputError(f"{file} cannot be read ({error.strerror}).") from error
        digest.update(other_columns(file, posts, links).encode())  # by others the file holds other posts
        self.id = digest.hexdigest()
        self._read(file, name or file.name, posts, links)

    def kept(self) -> BatchSummary:
        """Return its record, without its rows. Raises InputError without one."""
        found = _load_batches(self._workspace, batches.c.id == storable_text(self.id))
        if not found:
            raise InputError("There is no such batch.", "Choose its file again.")
        return found[0]

    def _read(self, file: Path, name: str, posts: str, links: str) -> None:
        """Read what is not in the database yet; a reading that was broken off goes on."""
        newest = select(func.coalesce(func.max(batch_rows.c.number), 0)).where(batch_rows.c.batch == self.id)
        with reading(self._engine) as connection:
            known = connection.scalar(newest) or 0
        rows = rows_of(file, posts, links)
        unknown, n = (row for row in rows if row.number > known), known
        while chunk := list(islice(unknown, _ROWS_PER_CHUNK)):
            with writing(self._engine) as connection:
                if n == 0:  # another process may read the same file just now
                    new = {"id": self.id, "name": storable_text(name)[-200:], "created_at": now_of(connection)}
                    connection.execute(insert_into(connection, batches).values(new).on_conflict_do_nothing())
                rows_of_batch = insert_into(connection, batch_rows).on_conflict_do_nothing()
                connection.execute(rows_of_batch, [self._kept(row) for row in chunk])
            n = chunk[-1].number
        if n == 0:
            raise InputError(f"{name} has no posts.", "Give a file with one post a row.")
        with writing(self._engine) as connection:
            connection.execute(update(batches).where(batches.c.id == self.id).values(rows=n))

    def _kept(self, row: Row) -> dict[str, object]:
        document: dict[str, object] = {
            "text": storable_text(row.text),
            "links": [storable_text(link) for link in row.links],
        }
        document |= {"url": storable_text(row.url)} if row.url else {}
        return {
            "batch": self.id,
            "number": row.number,
            "name": storable_text(row.name),
            "state": BAD if row.problem else WAITING,
            "case_id": None,
            "reason": storable_text(row.problem),
            "dollars": 0.0,
            "day": None,
            "document": json.dumps(document),
        }

    def retry_failed(self) -> None:
        """Let rows that failed wait once more; each goes on with the case that it has."""
        deleted = select(tombstones.c.case_id).where(tombstones.c.case_id == batch_rows.c.case_id).exists()
        failed = (batch_rows.c.batch == self.id, batch_rows.c.state == FAILED, ~deleted)
        with writing(self._engine) as connection:
            connection.execute(update(batch_rows).where(*failed).values(state=WAITING, reason=""))

    def counts(self) -> tuple[Counter[str], float]:
        """Return how many rows are in each state, and the dollars that are spent or set aside."""
        columns = _STATE.label("state"), func.count(), func.sum(batch_rows.c.dollars)
        query = select(*columns).select_from(_ROWS).where(batch_rows.c.batch == self.id).group_by(_STATE)
        with reading(self._engine) as connection:
            found = connection.execute(query).all()
        return Counter({state: n for state, n, _ in found}), sum(dollars for *_, dollars in found)

    def as_text(self) -> str:
        """Return `counts` in a sentence."""
        counts, dollars = self.counts()
        return (
            f"{counts[DONE]:,} done, {counts[NO_NOTE]:,} without a note, {counts[FAILED]:,} failed, "
            f"{counts[BAD]:,} not usable, {counts[DELETED]:,} deleted, {counts[WAITING]:,} waiting, "
            f"{counts[RUNNING]:,} running, ${dollars:,.2f}"
        )

    def results(self) -> Iterator[Mapping[str, Any]]:
        """Yield each row: number, name, post (its first words), state, case_id, reason, dollars."""
        last = 0
        while found := self._results(batch_rows.c.number > last, limit=_ROWS_PER_CHUNK):
            yield from found
            last = found[-1]["number"]

    def write_results(self, out: TextIO) -> None:
        """Write `results` as CSV, with a heading."""
        rows = ([row[column] for column in _RESULT_COLUMNS] for row in self.results())
        write_table(out, _RESULT_COLUMNS, rows)

    def some(self, state: str | None, limit: int, first: int) -> list[Mapping[str, Any]]:
        """Return the `results` in that state (None: in any), at most `limit` of them from the place `first` on."""
        return self._results(*() if state is None else (_STATE.in_([state]),), limit=limit, first=first)

    def _results(self, *which: ColumnElement[bool], limit: int, first: int = 0) -> list[Mapping[str, Any]]:
        # The case, where it is there: its id is on record before it, and it may have been deleted.
        query = select(
            batch_rows.c.number,
            batch_rows.c.name,
            func.coalesce(cases.c.post_excerpt, "").label("post"),
            _STATE.label("state"),
            cases.c.id.label("case_id"),
            batch_rows.c.reason,
            batch_rows.c.dollars,
            func.substr(batch_rows.c.document, 1, _STORED_POST_CHARACTERS).label("document"),
            tombstones.c.by,
            tombstones.c.by_key,
        )
        query = query.select_from(_ROWS.outerjoin(cases, cases.c.id == batch_rows.c.case_id))
        query = query.where(batch_rows.c.batch == self.id, *which).order_by(batch_rows.c.number)
        with reading(self._engine) as connection:
            rows: list[dict[str, Any]] = [
                dict(row) for row in connection.execute(query.limit(limit).offset(first)).mappings()
            ]
        for row in rows:
            document, by, by_key = row.pop("document"), row.pop("by"), row.pop("by_key")
            if row["state"] == DELETED:
                who = "You" if by_key == self._workspace.actor.key else by
                row["reason"] = f"{who} deleted this case."
            elif not row["post"]:
                row["post"] = _read_first_words(document)
        return [*rows]

    def job(self) -> JobRecord | None:
        """Return the newest that works or worked on it."""
        return self._workspace.runner.latest(self.id)

    def stop(self) -> None:
        """Begin no row more, in whatever process; what is at work ends."""
        job = self.job()
        if job is not None:
            self._workspace.runner.cancel(job.id)

    def run(self, at_once: int, report: Callable[[str], object] = lambda _: None) -> None:
        """Work until no row waits; `report` gets its progress.

        Raises JobError where another process is at it, after failures that are alike, and at the budget's end.
        """
        runner = batch_runner(self._workspace)
        try:
            job = self.start(runner, at_once)
            while job.state.under_way:
                job = runner.wait(job.id, _REPORT_SECONDS)
                report("; ".join(filter(None, (self.as_text(), job.steps[0].note))))
        finally:
            runner.close()
        if job.state is not JobState.DONE:
            step = job.steps[0]
            raise JobError(
                step.error or "The batch was stopped.",
                step.next_step or "Run it again to go on with the waiting rows.",
            )

    def start(self, runner: JobRunner, at_once: int) -> JobRecord:
        """Begin to `run` it on a thread of that `batch_runner`; return the job."""

        def make(job: JobRecord) -> list[Step]:
            fence = Fence(job.id, job.fence)
            return [self._step(lambda progress: self._work(at_once, fence, progress))]

        with writing(self._engine) as connection:
            bounds = dict(zip(("budget", "day_budget"), self._bounds, strict=True))
            connection.execute(update(batches).where(batches.c.id == self.id).values(bounds))
        try:
            return runner.start_anywhere(self.id, "batch", [self._step(lambda _: "")], make, by=self._workspace.actor)
        except JobError as error:
            raise JobError("Another process is working on this file.", "Wait for it, or stop it.") from error

    @staticmethod
    def _step(run: Callable[[Progress], str]) -> Step:
        return plain_step("batch", "The posts of a file", run)

    def _work(self, at_once: int, fence: Fence, progress: Progress) -> str:
        self._fence, self._stop = fence, None
        begun, reported, ends = time.monotonic(), 0.0, list[_RowEnd]()
        running = self._running()
        while True:
            try:
                progress.check()
            except JobCancelled as stop:  # what is at work ends first
                self._stop = stop
            at_work = self._workspace.runner.at_work(running.values()) if running else set[str]()
            for number, case_id in [*running.items()]:
                if case_id not in at_work:
                    del running[number]
                    ends += self._settled(number, case_id)
            while self._stop is None and len(running) < at_once:
                self._stop = _build_same_failure_error(ends)
                try:
                    row = self._begin() if self._stop is None else None
                except _BudgetSpentError as error:
                    # Cases at work may cost less than is set aside for them, and leave money for another.
                    self._stop, row = None if running else error, None
                if row is None:
                    break
                number, case_id, failed = row
                if failed:
                    ends.append(_RowEnd(number, failed))
                else:
                    running[number] = case_id
            if not running:
                break
            if self._stop is None and time.monotonic() - reported >= _REPORT_SECONDS:
                self._report(progress, time.monotonic() - begun, len(ends))
                reported = time.monotonic()
            time.sleep(_POLL_SECONDS)
        if self._stop is None or isinstance(self._stop, _SameFailureError):
            # Rows that were at work when it stopped have ended since, and may have failed alike.
            self._stop = self._pause(ends) or _build_same_failure_error(ends)
        return self._end_work()

    def _end_work(self) -> str:
        """Return the result of the work. Raises what stopped it."""
        if self._stop is not None:
            raise self._stop
        return self.as_text()

    def _pause(self, ends: list[_RowEnd]) -> JobError | None:
        """Let the last rows wait again where most places to search failed, as without a connection; say so."""
        silent = list(takewhile(lambda end: end.is_silent, reversed(ends)))
        if not silent:
            return None
        numbers = [end.number for end in silent]
        again = update(batch_rows).where(batch_rows.c.batch == self.id, batch_rows.c.number.in_(numbers))
        with self._writing() as connection:
            connection.execute(again.values(state=WAITING, reason=""))
        failed, places = sum(end.failed for end in silent), sum(end.places for end in silent)
        none = "None of the {n} places to search could be reached."
        reached = plural(max(end.places for end in silent), "The only place to search could not be reached.", none)
        reached = reached if failed == places else f"{failed:,} of {places:,} searches failed."
        waiting = plural(self.counts()[0][WAITING], "1 post waits.", "{n:,} posts wait.")
        return JobError(f"{reached} {waiting}", "Check the internet connection, then go on.")

    def _report(self, progress: Progress, seconds: float, ended: int) -> None:
        counts, _ = self.counts()
        left = counts[WAITING] + counts[RUNNING]
        said = (
            plural(max(1, round(seconds / ended * left / 60)), "About 1 minute left.", "About {n:,} minutes left.")
            if ended
            else ""
        )
        with suppress(JobCancelled):  # it is looked at once more
            progress.count(counts.total() - left, counts.total(), said)

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """Open a transaction. Raises JobCancelled where another process took the batch over."""
        with writing(self._engine) as connection:
            if self._fence is not None:
                self._fence.hold(connection)
            yield connection

    def _running(self) -> dict[int, str]:
        """Return the cases of rows that an earlier run began, by the row's number."""
        mine = (batch_rows.c.batch == self.id, batch_rows.c.state == RUNNING)
        with self._writing() as connection:
            # As an earlier version of the program left them.
            lost = update(batch_rows).where(*mine, batch_rows.c.case_id.is_(None))
            connection.execute(lost.values(state=WAITING, dollars=0.0))
            rows = connection.execute(select(batch_rows.c.number, batch_rows.c.case_id).where(*mine)).all()
        return {row.number: row.case_id for row in rows}

    def _begin(self) -> tuple[int, str, str] | None:
        """Set money aside for the next row and start its work; return its number, its case, and why that failed or "".

        None when no row waits.
        """
        waits = (batch_rows.c.batch == self.id, batch_rows.c.state == WAITING)
        with self._writing() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _BUDGET_LOCK})
            row = connection.execute(select(batch_rows).where(*waits).order_by(batch_rows.c.number).limit(1)).first()
            if row is None:
                return None
            day, case_id = now_of(connection).date().isoformat(), row.case_id or new_case_id()
            self._require_budget(connection, day)
            # A row that is taken up again keeps what it has cost.
            kept = {"state": RUNNING, "dollars": row.dollars + (self._each or 0.0), "day": day, "case_id": case_id}
            connection.execute(update(batch_rows).where(*self._of(row.number)).values(kept))
        try:
            self._require_case(case_id, json.loads(row.document))
            self._workspace.start(case_id, "whole")
        except CrowdNotesError as error:
            self._end(row.number, FAILED, str(error), row.dollars)
            return row.number, case_id, str(error)
        return row.number, case_id, ""

    def _require_case(self, case_id: str, document: dict[str, object]) -> None:
        """Make the case, unless it was made or deleted before; one without sources searches where a new one would."""
        with reading(self._engine) as connection:
            if connection.scalar(_select_tombstone(case_id)) is not None:
                return
            is_made = connection.scalar(_select_case(case_id)) is not None
        search = self._workspace.services_at_first()
        libraries = [info.name for info in self._workspace.libraries.list()]
        mode = Mode.AUTOMATION if search or libraries else Mode.AUGMENTATION
        if is_made:
            self._search_again(self._workspace.cases.get(case_id), mode, libraries, search)
            return
        links = [str(link) for link in document["links"]]  # type: ignore[attr-defined]
        if not links and mode is Mode.AUGMENTATION:
            raise InputError(_NO_LINK, "Add one to the file and choose it again, or set up a search and try again.")
        intake.create_case(
            self._workspace.cases,
            str(document["text"]),
            mode=mode,
            url=str(document.get("url") or "") or None,
            urls=links,
            services=search,
            libraries=libraries,
            to_gather=True,
            known_as=case_id,
        )

    def _search_again(self, made: Case, mode: Mode, libraries: list[str], search: list[str]) -> None:
        """Let a case without sources search the places of today, unless they were searched and all answered."""
        same = (made.mode, made.libraries, made.services) == (mode, tuple(libraries), tuple(search))
        is_answered = not any(outcome.gave_no_answer for outcome in made.outcomes)
        if made.evidence or made.decision is not None or (same and is_answered):
            return
        self._workspace.cases.apply(made.id, intake.search_again, mode=mode, libraries=libraries, services=search)

    def _require_budget(self, connection: Connection, day: str) -> None:
        spent = func.coalesce(func.sum(batch_rows.c.dollars), 0.0)
        places = (batch_rows.c.batch == self.id, batch_rows.c.day == day)
        for bound, place, scope in zip(self._bounds, places, ("batch", "day"), strict=True):
            if bound is None:
                continue
            used = connection.scalar(select(spent).where(place)) or 0.0
            if used + (self._each or 0.0) > bound:
                raise _BudgetSpentError(
                    f"The budget of ${bound:,.2f} for the {scope} is not enough for another case: ${used:,.2f} are "
                    "spent or set aside.",
                    "Run it again with a larger budget to go on with the waiting rows.",
                )

    def _settled(self, number: int, case_id: str) -> list[_RowEnd]:
        """Settle a row whose work has ended; return how, or nothing if it waits again."""
        job = self._workspace.runner.latest(case_id)
        try:
            case = self._workspace.cases.get(case_id)
        except CaseNotFoundError as error:
            with reading(self._engine) as connection:
                was_made = job is not None or connection.scalar(_select_tombstone(case_id)) is not None
            self._end(number, FAILED if was_made else WAITING, error.message if was_made else "", 0.0)
            return [_RowEnd(number, error.message)] if was_made else []
        used = case.used
        if job is None or job.state is JobState.INTERRUPTED:
            self._end(number, WAITING, "", used.dollars)
            return []
        dollars = used.dollars
        if used.unpriced and self._is_bound:
            # Nobody knows what it cost: what was set aside for it counts, and no other row begins.
            dollars = max(dollars, self._each or 0.0)
            self._stop = self._stop or JobError(
                "We do not know the model's price, so we cannot keep to the budget.",
                "Set CROWDNOTES_LLM_DOLLARS_PER_MILLION_INPUT and …_OUTPUT, or run the batch without a budget.",
            )
        failed, answered = (places, 0) if (places := _count_silent_places(job)) else count_searches(case)
        if places:
            state, reason = FAILED, "No note: no search was answered."
        elif job.state is JobState.DONE:
            state, reason = _describe_result(case)
        else:
            state, reason = FAILED, _get_failure_reason(job)
        self._end(number, state, reason, dollars)
        if state != FAILED or case.evidence:
            return [_RowEnd(number, reason if state == FAILED else "")]
        return [_RowEnd(number, reason, failed, failed + answered)]

    def _end(self, number: int, state: str, reason: str, dollars: float) -> None:
        values: dict[str, object] = {"state": state, "reason": storable_text(reason), "dollars": dollars}
        if state in {DONE, NO_NOTE}:  # its case has the post, and may be deleted
            values["document"] = "{}"
        with self._writing() as connection:
            connection.execute(update(batch_rows).where(*self._of(number)).values(values))

    def _of(self, number: int) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
        return batch_rows.c.batch == self.id, batch_rows.c.number == number


def batch_runner(workspace: Workspace) -> JobRunner:
    """Return a runner for `Batch.start`, not the one that works on the cases: a batch waits for those."""
    return JobRunner(workspace.runner.engine, _MAX_PARALLEL_BATCHES, workspace.stage_context.clock)


def may_cost(workspace: Workspace) -> bool:
    """Return whether the work on a row asks a model that is not known to cost nothing."""
    return workspace.engine.uses_language_model and not is_free(workspace.choice, workspace.settings.llm)


def kept_batches(workspace: Workspace, limit: int, first: int = 0) -> list[BatchSummary]:
    """Return all that were read, the newest first. Raises NotAllowedError."""
    workspace.cases.require(Act.BATCH)
    return _load_batches(workspace, limit=limit, first=first)


def _load_batches(
    workspace: Workspace, *which: ColumnElement[bool], limit: int = 1, first: int = 0
) -> list[BatchSummary]:
    query = select(batches).where(*which).order_by(batches.c.created_at.desc(), batches.c.id)
    with reading(workspace.runner.engine) as connection:
        return [BatchSummary(**row) for row in connection.execute(query.limit(limit).offset(first)).mappings()]


def _select_case(case_id: str) -> Select[tuple[str]]:
    return select(cases.c.id).where(cases.c.id == case_id)


def _select_tombstone(case_id: str) -> Select[tuple[str]]:
    return select(tombstones.c.case_id).where(tombstones.c.case_id == case_id)


# A row's state, or that its case was deleted since.
_ROWS = batch_rows.outerjoin(tombstones, tombstones.c.case_id == batch_rows.c.case_id)
_STATE = sql_case((tombstones.c.case_id.is_not(None), DELETED), else_=batch_rows.c.state)


def _read_first_words(document: str) -> str:
    """Return the first words of the post in the beginning of a row's document."""
    found = _STORED_POST_PATTERN.match(document)
    words = json.loads(f'"{found[1]}"').encode("utf-8", "ignore").decode() if found else ""
    return clip(" ".join(words.split()), _MAX_POST_CHARACTERS)


@dataclass(frozen=True, slots=True)
class _RowEnd:
    """How the work on a row ended: why it failed, or ""; and without sources, how many of the `places` failed."""

    number: int
    reason: str
    failed: int = 0
    places: int = 0

    @property
    def is_silent(self) -> bool:
        """Whether most places to search gave no answer."""
        return self.failed * 2 > self.places


def _describe_result(case: Case) -> tuple[str, str]:
    """Return the state of a row whose work was done, and what to say of it."""
    why, may_change = why_no_sources(case)
    if why:
        return FAILED if may_change else NO_NOTE, f"No note: {why}."
    draft, failed, answered = case.draft, *count_searches(case)
    missing = [f"{failed} of {failed + answered} searches failed."] if failed > answered else []
    if draft is not None and draft.text.strip():
        inferred = [f"{INFERRED}."] if draft.is_inferred(case.settlement, case.evidence) else []
        return DONE, " ".join([*inferred, *missing])
    if case.quotations:
        return DONE, " ".join(["Sentences to quote; the note is yours to write.", *missing])
    if case.unwanted is not None:
        return NO_NOTE, f"No note: {case.unwanted.reason}"
    written = next((stage.summary for stage in case.stages if stage.name is StageName.DRAFT), "No note was written.")
    return NO_NOTE, " ".join([written, *missing])


def _count_silent_places(job: JobRecord) -> int:
    """Return how many places a failed search asked, where none of them answered; else 0."""
    step = next((step for step in job.steps if step.state is StepState.FAILED), None)
    return step.total if step is not None and step.name == StageName.SEARCH and step.done == step.total else 0


class _SameFailureError(JobError):
    """The last rows failed for one reason."""


def _build_same_failure_error(ends: list[_RowEnd]) -> _SameFailureError | None:
    """Return what stops a batch whose last rows failed for one reason, by its first sentence."""
    last = ends[-1].reason if ends else ""
    alike = list(takewhile(lambda end: end.reason.split(". ")[0] == last.split(". ")[0], reversed(ends)))
    if not last or len(alike) < _MAX_SAME_FAILURES or _NO_LINK in last:  # other rows may have one
        return None
    return _SameFailureError(
        f"{len(alike)} rows in a row failed for the same reason: {last}",
        "Fix that, then try the failed rows again.",
    )


class _BudgetSpentError(JobError):
    """No row may begin; those at work end."""


def _get_failure_reason(job: JobRecord) -> str:
    return next((step.error for step in job.steps if step.error), job.state.value)
