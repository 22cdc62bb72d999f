"""Job records: how a job goes, kept in the database so that every tab and every process sees the same.

A process that was killed cannot say so. Its jobs are known as dead at once on the same machine (no
such process), and elsewhere when its heartbeat is missing for too long.
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

from pydantic import ValidationError
from sqlalchemy import Engine, RowMapping, Select, insert, select, update
from sqlalchemy.exc import IntegrityError

from crowdnotes.domain import Noun
from crowdnotes.errors import JobError
from crowdnotes.storage.database import reading, writing
from crowdnotes.storage.tables import jobs, storable_text
from crowdnotes.words import say


class Progress(Protocol):
    """What a step is given, to say how far it is and to learn that it should stop."""

    def count(self, done: int, total: int, note: str = "") -> None:
        """`done` of `total` units, the present one in words; raises JobCancelled when it should stop."""
        ...

    def check(self) -> None:
        """Raises JobCancelled when the step should stop. Call it at least each second or so."""
        ...


@dataclass(frozen=True)
class Step:
    """One named piece of work, which saves what it makes before it returns.

    `run` does it and returns a summary of one line. `finished` returns that summary if the work is
    done already, so that a resumed job keeps it, else None.
    """

    name: str
    title: str
    run: Callable[[Progress], str]
    finished: Callable[[], str | None]


class JobState(StrEnum):
    """Where a job stands. INTERRUPTED: its program ended under it; start the same steps to resume."""

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
    """Where a step stands. KEPT: it was done by an earlier job, so this one passed over it."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    KEPT = "kept"
    FAILED = "failed"
    CANCELLED = "cancelled"


class StepRecord(Noun):
    """How one step went; `done` of `total` units, `error` and `next_step` in words for the user."""

    name: str
    title: str
    state: StepState = StepState.WAITING
    done: int = 0
    total: int = 0
    note: str = ""
    summary: str = ""
    error: str = ""
    next_step: str = ""
    seconds: float = 0.0


class JobRecord(Noun):
    """How a job is going. `owner` is the process at work on it (see `is_alive`), `by` who asked for it."""

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

    @property
    def current(self) -> StepRecord | None:
        """The step at work, or where it stopped; None before the first and after the last."""
        telling = {StepState.RUNNING, StepState.FAILED, StepState.CANCELLED}
        return next((step for step in self.steps if step.state in telling), None)


HEARTBEAT_SECONDS = 2.0
_SILENCE_SECONDS = 30.0  # many heartbeats: a busy database or a short sleep of the machine is not a death

# Tells this process from an earlier one with the same number, as in a restarted container.
_TOKEN = uuid.uuid4().hex[:12]
running_here: set[str] = set()
"""The ids of the jobs that this process works on."""


def this_process() -> str:
    """The owner to write on a job: "host:process number:token"."""
    return f"{socket.gethostname()}:{os.getpid()}:{_TOKEN}"


def is_alive(job_id: str, owner: str, heartbeat: float) -> bool:
    """Whether `owner` can still be at work on the job; `heartbeat` is in seconds since the epoch."""
    if owner == this_process():
        return job_id in running_here
    host, pid, _ = owner.rsplit(":", 2)
    if host == socket.gethostname() and not _process_exists(int(pid)):
        return False
    return time.time() - heartbeat < _SILENCE_SECONDS


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


class JobTable:
    """The table of jobs in a database opened by `storage.database.open_database`.

    A record whose owner died reads INTERRUPTED. Raises JobError, and StoreError and its kinds.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def add(self, record: JobRecord) -> None:
        """Keep a new job; JobError if the case has one under way, in whatever process."""
        rivals = select(jobs).where(jobs.c.case_id == record.case_id, jobs.c.under_way).with_for_update()
        with writing(self._engine) as connection:
            for row in connection.execute(rivals).mappings().all():
                if is_alive(row["id"], row["owner"], row["heartbeat"]):
                    raise _under_way()
                connection.execute(update(jobs).where(jobs.c.id == row["id"]).values(under_way=False))
            fixed = record.model_dump(include={"id", "case_id", "started_at", "owner"})
            try:
                connection.execute(insert(jobs).values(**fixed, cancel_asked=False, **_changing(record)))
            except IntegrityError as error:  # another process was first, a moment ago
                raise _under_way() from error

    def save(self, record: JobRecord) -> bool:
        """Keep the job's progress; False if it is no longer the owner's to change: ended elsewhere, or deleted."""
        own = (jobs.c.id == record.id, jobs.c.owner == record.owner, jobs.c.under_way)
        with writing(self._engine) as connection:
            return bool(connection.execute(update(jobs).where(*own).values(_changing(record))).rowcount)

    def get(self, job_id: str) -> JobRecord:
        """The job as it stands; JobError without one."""
        record = self._first(select(jobs).where(jobs.c.id == storable_text(job_id)))
        if record is None:
            raise JobError(say("work.gone"), say("work.gone_next"))
        return record

    def latest(self, case_id: str) -> JobRecord | None:
        """The job of the case that was started last."""
        newest = jobs.c.started_at.desc(), jobs.c.id.desc()
        try:
            return self._first(select(jobs).where(jobs.c.case_id == storable_text(case_id)).order_by(*newest).limit(1))
        except JobError:  # nobody can take it up again, and the case must open all the same
            return None

    def ask_to_cancel(self, job_id: str) -> None:
        """Leave word for the owner, whichever process that is."""
        with writing(self._engine) as connection:
            connection.execute(update(jobs).where(jobs.c.id == job_id, jobs.c.under_way).values(cancel_asked=True))

    def beat(self, job_ids: Collection[str]) -> tuple[set[str], set[str]]:
        """Say that this process, their owner, lives. Gives those it should cancel, and those no longer its own."""
        mine = (jobs.c.id.in_(job_ids), jobs.c.owner == this_process(), jobs.c.under_way)
        with writing(self._engine) as connection:
            connection.execute(update(jobs).where(*mine).values(heartbeat=time.time()))
            asked = {row.id: row.cancel_asked for row in connection.execute(select(jobs).where(*mine))}
        return {job_id for job_id, cancel in asked.items() if cancel}, set(job_ids) - set(asked)

    def _first(self, query: Select[Any]) -> JobRecord | None:
        with reading(self._engine) as connection:
            row = connection.execute(query).mappings().first()
        return None if row is None else _as_seen(row)


def _under_way() -> JobError:
    return JobError(say("work.under_way"), say("work.under_way_next"))


def _changing(record: JobRecord) -> dict[str, object]:
    return {"under_way": record.state.under_way, "heartbeat": time.time(), "document": record.model_dump_json()}


def _as_seen(row: RowMapping) -> JobRecord:
    try:
        record = JobRecord.model_validate_json(row["document"])
    except ValidationError as error:
        raise JobError(say("work.other_version"), say("work.post_changed_next")) from error
    if record.state.under_way and not is_alive(record.id, record.owner, row["heartbeat"]):
        return record.model_copy(update={"state": JobState.INTERRUPTED})
    return record
