from __future__ import annotations

import logging
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from crowdnotes.errors import EngineError, JobError, StoreBusyError, StoreFullError
from crowdnotes.jobs.records import JobRecord, JobState, JobTable, Progress, Step, StepState
from crowdnotes.jobs.runner import ThreadJobRunner
from crowdnotes.storage.database import open_database
from tests.jobs.steps import SECONDS, Blocker, states, step


def test_steps_run_in_order_on_another_thread(runner: ThreadJobRunner) -> None:
    seen: list[tuple[str, bool]] = []

    def work(name: str) -> Callable[[Progress], str]:
        def run(progress: Progress) -> str:
            seen.append((name, threading.current_thread() is threading.main_thread()))
            return f"{name} done"

        return run

    started = runner.start("c1", "gather", [step("search", work("search")), step("read", work("read"))])
    ended = runner.wait(started.id, SECONDS)
    assert seen == [("search", False), ("read", False)]
    assert (ended.state, states(ended)) == (JobState.DONE, [StepState.DONE, StepState.DONE])
    assert [item.summary for item in ended.steps] == ["search done", "read done"]
    assert (ended.kind, ended.case_id, ended.current) == ("gather", "c1", None)
    assert runner.get(started.id) == runner.latest("c1") == ended


def test_a_started_job_is_on_record_at_once(runner: ThreadJobRunner) -> None:
    started = runner.start("c1", "gather", [step("search", Blocker())])
    assert runner.latest("c1") is not None
    assert (started.state, [item.title for item in started.steps]) == (JobState.QUEUED, ["Search"])


def test_a_case_without_jobs_has_no_latest(runner: ThreadJobRunner) -> None:
    assert runner.latest("c1") is None
    assert runner.latest("\ud800\x00") is None


def test_an_unknown_job_is_an_error(runner: ThreadJobRunner) -> None:
    with pytest.raises(JobError, match="no such work"):
        runner.get("nope")


def test_progress_is_seen_from_another_runner_while_the_step_runs(runner: ThreadJobRunner, engine: Engine) -> None:
    block = Blocker()

    def run(progress: Progress) -> str:
        time.sleep(0.25)  # longer than between two saved counts
        progress.count(3, 8, "reading \x00 \ud800 page")
        return block(progress)

    job = runner.start("c1", "gather", [step("read", run)])
    assert block.started.wait(SECONDS)
    seen = JobTable(engine).get(job.id)
    assert seen.state is JobState.RUNNING
    assert seen.current is not None
    assert (seen.current.done, seen.current.total, seen.current.note) == (3, 8, "reading \ufffd \ufffd page")


