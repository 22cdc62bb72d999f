"""Long work on a case by its kind, and what asking a model cost by step, also when the stage came to nothing."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from crowdnotes.cases import intake
from crowdnotes.cases.pipeline import JOBS, Job
from crowdnotes.cases.stages import StageRunner
from crowdnotes.domain import Mode, Usage
from crowdnotes.jobs import JobRecord, JobState, Progress, Step, plain_step
from crowdnotes.jobs.records import StepState
from crowdnotes.settings import Settings
from crowdnotes.settings_sections import LlmSettings
from crowdnotes.workspace import Workspace, open_workspace
from pages.common.layout import StepName, SupernoteStep
from tests.cases.walk import Told, make_library, new_case, post_about, small_workspace
from tests.fakes import HashingEmbedder
from tests.llm_server import Body, LLMServer, Say, form_of, honest
from tests.shared import PATIENCE


def _gather(workspace: Workspace, case_id: str) -> JobRecord:
    job = workspace.runner.start(case_id, "gather", workspace.stages.gather_steps(case_id))
    return workspace.runner.wait(job.id, timeout=PATIENCE)


def _new_case(workspace: Workspace, folder: Path) -> str:
    workspace.libraries.add(make_library(folder), "topics")
    return intake.create_case(workspace.cases, post_about("kettle"), mode=Mode.AUTOMATION, libraries=["topics"]).id


def _open(folder: Path, base_url: str, **llm: object) -> Workspace:
    settings = LlmSettings.model_validate(
        {"base_url": base_url, "model": "small", "cache_mb": 0, "max_retries": 0} | llm
    )
    return open_workspace(Settings(data_dir=folder / "data", llm=settings), embedder=HashingEmbedder())


def test_a_case_tells_what_each_step_used(tmp_path: Path) -> None:
    with LLMServer(honest).running() as server, _open(tmp_path, server.base_url) as workspace:
        case_id = _new_case(workspace, tmp_path)
        assert _gather(workspace, case_id).state is JobState.DONE
        case = workspace.cases.get(case_id)
    assert case.stages[0].engine == "llm:small"
    assert case.usage["queries"].calls == 1
    assert case.used == sum(case.usage.values(), Usage())
    assert case.used.calls == len(server.requests)


def test_what_a_failed_stage_used_counts_against_the_budget_of_the_case(tmp_path: Path) -> None:
    useless = Say("Sure!", usage=(3000, 100))
    with (
        LLMServer(lambda _: useless).running() as server,
        _open(tmp_path, server.base_url, budget_tokens=8_000) as workspace,
    ):
        case_id = _new_case(workspace, tmp_path)
        assert _gather(workspace, case_id).state is JobState.FAILED
        case = workspace.cases.get(case_id)
        assert case.stages == ()
        assert (case.used.calls, case.used.tokens) == (2, 6_200)
        again = _gather(workspace, case_id)
    assert again.state is JobState.FAILED
    assert "budget of 8,000 tokens" in again.model_dump_json()


def test_a_server_that_failed_loses_nothing_and_the_next_try_goes_on_from_there(tmp_path: Path) -> None:
    fails = [True]

    def answer(body: Body) -> Say:
        return Say("no", status=500) if form_of(body) == "picks" and fails[0] else Say(honest(body))

    with LLMServer(answer).running() as server, _open(tmp_path, server.base_url) as workspace:
        case_id = _new_case(workspace, tmp_path)
        failed = _gather(workspace, case_id)
        assert failed.state is JobState.FAILED
        assert "failed with status 500" in failed.steps[2].error
        assert failed.steps[2].next_step
        hits = workspace.cases.get(case_id).hits
        assert hits
        fails[0] = False
        asked = len(server.requests)
        assert [step.state for step in _gather(workspace, case_id).steps[:2]] == [StepState.KEPT, StepState.KEPT]
        assert workspace.cases.get(case_id).hits == hits
        assert workspace.cases.get(case_id).evidence
        assert [form_of(body) for body in server.requests[asked:]] == ["picks", "passages"]


def test_each_stage_shows_what_its_model_says_while_it_says_it(tmp_path: Path) -> None:
    with LLMServer(honest).running() as server, _open(tmp_path, server.base_url) as workspace:
        case_id, stages = _new_case(workspace, tmp_path), workspace.stages
        said = {"queries": "evidence", "read": "It speaks to the claim.", "settle": "It answers the claim."}
        said |= {"draft": "review of the", "revise": "review of the", "assess": "It "}
        scored = partial(stages.assess_steps, before_inspection=True)
        heard: list[str] = []
        for steps in (stages.gather_steps, partial(stages.write_steps, before_inspection=True), scored):
            for step in steps(case_id):
                told = Told()
                if step.finished() is None:
                    step.run(told)
                    heard.append(step.name)
                    assert said.get(step.name, "") in " ".join(told.notes)
    assert set(said) <= set(heard)


def _count_letters(stages: StageRunner, case_id: str) -> list[Step]:
    def count(progress: Progress) -> str:
        progress.check()
        return f"{len(stages.cases.get(case_id).post.text)} letters"

    return [plain_step("letters", "Count the letters", count)]


def test_a_new_kind_of_work_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(JOBS, "count", Job("Counting", "Review", _count_letters))
    with small_workspace(tmp_path) as workspace:
        case = new_case(workspace, "kettle")
        job = workspace.runner.wait(workspace.start(case.id, "count").id, timeout=PATIENCE)
    assert (job.state, job.kind) == (JobState.DONE, "count")
    assert job.steps[0].summary == f"{len(case.post.text)} letters"


def test_every_kind_is_shown_at_a_step_of_the_draft_page_or_on_the_supernote_page() -> None:
    assert {job.place for job in JOBS.values()} <= {step.value for step in (*StepName, *SupernoteStep)}
