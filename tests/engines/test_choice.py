"""The engine can be another than the one that is set, and takes nothing along that was set for another server."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import event

from crowdnotes.engines.choice import EngineChoice, make_engine, set_choice, settings_for
from crowdnotes.engines.llm.discovery import require_answer
from crowdnotes.engines.llm.engine import LLMEngine
from crowdnotes.errors import ConfigurationError, ModelServerError
from crowdnotes.settings import Settings
from crowdnotes.settings_sections import GateSettings, LlmSettings
from crowdnotes.workspace import SharedWorkspace, Workspace, open_workspace
from tests.cases.walk import run
from tests.engines.llm.made import POST, begun_case
from tests.fakes import TODAY, HashingEmbedder, LiveLinks, ScriptedEngine
from tests.llm_server import LLMServer, honest
from tests.shared import HeldTime

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


def test_the_server_that_is_set_is_used_as_set_and_another_gets_neither_its_key_nor_its_judge_nor_its_prices() -> None:
    assert settings_for(set_choice(SET), SET) == SET
    other = EngineChoice("http://127.0.0.1:11434/v1", "small")
    chosen = settings_for(other, SET)
    assert (chosen.base_url, chosen.model, chosen.judging_model) == ("http://127.0.0.1:11434/v1", "small", "")
    assert chosen.api_key is None
    assert (chosen.judge_model, chosen.judge_form, chosen.sees_images) == ("", "json", False)
    assert chosen.dollars_per_million_input is None
    own = SET.replace(judge_base_url="https://judge.example.org/v1")  # a judge on its own server stays
    chosen = settings_for(other, own)
    assert (chosen.judge_base_url, chosen.judge_model) == ("https://judge.example.org/v1", "health-judge")


def test_no_key_of_the_environment_reaches_a_server_that_was_found(tmp_path: Path) -> None:
    with LLMServer(honest).running() as server:
        choice = EngineChoice(server.base_url, "small")
        engine = make_engine(choice, SET, GateSettings(), HashingEmbedder(), tmp_path)
        require_answer(choice, SET)
        assert engine.plan(POST, 5, TODAY)
        assert all("sk-secret" not in str(headers) for headers in server.headers)


def test_a_server_that_is_not_there_or_has_lost_the_model_says_what_to_do() -> None:
    with LLMServer(honest).running() as server:
        gone = server.base_url
        with pytest.raises(ModelServerError, match="no longer has the model “huge”"):
            require_answer(EngineChoice(gone, "huge"), LlmSettings())
    with pytest.raises(ModelServerError, match="cannot reach the AI server") as caught:
        require_answer(EngineChoice(gone, "small"), LlmSettings())
    assert "Nothing changed." in caught.value.next_step
    require_answer(EngineChoice(), LlmSettings())


def test_work_begun_keeps_its_engine_and_what_begins_after_it_has_the_new_one(tmp_path: Path) -> None:
    with LLMServer(honest).running() as server:
        opened = open_workspace(
            Settings(data_dir=tmp_path), embedder=HashingEmbedder(), engine=ScriptedEngine(), links=LiveLinks()
        )
        shared = SharedWorkspace(opened)
        with opened:
            cases = shared.current.cases
            case_id = begun_case(cases)
            before = shared.current.stages.write_steps(case_id, before_inspection=True)
            shared.use(EngineChoice(server.base_url, "small"), opened)
            assert isinstance(shared.current.engine, LLMEngine)
            run(opened, case_id, "write", before)
            assert cases.get(case_id).stages[-1].engine == "scripted"
            after = shared.current.stages.write_steps(case_id, before_inspection=True)
            run(shared.current, case_id, "write", after)
            assert cases.get(case_id).stages[-1].engine == "llm:small"
            shared.use(EngineChoice(), opened)
            assert shared.current.engine.name == "local"


def test_a_choice_that_cannot_be_made_leaves_the_engine_in_use(tmp_path: Path) -> None:
    engine = ScriptedEngine()
    opened = open_workspace(Settings(data_dir=tmp_path), embedder=HashingEmbedder(), engine=engine, links=LiveLinks())
    shared = SharedWorkspace(opened)
    with opened, LLMServer(honest).running() as server, pytest.raises(ConfigurationError, match="No model is set"):
        shared.use(EngineChoice(server.base_url), opened)
    assert shared.current.engine is engine


def test_an_engine_that_was_chosen_is_in_use_after_a_restart_until_another_one_is_set(tmp_path: Path) -> None:
    def started(llm: LlmSettings | None = None) -> Workspace:
        settings = Settings(data_dir=tmp_path, llm=llm or LlmSettings())
        return open_workspace(settings, embedder=HashingEmbedder(), links=LiveLinks())

    def engines(shared: SharedWorkspace) -> tuple[EngineChoice, EngineChoice | None]:
        return shared.current.choice, shared.engine_for_all

    with LLMServer(honest).running() as server:
        chosen = EngineChoice(server.base_url, "small")
        with started() as opened:
            SharedWorkspace(opened).use(chosen, opened)
        with started() as opened:
            shared = SharedWorkspace(opened)
            assert engines(shared) == (chosen, None)
            shared.use(chosen, opened, for_all=True)
        with started() as opened:
            shared = SharedWorkspace(opened)
            assert engines(shared) == (chosen, chosen)
            shared.use(EngineChoice(), opened)
            assert engines(shared) == (EngineChoice(), None)
        with started(LlmSettings(base_url=server.base_url, model="large")) as opened:
            assert SharedWorkspace(opened).current.choice == opened.choice == EngineChoice(server.base_url)


def test_a_page_reads_the_choice_once_and_hears_of_another_process_a_second_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = HeldTime()
    monkeypatch.setattr("crowdnotes.workspace.time", held)
    settings = Settings(data_dir=tmp_path)
    with (
        LLMServer(honest).running() as server,
        open_workspace(settings, embedder=HashingEmbedder(), links=LiveLinks()) as opened,
    ):
        here, elsewhere = SharedWorkspace(opened), SharedWorkspace(opened)
        asked: list[str] = []
        event.listen(opened.runner.engine, "before_cursor_execute", lambda *args: asked.append(args[2]))
        for _ in range(40):
            assert here.current.engine.name == "local"
        assert len([words for words in asked if "engine_choices" in words]) == 1
        elsewhere.use(EngineChoice(server.base_url, "small"), opened)
        assert elsewhere.current.engine.name == "llm:small"
        assert here.current.engine.name == "local"
        held.now += 1.0
        assert here.current.engine.name == "llm:small"
