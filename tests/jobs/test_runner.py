"""Jobs: steps on worker threads, on record, stopped, resumed, and known as dead when their program is."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import Engine, delete, event, select, update

from crowdnotes.domain import PROGRAM, Outcome, StageOutcome
from crowdnotes.errors import EngineError, JobCancelled, JobError, StoreBusyError, StoreFullError
from crowdnotes.jobs.records import (
    JobRecord,
    JobState,
    JobTable,
    Progress,
    Step,
    StepState,
    plain_step,
    this_process,
    with_time_left,
)
from crowdnotes.jobs.runner import JobRunner
from crowdnotes.storage.database import open_database, reading, writing
from crowdnotes.storage.tables import jobs
from tests.fakes import FixedClock
from tests.shared import PATIENCE, HeldTime


@pytest.fixture
def runner(engine: Engine) -> Iterator[JobRunner]:
    runner = JobRunner(engine, workers=2, clock=FixedClock())
    yield runner
    runner.close()


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> HeldTime:
    """The clock by which a running job saves its counts."""
    held = HeldTime()
    monkeypatch.setattr("crowdnotes.jobs.runner.time", held)
    return held


def step(name: str, run: Callable[[Progress], str] | None = None, finished: str | None = None) -> Step:
    made = plain_step(name, name.title(), run or (lambda _: f"{name} summary"))
    return made if finished is None else replace(made, finished=lambda: StageOutcome(summary=finished))


class Blocker:
    """A step's work that goes on until it is released or told to stop."""

    def __init__(self) -> None:
        self.started = threading.Event()
        self.released = threading.Event()

    def __call__(self, progress: Progress) -> str:
        self.started.set()
        while not self.released.wait(0.01):
            progress.check()
        return "released"


def states(record: JobRecord) -> list[StepState]:
    return [item.state for item in record.steps]


def test_steps_run_in_order_on_another_thread(runner: JobRunner) -> None:
    seen: list[tuple[str, bool]] = []

    def work(name: str) -> Callable[[Progress], str]:
        def run(progress: Progress) -> str:
            seen.append((name, threading.current_thread() is threading.main_thread()))
            return f"{name} done"

        return run

    started = runner.start("c1", "gather", [step("search", work("search")), step("read", work("read"))])
    ended = runner.wait(started.id, PATIENCE)
    assert seen == [("search", False), ("read", False)]
    assert (ended.state, states(ended)) == (JobState.DONE, [StepState.DONE, StepState.DONE])
    assert [item.summary for item in ended.steps] == ["search done", "read done"]
    assert (ended.kind, ended.case_id, ended.current) == ("gather", "c1", None)
    assert runner.get(started.id) == runner.latest("c1") == ended


def test_a_started_job_is_on_record_at_once(runner: JobRunner) -> None:
    started = runner.start("c1", "gather", [step("search", Blocker())])
    assert runner.latest("c1") is not None
    assert (started.state, [item.title for item in started.steps]) == (JobState.QUEUED, ["Search"])


def test_a_case_without_jobs_has_no_latest_and_an_unknown_job_is_an_error(runner: JobRunner) -> None:
    assert runner.latest("c1") is None
    assert runner.latest("\ud800\x00") is None
    with pytest.raises(JobError, match="work is gone"):
        runner.get("nope")


def test_progress_is_seen_from_another_runner_while_the_step_runs(
    runner: JobRunner, engine: Engine, held: HeldTime
) -> None:
    block = Blocker()

    def run(progress: Progress) -> str:
        held.now += 0.25  # longer than between two saved counts
        progress.count(3, 8, "reading \x00 \ud800 page")
        return block(progress)

    job = runner.start("c1", "gather", [step("read", run)])
    assert block.started.wait(PATIENCE)
    seen = JobTable(engine).get(job.id)
    assert seen.state is JobState.RUNNING
    assert seen.current is not None
    assert (seen.current.done, seen.current.total, seen.current.note) == (3, 8, "reading \ufffd \ufffd page")


