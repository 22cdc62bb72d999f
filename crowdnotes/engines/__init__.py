"""Who thinks: the Engine boundary and its implementations."""

from crowdnotes.engines.base import Aim, Engine, ImageReading, Pick, WriterAnswer, Written

__all__ = ["Aim", "Engine", "ImageReading", "Pick", "WriterAnswer", "Written"]
