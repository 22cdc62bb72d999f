"""Job records: how a job goes, kept in the database so that every tab and every process sees the same.

A process that was killed cannot say so. Its jobs are known as dead at once on the same machine (no
such process), and elsewhere when its heartbeat, by the database's clock, is missing for too long. The process
that takes a job over gets a new fence number, so what a process wrongly taken for dead saves later is refused.
"""

from __future__ import annotations

import os
import socket
import sys
import time
import uuid
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from pydantic import Field, ValidationError
from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Float,
    RowMapping,
    Select,
    cast,
    extract,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from crowdnotes.domain import FrozenModel, Outcome, StageOutcome
from crowdnotes.errors import JobCancelled, JobError
from crowdnotes.storage.database import reading, writing
from crowdnotes.storage.tables import jobs, storable_text
from crowdnotes.wording import plural


class Progress(Protocol):
    """What a step is given, to say how far it is and to learn that it should stop."""

    def count(self, done: int, total: int, note: str = "") -> None:
        """Record `done` of `total` units, and the present one as text; raises JobCancelled when it should stop."""
        ...

    def check(self) -> None:
        """Raise JobCancelled when the step should stop. Call it at least each second or so."""
        ...


@dataclass(frozen=True)
class Step:
    """One named piece of work, which saves what it makes before it returns.

    `run` does it and returns how it ended. `finished` returns that if the work was done before, so that a resumed job
    keeps it, or if it need not be done, else None.
    """

    name: str
    title: str
    run: Callable[[Progress], StageOutcome]
    finished: Callable[[], StageOutcome | None]


def plain_step(name: str, title: str, run: Callable[[Progress], str]) -> Step:
    """Return a step that is never passed over; `run` returns its summary."""
    return Step(name, title, lambda progress: StageOutcome(summary=run(progress)), lambda: None)


def with_time_left(
    progress: Progress, name: str, clock: Callable[[], float] = time.monotonic
) -> Callable[[int, int], None]:
    """Return a count for `progress` that says what is worked on, and about how long the rest takes at the same pace."""
    began = clock()

    def count(done: int, total: int) -> None:
        minutes = max(1, round((clock() - began) / done * (total - done) / 60)) if done else 0
        left = plural(minutes, " · about 1 minute left", " · about {n:,} minutes left") if minutes else ""
        progress.count(done, total, f"{name}{left if done < total else ''}")

    return count


class JobState(StrEnum):
    """A job's state. INTERRUPTED: its program ended under it; start the same steps to resume."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"

    @property
    def under_way(self) -> bool:
        """Whether it may still change."""
        return self in {JobState.QUEUED, JobState.RUNNING}


class StepState(StrEnum):
    """A step's state. KEPT: it was done before or need not be done, so this job passed over it."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    KEPT = "kept"
    FAILED = "failed"
    CANCELLED = "cancelled"


class StepRecord(FrozenModel):
    """How one step went; `done` of `total` units, `error` and `next_step` are sentences for the user.

    `outcome` is of a step that is DONE or KEPT: it may have ended without doing its work.
    """

    name: str
    title: str
    state: StepState = StepState.WAITING
    outcome: Outcome = Outcome.DONE
    done: int = 0
    total: int = 0
    note: str = ""
    summary: str = ""
    error: str = ""
    next_step: str = ""
    seconds: float = 0.0


class JobRecord(FrozenModel):
    """What is to be done, and how it is going: all that another process needs to do it.

    `engine` and `model` name the engine that was chosen (see `EngineChoice`), `by` who asked for it. `owner` is the
    process at work on it (see `is_alive`), "" while a queue has it; `fence` counts who took it up so far. Of a scoring
    `arguments` has the "basis", see `Case.scoring_basis`.
    """

    id: str
    case_id: str
    kind: str
    state: JobState
    steps: tuple[StepRecord, ...]
    started_at: datetime
    updated_at: datetime
    owner: str
    by: str = ""
    by_key: str = ""
    arguments: dict[str, str] = Field(default_factory=dict)
    engine: str | None = None
    model: str = ""
    fence: int = 0
    queue_id: int | None = None

    @property
    def current(self) -> StepRecord | None:
        """The step at work, or where it stopped; None before the first and after the last."""
        current = {StepState.RUNNING, StepState.FAILED, StepState.CANCELLED}
        return next((step for step in self.steps if step.state in current), None)


