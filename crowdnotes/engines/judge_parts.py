"""The boundary of the helpfulness judge, and the parts that a judge is made from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crowdnotes.engines.embedding import Embedder
from crowdnotes.settings_sections import GateSettings, LlmSettings

if TYPE_CHECKING:
    from crowdnotes.engines.llm.calls import ModelClient


@dataclass(frozen=True, slots=True)
class JudgeParts:
    """The parts that a judge may be made from.

    `llm` belongs to the current engine: without a `base_url` that is the local one. `model_client` returns the client
    for a model on a server, by base URL and model; its calls count on the case's budget.
    """

    llm: LlmSettings
    gates: GateSettings
    embedder: Embedder
    model_client: Callable[[str, str], ModelClient]