def test_many_counts_make_few_writes(runner: ThreadJobRunner, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    saves: list[JobRecord] = []
    original = JobTable.save

    def save(table: JobTable, record: JobRecord) -> bool:
        saves.append(record)
        return original(table, record)

    monkeypatch.setattr(JobTable, "save", save)

    def run(progress: Progress) -> str:
        began = time.monotonic()
        for done in range(500):
            progress.count(done, 500)
        allowed.append(3 + int((time.monotonic() - began) / 0.2))
        return "read"

    allowed: list[int] = []
    ended = runner.wait(runner.start("c1", "gather", [step("read", run)]).id, SECONDS)
    assert len(saves) <= allowed[0] + 1  # the start, the end of the step, the end of the job
    assert (ended.steps[0].done, ended.steps[0].total) == (499, 500)


def test_a_finished_step_is_kept_and_not_done_again(runner: ThreadJobRunner) -> None:
    def never(progress: Progress) -> str:
        raise AssertionError

    steps = [step("search", never, finished="8 found"), step("read")]
    ended = runner.wait(runner.start("c1", "gather", steps).id, SECONDS)
    assert (ended.state, states(ended)) == (JobState.DONE, [StepState.KEPT, StepState.DONE])
    assert ended.steps[0].summary == "8 found"


def test_a_failed_step_is_explained_and_a_retry_goes_on_from_there(runner: ThreadJobRunner) -> None:
    saved: dict[str, str] = {}
    answers: Iterator[Exception | None] = iter([EngineError("The server said no.", "Try later."), None])

    def save(name: str) -> Callable[[Progress], str]:
        def run(progress: Progress) -> str:
            if name == "read" and (problem := next(answers)):
                raise problem
            saved[name] = f"{name} done"
            return saved[name]

        return run

    steps = [Step(name, name, save(name), lambda name=name: saved.get(name)) for name in ("search", "read", "choose")]  # type: ignore[misc]
    failed = runner.wait(runner.start("c1", "gather", steps).id, SECONDS)
    assert (failed.state, states(failed)) == (
        JobState.FAILED,
        [StepState.DONE, StepState.FAILED, StepState.WAITING],
    )
    assert failed.current is not None
    assert (failed.current.error, failed.current.next_step) == ("The server said no.", "Try later.")
    retried = runner.wait(runner.start("c1", "gather", steps).id, SECONDS)
    assert (retried.state, states(retried)) == (JobState.DONE, [StepState.KEPT, StepState.DONE, StepState.DONE])


def test_an_unexpected_error_goes_to_the_log_and_not_to_the_user(
    runner: ThreadJobRunner, caplog: pytest.LogCaptureFixture
) -> None:
    def run(progress: Progress) -> str:
        raise KeyError("inner secret")

    with caplog.at_level(logging.ERROR):
        ended = runner.wait(runner.start("c1", "gather", [step("read", run)]).id, SECONDS)
    assert ended.state is JobState.FAILED
    assert ended.steps[0].error == "Something unexpected went wrong in “Read”; the details are in the log."
    assert "inner secret" not in ended.model_dump_json()
    assert "inner secret" in caplog.text


def test_an_error_in_looking_whether_a_step_is_done_fails_that_step(runner: ThreadJobRunner) -> None:
    def broken() -> str | None:
        raise EngineError("Cannot tell.")

    ended = runner.wait(runner.start("c1", "gather", [Step("read", "Read", lambda _: "", broken)]).id, SECONDS)
    assert (ended.state, ended.steps[0].error) == (JobState.FAILED, "Cannot tell.")


def test_a_count_that_cannot_be_saved_does_not_fail_the_step(
    runner: ThreadJobRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = JobTable.save

    def busy_for_counts(table: JobTable, record: JobRecord) -> bool:
        if record.steps[0].total:
            monkeypatch.setattr(JobTable, "save", original)
            raise StoreBusyError("Locked.")
        return original(table, record)

    def run(progress: Progress) -> str:
        time.sleep(0.25)  # longer than between two saved counts
        progress.count(1, 2)
        return "read"

    monkeypatch.setattr(JobTable, "save", busy_for_counts)
    assert runner.wait(runner.start("c1", "gather", [step("read", run)]).id, SECONDS).state is JobState.DONE


def test_a_job_whose_end_cannot_be_saved_reads_interrupted_and_can_be_resumed(
    runner: ThreadJobRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(table: JobTable, record: JobRecord) -> bool:
        raise StoreFullError("Full.")

    def run(progress: Progress) -> str:
        monkeypatch.setattr(JobTable, "save", full)
        return "read"

    ended = runner.wait(runner.start("c1", "gather", [step("read", run)]).id, SECONDS)
    assert ended.state is JobState.INTERRUPTED
    monkeypatch.undo()
    assert runner.wait(runner.start("c1", "gather", [step("read")]).id, SECONDS).state is JobState.DONE


@pytest.mark.parametrize("other_work", [0.0, 1.0])
def test_a_job_that_fails_because_the_program_ends_is_interrupted(tmp_path: Path, other_work: float) -> None:
    url = f"sqlite:///{tmp_path / 'cases.sqlite'}"
    script = f"""
import threading, time
from concurrent.futures import ThreadPoolExecutor
from crowdnotes.jobs import Step, ThreadJobRunner
from crowdnotes.storage.database import open_database

begun = threading.Event()
ThreadPoolExecutor(1).submit(time.sleep, {other_work})  # which the end of the program waits for

def work(progress):
    begun.set()
    while True:  # until it is refused
        ThreadPoolExecutor(1).submit(str).result()

ThreadJobRunner(open_database({url!r})).start("c1", "gather", [Step("read", "Read", work, lambda: None)])
begun.wait()
"""
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, timeout=60)
    database = open_database(url)
    ended = ThreadJobRunner(database).latest("c1")
    database.dispose()
    assert ended is not None
    assert ended.state is JobState.INTERRUPTED
