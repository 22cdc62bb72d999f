"""A head: one weight a named feature, a hashed gram, and a number of a sentence vector; likeness; then calibrated.

score = bias + the sum of all parts; probability = 1 / (1 + exp(-(slope * score + offset))), Platt's scaling
(1999) fitted on held-out folds. Every part of a verdict can be told: `Parts` holds what each feature and
gram added, measured from the training notes' mean.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from crowdnotes.embedding import FloatArray
from crowdnotes.engines.local.heads.grams import Grams
from crowdnotes.engines.local.heads.likeness import FEATURES, Likeness, likeness_of
from crowdnotes.errors import ModelFilesError

_REPAIR = "Put the folder assets/judges back, for instance with `git checkout assets`, or train the head again."


@dataclass(frozen=True, slots=True)
class Sample:
    """What a head looks at, by name. A feature or vector that is missing adds nothing."""

    features: Mapping[str, float]
    grams: Mapping[str, Grams]
    vectors: Mapping[str, FloatArray] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Parts:
    """The score taken apart: by feature, gram block and place in it, vector, likeness; the rest is the bias."""

    features: dict[str, float]
    grams: dict[str, dict[int, float]]
    vectors: dict[str, float]
    likeness: float
    score: float
    probability: float


@dataclass(frozen=True, slots=True)
class GramBlock:
    """Weights of one kind of grams, shape (BUCKETS,): `rarity` is the inverse document frequency."""

    rarity: FloatArray
    weights: FloatArray


@dataclass(frozen=True, slots=True)
class VectorBlock:
    """Weights of one sentence vector, shape (dimensions,), over its standardised numbers."""

    mean: FloatArray
    scale: FloatArray
    weights: FloatArray


@dataclass(frozen=True, slots=True)
class Head:
    """Trained weights. `mean` and `scale` standardise the features; `embedder` made the vectors."""

    features: tuple[str, ...]
    mean: FloatArray
    scale: FloatArray
    weights: FloatArray
    grams: dict[str, GramBlock]
    vectors: dict[str, VectorBlock]
    bias: float
    slope: float
    offset: float
    embedder: str
    likeness: Likeness | None = None

    def judge(self, sample: Sample) -> Parts:
        """The score of a sample, its calibrated probability, and what each part added."""
        features = {
            name: float(weight * (sample.features[name] - mean) / scale)
            for name, mean, scale, weight in zip(self.features, self.mean, self.scale, self.weights, strict=True)
            if name in sample.features
        }
        grams = {name: _gram_parts(block, sample.grams[name]) for name, block in self.grams.items()}
        vectors = {
            name: float(((sample.vectors[name] - block.mean) / block.scale) @ block.weights)
            for name, block in self.vectors.items()
            if name in sample.vectors
        }
        score = self.bias + sum(features.values()) + sum(vectors.values())
        score += sum(sum(parts.values()) for parts in grams.values())
        likeness = 0.0
        if self.likeness is not None:
            likeness = self.likeness.score({FEATURES: self._dense(sample), **sample.vectors})
        score += likeness
        return Parts(features, grams, vectors, likeness, score, sigmoid(self.slope * score + self.offset))

    def _dense(self, sample: Sample) -> FloatArray:
        """The sample's features in the head's order; one that is missing is at the others' mean."""
        values = [sample.features.get(name, mean) for name, mean in zip(self.features, self.mean, strict=True)]
        return np.array(values, dtype=np.float32)

    def save(self, path: Path) -> None:
        """Write the weights as plain arrays (.npz, nothing pickled), gram weights in half precision."""
        arrays: dict[str, npt.NDArray[np.generic]] = {
            "features": np.array(self.features),
            "mean": self.mean.astype(np.float32),
            "scale": self.scale.astype(np.float32),
            "weights": self.weights.astype(np.float32),
            "numbers": np.array([self.bias, self.slope, self.offset], dtype=np.float64),
            "embedder": np.array(self.embedder),
        }
        for name, grams in self.grams.items():
            arrays[f"grams/{name}/rarity"] = grams.rarity.astype(np.float16)
            arrays[f"grams/{name}/weights"] = grams.weights.astype(np.float16)
        for name, vector in self.vectors.items():
            for part in ("mean", "scale", "weights"):
                arrays[f"vectors/{name}/{part}"] = getattr(vector, part).astype(np.float16)
        arrays |= self.likeness.arrays() if self.likeness is not None else {}
        np.savez_compressed(path, allow_pickle=False, **arrays)


def load_head(path: Path) -> Head:
    """The weights that `Head.save` wrote. Raises ModelFilesError when the file is missing or damaged."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        bias, slope, offset = (float(number) for number in arrays["numbers"])
        return Head(
            features=tuple(str(name) for name in arrays["features"]),
            mean=arrays["mean"],
            scale=arrays["scale"],
            weights=arrays["weights"],
            grams={
                name: GramBlock(_full(arrays, f"grams/{name}/rarity"), _full(arrays, f"grams/{name}/weights"))
                for name in _names(arrays, "grams")
            },
            vectors={
                name: VectorBlock(*(_full(arrays, f"vectors/{name}/{part}") for part in ("mean", "scale", "weights")))
                for name in _names(arrays, "vectors")
            },
            bias=bias,
            slope=slope,
            offset=offset,
            embedder=str(arrays["embedder"]),
            likeness=likeness_of(arrays),
        )
    except (OSError, ValueError, KeyError) as error:
        raise ModelFilesError(f"The trained judge {path.name} is missing or damaged.", _REPAIR) from error


def sigmoid(score: float) -> float:
    """1 / (1 + e^-score), without overflow."""
    return 1.0 / (1.0 + math.exp(-score)) if score >= 0 else math.exp(score) / (1.0 + math.exp(score))


def normed(block_rarity: FloatArray, grams: Grams) -> FloatArray:
    """The weights of a text's grams before the head's: frequency times rarity, of unit length."""
    values = np.asarray(grams.counts * block_rarity[grams.places], dtype=np.float32)
    norm = float(np.linalg.norm(values))
    return values / np.float32(norm) if norm else values


def _gram_parts(block: GramBlock, grams: Grams) -> dict[int, float]:
    parts = normed(block.rarity, grams) * block.weights[grams.places]
    return dict(zip(grams.places.tolist(), parts.tolist(), strict=True))


def _full(arrays: Mapping[str, npt.NDArray[np.generic]], name: str) -> FloatArray:
    return np.asarray(arrays[name], dtype=np.float32)


def _names(arrays: Mapping[str, object], kind: str) -> list[str]:
    return sorted({name.split("/")[1] for name in arrays if name.startswith(f"{kind}/")})
