"""What asking a model cost stands on the case by step, also when the stage came to nothing."""

from __future__ import annotations

from pathlib import Path

from crowdnotes.domain import Mode, Usage
from crowdnotes.jobs import JobRecord, JobState
from crowdnotes.jobs.records import StepState
from crowdnotes.settings import LlmSettings, Settings
from crowdnotes.testing import HashingEmbedder
from crowdnotes.workspace import Workspace, open_workspace
from tests.cases.walk import make_library, post_about
from tests.llm_server import Body, LLMServer, Say, form_of, honest


def _gather(workspace: Workspace, case_id: str) -> JobRecord:
    job = workspace.runner.start(case_id, "gather", workspace.service.gather_steps(case_id))
    return workspace.runner.wait(job.id, timeout=60)


def _new_case(workspace: Workspace, folder: Path) -> str:
    workspace.libraries.add(make_library(folder), "topics")
    return workspace.service.create(post_about("kettle"), mode=Mode.AUTOMATION, libraries=["topics"], by="a").id


def _open(folder: Path, base_url: str, **llm: object) -> Workspace:
    settings = LlmSettings.model_validate(
        {"base_url": base_url, "model": "small", "cache_mb": 0, "max_retries": 0} | llm
    )
    return open_workspace(Settings(data_dir=folder / "data", llm=settings), embedder=HashingEmbedder())


def test_a_case_tells_what_each_step_used(tmp_path: Path) -> None:
    with LLMServer(honest).running() as server, _open(tmp_path, server.base_url) as workspace:
        case_id = _new_case(workspace, tmp_path)
        assert _gather(workspace, case_id).state is JobState.DONE
        case = workspace.service.get(case_id)
    assert case.stages[0].engine == "llm:small"
    assert case.usage["queries"].calls == 2
    assert case.used == sum(case.usage.values(), Usage())
    assert case.used.calls == len(server.requests)


def test_what_a_failed_stage_used_counts_against_the_budget_of_the_case(tmp_path: Path) -> None:
    def answer(body: Body) -> Say:
        return Say("no", status=500) if form_of(body) == "queries" else Say(honest(body), usage=(3000, 100))

    with LLMServer(answer).running() as server, _open(tmp_path, server.base_url, budget_tokens=6_000) as workspace:
        case_id = _new_case(workspace, tmp_path)
        assert _gather(workspace, case_id).state is JobState.FAILED
        case = workspace.service.get(case_id)
        assert case.stages == ()
        assert (case.used.calls, case.used.tokens) == (2, 3_100)
        again = _gather(workspace, case_id)
    assert again.state is JobState.FAILED
    assert "budget of 6,000 tokens" in again.model_dump_json()


def test_a_server_that_failed_loses_nothing_and_the_next_try_goes_on_from_there(tmp_path: Path) -> None:
    fails = [True]

    def answer(body: Body) -> Say:
        return Say("no", status=500) if form_of(body) == "pick" and fails[0] else Say(honest(body))

    with LLMServer(answer).running() as server, _open(tmp_path, server.base_url) as workspace:
        case_id = _new_case(workspace, tmp_path)
        failed = _gather(workspace, case_id)
        assert failed.state is JobState.FAILED
        assert "failed with status 500" in failed.steps[2].error
        assert failed.steps[2].next_step
        hits = workspace.service.get(case_id).hits
        assert hits
        fails[0] = False
        asked = len(server.requests)
        assert [step.state for step in _gather(workspace, case_id).steps[:2]] == [StepState.KEPT, StepState.KEPT]
        assert workspace.service.get(case_id).hits == hits
        assert workspace.service.get(case_id).evidence
        assert all(form_of(body) == "pick" for body in server.requests[asked:])
