"""The part of a head that goes by likeness: how the notes that it learned from fared that are most like this one.

score = share * (offset + sum over learned notes of weight * sum over blocks of block weight * exp(-width * distance^2))

A support vector machine with a sum of Gaussian kernels (Cortes and Vapnik, 1995), in plain arrays. It sees what goes
together, where the linear parts add up what speaks for itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crowdnotes.embedding import FloatArray

FEATURES = "features"  # the block of a head's own features, standardised
_PREFIX = "likeness"


@dataclass(frozen=True, slots=True)
class LikenessBlock:
    """`notes`: what was learned from, standardised, shape (learned, dimensions); `mean`, `scale`: (dimensions,)."""

    mean: FloatArray
    scale: FloatArray
    notes: FloatArray
    weight: float
    width: float

    def likeness(self, values: FloatArray) -> npt.NDArray[np.float64]:
        """How like each learned note is, times the block's weight; values: (dimensions,), gives (learned,)."""
        gaps = self.notes - (values - self.mean) / self.scale
        squares = np.einsum("nd,nd->n", gaps, gaps, dtype=np.float64)
        alike: npt.NDArray[np.float64] = self.weight * np.exp(-self.width * squares)
        return alike


@dataclass(frozen=True, slots=True)
class Likeness:
    """`weights`: of the learned notes, (learned,). Blocks by name: `FEATURES`, or a vector's name."""

    blocks: Mapping[str, LikenessBlock]
    weights: FloatArray
    offset: float
    share: float

    def score(self, values: Mapping[str, FloatArray]) -> float:
        """What it adds to the head's score; nothing when a block's values are missing."""
        if any(name not in values for name in self.blocks):
            return 0.0
        alike = sum(block.likeness(values[name]) for name, block in self.blocks.items())
        return self.share * (float(self.weights @ alike) + self.offset)

    def arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        """The numbers as they are kept, the notes in half precision, by name."""
        found: dict[str, npt.NDArray[np.generic]] = {
            f"{_PREFIX}/weights": self.weights.astype(np.float32),
            f"{_PREFIX}/numbers": np.array([self.offset, self.share], dtype=np.float64),
        }
        for name, block in self.blocks.items():
            found[f"{_PREFIX}/{name}/mean"] = block.mean.astype(np.float32)
            found[f"{_PREFIX}/{name}/scale"] = block.scale.astype(np.float32)
            found[f"{_PREFIX}/{name}/notes"] = block.notes.astype(np.float16)
            found[f"{_PREFIX}/{name}/numbers"] = np.array([block.weight, block.width], dtype=np.float64)
        return found


def likeness_of(arrays: Mapping[str, npt.NDArray[np.generic]]) -> Likeness | None:
    """What `Likeness.arrays` gave, other names left aside; None without one. Raises KeyError when parts are missing."""
    names = sorted({parts[1] for name in arrays if len(parts := name.split("/")) == 3 and parts[0] == _PREFIX})
    if not names:
        return None
    blocks: dict[str, LikenessBlock] = {}
    for name in names:
        mean, scale, notes = (
            np.asarray(arrays[f"{_PREFIX}/{name}/{part}"], dtype=np.float32) for part in ("mean", "scale", "notes")
        )
        weight, width = (float(number) for number in arrays[f"{_PREFIX}/{name}/numbers"])
        blocks[name] = LikenessBlock(mean, scale, notes, weight, width)
    offset, share = (float(number) for number in arrays[f"{_PREFIX}/numbers"])
    return Likeness(blocks, np.asarray(arrays[f"{_PREFIX}/weights"], dtype=np.float32), offset, share)
