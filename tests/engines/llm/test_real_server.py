"""The engine against the server that the transformers package brings: not only our own idea of the protocol."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from crowdnotes.domain import GateStatus
from crowdnotes.engines.llm.discovery import find_servers
from crowdnotes.errors import AnswerCutError, AnswerUnreadableError, EngineError
from crowdnotes.notes.gates import assess
from crowdnotes.settings_sections import LlmSettings
from tests.engines.llm import tiny_models
from tests.engines.llm.made import BRIEF, NOTE, POST, engine_for, evidence
from tests.fakes import TODAY, FixedClock

pytestmark = [pytest.mark.deep, pytest.mark.model, pytest.mark.timeout(300)]
_PATIENCE = 120.0


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    subprocess.run(
        [sys.executable, tiny_models.__file__, str(folder)], check=True, env=_quiet(folder), timeout=_PATIENCE
    )
    return folder


@pytest.fixture(scope="module")
def base_url(models: Path) -> Iterator[str]:
    pytest.importorskip("fastapi", reason="the server's own extra is not installed")
    pytest.importorskip("accelerate", reason="the server's own extra is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (models / "hub").mkdir()
    # The command's own entry point, so that its folder need not be on the path.
    start = [sys.executable, "-c", "from transformers.cli.transformers import main; main()", "serve"]
    words = [*start, "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    with (
        (models / "log").open("wb") as log,
        subprocess.Popen(words, env=_quiet(models), stdout=log, stderr=log) as server,
    ):
        try:
            _wait_for(f"http://127.0.0.1:{port}/health", server, models / "log")
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.terminate()


def _quiet(folder: Path) -> dict[str, str]:
    return {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder), "OMP_NUM_THREADS": "1"}


def _wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until and server.poll() is None:
        try:
            httpx2.get(url, timeout=2)
        except httpx2.TransportError:
            time.sleep(0.2)
        else:
            return
    pytest.fail(f"the server did not start: {log.read_text(errors='replace')[-2000:]}")


def test_an_answer_is_read_counted_and_paid_for(base_url: str, models: Path, tmp_path: Path) -> None:
    engine = engine_for(base_url, tmp_path, model=str(models / "answering"), timeout_seconds=60)
    claims = engine.plan(POST, 5, TODAY).claims
    assert [claim.text for claim in claims] == ["This drink makes children ill"]
    assert engine.usage.output_tokens <= 3
    assert engine.usage.input_tokens > 500
    assert not engine.usage.estimated


def test_garbage_of_a_random_model_gives_a_clear_sentence_and_loses_no_gate_and_no_principle(
    base_url: str, models: Path, tmp_path: Path
) -> None:
    engine = engine_for(base_url, tmp_path, model=str(models / "random"), timeout_seconds=60, max_answer_tokens=64)
    with pytest.raises((AnswerCutError, AnswerUnreadableError)) as caught:
        engine.plan(POST, 5, TODAY)
    assert caught.value.message.endswith(".")
    assessment = assess(engine, BRIEF, NOTE, [evidence()], FixedClock())
    assert {gate.status for gate in assessment.gates} == {GateStatus.NOT_RUN}
    assert assessment.gates[0].reason.startswith("Could not be judged: The AI's answer")
    assert assessment.sentences[0].score > 0


def test_a_streamed_answer_from_it_is_read_to_its_end(base_url: str, models: Path, tmp_path: Path) -> None:
    engine = engine_for(base_url, tmp_path, model=str(models / "answering"), timeout_seconds=60)
    with pytest.raises(AnswerUnreadableError, match="queries"):
        engine.queries(BRIEF, 3)
    assert engine.usage.calls == 2
    assert not engine.usage.estimated


def test_it_is_found_on_this_machine_and_a_model_that_it_does_not_have_is_named(base_url: str, tmp_path: Path) -> None:
    found = find_servers(LlmSettings(), [("transformers", base_url)])
    assert [(server.name, server.base_url) for server in found] == [("transformers", base_url)]
    with pytest.raises(EngineError):
        engine_for(base_url, tmp_path, model="no/such-model", timeout_seconds=60).plan(POST, 5, TODAY)
