"""Makes the chosen engine: the local one, or a language model on a server that was set or found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from crowdnotes.engines.base import Engine
from crowdnotes.engines.embedding import Embedder
from crowdnotes.engines.helpfulness_judges import make_judge
from crowdnotes.engines.judge_parts import JudgeParts
from crowdnotes.engines.local import LocalEngine
from crowdnotes.engines.local.entailment import NliReader
from crowdnotes.engines.metering import price
from crowdnotes.settings_sections import GateSettings, LlmSettings

if TYPE_CHECKING:
    from crowdnotes.engines.llm.calls import ModelClient
    from crowdnotes.engines.llm.recorded import RecordedAnswers


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """The chosen engine: a server by its address, or the local engine if there is none.

    Without `model` the server is asked for the models that the settings name.
    """

    base_url: str | None = None
    model: str = ""


RECORDED = EngineChoice("recorded:", "recorded answers")
"""Recorded answers of a language model to the demonstration: they need no server and no key."""


def set_choice(settings: LlmSettings) -> EngineChoice:
    """Return the engine that the settings name."""
    return EngineChoice(settings.base_url)


def make_engine(
    choice: EngineChoice,
    settings: LlmSettings,
    gates: GateSettings,
    embedder: Embedder,
    data_dir: Path,
    reader: Path | None = None,
) -> Engine:
    """Return the chosen engine, with the judge of helpfulness that the settings name. Asks no server.

    `reader` is the folder of a reading model for the local engine, or the name of a fetched one. Raises
    ConfigurationError if a step has no model or the judge lacks something, ModelFilesError if the reader is missing.
    """
    if choice == RECORDED:
        from crowdnotes.engines.llm.recorded import RecordedAnswers

        return recorded_engine(RecordedAnswers(), embedder, data_dir)
    chosen = settings_for(choice, settings)
    if choice.base_url is not None:
        from crowdnotes.engines.llm.engine import LLMEngine

        return LLMEngine(chosen, gates, embedder, data_dir)

    def model_client(base_url: str, model: str) -> ModelClient:
        from crowdnotes.engines.llm.calls import ModelClients

        return ModelClients(chosen, data_dir).model_client(base_url, model)

    judge = make_judge(JudgeParts(chosen, gates, embedder, model_client))
    return LocalEngine(embedder, judge, NliReader(reader_folder(reader, data_dir)) if reader else None)


def recorded_engine(answers: RecordedAnswers, embedder: Embedder, data_dir: Path) -> Engine:
    """Return the engine that replays recorded answers. It ignores a person's own model settings."""
    from crowdnotes.engines.llm.engine import LLMEngine

    settings = LlmSettings.model_construct(base_url=RECORDED.base_url, model=RECORDED.model)
    return LLMEngine(settings, GateSettings.model_construct(), embedder, data_dir, answers)


def reader_folder(reader: Path, data_dir: Path) -> Path:
    """Return the folder of a reading model: `reader` itself, or the one `crowdnotes models get reader` filled."""
    return reader if reader.is_dir() else data_dir / "readers" / str(reader).replace("/", "--")


def settings_for(choice: EngineChoice, settings: LlmSettings) -> LlmSettings:
    """Return the settings for this choice, without what was set for another server or model.

    So a key from the environment reaches only its own server, and a price applies only to its own model.
    """
    changes: dict[str, object] = {"base_url": choice.base_url}
    if choice.model:
        one = ("queries_model", "utility_model", "writing_model", "judging_model")
        changes |= {"model": choice.model, "sees_images": False} | dict.fromkeys(one, "")
        changes |= {"dollars_per_million_input": None, "dollars_per_million_output": None}
    if choice.base_url != settings.base_url:
        changes["api_key"] = None
        if settings.judge_base_url is None:  # without its own server the judge used the old one
            changes |= {"judge_model": "", "judge_form": "json"}
    return settings.replace(**changes)


def price_is_known(choice: EngineChoice, settings: LlmSettings) -> bool:
    """Return whether the price of every model that this choice asks is known; without a model it is 0."""
    return None not in _price_tokens(choice, settings)


def is_free(choice: EngineChoice, settings: LlmSettings) -> bool:
    """Return whether every model that this choice asks is known to cost nothing."""
    return not any(cost is None or cost > 0 for cost in _price_tokens(choice, settings))


def _price_tokens(choice: EngineChoice, settings: LlmSettings) -> list[float | None]:
    """Return what a million tokens in and out cost of each model that this choice asks, in dollars; None unknown."""
    chosen = settings_for(choice, settings)
    if chosen.base_url is None or choice == RECORDED:
        return []
    steps = (chosen.queries_model, chosen.utility_model, chosen.writing_model, chosen.judging_model)
    asked = {(chosen.base_url, own or chosen.model) for own in steps}
    if chosen.judge_model:
        asked.add((chosen.judge_base_url or chosen.base_url, chosen.judge_model))
    return [price(chosen, address, model, 1_000_000, 1_000_000) for address, model in asked]
