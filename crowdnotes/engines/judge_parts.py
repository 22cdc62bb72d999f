"""The boundary of the helpfulness judge, and the parts that a judge is made from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from crowdnotes.domain import GateResult, Post
from crowdnotes.engines.embedding import Embedder
from crowdnotes.settings import GateSettings, LlmSettings

if TYPE_CHECKING:
    from crowdnotes.engines.llm.asking import Asker


class HelpfulnessJudge(Protocol):
    """Judges whether raters would find a note helpful. Implementations are safe to share between threads."""

    @property
    def name(self) -> str:
        """Stored on the gate's result, e.g. "trained head" or "llm:healthjudge"."""
        ...

    @property
    def server(self) -> str:
        """The host that posts and notes are sent to; "" when they stay in this program. Shown on screen."""
        ...

    @property
    def prompt_version(self) -> str | None:
        """Of the prompt that it is asked with, if it has one."""
        ...

    def judge(self, post: Post, note: str) -> GateResult:
        """By the official criteria, on text cut to 280 (CrowdNotes+ E.3). Raises EngineError."""
        ...


@dataclass(frozen=True, slots=True)
class JudgeParts:
    """The parts that a judge may be made from.

    `llm` is of the engine at work: without a `base_url` it is the local one.
    `asker` gives who asks a model on a server, by base URL and model; its calls count on the case's budget.
    """

    llm: LlmSettings
    gates: GateSettings
    embedder: Embedder
    asker: Callable[[str, str], Asker]


def named_result(judge: HelpfulnessJudge, post: Post, note: str) -> GateResult:
    """The judge's result with its name on it."""
    return judge.judge(post, note).model_copy(update={"judge": judge.name})