HEARTBEAT_SECONDS = 2.0
_MAX_SILENCE_SECONDS = 30.0  # many heartbeats: a busy database or a short sleep of the machine is not a death

# Distinguishes this process from an earlier one with the same number, as in a restarted container.
_PROCESS_TOKEN = uuid.uuid4().hex[:12]
running_here: set[str] = set()
"""The ids of the jobs that this process works on."""


def this_process() -> str:
    """Return the owner to write on a job: "host:process number:token"."""
    return f"{socket.gethostname()}:{os.getpid()}:{_PROCESS_TOKEN}"


def is_alive(job_id: str, owner: str, silence: float) -> bool:
    """Return whether `owner` can still be at work on the job, which gave no heartbeat for so many seconds."""
    if owner == this_process():
        return job_id in running_here
    host, pid, _ = owner.rsplit(":", 2)
    if host == socket.gethostname() and not _process_exists(int(pid)):
        return False
    return silence < _MAX_SILENCE_SECONDS


def _process_exists(pid: int) -> bool:
    if pid == os.getpid():
        return False  # the number is ours now, and the token was not
    if sys.platform == "win32":
        return True  # signal 0 would end the process there; the heartbeat decides
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


@dataclass(frozen=True, slots=True)
class Fence:
    """Guards what a job saves: only the process that took the job over last may save."""

    job_id: str
    token: int

    def hold(self, connection: Connection) -> None:
        """Keep the job from being taken over until the transaction ends; JobCancelled if it was before."""
        mine = select(jobs.c.id).where(jobs.c.id == self.job_id, jobs.c.fence == self.token, jobs.c.under_way)
        if connection.scalar(mine.with_for_update(read=True)) is None:
            raise JobCancelled("Another worker has taken over.")


