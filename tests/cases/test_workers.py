"""Work on PostgreSQL, done by workers of other processes: it goes on where one that died stopped."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from unittest.mock import MagicMock

import pytest
from sqlalchemy import Engine, text

from crowdnotes.batches import Batch
from crowdnotes.cases import intake
from crowdnotes.cases.pipeline import JOBS, Job
from crowdnotes.cases.stages import StageRunner
from crowdnotes.domain import Mode
from crowdnotes.errors import ConfigurationError, DatabaseNotReadyError, JobError
from crowdnotes.jobs import JobState, Progress, Step, plain_step, queue
from crowdnotes.jobs.queue import QueueWorker
from crowdnotes.jobs.records import JobRecord, this_process
from crowdnotes.storage.database import clock_of, open_database, reading, require_newest, writing
from crowdnotes.workspace import Workspace, system_clock
from tests.cases.walk import TOPICS, make_library, post_about
from tests.llm_server import Body, LLMServer, Say, honest
from tests.shared import PATIENCE, HeldTime, until
from tests.worker_process import opened, workers

pytestmark = pytest.mark.postgres
SECOND = timedelta(seconds=1)
STAGES = ("queries", "search", "read", "passages")


@pytest.fixture
def shared(tmp_path: Path, postgres_tables_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    """A workspace on PostgreSQL, in which nobody works yet."""
    monkeypatch.setenv("CROWDNOTES_DATABASE_URL", postgres_tables_url)
    with opened(tmp_path, postgres_tables_url) as workspace:
        workspace.libraries.add(make_library(tmp_path), "topics")
        yield workspace
    workspace.runner.engine.dispose()


class Working:
    """A worker on a thread of its own."""

    def __init__(self, worker: QueueWorker) -> None:
        self.worker = worker
        self.error: Exception | None = None
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.worker.run()
        except Exception as error:  # noqa: BLE001 - the test tells of it
            self.error = error

    def ended(self) -> bool:
        return not self._thread.is_alive()

    def stop(self) -> None:
        self.worker.stop()
        self._thread.join(PATIENCE)
        assert self.ended()


@pytest.fixture
def working(shared: Workspace) -> Iterator[Working]:
    """A worker for that workspace."""
    there = Working(shared.worker(slots=2))
    yield there
    there.stop()


def _begun(workspace: Workspace) -> JobRecord:
    case = intake.create_case(workspace.cases, post_about("kettle"), mode=Mode.AUTOMATION, libraries=["topics"])
    return workspace.start(case.id, "gather")


def test_a_job_waits_for_a_worker_which_does_it_as_whoever_asked(shared: Workspace) -> None:
    job = _begun(shared)
    assert (job.state, job.owner, shared.runner.has_workers()) == (JobState.QUEUED, "", False)
    with pytest.raises(JobError, match="already working on this case"):
        shared.start(job.case_id, "gather")
    there = Working(shared.worker(slots=2, kinds=["gather"]))
    ended = shared.runner.wait(job.id, PATIENCE)
    assert shared.runner.has_workers()
    there.stop()
    assert (ended.state, ended.fence, ended.by_key) == (JobState.DONE, 1, shared.actor.key)
    case = shared.cases.get(job.case_id)
    assert case.evidence
    assert {stage.job for stage in case.stages} == {job.id}


def test_what_is_on_record_is_by_the_clock_of_the_database(shared: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    class HourBehind(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> HourBehind:
            return super().now(tz) - timedelta(hours=1)

    held, real = HeldTime(), datetime.now(UTC)
    monkeypatch.setattr("crowdnotes.storage.database.time", held)
    with monkeypatch.context() as behind:
        behind.setattr("crowdnotes.storage.database.datetime", HourBehind)
        clock = clock_of(shared.runner.engine)
        assert real - SECOND < clock() < datetime.now(UTC) + SECOND
    assert clock() - real > timedelta(minutes=59)  # until it asks again
    held.now += 3_600.0
    assert real - SECOND < clock() < datetime.now(UTC) + SECOND
    assert shared.stage_context.clock is not system_clock


class Blocker:
    """A stage that goes on until it is told to stop or released."""

    def __init__(self) -> None:
        self.begun, self.released = threading.Semaphore(0), threading.Event()

    def steps(self, stages: StageRunner, case_id: str) -> list[Step]:
        def run(progress: Progress) -> str:
            self.begun.release()
            progress.count(1, 3, "the first")
            while not self.released.wait(0.02):
                progress.check()
            return intake.edit_post(stages.cases, case_id, "Saved behind the fence.").post.text

        return [plain_step("block", "Block", run)]


@pytest.fixture
def block(monkeypatch: pytest.MonkeyPatch) -> Blocker:
    """As the kind of work "links"."""
    blocker = Blocker()
    monkeypatch.setitem(JOBS, "links", Job("Blocking", "Decide", blocker.steps))
    return blocker


def test_progress_and_cancel_cross_processes(shared: Workspace, working: Working, block: Blocker) -> None:
    case = intake.create_case(shared.cases, post_about("kettle"), mode=Mode.AUTOMATION, libraries=["topics"])
    job = shared.start(case.id, "links")
    assert block.begun.acquire(timeout=PATIENCE)
    until(lambda: shared.runner.get(job.id).steps[0].state == "running")
    shared.cancel(shared.runner.get(job.id))
    assert shared.runner.wait(job.id, PATIENCE).state is JobState.CANCELLED


def test_what_waits_is_cancelled_at_once(shared: Workspace) -> None:
    job = _begun(shared)
    shared.cancel(job)
    assert shared.runner.get(job.id).state is JobState.CANCELLED
    with reading(shared.runner.engine) as connection:
        assert connection.scalar(text("SELECT count(*) FROM procrastinate_jobs")) == 0


def test_a_worker_that_stops_gives_its_work_to_another(shared: Workspace, block: Blocker) -> None:
    case = intake.create_case(shared.cases, post_about("kettle"), mode=Mode.AUTOMATION, libraries=["topics"])
    first = Working(shared.worker(slots=1))
    job = shared.start(case.id, "links")
    assert block.begun.acquire(timeout=PATIENCE)
    first.stop()
    assert shared.runner.get(job.id).state is JobState.QUEUED
    block.released.set()
    second = Working(shared.worker(slots=1))
    ended = shared.runner.wait(job.id, PATIENCE)
    second.stop()
    assert (ended.state, ended.fence) == (JobState.DONE, 2)


def test_one_that_was_only_thought_dead_saves_nothing_and_the_job_is_not_lost(
    shared: Workspace, working: Working, block: Blocker
) -> None:
    case = intake.create_case(shared.cases, post_about("kettle"), mode=Mode.AUTOMATION, libraries=["topics"])
    job = shared.start(case.id, "links")
    assert block.begun.acquire(timeout=PATIENCE)
    with writing(shared.runner.engine) as connection:  # somebody else took it up
        connection.execute(text("UPDATE jobs SET fence = fence + 1"))
    block.released.set()
    # The first one's save is refused; Procrastinate thinks the job has ended; it is put into the queue again.
    ended = shared.runner.wait(job.id, PATIENCE)
    assert (ended.state, ended.fence) == (JobState.DONE, 3)
    assert [event.kind for event in shared.cases.get(case.id).events].count("post edited") <= 1


def test_a_worker_of_another_version_refuses(shared: Workspace, working: Working) -> None:
    until(shared.runner.has_workers)
    with writing(shared.runner.engine) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    job = _begun(shared)
    until(working.ended)
    assert isinstance(working.error, ConfigurationError)
    assert "newer version" in working.error.message
    assert shared.runner.get(job.id).state is JobState.QUEUED
    with pytest.raises(ConfigurationError, match="newer version"):
        shared.worker(slots=1).run()


def test_a_worker_waits_for_a_database_that_is_not_there_yet_and_for_its_tables(
    postgres_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    pauses: list[Callable[[], object]] = [lambda: None, lambda: open_database(postgres_database_url).dispose()]
    monkeypatch.setattr(queue, "time", MagicMock(sleep=lambda _: pauses.pop(0)()))
    queue.wait_for_tables(postgres_database_url, told.append)
    assert pauses == []
    assert len(told) == 1
    assert "no tables yet" in told[0]

    def give_up() -> None:
        raise InterruptedError

    pauses += [lambda: None, give_up]
    with pytest.raises(InterruptedError):
        queue.wait_for_tables("postgresql://ann:secret@127.0.0.1:1/none", told.append)
    assert len(told) == 2
    assert "cannot be reached" in told[1]
    assert "secret" not in told[1]


def test_a_worker_whose_database_does_not_answer_for_a_moment_goes_on(
    shared: Workspace, monkeypatch: pytest.MonkeyPatch, working: Working
) -> None:
    until(shared.runner.has_workers)
    answers: list[Exception] = [DatabaseNotReadyError("The database server cannot be reached.")]

    def look(engine: Engine) -> None:
        if answers:
            raise answers.pop()
        require_newest(engine)

    monkeypatch.setattr(queue, "require_newest", look)
    assert shared.runner.wait(_begun(shared).id, PATIENCE).state is JobState.DONE
    assert answers == []
    assert working.error is None


@pytest.mark.deep
def test_a_worker_that_dies_between_write_and_commit_leaves_nothing_and_another_does_it_once(
    shared: Workspace, tmp_path: Path, postgres_tables_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = _begun(shared)
    before = shared.cases.get(job.case_id)
    with workers(tmp_path, postgres_tables_url) as there:
        there.start("dying")
        until(lambda: shared.runner.get(job.id).fence == 1)
        until(lambda: not there.alive())
        there.running.clear()
        assert shared.cases.get(job.case_id) == before
        there.start()
        assert shared.runner.wait(job.id, PATIENCE).state is JobState.DONE
    done = Counter(event.kind for event in shared.cases.get(job.case_id).events if event.kind.startswith("stage "))
    assert set(done.values()) == {1}
    assert shared.runner.get(job.id).fence == 2


def _posts(folder: Path, n: int) -> Path:
    file = folder / "posts.jsonl"
    with file.open("w") as lines:
        for number in range(n):
            lines.write(json.dumps({"text": f"{post_about(TOPICS[number % len(TOPICS)])} ({number})"}) + "\n")
    return file


def _kill_often(shared: Workspace, folder: Path, url: str, *, kills: int, cases: int) -> None:
    """An app that runs a batch and two workers are killed at random moments, one in four only stopped for a while.

    That while is longer than a worker may be silent.
    """
    order, killed = random.Random(7), Counter[str]()
    batch = Batch(shared, _posts(folder, cases))
    with workers(folder, url) as there:
        for kind in ("app", "worker", "worker"):
            there.start(kind)
        for number in range(kills):
            time.sleep(order.uniform(0.2, 1.5))
            victim = order.choice([*there.running])
            if number % 4 == 3:
                os.kill(victim, signal.SIGSTOP)
                time.sleep(order.uniform(3.5, 5))
                os.kill(victim, signal.SIGCONT)
                time.sleep(order.uniform(0, 0.5))
            kind = there.kill(victim)
            killed[kind] += 1
            there.start(kind)
        left = batch.counts()[0]["waiting"]
        until(lambda: not {"waiting", "running"} & batch.counts()[0].keys())
        until(lambda: not there.orphans())
    assert batch.counts()[0] == {"done": cases}
    ids = {str(row["case_id"]) for row in batch.results()}
    assert len(ids) == shared.cases.count() == cases
    taken = 0
    for case_id in ids:
        done = Counter(event.kind for event in shared.cases.get(case_id).events if event.kind.startswith("stage "))
        assert done.keys() >= {f"stage {name}" for name in STAGES}
        assert set(done.values()) == {1}
        job = shared.runner.latest(case_id)
        assert job is not None
        taken += job.fence
    print(f"killed {dict(killed)}; {cases} cases, {left} waited at the last kill, taken up {taken} times")


@pytest.mark.deep
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kills", [6])
def test_killing_app_and_workers_loses_no_case_and_does_no_stage_twice(
    shared: Workspace, tmp_path: Path, postgres_tables_url: str, monkeypatch: pytest.MonkeyPatch, kills: int
) -> None:
    monkeypatch.setenv("CROWDNOTES_SEARCH_SERVICES", "[]")
    kills = int(os.environ.get("CROWDNOTES_KILLS", kills))
    _kill_often(shared, tmp_path, postgres_tables_url, kills=kills, cases=4 * kills)


@pytest.mark.deep
def test_two_workers_are_at_twice_as_many_posts_as_one_may_be(
    tmp_path: Path, postgres_tables_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    slots, may_answer = 2, threading.Event()

    def answer(body: Body) -> str:
        may_answer.wait(PATIENCE)
        return honest(body)

    server = LLMServer(answer)
    monkeypatch.setenv("CROWDNOTES_SEARCH_SERVICES", "[]")
    monkeypatch.setenv("CROWDNOTES_DATABASE_URL", postgres_tables_url)
    with server.running():
        monkeypatch.setenv("CROWDNOTES_LLM_BASE_URL", server.base_url)
        monkeypatch.setenv("CROWDNOTES_LLM_MODEL", "large")
        monkeypatch.setenv("CROWDNOTES_LLM_TIMEOUT_SECONDS", str(PATIENCE))
        with opened(tmp_path, postgres_tables_url) as workspace:
            workspace.libraries.add(make_library(tmp_path), "topics")
            batch = Batch(workspace, _posts(tmp_path, 4 * slots))
            with workers(tmp_path, postgres_tables_url, slots=slots) as there, ThreadPoolExecutor(1) as beside:
                there.start()
                running = beside.submit(batch.run, 4 * slots)
                try:
                    until(lambda: _at_work(workspace) == [slots])
                    there.start()
                    until(lambda: _at_work(workspace) == [slots, slots])
                finally:
                    may_answer.set()
                running.result(PATIENCE)
            assert batch.counts()[0] == {"done": 4 * slots}
        workspace.runner.engine.dispose()


def _at_work(workspace: Workspace) -> list[int]:
    """How many posts each worker is at."""
    query = text("SELECT count(*) FROM jobs WHERE under_way AND owner NOT IN ('', :me) GROUP BY owner")
    with reading(workspace.runner.engine) as connection:
        return [row[0] for row in connection.execute(query, {"me": this_process()})]


@pytest.mark.deep
@pytest.mark.skipif("CROWDNOTES_POSTS" not in os.environ, reason="A measurement for docs/running.md.")
@pytest.mark.timeout(7200)
def test_posts_a_second_of_one_worker_and_of_two(
    tmp_path: Path, postgres_tables_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    n, slots = int(os.environ["CROWDNOTES_POSTS"]), int(os.environ.get("CROWDNOTES_SLOTS", "4"))
    server = LLMServer(lambda body: Say(honest(body), wait=1.5))  # seconds: the wait is the server
    rates: list[float] = []
    monkeypatch.setenv("CROWDNOTES_SEARCH_SERVICES", "[]")
    monkeypatch.setenv("CROWDNOTES_DATABASE_URL", postgres_tables_url)
    with server.running():
        monkeypatch.setenv("CROWDNOTES_LLM_BASE_URL", server.base_url)
        monkeypatch.setenv("CROWDNOTES_LLM_MODEL", "large")
        with opened(tmp_path, postgres_tables_url) as workspace:
            workspace.libraries.add(make_library(tmp_path), "topics")
            for machines in (1, 2):
                folder = tmp_path / str(machines)
                folder.mkdir()
                posts = _posts(folder, n)
                posts.write_text(posts.read_text().replace("They never tell you", "Nobody tells you" * machines))
                rates.append(_rate(workspace, Batch(workspace, posts), tmp_path, postgres_tables_url, machines, slots))
        workspace.runner.engine.dispose()
    print(f"{n} posts: {rates[0]:.2f} and {rates[1]:.2f} a second, {rates[1] / rates[0]:.2f} times as many;", end=" ")
    print(f"{len(server.requests) / 2 / n:.1f} questions a post, at most {server.most_at_once} at once")


def _rate(workspace: Workspace, batch: Batch, folder: Path, url: str, machines: int, slots: int) -> float:
    """Posts a second, by so many workers."""
    with workers(folder, url, slots=slots) as there:
        with writing(workspace.runner.engine) as connection:
            connection.execute(text("DELETE FROM procrastinate_workers"))
        for _ in range(machines):
            there.start()
        until(lambda: _alive(workspace) == machines)
        begun, used = time.monotonic(), os.times()
        batch.run(4 * slots * machines)
        seconds, now = time.monotonic() - begun, os.times()
        counts = batch.counts()[0]
    done, own = counts.total(), (now.user + now.system - used.user - used.system) / seconds
    print(f"{machines}: {counts}, {seconds:.0f} s, this process {own:.2f} cores, load {os.getloadavg()[0]:.1f}")
    assert counts == {"done": done}
    return done / seconds


def _alive(workspace: Workspace) -> int:
    with reading(workspace.runner.engine) as connection:
        return connection.scalar(text("SELECT count(*) FROM procrastinate_workers")) or 0