def test_many_counts_make_few_writes(runner: JobRunner, held: HeldTime, monkeypatch: pytest.MonkeyPatch) -> None:
    saves: list[int] = []
    original = JobTable.save

    def save(table: JobTable, record: JobRecord) -> bool:
        saves.append(record.steps[0].done)
        return original(table, record)

    monkeypatch.setattr(JobTable, "save", save)

    def run(progress: Progress) -> str:
        for done in range(500):
            held.now += 0.001
            progress.count(done, 500)
        return "read"

    ended = runner.wait(runner.start("c1", "gather", [step("read", run)]).id, PATIENCE)
    assert len(saves) == 5  # the start, two in half a second, the end of the step, the end of the job
    assert (ended.steps[0].done, ended.steps[0].total) == (499, 500)


def test_a_finished_step_is_kept_and_not_done_again(runner: JobRunner) -> None:
    def never(progress: Progress) -> str:
        raise AssertionError

    steps = [step("search", never, finished="8 found"), step("read")]
    ended = runner.wait(runner.start("c1", "gather", steps).id, PATIENCE)
    assert (ended.state, states(ended)) == (JobState.DONE, [StepState.KEPT, StepState.DONE])
    assert ended.steps[0].summary == "8 found"


def test_a_failed_step_is_explained_and_a_retry_goes_on_from_there(runner: JobRunner) -> None:
    saved: dict[str, str] = {}
    answers: Iterator[Exception | None] = iter([EngineError("The server said no.", "Try later."), None])

    def save(name: str) -> Callable[[Progress], str]:
        def run(progress: Progress) -> str:
            if name == "read" and (problem := next(answers)):
                raise problem
            saved[name] = f"{name} done"
            return saved[name]

        return run

    def done(name: str) -> StageOutcome | None:
        return StageOutcome(summary=saved[name]) if name in saved else None

    names = ("search", "read", "choose")
    steps = [replace(plain_step(name, name, save(name)), finished=partial(done, name)) for name in names]
    failed = runner.wait(runner.start("c1", "gather", steps).id, PATIENCE)
    assert (failed.state, states(failed)) == (
        JobState.FAILED,
        [StepState.DONE, StepState.FAILED, StepState.WAITING],
    )
    assert failed.current is not None
    assert (failed.current.error, failed.current.next_step) == ("The server said no.", "Try later.")
    retried = runner.wait(runner.start("c1", "gather", steps).id, PATIENCE)
    assert (retried.state, states(retried)) == (JobState.DONE, [StepState.KEPT, StepState.DONE, StepState.DONE])


def test_a_step_that_ended_without_its_work_says_so(runner: JobRunner) -> None:
    unable = replace(step("vote"), run=lambda _: StageOutcome.not_run("there is no note."))
    needless = replace(step("read"), finished=lambda: StageOutcome.not_needed("There is no page"))
    ended = runner.wait(runner.start("c1", "assess", [step("write"), unable, needless]).id, PATIENCE)
    assert [(item.state, item.outcome, item.summary) for item in ended.steps] == [
        (StepState.DONE, Outcome.DONE, "write summary"),
        (StepState.DONE, Outcome.NOT_RUN, "NOT RUN: there is no note."),
        (StepState.KEPT, Outcome.NOT_NEEDED, "There is no page"),
    ]


def test_work_that_was_done_before_is_kept_even_if_nothing_was_said_of_it(runner: JobRunner) -> None:
    ended = runner.wait(runner.start("c1", "gather", [step("read", finished="")]).id, PATIENCE)
    assert states(ended) == [StepState.KEPT]


def test_a_step_that_never_began_took_no_time(runner: JobRunner, held: HeldTime) -> None:
    def refuse(record: JobRecord) -> list[Step]:
        held.now += 60.0
        raise EngineError("No engine is set.")

    def look() -> StageOutcome | None:
        held.now += 60.0
        raise JobCancelled("Stop.")

    asked = runner.start_anywhere("c1", "gather", [step("read")], refuse, by=PROGRAM)
    runner.start("c2", "gather", [step("read"), replace(step("write"), finished=look)])
    ended = runner.wait(asked.id, PATIENCE)
    assert (ended.state, ended.steps[0].seconds) == (JobState.FAILED, 0.0)
    latest = runner.latest("c2")
    assert latest is not None
    stopped = runner.wait(latest.id, PATIENCE)
    assert (stopped.state, stopped.steps[1].seconds) == (JobState.CANCELLED, 0.0)


