"""Fakes of every boundary, shipped so that other projects' tests can use them too."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from crowdnotes.embedding import FloatArray


class HashingEmbedder:
    """Bag of words by hashing: deterministic, instant, and texts that share words are similar."""

    name = "hashing-fake"
    dimensions = 256

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """See `Embedder.encode`."""
        out = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in re.findall(r"\w+", text.lower()):
                out[row, zlib.crc32(word.encode("utf-8", "surrogatepass")) % self.dimensions] += 1
            norm = float(np.linalg.norm(out[row]))
            out[row] = out[row] / norm if norm else 1 / np.sqrt(self.dimensions)
        return out

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """See `Embedder.token_spans`: words and single marks."""
        return [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]


class FixedClock:
    """A clock that moves one second at each look, from a set moment."""

    def __init__(self, start: datetime | None = None) -> None:
        self._now = start or datetime(2026, 1, 1, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        """The next moment."""
        self._now += timedelta(seconds=1)
        return self._now
