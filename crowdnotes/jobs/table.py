"""Job records in the database, so that every tab and every process sees the same."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import Any

from sqlalchemy import Engine, RowMapping, Select, insert, select, update
from sqlalchemy.exc import IntegrityError

from crowdnotes.errors import JobError
from crowdnotes.jobs.liveness import is_alive
from crowdnotes.jobs.records import JobRecord, JobState
from crowdnotes.storage.database import reading, writing
from crowdnotes.storage.tables import jobs, storable_text


class JobTable:
    """The table of jobs in a database opened by `storage.opening.open_database`.

    A record whose owner died reads INTERRUPTED. Raises JobError, and StoreError and its kinds.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def add(self, record: JobRecord) -> None:
        """Keep a new job; JobError if the case has one under way, in whatever process."""
        rivals = select(jobs).where(jobs.c.case_id == record.case_id, jobs.c.under_way).with_for_update()
        with writing(self._engine) as connection:
            for row in connection.execute(rivals).mappings().all():
                rival = _as_seen(row)
                if rival.state.under_way:
                    raise _under_way()
                connection.execute(update(jobs).where(jobs.c.id == rival.id).values(_values(rival)))
            row_values = {"id": record.id, "case_id": record.case_id, "started_at": record.started_at}
            try:
                connection.execute(
                    insert(jobs).values(**row_values, owner=record.owner, cancel_asked=False, **_values(record))
                )
            except IntegrityError as error:  # another process was first, a moment ago
                raise _under_way() from error

    def save(self, record: JobRecord) -> bool:
        """Keep the job's progress; False if it is no longer the owner's to change: ended elsewhere, or deleted."""
        own = (jobs.c.id == record.id, jobs.c.owner == record.owner, jobs.c.under_way)
        with writing(self._engine) as connection:
            return bool(connection.execute(update(jobs).where(*own).values(_values(record))).rowcount)

    def get(self, job_id: str) -> JobRecord:
        """The job as it stands; JobError without one."""
        record = self._first(select(jobs).where(jobs.c.id == storable_text(job_id)))
        if record is None:
            raise JobError("There is no such work: its case may have been deleted.", "Open the case again.")
        return record

    def latest(self, case_id: str) -> JobRecord | None:
        """The job of the case that was started last."""
        newest = jobs.c.started_at.desc(), jobs.c.id.desc()
        return self._first(select(jobs).where(jobs.c.case_id == storable_text(case_id)).order_by(*newest).limit(1))

    def ask_to_cancel(self, job_id: str) -> None:
        """Leave word for the owner, whichever process that is."""
        with writing(self._engine) as connection:
            connection.execute(update(jobs).where(jobs.c.id == job_id, jobs.c.under_way).values(cancel_asked=True))

    def beat(self, job_ids: Collection[str]) -> tuple[set[str], set[str]]:
        """Say that the owner of these jobs lives. Gives those it should cancel, and those no longer its own."""
        mine = (jobs.c.id.in_(job_ids), jobs.c.under_way)
        with writing(self._engine) as connection:
            connection.execute(update(jobs).where(*mine).values(heartbeat=time.time()))
            asked = {row.id: row.cancel_asked for row in connection.execute(select(jobs).where(*mine))}
        return {job_id for job_id, cancel in asked.items() if cancel}, set(job_ids) - set(asked)

    def _first(self, query: Select[Any]) -> JobRecord | None:
        with reading(self._engine) as connection:
            row = connection.execute(query).mappings().first()
        return None if row is None else _as_seen(row)


def _under_way() -> JobError:
    return JobError("This case has work under way already.", "Wait until it is done, or cancel it, then try again.")


def _values(record: JobRecord) -> dict[str, object]:
    return {"under_way": record.state.under_way, "heartbeat": time.time(), "document": record.model_dump_json()}


def _as_seen(row: RowMapping) -> JobRecord:
    record = JobRecord.model_validate_json(row["document"])
    if record.state.under_way and not is_alive(record.id, record.owner, row["heartbeat"]):
        return record.model_copy(update={"state": JobState.INTERRUPTED})
    return record
