"""The local engine: it searches, quotes and judges without a model server."""

from crowdnotes.engines.local.engine import LocalEngine

__all__ = ["LocalEngine"]
