"""The engine can be another than the one that is set, and takes nothing along that was set for another server."""

from __future__ import annotations

from pathlib import Path

import pytest

from crowdnotes.domain import Mode
from crowdnotes.engines.choice import EngineChoice, make_engine, set_choice, settings_for
from crowdnotes.engines.llm import LLMEngine
from crowdnotes.engines.llm.discovery import require_answer
from crowdnotes.errors import ConfigurationError, ModelServerError
from crowdnotes.jobs import JobState, Step
from crowdnotes.settings import GateSettings, LlmSettings, Settings
from crowdnotes.testing import HashingEmbedder, LiveLinks, ScriptedEngine
from crowdnotes.workspace import SharedWorkspace, Workspace, open_workspace
from tests.engines.llm.made import POST
from tests.llm_server import LLMServer, honest

SET = LlmSettings(
    base_url="https://models.example.org/v1",
    model="large",
    judging_model="judge",
    api_key="sk-secret-1234",
    judge_model="health-judge",
    judge_form="final decision",
    sees_images=True,
    dollars_per_million_input=5.0,
    dollars_per_million_output=9.0,
)


def test_the_server_that_is_set_is_used_as_it_is_set() -> None:
    assert settings_for(set_choice(SET), SET) == SET


def test_another_server_gets_neither_the_key_nor_the_judge_nor_the_prices_of_the_one_that_is_set() -> None:
    chosen = settings_for(EngineChoice("http://127.0.0.1:11434/v1", "small"), SET)
    assert (chosen.base_url, chosen.model, chosen.judging_model) == ("http://127.0.0.1:11434/v1", "small", "")
    assert chosen.api_key is None
    assert (chosen.judge_model, chosen.judge_form, chosen.sees_images) == ("", "json", False)
    assert chosen.dollars_per_million_input is None


def test_a_judge_on_a_server_of_its_own_stays() -> None:
    own = SET.model_copy(update={"judge_base_url": "https://judge.example.org/v1"})
    chosen = settings_for(EngineChoice("http://127.0.0.1:11434/v1", "small"), own)
    assert (chosen.judge_base_url, chosen.judge_model) == ("https://judge.example.org/v1", "health-judge")


def test_no_key_of_the_environment_reaches_a_server_that_was_found(tmp_path: Path) -> None:
    with LLMServer(honest).running() as server:
        choice = EngineChoice(server.base_url, "small")
        engine = make_engine(choice, SET, GateSettings(), HashingEmbedder(), tmp_path)
        require_answer(choice, SET)
        assert engine.claims(POST)
        assert all("sk-secret" not in str(headers) for headers in server.headers)


def test_a_server_that_is_not_there_or_has_lost_the_model_says_what_to_do() -> None:
    with LLMServer(honest).running() as server:
        gone = server.base_url
        with pytest.raises(ModelServerError, match="no model “huge”"):
            require_answer(EngineChoice(gone, "huge"), LlmSettings())
    with pytest.raises(ModelServerError, match="could not be reached") as caught:
        require_answer(EngineChoice(gone, "small"), LlmSettings())
    assert "Until then the engine in use stays." in caught.value.next_step
    require_answer(EngineChoice(), LlmSettings())


def test_work_begun_keeps_its_engine_and_what_begins_after_it_has_the_new_one(tmp_path: Path) -> None:
    with LLMServer(honest).running() as server:
        opened = open_workspace(
            Settings(data_dir=tmp_path), embedder=HashingEmbedder(), engine=ScriptedEngine(), links=LiveLinks()
        )
        shared = SharedWorkspace(opened)
        with opened:
            service = shared.current.service
            case = service.create("Vitamin C cures a cold.", mode=Mode.AUGMENTATION, by="ann")
            text = "Vitamin C does not cure colds. Trials of 11,306 people found no effect on how often they came."
            service.add_passage_by_hand(case.id, url="https://t.example.org/c", title="Trials", text=text, by="ann")
            before = service.write_steps(case.id, before_inspection=True)
            shared.use(EngineChoice(server.base_url, "small"))
            assert isinstance(shared.current.engine, LLMEngine)
            _work(opened, case.id, before)
            assert service.get(case.id).stages[-1].engine == "scripted"
            after = shared.current.service.write_steps(case.id, before_inspection=True)
            _work(shared.current, case.id, after)
            assert service.get(case.id).stages[-1].engine == "llm:small"
            shared.use(EngineChoice())
            assert shared.current.engine.name == "local"


def _work(workspace: Workspace, case_id: str, steps: list[Step]) -> None:
    job = workspace.runner.wait(workspace.runner.start(case_id, "write", steps).id, timeout=60)
    assert job.state is JobState.DONE, job.steps


def test_a_choice_that_cannot_be_made_leaves_the_engine_in_use(tmp_path: Path) -> None:
    engine = ScriptedEngine()
    opened = open_workspace(Settings(data_dir=tmp_path), embedder=HashingEmbedder(), engine=engine, links=LiveLinks())
    shared = SharedWorkspace(opened)
    with opened, LLMServer(honest).running() as server, pytest.raises(ConfigurationError, match="No model is set"):
        shared.use(EngineChoice(server.base_url))
    assert shared.current.engine is engine
