"""Long work on a case by its kind; a new kind is one line of registration."""

from __future__ import annotations

from pathlib import Path

import pytest

from crowdnotes.cases.job_kinds import JOB_KINDS, JobKind, start
from crowdnotes.cases.service import CaseService
from crowdnotes.jobs import JobState, Progress, Step
from pages.view.steps import StepName
from tests.cases.walk import new_case, small_workspace


def _count_letters(service: CaseService, case_id: str) -> list[Step]:
    def count(progress: Progress) -> str:
        progress.check()
        return f"{len(service.get(case_id).post.text)} letters"

    return [Step(name="letters", title="Count the letters", run=count, finished=lambda: None)]


def test_a_new_kind_of_work_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(JOB_KINDS, "count", JobKind("count", "Counting", "Review", _count_letters))
    with small_workspace(tmp_path) as workspace:
        case = new_case(workspace, "kettle")
        job = workspace.runner.wait(start(workspace.service, workspace.runner, case.id, "count").id, timeout=60)
    assert (job.state, job.kind) == (JobState.DONE, "count")
    assert job.steps[0].summary == f"{len(case.post.text)} letters"


def test_every_kind_is_shown_at_a_step_of_the_draft_page() -> None:
    assert {kind.place for kind in JOB_KINDS.values()} <= {step.value for step in StepName}
