"""Who thinks: the Engine boundary and its implementations."""

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
