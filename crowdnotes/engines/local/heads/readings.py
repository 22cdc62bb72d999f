"""How a note reads to crowds and judges of other notes: scores that the helpfulness head takes as features.

Each is a linear head over hashed words, trained on other data than HealthNotes: on camp notes (whether both
camps approved, what a language model said the note is) and on the Birdwatch pilot of 2021.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from crowdnotes.embedding import FloatArray
from crowdnotes.engines.local.heads.grams import Grams
from crowdnotes.engines.local.heads.head import normed
from crowdnotes.errors import ModelFilesError


@dataclass(frozen=True, slots=True)
class Readings:
    """Names, shape (K,); `rarity`, shape (BUCKETS,); `weights`, shape (K, BUCKETS); `bias`, shape (K,)."""

    names: tuple[str, ...]
    rarity: FloatArray
    weights: FloatArray
    bias: FloatArray

    def score(self, grams: Grams) -> dict[str, float]:
        """The score of each reading for a note's word grams, by name."""
        scores = self.weights[:, grams.places] @ normed(self.rarity, grams) + self.bias
        return dict(zip(self.names, (float(score) for score in scores), strict=True))

    def save(self, path: Path) -> None:
        """Write the weights as plain arrays in half precision."""
        np.savez_compressed(
            path,
            allow_pickle=False,
            names=np.array(self.names),
            rarity=self.rarity.astype(np.float16),
            weights=self.weights.astype(np.float16),
            bias=self.bias.astype(np.float32),
        )


def load_readings(path: Path) -> Readings:
    """What `Readings.save` wrote. Raises ModelFilesError when the file is missing or damaged."""
    try:
        with np.load(path, allow_pickle=False) as file:
            names = tuple(str(name) for name in file["names"])
            rarity, weights, bias = (np.asarray(file[part], dtype=np.float32) for part in ("rarity", "weights", "bias"))
    except (OSError, ValueError, KeyError) as error:
        raise ModelFilesError(
            f"The trained judge {path.name} is missing or damaged.",
            "Put the folder assets/judges back, for instance with `git checkout assets`, or train it again.",
        ) from error
    return Readings(names, rarity, weights, bias)
