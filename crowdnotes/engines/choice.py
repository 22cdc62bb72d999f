"""Makes the engine that is chosen: the local one, or a language model on a server that is set or was found."""

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
    """The engine that is chosen: a server by its address, or the local engine without one.

    Without `model` the server is asked for the models that are set.
    """

    base_url: str | None = None
    model: str = ""


RECORDED = EngineChoice("recorded:", "recorded answers")
"""A language model whose answers to the demonstration were recorded once: it needs no server and no key."""


def set_choice(settings: LlmSettings) -> EngineChoice:
    """The engine that the settings name."""
    return EngineChoice(settings.base_url)


def make_engine(
    choice: EngineChoice,
    settings: LlmSettings,
    gates: GateSettings,
    embedder: Embedder,
    data_dir: Path,
    reader: Path | None = None,
) -> Engine:
    """The engine of this choice, with the judge of helpfulness that is set. Asks no server.

    `reader` is the folder of a reading model for the local engine, or its name among those that were fetched.
    Raises ConfigurationError when no model is named for a step, or the judge lacks something, ModelFilesError for a
    reader that is not there.
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
    return LocalEngine(embedder, gates, judge, NliReader(reader_folder(reader, data_dir)) if reader else None)


def recorded_engine(answers: RecordedAnswers, embedder: Embedder, data_dir: Path) -> Engine:
    """The engine that goes by recorded answers. What somebody set for a model of theirs does not reach it."""
    from crowdnotes.engines.llm.engine import LLMEngine

    settings = LlmSettings.model_construct(base_url=RECORDED.base_url, model=RECORDED.model)
    return LLMEngine(settings, GateSettings.model_construct(), embedder, data_dir, answers)


def reader_folder(reader: Path, data_dir: Path) -> Path:
    """Where a reading model lies: the folder itself, or that to which `crowdnotes models get reader` fetched a name."""
    return reader if reader.is_dir() else data_dir / "readers" / str(reader).replace("/", "--")


def settings_for(choice: EngineChoice, settings: LlmSettings) -> LlmSettings:
    """The settings with this choice in: what was set for another server or model does not go along.

    So a key of the environment reaches no server but its own, and a price no model but its own.
    """
    changes: dict[str, object] = {"base_url": choice.base_url}
    if choice.model:
        one = ("queries_model", "utility_model", "writing_model", "judging_model")
        changes |= {"model": choice.model, "sees_images": False} | dict.fromkeys(one, "")
        changes |= {"dollars_per_million_input": None, "dollars_per_million_output": None}
    if choice.base_url != settings.base_url:
        changes["api_key"] = None
        if settings.judge_base_url is None:  # a judge's model without a server of its own was the old server's
            changes |= {"judge_model": "", "judge_form": "json"}
    return settings.replace(**changes)


def price_is_known(choice: EngineChoice, settings: LlmSettings) -> bool:
    """Whether it is known what every model that this choice asks would cost; without a model nothing does."""
    chosen = settings_for(choice, settings)
    if chosen.base_url is None:
        return True
    steps = (chosen.queries_model, chosen.utility_model, chosen.writing_model, chosen.judging_model)
    asked = {(chosen.base_url, own or chosen.model) for own in steps}
    if chosen.judge_model:
        asked.add((chosen.judge_base_url or chosen.base_url, chosen.judge_model))
    return all(price(chosen, address, model, 1, 1) is not None for address, model in asked)
