"""Who thinks: the Engine boundary and its implementations."""

from crowdnotes.engines.base import Engine, Pick, WriterAnswer, Written

__all__ = ["Engine", "Pick", "WriterAnswer", "Written"]
