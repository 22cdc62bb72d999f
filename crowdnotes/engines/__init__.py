"""The Engine boundary and its implementations: the local engine, and one that asks a language model."""

from crowdnotes.domain import Aim
from crowdnotes.engines.base import (
    Brief,
    Engine,
    EngineStep,
    FurtherSearch,
    ImageReading,
    MadeBy,
    Pick,
    Ranking,
    Revision,
    SearchPlan,
    WriterAnswer,
    Written,
    WrittenSentence,
)

__all__ = [
    "Aim",
    "Brief",
    "Engine",
    "EngineStep",
    "FurtherSearch",
    "ImageReading",
    "MadeBy",
    "Pick",
    "Ranking",
    "Revision",
    "SearchPlan",
    "WriterAnswer",
    "Written",
    "WrittenSentence",
]
