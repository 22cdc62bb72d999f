"""Answers are recorded from a model once, and given again without one; what was not recorded is not answered."""

from __future__ import annotations

from pathlib import Path

import pytest

from crowdnotes.domain import Post
from crowdnotes.engines.base import EngineStep
from crowdnotes.engines.choice import recorded_engine
from crowdnotes.engines.llm.recorded import Live, RecordedAnswers, read_answers
from crowdnotes.engines.llm.server import ModelServer
from crowdnotes.engines.metering import Meter, metered
from crowdnotes.errors import ConfigurationError, ModelServerError
from crowdnotes.settings_sections import LlmSettings
from tests.engines.llm.made import POST
from tests.fakes import TODAY, HashingEmbedder
from tests.llm_server import LLMServer, honest


def test_what_was_recorded_is_given_again_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "answers.json"
    with LLMServer(honest).running() as server:
        answers = RecordedAnswers(file, Live(ModelServer(server.base_url, None, LlmSettings()), "large"))
        said = recorded_engine(answers, HashingEmbedder(), tmp_path).plan(POST, 5, TODAY)
        assert answers.save() == 1
        assert server.requests[0]["model"] == "large"
    monkeypatch.setenv("CROWDNOTES_LLM_EFFORT", '{"queries": "high"}')  # what somebody set for their own model
    engine = recorded_engine(RecordedAnswers(file), HashingEmbedder(), tmp_path)
    with metered(Meter()) as meter:
        assert engine.plan(POST, 5, TODAY) == said
    assert (meter.total.cached, meter.total.calls) == (1, 0)
    with pytest.raises(ModelServerError, match="no recorded answer for this text and these sources: choose an AI"):
        engine.plan(Post(text="Other words."), 5, TODAY)
    assert engine.result_origin(EngineStep.WRITING).engine == "llm:recorded answers"
    assert engine.judge.server == ""  # nothing is sent anywhere
    assert not (tmp_path / "answers.sqlite").exists()


def test_answers_that_nobody_asked_for_again_are_left_out_of_a_new_recording(tmp_path: Path) -> None:
    file = tmp_path / "answers.json"
    with LLMServer(honest).running() as server:
        live = Live(ModelServer(server.base_url, None, LlmSettings()), "large")
        for text in ("One post says this.", "Another one says that."):
            answers = RecordedAnswers(file, live)
            recorded_engine(answers, HashingEmbedder(), tmp_path).plan(Post(text=text), 5, TODAY)
            answers.save()
    assert len(read_answers(file)) == 1


@pytest.mark.parametrize("content", [None, b"[{}]", b"no json"])
def test_a_recording_that_is_missing_or_damaged_says_what_to_do(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "answers.json"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ConfigurationError) as caught:
        RecordedAnswers(file)
    assert "assets/demonstration" in caught.value.next_step
