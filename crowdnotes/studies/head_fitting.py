"""Fits a linear head to samples: logistic regression over scaled features, hashed grams and sentence vectors.

Deterministic: the same samples give the same weights. Scaling a block is the same as penalising it less or
more: `Recipe` says how much each block may say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from crowdnotes.embedding import FloatArray
from crowdnotes.engines.local.heads.grams import BUCKETS, Grams
from crowdnotes.engines.local.heads.head import GramBlock, Head, Sample, VectorBlock, normed
from crowdnotes.studies.likeness_fitting import LikenessRecipe, fit_likeness
from crowdnotes.studies.standardising import standard

Labels = npt.NDArray[np.int64]
_ROUNDS = 400


@dataclass(frozen=True, slots=True)
class Recipe:
    """`inverse_penalty` is scikit-learn's C; the scales weigh the blocks; a gram counts from `rarest` texts on."""

    inverse_penalty: float
    features: float
    grams: Mapping[str, float]
    vectors: Mapping[str, float]
    rarest: int = 2
    likeness: LikenessRecipe | None = None


def fit_head(samples: Sequence[Sample], labels: Labels, recipe: Recipe, embedder: str) -> Head:
    """The head of these samples, not yet calibrated (slope 1, offset 0)."""
    names = tuple(sorted({name for sample in samples for name in sample.features}))
    dense = _features(samples, names)
    scaled = standard(dense)
    columns = [sparse.csr_matrix((dense - scaled.mean) / scaled.scale * recipe.features)]
    rarities = {name: _rarity([s.grams[name] for s in samples], recipe.rarest) for name in recipe.grams}
    columns += [gram_matrix([s.grams[name] for s in samples], rarities[name]) * recipe.grams[name] for name in rarities]
    stacks = {name: np.stack([s.vectors[name] for s in samples]) for name in recipe.vectors}
    vectors = {name: standard(stack) for name, stack in stacks.items()}
    columns += [
        sparse.csr_matrix((stacks[name] - block.mean) / block.scale * recipe.vectors[name])
        for name, block in vectors.items()
    ]
    every = sparse.hstack(columns).tocsr()
    present = np.unique(every.indices)  # a gram of no text has weight 0 anyway, and most buckets are empty
    model = LogisticRegression(C=recipe.inverse_penalty, max_iter=_ROUNDS)
    model.fit(every[:, present], labels)
    weights = np.zeros(every.shape[1], dtype=np.float32)
    weights[present] = model.coef_[0]
    parts = np.split(weights, np.cumsum([column.shape[1] for column in columns])[:-1])
    after = 1 + len(rarities)
    return Head(
        features=names,
        mean=scaled.mean,
        scale=scaled.scale,
        weights=parts[0] * np.float32(recipe.features),
        grams={
            name: GramBlock(rarities[name], part * np.float32(recipe.grams[name]))
            for name, part in zip(rarities, parts[1:after], strict=True)
        },
        vectors={
            name: VectorBlock(block.mean, block.scale, part * np.float32(recipe.vectors[name]))
            for (name, block), part in zip(vectors.items(), parts[after:], strict=True)
        },
        bias=float(model.intercept_[0]),
        slope=1.0,
        offset=0.0,
        embedder=embedder,
        likeness=None if recipe.likeness is None else fit_likeness(dense, samples, labels, recipe.likeness),
    )


def scores(head: Head, samples: Sequence[Sample]) -> npt.NDArray[np.float64]:
    """The uncalibrated score of each sample."""
    return np.array([head.judge(sample).score for sample in samples])


def calibration(held_out: npt.NDArray[np.float64], labels: Labels) -> tuple[float, float]:
    """Slope and offset of Platt's scaling, from scores of samples that the head was not fitted to."""
    model = LogisticRegression(C=1e3, max_iter=_ROUNDS).fit(held_out.reshape(-1, 1), labels)
    return float(model.coef_[0][0]), float(model.intercept_[0])


def gram_matrix(grams: Sequence[Grams], rarity: FloatArray) -> sparse.csr_matrix:
    """Rows of unit length, shape (len(grams), BUCKETS)."""
    values = [normed(rarity, gram) for gram in grams]
    ends = np.cumsum([0, *(len(gram.places) for gram in grams)])
    places = np.concatenate([gram.places for gram in grams])
    return sparse.csr_matrix((np.concatenate(values), places, ends), shape=(len(grams), BUCKETS))


def _rarity(grams: Sequence[Grams], rarest: int) -> FloatArray:
    """Smoothed inverse document frequency; 0 for grams of fewer than `rarest` texts, which would be learned by rote."""
    seen = np.zeros(BUCKETS, dtype=np.int64)
    for gram in grams:
        seen[gram.places] += 1
    rarity = np.log((1 + len(grams)) / (1 + seen)) + 1
    return np.where(seen >= rarest, rarity, 0.0).astype(np.float32)


def _features(samples: Sequence[Sample], names: Sequence[str]) -> npt.NDArray[np.float32]:
    """Shape (samples, names); a feature that a sample lacks is put at the others' mean, where it adds nothing."""
    known = np.array([[sample.features.get(name, np.nan) for name in names] for sample in samples], dtype=np.float32)
    return np.where(np.isnan(known), np.nanmean(known, axis=0), known)


def rarity_of(grams: Sequence[Grams], rarest: int) -> FloatArray:
    """See `_rarity`; for heads that share one."""
    return _rarity(grams, rarest)
