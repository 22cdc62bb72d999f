"""A step hears once that its job has ended, however it did."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

import pytest
from sqlalchemy import Engine

from crowdnotes.errors import EngineError, StoreFullError
from crowdnotes.jobs.records import JobRecord, JobState, Progress, Step
from crowdnotes.jobs.runner import ThreadJobRunner
from crowdnotes.jobs.table import JobTable
from tests.jobs.steps import SECONDS, Blocker, step


class _Heard:
    """What the steps heard, in order; `of` makes a step that listens."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def of(self, name: str, run: Callable[[Progress], str] | None = None, finished: str | None = None) -> Step:
        return replace(step(name, run, finished), ended=lambda: self.names.append(name))


@pytest.fixture
def heard() -> _Heard:
    return _Heard()


def _broken(progress: Progress) -> str:
    raise EngineError("No answer.")


def _fallen(progress: Progress) -> str:
    raise ValueError("Fell over.")


@pytest.mark.parametrize(
    ("run", "state"), [(None, JobState.DONE), (_broken, JobState.FAILED), (_fallen, JobState.FAILED)]
)
def test_every_step_hears_the_end_once_whether_it_was_come_to_or_not(
    runner: ThreadJobRunner, heard: _Heard, run: Callable[[Progress], str] | None, state: JobState
) -> None:
    steps = [heard.of("kept", finished="before"), heard.of("read", run), heard.of("choose")]
    assert runner.wait(runner.start("c1", "gather", steps).id, SECONDS).state is state
    assert heard.names == ["kept", "read", "choose"]


def test_the_end_is_heard_after_the_last_step(runner: ThreadJobRunner, heard: _Heard) -> None:
    so_far: list[list[str]] = []

    def last(progress: Progress) -> str:
        so_far.append(list(heard.names))
        return "chosen"

    runner.wait(runner.start("c1", "gather", [heard.of("read"), heard.of("choose", last)]).id, SECONDS)
    assert so_far == [[]]


def test_it_is_heard_when_it_cannot_be_told_whether_a_step_is_done(runner: ThreadJobRunner, heard: _Heard) -> None:
    def unknown() -> str | None:
        raise EngineError("Cannot tell.")

    steps = [heard.of("search"), replace(heard.of("read"), finished=unknown)]
    assert runner.wait(runner.start("c1", "gather", steps).id, SECONDS).state is JobState.FAILED
    assert heard.names == ["search", "read"]


def test_it_is_heard_when_the_job_is_cancelled_between_two_steps(runner: ThreadJobRunner, heard: _Heard) -> None:
    def cancelled_at_its_end(progress: Progress) -> str:
        job = runner.latest("c1")
        assert job is not None
        runner.cancel(job.id)
        return "searched"

    steps = [heard.of("search", cancelled_at_its_end), heard.of("read")]
    assert runner.wait(runner.start("c1", "gather", steps).id, SECONDS).state is JobState.CANCELLED
    assert heard.names == ["search", "read"]


def test_it_is_heard_when_the_job_is_cancelled_in_the_line(runner: ThreadJobRunner, heard: _Heard) -> None:
    blocks = [Blocker(), Blocker()]
    for number, block in enumerate(blocks):
        runner.start(f"busy {number}", "gather", [step("read", block)])
        assert block.started.wait(SECONDS)
    job = runner.start("c1", "gather", [heard.of("read")])
    runner.cancel(job.id)
    assert heard.names == ["read"]


def test_it_is_heard_when_the_program_closes(engine: Engine, heard: _Heard) -> None:
    runner, block = ThreadJobRunner(engine), Blocker()
    job = runner.start("c1", "gather", [heard.of("read", block), heard.of("choose")])
    assert block.started.wait(SECONDS)
    runner.close()
    assert runner.get(job.id).state is JobState.INTERRUPTED
    assert heard.names == ["read", "choose"]


def test_it_is_heard_when_nothing_can_be_saved_any_more(
    runner: ThreadJobRunner, heard: _Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(table: JobTable, record: JobRecord) -> bool:
        raise StoreFullError("Full.")

    def fills(progress: Progress) -> str:
        monkeypatch.setattr(JobTable, "save", full)
        return "searched"

    steps = [heard.of("search", fills), heard.of("read")]
    assert runner.wait(runner.start("c1", "gather", steps).id, SECONDS).state is JobState.INTERRUPTED
    assert heard.names == ["search", "read"]


def test_a_step_that_cannot_hear_it_is_logged_and_keeps_no_other_from_it(
    runner: ThreadJobRunner, heard: _Heard, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> None:
        raise OSError("Cannot stop.")

    steps = [replace(step("search"), ended=broken), heard.of("read")]
    with caplog.at_level(logging.ERROR):
        assert runner.wait(runner.start("c1", "gather", steps).id, SECONDS).state is JobState.DONE
    assert heard.names == ["read"]
    assert "could not be told that its job ended: search" in caplog.text
