"""SIGKILL in each step of a draft: what was finished is there, and the case resumes."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

import crowdnotes
from crowdnotes.cases.store import SqlStore
from crowdnotes.domain import Case, Mode, Post, Stage, StageName
from crowdnotes.jobs.records import JobState, Progress, Step, StepState
from crowdnotes.jobs.runner import ThreadJobRunner
from crowdnotes.storage.opening import open_database

_ROOT = Path(crowdnotes.__file__).parents[1]
_NAMES = list(StageName)

_WORK = """
import sys, threading, time
from crowdnotes.cases.store import SqlStore
from crowdnotes.jobs.runner import ThreadJobRunner
from crowdnotes.storage.opening import open_database
from tests.jobs.test_killed import saving_steps
url, hang = sys.argv[1:]
def stop_here(name):
    if name == hang:
        print("reached", flush=True)
        time.sleep(600)
engine = open_database(url)
job = ThreadJobRunner(engine).start("c1", "gather", saving_steps(SqlStore(engine), stop_here))
threading.Event().wait()
"""


def saving_steps(store: SqlStore, at_work: object = None) -> list[Step]:
    """A step a stage; each saves its stage, and is finished when the case has it."""

    def step(name: StageName) -> Step:
        def run(progress: Progress) -> str:
            if callable(at_work):
                at_work(name.value)
            stage = Stage(name=name, finished_at=datetime.now(UTC), seconds=0.0, summary=f"{name} done", engine="local")
            store.update("c1", lambda case: case.model_copy(update={"stages": (*case.stages, stage)}))
            return stage.summary

        def finished() -> str | None:
            return next((stage.summary for stage in store.get("c1").stages if stage.name is name), None)

        return Step(name.value, name.value, run, finished)

    return [step(name) for name in _NAMES]


@pytest.mark.parametrize("killed_in", _NAMES)
def test_a_case_resumes_with_all_finished_stages_after_sigkill(database_url: str, killed_in: StageName) -> None:
    now = datetime.now(UTC)
    engine = open_database(database_url)
    SqlStore(engine).add(Case(id="c1", created_at=now, updated_at=now, mode=Mode.AUTOMATION, post=Post(text="A post")))
    engine.dispose()
    arguments = [sys.executable, "-c", _WORK, database_url, killed_in.value]
    with subprocess.Popen(arguments, cwd=_ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"reached\n"
        process.kill()

    engine = open_database(database_url)
    store, runner = SqlStore(engine), ThreadJobRunner(engine)
    before = _NAMES[: _NAMES.index(killed_in)]
    assert [stage.name for stage in store.get("c1").stages] == before
    interrupted = runner.latest("c1")
    assert interrupted is not None
    assert interrupted.state is JobState.INTERRUPTED
    assert interrupted.current is not None
    assert interrupted.current.name == killed_in
    resumed = runner.wait(runner.start("c1", "gather", saving_steps(store)).id, 60)
    assert resumed.state is JobState.DONE
    kept = [StepState.KEPT] * len(before)
    assert [step.state for step in resumed.steps] == kept + [StepState.DONE] * (len(_NAMES) - len(before))
    assert [stage.name for stage in store.get("c1").stages] == _NAMES
    runner.close()
    engine.dispose()


_HANG = """
import sys, threading
from crowdnotes.jobs.records import Step
from crowdnotes.jobs.runner import ThreadJobRunner
from crowdnotes.storage.opening import open_database
reached = threading.Event()
def hang(progress):
    reached.set()
    threading.Event().wait()
ThreadJobRunner(open_database(sys.argv[1])).start("c1", "gather", [Step("read", "Read", hang, lambda: None)])
reached.wait()
"""


def test_a_step_that_hangs_does_not_keep_the_program_from_ending(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/crowdnotes.sqlite"
    done = subprocess.run([sys.executable, "-c", _HANG, url], cwd=_ROOT, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    engine = open_database(url)
    interrupted = ThreadJobRunner(engine).latest("c1")
    assert interrupted is not None
    assert interrupted.state is JobState.INTERRUPTED
    engine.dispose()