class JobTable:
    """The table of jobs in a database opened by `storage.database.open_database`.

    A record whose owner died reads INTERRUPTED. Raises JobError, and StoreError and its kinds.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        is_sqlite = engine.dialect.name == "sqlite"
        # Seconds since the epoch by the database's clock, the same for all machines.
        by_server = cast(extract("epoch", func.clock_timestamp()), Float)
        self._now: ColumnElement[float] = (func.julianday("now") - 2440587.5) * 86400.0 if is_sqlite else by_server
        self._silence = (self._now - jobs.c.heartbeat).label("silence")
        self._seen = select(jobs, self._silence)

    def add(self, record: JobRecord, defer: Callable[[Connection], int] | None = None) -> JobRecord:
        """Keep a new job; JobError if the case has one under way, in whatever process.

        `defer` puts it into a queue in the same transaction and returns its number there.
        """
        rivals = self._seen.where(jobs.c.case_id == record.case_id, jobs.c.under_way).with_for_update()
        with writing(self._engine) as connection:
            for row in connection.execute(rivals).mappings().all():
                if row["queue_id"] is not None or is_alive(row["id"], row["owner"], row["silence"]):
                    raise _build_under_way_error()
                connection.execute(update(jobs).where(jobs.c.id == row["id"]).values(under_way=False))
            if defer is not None:
                record = record.replace(queue_id=defer(connection))
            fixed = record.model_dump(include={"id", "case_id", "started_at", "owner", "fence", "queue_id"})
            try:
                connection.execute(insert(jobs).values(**fixed, cancel_asked=False, **self.changing(record)))
            except IntegrityError as error:  # another process was first, a moment ago
                raise _build_under_way_error() from error
        return record

    def take(self, job_id: str, queue_id: int) -> JobRecord | None:
        """Take up a job that a queue carried, behind a new fence; None if it ended, or the queue carries it anew."""
        with writing(self._engine) as connection:
            mine = (jobs.c.id == job_id, jobs.c.queue_id == queue_id, jobs.c.under_way)
            row = connection.execute(self._seen.where(*mine).with_for_update(of=jobs)).mappings().first()
            if row is None:
                return None
            changes = {"owner": this_process(), "fence": row["fence"] + 1, "queue_id": queue_id}
            record = _to_record(row).replace(**changes)
            connection.execute(update(jobs).where(*mine).values(**changes, **self.changing(record)))
        return record

    def save(self, record: JobRecord) -> bool:
        """Keep the job's progress; False if it is no longer the owner's to change: taken over, ended, or deleted."""
        own = (jobs.c.id == record.id, jobs.c.owner == record.owner, jobs.c.fence == record.fence, jobs.c.under_way)
        with writing(self._engine) as connection:
            return bool(connection.execute(update(jobs).where(*own).values(self.changing(record))).rowcount)

    def changing(self, record: JobRecord) -> dict[str, object]:
        """Return the columns that change with the record."""
        return {"under_way": record.state.under_way, "heartbeat": self._now, "document": record.model_dump_json()}

    def get(self, job_id: str) -> JobRecord:
        """Return the job's newest record; JobError without one."""
        record = self._first(self._seen.where(jobs.c.id == storable_text(job_id)))
        if record is None:
            raise JobError("This work is gone: its case may have been deleted.", "Open the case again.")
        return record

    def latest(self, case_id: str) -> JobRecord | None:
        """Return the case's newest job by the database's clock: those of the machines may differ."""
        newest = jobs.c.under_way.desc(), jobs.c.heartbeat.desc(), jobs.c.started_at.desc()
        try:
            return self._first(self._seen.where(jobs.c.case_id == storable_text(case_id)).order_by(*newest).limit(1))
        except JobError:  # nobody can take it up again, and the case must open all the same
            return None

    def at_work(self, case_ids: Collection[str]) -> set[str]:
        """Return those of the cases whose job is under way, in one query."""
        columns = (jobs.c.id, jobs.c.case_id, jobs.c.owner, jobs.c.queue_id)
        query = self._seen.with_only_columns(*columns, self._silence)
        with reading(self._engine) as connection:
            rows = connection.execute(query.where(jobs.c.case_id.in_(case_ids), jobs.c.under_way)).all()
        return {row.case_id for row in rows if row.queue_id is not None or is_alive(row.id, row.owner, row.silence)}

    def request_cancel(self, job_id: str) -> None:
        """Leave word for the owner, whichever process that is."""
        with writing(self._engine) as connection:
            connection.execute(update(jobs).where(jobs.c.id == job_id, jobs.c.under_way).values(cancel_asked=True))

    def beat(self, job_ids: Collection[str]) -> tuple[set[str], set[str]]:
        """Record that this process, their owner, lives. Return those it should cancel, and those no longer its own."""
        mine = (jobs.c.id.in_(job_ids), jobs.c.owner == this_process(), jobs.c.under_way)
        with writing(self._engine) as connection:
            connection.execute(update(jobs).where(*mine).values(heartbeat=self._now))
            asked = {row.id: row.cancel_asked for row in connection.execute(select(jobs).where(*mine))}
        return {job_id for job_id, cancel in asked.items() if cancel}, set(job_ids) - set(asked)

    def _first(self, query: Select[Any]) -> JobRecord | None:
        row = self._first_row(query)
        if row is not None and row["under_way"] and _to_record(row).state is JobState.INTERRUPTED:
            row = self._first_row(query)  # it may have ended since it was read, and its end is on record by now
        return None if row is None else _to_record(row)

    def _first_row(self, query: Select[Any]) -> RowMapping | None:
        with reading(self._engine) as connection:
            return connection.execute(query).mappings().first()


def _build_under_way_error() -> JobError:
    return JobError("CrowdNotes is already working on this case.", "Wait until it is done, or cancel it.")


def _to_record(row: RowMapping) -> JobRecord:
    try:
        record = JobRecord.model_validate_json(row["document"])
    except ValidationError as error:
        raise JobError("Another version of CrowdNotes began this work.", "Start it again.") from error
    if not record.state.under_way or row["queue_id"] is not None:  # a queue gives it to another worker
        return record
    if not is_alive(record.id, record.owner, row["silence"]):
        return record.replace(state=JobState.INTERRUPTED)
    return record
