"""Fits the likeness part of a head: a support vector machine over a sum of Gaussian kernels. Deterministic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from sklearn.svm import SVC

from crowdnotes.embedding import FloatArray
from crowdnotes.engines.local.heads.head import Sample
from crowdnotes.engines.local.heads.likeness import FEATURES, Likeness, LikenessBlock
from crowdnotes.studies.standardising import standard


@dataclass(frozen=True, slots=True)
class LikenessRecipe:
    """`penalty` is scikit-learn's C; `blocks` what each counts; `share` what the part counts beside the linear ones.

    `width` is a kernel's, in units of one over the median squared distance of the notes.
    """

    penalty: float
    width: float
    share: float
    blocks: Mapping[str, float]


def fit_likeness(
    features: FloatArray, samples: Sequence[Sample], labels: npt.NDArray[np.int64], recipe: LikenessRecipe
) -> Likeness | None:
    """The part that tells these labels apart; features: (samples, features).

    None when a sample lacks one of the vectors: then there was no reader to give them.
    """
    if any(name != FEATURES and name not in sample.vectors for sample in samples for name in recipe.blocks):
        return None
    blocks: dict[str, LikenessBlock] = {}
    alike = np.zeros((len(samples), len(samples)))
    for name, weight in recipe.blocks.items():
        values = features if name == FEATURES else np.stack([sample.vectors[name] for sample in samples])
        scaled = standard(values)
        notes = (values - scaled.mean) / scaled.scale
        apart = _squared_distances(notes)
        width = recipe.width / float(np.median(apart))
        blocks[name] = LikenessBlock(scaled.mean, scaled.scale, notes, weight, width)
        alike += weight * np.exp(-width * apart)
    machine = SVC(C=recipe.penalty, kernel="precomputed").fit(alike, labels)
    kept = machine.support_
    blocks = {name: replace(block, notes=block.notes[kept]) for name, block in blocks.items()}
    weights = np.asarray(machine.dual_coef_[0], dtype=np.float32)
    return Likeness(blocks, weights, float(machine.intercept_[0]), recipe.share)


def _squared_distances(rows: FloatArray) -> npt.NDArray[np.float64]:
    exact = rows.astype(np.float64)
    lengths = np.einsum("nd,nd->n", exact, exact)
    apart: npt.NDArray[np.float64] = np.maximum(lengths[:, None] + lengths[None] - 2 * exact @ exact.T, 0.0)
    return apart
