"""The Engine boundary and its implementations: the local engine, and one that asks a language model."""

from crowdnotes.domain import Aim
from crowdnotes.engines.base import (
    Engine,
    EngineStep,
    ImageReading,
    MadeBy,
    OnText,
    Pick,
    WriterAnswer,
    Written,
)

__all__ = [
    "Aim",
    "Engine",
    "EngineStep",
    "ImageReading",
    "MadeBy",
    "OnText",
    "Pick",
    "WriterAnswer",
    "Written",
]
