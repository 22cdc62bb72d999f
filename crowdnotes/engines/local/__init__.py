"""The local engine, which needs no model server."""

from crowdnotes.engines.local.engine import LocalEngine

__all__ = ["LocalEngine"]
