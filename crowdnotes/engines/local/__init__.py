"""The local engine: a careful helper without any model server."""

from crowdnotes.engines.local.engine import LocalEngine

__all__ = ["LocalEngine"]
