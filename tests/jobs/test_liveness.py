"""Jobs whose owner died."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from sqlalchemy import Engine, select, update

from crowdnotes.jobs.records import JobRecord, JobState, JobTable, this_process
from crowdnotes.jobs.runner import ThreadJobRunner
from crowdnotes.storage.database import reading, writing
from crowdnotes.storage.tables import jobs
from tests.jobs.steps import SECONDS, step


def orphan(engine: Engine, owner: str, heartbeat: float) -> JobRecord:
    """A job under way of another process."""
    now = datetime(2026, 1, 1, tzinfo=UTC)
    record = JobRecord(
        id="old", case_id="c1", kind="gather", state=JobState.RUNNING, steps=(), started_at=now, updated_at=now,
        owner=owner,
    )  # fmt: skip
    JobTable(engine).add(record)
    with writing(engine) as connection:
        connection.execute(update(jobs).values(heartbeat=heartbeat))
    return record


def _mine(pid: int) -> str:
    host, _, _ = this_process().rsplit(":", 2)
    return f"{host}:{pid}:another"


@pytest.mark.parametrize(
    ("owner", "silent_seconds", "state"),
    [
        ("other-machine:12:aa", 5, JobState.RUNNING),
        ("other-machine:12:aa", 60, JobState.INTERRUPTED),
        ("machine:with:colons:12:aa", 60, JobState.INTERRUPTED),
        (_mine(2**22 + 7), 0, JobState.INTERRUPTED),  # no such process
        (_mine(1), 5, JobState.RUNNING),
        (_mine(1), 60, JobState.INTERRUPTED),
    ],
)
def test_a_job_reads_interrupted_when_its_owner_cannot_be_at_work(
    engine: Engine, owner: str, silent_seconds: float, state: JobState
) -> None:
    orphan(engine, owner, time.time() - silent_seconds)
    seen = JobTable(engine).latest("c1")
    assert seen is not None
    assert seen.state is state


def test_a_restarted_process_with_the_same_number_is_another_owner(engine: Engine) -> None:
    host, pid, _ = this_process().rsplit(":", 2)
    orphan(engine, f"{host}:{pid}:earlier", time.time())
    assert JobTable(engine).get("old").state is JobState.INTERRUPTED


def test_an_interrupted_job_gives_way_to_a_new_one_and_stays_on_record(runner: ThreadJobRunner, engine: Engine) -> None:
    abandoned = orphan(engine, "other-machine:12:aa", time.time() - 60)
    assert runner.wait(runner.start("c1", "gather", [step("read")]).id, SECONDS).state is JobState.DONE
    assert runner.get("old").state is JobState.INTERRUPTED
    assert JobTable(engine).save(abandoned) is False
    with reading(engine) as connection:
        assert connection.scalar(select(jobs.c.under_way).where(jobs.c.id == "old")) is False
