"""The local engine: honest judgement and quoted words without any model server."""

from crowdnotes.engines.local.engine import LocalEngine

__all__ = ["LocalEngine"]
