"""Who judges helpfulness is chosen apart from the engine, and stands on the result."""

from __future__ import annotations

from pathlib import Path

import pytest

from crowdnotes.domain import GateResult, GateStatus
from crowdnotes.engines import EngineStep
from crowdnotes.engines.base import Engine
from crowdnotes.engines.choice import make_engine, set_choice
from crowdnotes.engines.metering import Meter, metered
from crowdnotes.errors import ConfigurationError
from crowdnotes.settings_sections import GateSettings, LlmSettings
from tests.engines.llm.made import NOTE, POST
from tests.fakes import HashingEmbedder
from tests.llm_server import LLMServer, honest

LINKED = f"{NOTE} https://health.example.org/review-1"
ON_SERVER = {"judge_model": "healthjudge", "judge_form": "final decision"}


def _engine(folder: Path, judge: str, **llm: object) -> Engine:
    settings = LlmSettings.model_validate({"cache_mb": 0, "max_retries": 0, **llm})
    gates = GateSettings(helpfulness_judge=judge)
    return make_engine(set_choice(settings), settings, gates, HashingEmbedder(), folder)


@pytest.mark.parametrize("has_model", [False, True])
def test_a_judge_on_a_server_serves_each_engine_and_counts_on_the_case(tmp_path: Path, has_model: bool) -> None:
    with LLMServer(honest).running() as main, LLMServer(lambda _: "Clear.\nFinal decision: no").running() as server:
        own = {"base_url": main.base_url, "model": "small"} if has_model else {}
        engine = _engine(tmp_path, "server", judge_base_url=server.base_url, **ON_SERVER, **own)
        with metered(Meter()) as meter:
            result = engine.helpfulness(POST, LINKED)
        assert (result.status, result.reason, result.judge) == (GateStatus.FAIL, "Clear.", "llm:healthjudge")
        assert [request["model"] for request in server.requests] == ["healthjudge"]
        assert main.requests == []
        assert meter.by_step["judging"].calls == 1
        assert engine.judge.server == "127.0.0.1"
        name = engine.result_origin(EngineStep.JUDGING).engine
        assert name == ("llm:small+healthjudge" if has_model else "local+llm:healthjudge")
        assert engine.result_origin(EngineStep.WRITING).engine == ("llm:small" if has_model else "local")


def test_the_trained_head_judges_for_a_language_model_and_asks_no_server(tmp_path: Path) -> None:
    with LLMServer(honest).running() as server:
        engine = _engine(tmp_path, "trained", base_url=server.base_url, model="small")
        result = engine.helpfulness(POST, LINKED)
        assert server.requests == []
    assert (result.judge, engine.judge.server) == ("trained head", "")
    assert result == _engine(tmp_path, "auto").helpfulness(POST, LINKED)


def test_the_engines_own_model_judges_though_a_judge_on_a_server_is_set(tmp_path: Path) -> None:
    with LLMServer(honest).running() as server:
        own = {"base_url": server.base_url, "model": "small", "judge_base_url": "http://127.0.0.1:9/v1", **ON_SERVER}
        assert _engine(tmp_path, "model", **own).helpfulness(POST, LINKED).judge == "llm:small"
        assert [request["model"] for request in server.requests] == ["small"]
        assert _engine(tmp_path, "auto", **own).judge.name == "llm:healthjudge"


@pytest.mark.parametrize(
    ("judge", "llm", "words"),
    [
        ("model", {}, "No AI is set up to judge"),
        ("server", {"judge_model": "healthjudge"}, "no server is set"),
        ("server", {"judge_base_url": "http://127.0.0.1:9/v1"}, "no model is set"),
        ("oracle", {}, "There is no judge “oracle”"),
    ],
)
def test_a_judge_that_lacks_something_says_what(tmp_path: Path, judge: str, llm: dict[str, str], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words) as caught:
        _engine(tmp_path, judge, **llm)
    assert "CROWDNOTES_" in caught.value.next_step


def test_a_stored_result_from_before_judges_had_names_is_read() -> None:
    old = {"gate": "helpfulness", "status": "PASS", "reason": "clear"}
    assert GateResult.model_validate(old).judge == ""
