"""What all tests of one worker share because it is slow to make."""

from __future__ import annotations

from functools import cache

from crowdnotes.embedding import MiniLMEmbedder


@cache
def minilm() -> MiniLMEmbedder:
    """The real embedding model, read once."""
    return MiniLMEmbedder()