def test_an_unexpected_error_goes_to_the_log_and_not_to_the_user(
    runner: JobRunner, caplog: pytest.LogCaptureFixture
) -> None:
    def run(progress: Progress) -> str:
        raise KeyError("inner secret")

    with caplog.at_level(logging.ERROR):
        ended = runner.wait(runner.start("c1", "gather", [step("read", run)]).id, PATIENCE)
    assert ended.state is JobState.FAILED
    assert ended.steps[0].error == "Something went wrong in “Read”. The log has the details."
    assert "inner secret" not in ended.model_dump_json()
    assert "inner secret" in caplog.text


def test_an_error_in_looking_whether_a_step_is_done_fails_that_step(runner: JobRunner) -> None:
    def broken() -> StageOutcome | None:
        raise EngineError("Cannot tell.")

    ended = runner.wait(runner.start("c1", "gather", [replace(step("read"), finished=broken)]).id, PATIENCE)
    assert (ended.state, ended.steps[0].error) == (JobState.FAILED, "Cannot tell.")


def test_a_count_that_cannot_be_saved_does_not_fail_the_step(
    runner: JobRunner, held: HeldTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = JobTable.save

    def busy_for_counts(table: JobTable, record: JobRecord) -> bool:
        if record.steps[0].total:
            monkeypatch.setattr(JobTable, "save", original)
            raise StoreBusyError("Locked.")
        return original(table, record)

    def run(progress: Progress) -> str:
        held.now += 0.25  # longer than between two saved counts
        progress.count(1, 2)
        return "read"

    monkeypatch.setattr(JobTable, "save", busy_for_counts)
    assert runner.wait(runner.start("c1", "gather", [step("read", run)]).id, PATIENCE).state is JobState.DONE


def test_a_job_whose_end_cannot_be_saved_reads_interrupted_and_can_be_resumed(
    runner: JobRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(table: JobTable, record: JobRecord) -> bool:
        raise StoreFullError("Full.")

    def run(progress: Progress) -> str:
        monkeypatch.setattr(JobTable, "save", full)
        return "read"

    ended = runner.wait(runner.start("c1", "gather", [step("read", run)]).id, PATIENCE)
    assert ended.state is JobState.INTERRUPTED
    monkeypatch.undo()
    assert runner.wait(runner.start("c1", "gather", [step("read")]).id, PATIENCE).state is JobState.DONE


@pytest.mark.parametrize("other_work", [0.0, 1.0])
def test_a_job_that_fails_because_the_program_ends_is_interrupted(tmp_path: Path, other_work: float) -> None:
    url = f"sqlite:///{tmp_path / 'cases.sqlite'}"
    script = f"""
import threading, time
from concurrent.futures import ThreadPoolExecutor
from crowdnotes.jobs import plain_step, JobRunner
from crowdnotes.storage.database import open_database

begun = threading.Event()
ThreadPoolExecutor(1).submit(time.sleep, {other_work})  # which the end of the program waits for

def work(progress):
    begun.set()
    while True:  # until it is refused
        ThreadPoolExecutor(1).submit(str).result()

JobRunner(open_database({url!r})).start("c1", "gather", [plain_step("read", "Read", work)])
begun.wait()
"""
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, timeout=PATIENCE)
    database = open_database(url)
    ended = JobRunner(database).latest("c1")
    database.dispose()
    assert ended is not None
    assert ended.state is JobState.INTERRUPTED


def test_a_running_step_stops_at_its_next_look_and_earlier_ones_stay_done(runner: JobRunner) -> None:
    block = Blocker()
    job = runner.start("c1", "gather", [step("search"), step("read", block), step("choose")])
    assert block.started.wait(PATIENCE)
    runner.cancel(job.id)
    ended = runner.wait(job.id, PATIENCE)
    assert (ended.state, states(ended)) == (
        JobState.CANCELLED,
        [StepState.DONE, StepState.CANCELLED, StepState.WAITING],
    )


def test_cancel_from_another_process_is_heard(
    runner: JobRunner, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crowdnotes.jobs.runner.HEARTBEAT_SECONDS", 0.05)
    job = runner.start("c1", "gather", [step("read", Blocker())])
    JobRunner(engine).cancel(job.id)
    assert runner.wait(job.id, PATIENCE).state is JobState.CANCELLED


def test_a_queued_job_can_be_cancelled_before_it_starts(runner: JobRunner) -> None:
    blocks = [Blocker(), Blocker(), Blocker()]
    ids = [runner.start(f"c{i}", "gather", [step("read", block)]).id for i, block in enumerate(blocks)]
    assert blocks[0].started.wait(PATIENCE)
    assert blocks[1].started.wait(PATIENCE)
    runner.cancel(ids[2])
    assert runner.get(ids[2]).state is JobState.CANCELLED
    assert not blocks[2].started.is_set()
    assert runner.get(ids[0]).state is JobState.RUNNING


def test_cancelling_a_job_that_has_ended_changes_nothing(runner: JobRunner) -> None:
    ended = runner.wait(runner.start("c1", "gather", [step("read")]).id, PATIENCE)
    runner.cancel(ended.id)
    assert runner.get(ended.id) == ended


def test_a_case_has_one_job_at_a_time_whoever_asks(runner: JobRunner, engine: Engine) -> None:
    block = Blocker()
    job = runner.start("c1", "gather", [step("read", block)])
    for other in (runner, JobRunner(engine)):
        with pytest.raises(JobError, match="already working on this case"):
            other.start("c1", "write", [step("write")])
    runner.start("c2", "gather", [step("read")])
    block.released.set()
    runner.wait(job.id, PATIENCE)
    assert runner.wait(runner.start("c1", "write", [step("write")]).id, PATIENCE).state is JobState.DONE


def test_the_newest_job_is_known_though_its_machine_is_an_hour_behind(engine: Engine) -> None:
    now = datetime(2026, 1, 1, 12, tzinfo=UTC)
    for kind, at in (("gather", now), ("write", now - timedelta(hours=1))):
        runner = JobRunner(engine, clock=FixedClock(at))
        runner.wait(runner.start("c1", kind, [step("read")]).id, PATIENCE)
        newest = runner.latest("c1")
        assert newest is not None
        assert newest.kind == kind
        runner.close()


def test_one_query_tells_which_cases_are_worked_on(runner: JobRunner, engine: Engine) -> None:
    block = Blocker()
    runner.wait(runner.start("ended", "gather", [step("read")]).id, PATIENCE)
    job = runner.start("at work", "gather", [step("read", block)])
    dead = JobTable(engine).add(job.replace(id="dead", case_id="dead"))
    assert dead.state.under_way
    asked: list[tuple[int, str]] = []
    event.listen(engine, "before_cursor_execute", lambda *args: asked.append((threading.get_ident(), args[2])))
    assert runner.at_work(["ended", "at work", "dead", "no case"]) == {"at work"}
    mine = [words for thread, words in asked if thread == threading.get_ident()]  # and not the heartbeat's
    assert len([words for words in mine if words.startswith("SELECT")]) == 1
    block.released.set()


def test_of_many_that_start_at_once_on_a_case_one_wins(engine: Engine) -> None:
    runners = [JobRunner(engine) for _ in range(8)]
    barrier = threading.Barrier(8)
    block = Blocker()
    outcomes: list[str] = []

    def start(runner: JobRunner) -> None:
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
    runner = JobRunner(engine, workers=4)

    def run(case_id: str) -> Callable[[Progress], str]:
        def work(progress: Progress) -> str:
            progress.count(1, 1, case_id)
            return case_id

        return work

    started = {f"c{i}": runner.start(f"c{i}", "gather", [step("a", run(f"c{i}")), step("b")]) for i in range(20)}
    for case_id, job in started.items():
        ended = runner.wait(job.id, PATIENCE)
        assert (ended.state, ended.case_id, ended.steps[0].summary) == (JobState.DONE, case_id, case_id)
        assert runner.latest(case_id) == ended
    runner.close()


def test_closing_interrupts_what_runs_and_what_waits(engine: Engine) -> None:
    runner = JobRunner(engine, workers=1)
    block = Blocker()
    running = runner.start("c1", "gather", [step("read", block)])
    queued = runner.start("c2", "gather", [step("read")])
    assert block.started.wait(PATIENCE)
    runner.close()
    runner.close()
    assert [runner.get(job.id).state for job in (running, queued)] == [JobState.INTERRUPTED] * 2
    with pytest.raises(JobError, match="closing"):
        runner.start("c3", "gather", [step("read")])


def test_a_job_whose_case_was_deleted_stops(runner: JobRunner, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crowdnotes.jobs.runner.HEARTBEAT_SECONDS", 0.05)
    block, stopped = Blocker(), threading.Event()

    def run(progress: Progress) -> str:
        try:
            return block(progress)
        except JobCancelled:
            stopped.set()
            raise

    runner.start("c1", "gather", [step("read", run)])
    assert block.started.wait(PATIENCE)
    with writing(engine) as connection:
        connection.execute(delete(jobs))
    assert stopped.wait(PATIENCE)


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


ALIVE, SILENT = 4e9, 0.0  # heartbeats in 2096 and in 1970: no clock of the machine comes between


def _mine(pid: int) -> str:
    host, _, _ = this_process().rsplit(":", 2)
    return f"{host}:{pid}:another"


@pytest.mark.parametrize(
    ("owner", "heartbeat", "state"),
    [
        ("other-machine:12:aa", ALIVE, JobState.RUNNING),
        ("other-machine:12:aa", SILENT, JobState.INTERRUPTED),
        ("machine:with:colons:12:aa", SILENT, JobState.INTERRUPTED),
        (_mine(2**22 + 7), ALIVE, JobState.INTERRUPTED),  # no such process
        (_mine(1), ALIVE, JobState.RUNNING),
        (_mine(1), SILENT, JobState.INTERRUPTED),
    ],
)
def test_a_job_reads_interrupted_when_its_owner_cannot_be_at_work(
    engine: Engine, owner: str, heartbeat: float, state: JobState
) -> None:
    orphan(engine, owner, heartbeat)
    seen = JobTable(engine).latest("c1")
    assert seen is not None
    assert seen.state is state


def test_a_restarted_process_with_the_same_number_is_another_owner(engine: Engine) -> None:
    host, pid, _ = this_process().rsplit(":", 2)
    orphan(engine, f"{host}:{pid}:earlier", ALIVE)
    assert JobTable(engine).get("old").state is JobState.INTERRUPTED


def test_a_job_that_ends_while_it_is_looked_at_is_never_taken_for_interrupted(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = JobTable(engine)
    record = orphan(engine, this_process(), ALIVE)

    class EndsMeanwhile(set[str]):
        def __contains__(self, job_id: object) -> bool:
            """Asked once the row was read: the job's thread saves its end, and only then is gone."""
            table.save(record.replace(state=JobState.DONE))
            return False

    monkeypatch.setattr("crowdnotes.jobs.records.running_here", EndsMeanwhile())
    assert table.get("old").state is JobState.DONE


def test_an_interrupted_job_gives_way_to_a_new_one_and_stays_on_record(runner: JobRunner, engine: Engine) -> None:
    abandoned = orphan(engine, "other-machine:12:aa", SILENT)
    assert runner.wait(runner.start("c1", "gather", [step("read")]).id, PATIENCE).state is JobState.DONE
    assert runner.get("old").state is JobState.INTERRUPTED
    assert JobTable(engine).save(abandoned) is False
    with reading(engine) as connection:
        assert connection.scalar(select(jobs.c.under_way).where(jobs.c.id == "old")) is False


def test_a_job_that_another_version_recorded_hinders_nothing(engine: Engine, runner: JobRunner) -> None:
    record = runner.start("c1", "gather", [step("read")])
    runner.wait(record.id, timeout=PATIENCE)
    with writing(engine) as connection:
        connection.execute(update(jobs).values(under_way=True, owner="gone:1:aa", heartbeat=0, document='{"mood": 1}'))
    assert runner.latest("c1") is None
    with pytest.raises(JobError, match="Another version"):
        runner.get(record.id)
    assert runner.wait(runner.start("c1", "gather", [step("read")]).id, timeout=PATIENCE).state is JobState.DONE


def test_a_count_says_how_long_the_rest_takes_at_the_pace_so_far() -> None:
    said, times = list[str](), iter((0.0, 30.0, 100.0, 119.0, 120.0))

    class Told:
        def count(self, done: int, total: int, note: str = "") -> None:
            said.append(note)

        def check(self) -> None: ...

    count = with_time_left(Told(), "medquad", lambda: next(times))
    for done in (0, 100, 500, 900, 1000):
        count(done, 1000)
    assert said == [
        "medquad",
        "medquad · about 4 minutes left",
        "medquad · about 2 minutes left",
        "medquad · about 1 minute left",
        "medquad",
    ]
