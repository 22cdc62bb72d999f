"""An engine over a scripted server, as the tests of this folder use it."""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from crowdnotes.cases.service import CaseService
from crowdnotes.domain import Assessment, Evidence, GateResult, Mode, Post, PrincipleResult
from crowdnotes.engines.llm import LLMEngine
from crowdnotes.errors import EngineError, ModelServerError
from crowdnotes.gates import assess
from crowdnotes.settings import GateSettings, LlmSettings
from crowdnotes.testing import FixedClock, HashingEmbedder, make_evidence
from tests.llm_server import Body, LLMServer, Say

POST = Post(text="This drink makes children ill, a study proves it! Share before it is deleted.")
PASSAGE = "The review of 12 studies found no link between the drink and the illness. It may cause a mild rash."
NOTE = "The review of 12 studies found no link between the drink and the illness."


def evidence(text: str = PASSAGE, number: int = 1) -> Evidence:
    return make_evidence(number, text, url=f"https://health.example.org/review-{number}")


def engine_for(base_url: str, folder: Path, **settings: object) -> LLMEngine:
    """With a model, no patience for failures, and no cache unless asked for."""
    usual: dict[str, object] = {"base_url": base_url, "model": "small", "max_retries": 0, "cache_mb": 0}
    usual["timeout_seconds"] = 5.0
    return LLMEngine(LlmSettings.model_validate(usual | settings), GateSettings(), HashingEmbedder(), folder)


def begun_case(service: CaseService) -> str:
    """The id of a case with one passage pasted, so that a note can be written."""
    case = service.create("Vitamin C cures a cold.", mode=Mode.AUGMENTATION, by="ann")
    text = "Vitamin C does not cure colds. Trials of 11,306 people found no effect on how often they came."
    service.add_passage_by_hand(case.id, url="https://t.example.org/c", title="Trials", text=text, by="ann")
    return case.id


def answered_together(count: int, answer: Callable[[Body], str]) -> Callable[[Body], str]:
    """Answers nothing before so many have asked."""
    barrier = threading.Barrier(count)

    def wait(body: Body) -> str:
        barrier.wait(4)
        return answer(body)

    return wait


@contextmanager
def engine_over(answer: Callable[[Body], Say | str], **settings: object) -> Iterator[tuple[LLMEngine, LLMServer]]:
    """An engine whose server answers as told; both end with the block."""
    with LLMServer(answer).running() as server, tempfile.TemporaryDirectory() as folder:
        yield engine_for(server.base_url, Path(folder), **settings), server


def refusal_of(
    answer: Callable[[Body], Say | str],
    words: str | None = None,
    kind: type[EngineError] = ModelServerError,
    **settings: object,
) -> tuple[EngineError, LLMServer]:
    """The error that asking for the claims ends in, and the server that was asked."""
    with engine_over(answer, **settings) as (engine, server), pytest.raises(kind, match=words) as caught:
        engine.claims(POST)
    return caught.value, server


def correctness_of(answer: Callable[[Body], Say | str], note: str = NOTE, item: Evidence | None = None) -> GateResult:
    """How a note is judged against its passage."""
    items = [item or evidence()]
    with engine_over(answer) as (engine, _):
        return engine.correctness(note, items, engine.support(note, items))


def principles_of(answer: Callable[[Body], Say | str], note: str = NOTE) -> tuple[PrincipleResult, ...]:
    """How a note keeps to the principles."""
    with engine_over(answer) as (engine, _):
        return engine.principles(POST, note)


def assessed(answer: Callable[[Body], Say | str]) -> Assessment:
    """All that is said of the note."""
    with engine_over(answer) as (engine, _):
        return assess(engine, POST, NOTE, [evidence()], FixedClock())


def relevance_answer(verdict: str, quote: str = "found no link between the drink") -> str:
    return json.dumps({"quote": quote, "reason": "It weighs the claim.", "relevant": verdict})
