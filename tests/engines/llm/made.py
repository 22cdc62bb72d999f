"""An engine over a scripted server, as the tests of this folder use it."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from crowdnotes.domain import Evidence, Post
from crowdnotes.engines.llm import LLMEngine
from crowdnotes.settings import GateSettings, LlmSettings
from crowdnotes.testing import HashingEmbedder, make_evidence
from tests.llm_server import Body, LLMServer, Say

POST = Post(text="This drink makes children ill, a study proves it! Share before it is deleted.")
PASSAGE = "The review of 12 studies found no link between the drink and the illness. It may cause a mild rash."
NOTE = "The review of 12 studies found no link between the drink and the illness."


def evidence(text: str = PASSAGE, number: int = 1) -> Evidence:
    return make_evidence(number, text, url=f"https://health.example.org/review-{number}")


def engine_for(base_url: str, folder: Path, **settings: object) -> LLMEngine:
    """With a model, no patience for failures, and no cache unless asked for."""
    usual: dict[str, object] = {
        "base_url": base_url,
        "model": "small",
        "max_retries": 0,
        "timeout_seconds": 5.0,
        "cache_mb": 0,
    }
    return LLMEngine(LlmSettings.model_validate(usual | settings), GateSettings(), HashingEmbedder(), folder)


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
