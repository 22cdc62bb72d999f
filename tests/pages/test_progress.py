"""Long work is shown by its steps; what ends it early is told, with the way on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from crowdnotes.cases import intake
from crowdnotes.cases.pipeline import JOBS
from crowdnotes.domain import Case, Mode, StageOutcome
from crowdnotes.errors import EngineError, JobError, StoreBusyError
from crowdnotes.jobs import JobRunner
from crowdnotes.jobs.records import JobRecord, JobState, Progress, Step, plain_step
from pages.common import progress
from tests.pages.conftest import POST, Desk, texts, unfolded
from tests.shared import PATIENCE


def step(run: Callable[[Progress], str], title: str = "Choose and read sources") -> Step:
    return plain_step("read", title, run)


def failing(_: Progress) -> str:
    raise EngineError("The page could not be understood.", "Bring another source.")


def test_only_work_with_recorded_answers_is_waited_for(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[str] = []
    monkeypatch.setattr(JobRunner, "wait", lambda _, job_id, timeout: waited.append(job_id) if timeout else None)
    monkeypatch.setattr(progress, "workspace", lambda: desk.workspace)
    case = desk.case()
    job = desk.workspace.runner.start(case.id, "gather", [step(lambda _: "done")])
    progress.wait_for_recorded(case, job)
    assert not waited
    progress.wait_for_recorded(case.replace(recorded_answers=True), job)
    assert waited == [job.id]


@pytest.mark.parametrize("kind", ["gather", "whole"])  # whole: for a row of a batch
def test_work_under_way_shows_its_steps_counts_and_a_cancel_button(desk: Desk, kind: str) -> None:
    case = intake.create_case(desk.workspace.cases, POST, mode=Mode.AUGMENTATION)
    at_work, may_end = threading.Event(), threading.Event()

    def slow(progress: Progress) -> str:
        progress.count(2, 5, "page two")
        at_work.set()
        while not may_end.wait(0.01):
            progress.check()
        return "5 read"

    later = step(lambda _: "done", "Find the text")
    job = desk.workspace.runner.start(case.id, kind, [step(slow), later])
    assert at_work.wait(PATIENCE)
    at = desk.app(case)
    assert not at.exception
    assert f"**{JOBS[kind].doing}**" in texts(at)
    assert "Choose and read sources" in texts(at)
    assert "Find the text" in texts(at)
    at.button(key=f"cancel-{job.id}").click().run()
    desk.finish(job.id)
    assert desk.workspace.runner.get(job.id).state is JobState.CANCELLED
    may_end.set()

    shown = texts(desk.app(case))
    assert f"{JOBS[kind].doing} was stopped. What is finished is kept." in shown


def test_the_searches_are_shown_while_they_are_sent(desk: Desk) -> None:
    cases = desk.workspace.cases
    case = intake.create_case(cases, POST, mode=Mode.AUTOMATION, services=["europe-pmc"])
    at_work, may_end = threading.Event(), threading.Event()

    def slow(_: Progress) -> str:
        at_work.set()
        may_end.wait(PATIENCE)
        return "none found"

    queries = desk.workspace.stages.gather_steps(case.id)[0]
    sending = plain_step("search", "Search", slow)
    job = desk.workspace.runner.start(case.id, "gather", [queries, sending])
    assert at_work.wait(PATIENCE)
    shown = texts(desk.app(case))
    may_end.set()
    desk.finish(job.id)
    assert f"“{POST}” :gray[the claim]" in shown


def test_a_step_that_could_not_run_has_no_tick(desk: Desk) -> None:
    case = intake.create_case(desk.workspace.cases, POST, mode=Mode.AUGMENTATION)
    at_work, may_end = threading.Event(), threading.Event()

    def slow(_: Progress) -> str:
        at_work.set()
        may_end.wait(PATIENCE)
        return "read"

    vote = replace(
        step(lambda _: "", "Ask simulated readers"), run=lambda _: StageOutcome.not_run("the model is gone.")
    )
    later = replace(step(lambda _: "", "Check the links"), finished=lambda: StageOutcome.not_needed("There is no link"))
    read = step(lambda _: "done", "Read the page")
    job = desk.workspace.runner.start(case.id, "gather", [read, vote, later, step(slow, "Wait")])
    assert at_work.wait(PATIENCE)
    shown = texts(desk.app(case))
    may_end.set()
    desk.finish(job.id)
    assert ":green[:material/check_circle:] Read the page:gray[*: done;*]" in shown
    assert (
        ":gray[:material/do_not_disturb_on:] Ask simulated readers:gray[*: not run;*] "
        ":gray[:small[NOT RUN: the model is gone.]]" in shown
    )
    assert ":gray[:material/remove:] Check the links:gray[*: not needed;*]" in shown
    assert ":primary[:material/pending:] Wait:gray[*: running;*]" in shown


def test_a_failed_step_is_told_with_its_next_step_and_can_be_tried_again(desk: Desk) -> None:
    case = intake.create_case(desk.workspace.cases, POST, mode=Mode.AUGMENTATION, urls=["http://127.0.0.1:1/x"])
    job = desk.workspace.runner.start(case.id, "gather", [step(failing)])
    desk.finish(job.id)
    at = desk.app(case)
    assert "The page could not be understood. Bring another source." in texts(at)

    assert at.button(key="again-gather").proto.type == "secondary", "it may fail again"
    at.button(key="again-gather").click().run()
    desk.finish_latest(case)
    latest = desk.workspace.runner.latest(case.id)
    assert latest is not None
    assert latest.id != job.id
    assert latest.state is JobState.DONE


def test_work_that_a_crash_interrupted_can_be_resumed(desk: Desk) -> None:
    case = intake.create_case(desk.workspace.cases, POST, mode=Mode.AUGMENTATION, urls=["http://127.0.0.1:1/x"])
    at_work = threading.Event()

    def endless(progress: Progress) -> str:
        at_work.set()
        while True:
            progress.check()

    desk.workspace.runner.start(case.id, "gather", [step(endless)])
    assert at_work.wait(PATIENCE)
    desk.workspace.runner.close()
    at = desk.app(case)
    assert "ended when CrowdNotes stopped" in texts(at)
    assert at.button(key="again-gather").label == "Continue"


def test_while_work_is_under_way_post_and_sources_cannot_be_changed(desk: Desk) -> None:
    case = desk.case()
    at_work, may_end = threading.Event(), threading.Event()

    def slow(progress: Progress) -> str:
        at_work.set()
        while not may_end.wait(0.01):
            progress.check()
        return "done"

    job = desk.workspace.runner.start(case.id, "gather", [step(slow)])
    assert at_work.wait(PATIENCE)
    at = desk.app(case)
    at.session_state[f"more-{case.id}"] = True
    unfolded(at, f"post-fold-{case.id}")
    labels = ("Save the post", "Search")
    assert [item.disabled for item in at.button if item.label in labels] == [True, True]
    may_end.set()
    desk.finish(job.id)
    at.run()
    assert [item.disabled for item in at.button if item.label in labels] == [False, False]


def _under_way(desk: Desk, case: Case) -> JobRecord:
    job = desk.workspace.runner.start(case.id, "gather", [step(lambda _: "done")])
    desk.finish(job.id)
    return desk.workspace.runner.get(job.id).replace(state=JobState.RUNNING)


def test_a_job_that_went_with_its_case_draws_the_page_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    case = desk.case()
    seen = [_under_way(desk, case)]

    def gone(*_: object) -> JobRecord:
        raise JobError("There is no such job.")

    runner = type(desk.workspace.runner)
    monkeypatch.setattr(runner, "latest", lambda *_: seen.pop() if seen else None)
    monkeypatch.setattr(runner, "get", gone)
    at = desk.app(case)
    assert not at.exception
    assert seen == []
    assert not at.error
    assert at.button(key=f"read-{case.id}-E1")


def test_a_store_that_fails_while_work_is_watched_is_told_in_a_sentence(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = desk.case()
    job = _under_way(desk, case)

    def busy(*_: object) -> JobRecord:
        raise StoreBusyError("The database is in use by another program.")

    runner = type(desk.workspace.runner)
    monkeypatch.setattr(runner, "latest", lambda *_: job)
    monkeypatch.setattr(runner, "get", busy)
    at = desk.app(case)
    assert not at.exception
    assert "The database is in use by another program." in texts(at)
    assert at.button(key=f"read-{case.id}-E1")
