from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest
from sqlalchemy import Engine, delete

from crowdnotes.errors import JobCancelled, JobError
from crowdnotes.jobs.records import JobState, Progress, StepState
from crowdnotes.jobs.runner import ThreadJobRunner
from crowdnotes.storage.database import writing
from crowdnotes.storage.tables import jobs
from tests.jobs.steps import SECONDS, Blocker, states, step


def test_a_running_step_stops_at_its_next_look_and_earlier_ones_stay_done(runner: ThreadJobRunner) -> None:
    block = Blocker()
    job = runner.start("c1", "gather", [step("search"), step("read", block), step("choose")])
    assert block.started.wait(SECONDS)
    runner.cancel(job.id)
    ended = runner.wait(job.id, SECONDS)
    assert (ended.state, states(ended)) == (
        JobState.CANCELLED,
        [StepState.DONE, StepState.CANCELLED, StepState.WAITING],
    )


def test_cancel_from_another_process_is_heard(
    runner: ThreadJobRunner, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crowdnotes.jobs.runner.HEARTBEAT_SECONDS", 0.05)
    job = runner.start("c1", "gather", [step("read", Blocker())])
    ThreadJobRunner(engine).cancel(job.id)
    assert runner.wait(job.id, SECONDS).state is JobState.CANCELLED


def test_a_queued_job_can_be_cancelled_before_it_starts(runner: ThreadJobRunner) -> None:
    blocks = [Blocker(), Blocker(), Blocker()]
    ids = [runner.start(f"c{i}", "gather", [step("read", block)]).id for i, block in enumerate(blocks)]
    assert blocks[0].started.wait(SECONDS)
    assert blocks[1].started.wait(SECONDS)
    runner.cancel(ids[2])
    assert runner.get(ids[2]).state is JobState.CANCELLED
    assert not blocks[2].started.is_set()
    assert runner.get(ids[0]).state is JobState.RUNNING


def test_cancelling_a_job_that_has_ended_changes_nothing(runner: ThreadJobRunner) -> None:
    ended = runner.wait(runner.start("c1", "gather", [step("read")]).id, SECONDS)
    runner.cancel(ended.id)
    assert runner.get(ended.id) == ended


def test_a_queued_job_runs_when_a_worker_is_free(runner: ThreadJobRunner) -> None:
    blocks = [Blocker() for _ in range(5)]
    ids = [runner.start(f"c{i}", "gather", [step("read", block)]).id for i, block in enumerate(blocks)]
    for block in blocks:
        block.released.set()
    assert {runner.wait(job_id, SECONDS).state for job_id in ids} == {JobState.DONE}


def test_a_case_has_one_job_at_a_time_whoever_asks(runner: ThreadJobRunner, engine: Engine) -> None:
    block = Blocker()
    job = runner.start("c1", "gather", [step("read", block)])
    for other in (runner, ThreadJobRunner(engine)):
        with pytest.raises(JobError, match="under way"):
            other.start("c1", "write", [step("write")])
    runner.start("c2", "gather", [step("read")])
    block.released.set()
    runner.wait(job.id, SECONDS)
    assert runner.wait(runner.start("c1", "write", [step("write")]).id, SECONDS).state is JobState.DONE


def test_of_many_that_start_at_once_on_a_case_one_wins(engine: Engine) -> None:
    runners = [ThreadJobRunner(engine) for _ in range(8)]
    barrier = threading.Barrier(8)
    block = Blocker()
    outcomes: list[str] = []

    def start(runner: ThreadJobRunner) -> None:
        barrier.wait()
        try:
            runner.start("c1", "gather", [step("read", block)])
            outcomes.append("won")
        except JobError:
            outcomes.append("refused")

    threads = [threading.Thread(target=start, args=(runner,)) for runner in runners]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for runner in runners:
        runner.close()
    assert sorted(outcomes) == ["refused"] * 7 + ["won"]


def test_twenty_cases_at_once_do_not_mix_up(engine: Engine) -> None:
    runner = ThreadJobRunner(engine, workers=4)

    def run(case_id: str) -> Callable[[Progress], str]:
        def work(progress: Progress) -> str:
            progress.count(1, 1, case_id)
            return case_id

        return work

    started = {f"c{i}": runner.start(f"c{i}", "gather", [step("a", run(f"c{i}")), step("b")]) for i in range(20)}
    for case_id, job in started.items():
        ended = runner.wait(job.id, SECONDS)
        assert (ended.state, ended.case_id, ended.steps[0].summary) == (JobState.DONE, case_id, case_id)
        assert runner.latest(case_id) == ended
    runner.close()


def test_closing_interrupts_what_runs_and_what_waits(engine: Engine) -> None:
    runner = ThreadJobRunner(engine, workers=1)
    block = Blocker()
    running = runner.start("c1", "gather", [step("read", block)])
    queued = runner.start("c2", "gather", [step("read")])
    assert block.started.wait(SECONDS)
    runner.close()
    runner.close()
    assert [runner.get(job.id).state for job in (running, queued)] == [JobState.INTERRUPTED] * 2
    with pytest.raises(JobError, match="closing"):
        runner.start("c3", "gather", [step("read")])


def test_threads_end_with_the_work(runner: ThreadJobRunner) -> None:
    runner.wait(runner.start("c1", "gather", [step("read")]).id, SECONDS)
    deadline = time.monotonic() + SECONDS
    while any(thread.name.startswith("job ") for thread in threading.enumerate()):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_waiting_ends_with_the_timeout(runner: ThreadJobRunner) -> None:
    job = runner.start("c1", "gather", [step("read", Blocker())])
    assert runner.wait(job.id, 0.05).state.under_way


def test_a_job_whose_case_was_deleted_stops(
    runner: ThreadJobRunner, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crowdnotes.jobs.runner.HEARTBEAT_SECONDS", 0.05)
    block, stopped = Blocker(), threading.Event()

    def run(progress: Progress) -> str:
        try:
            return block(progress)
        except JobCancelled:
            stopped.set()
            raise

    runner.start("c1", "gather", [step("read", run)])
    assert block.started.wait(SECONDS)
    with writing(engine) as connection:
        connection.execute(delete(jobs))
    assert stopped.wait(SECONDS)
