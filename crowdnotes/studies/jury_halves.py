"""How one head is learned: weighted logistic regressions, on words and on nearness to landmarks.

Targets are shares in [0, 1], so that "62 % found it helpful" is learned as such: each note counts as
both answers, by its share.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, hstack, vstack
from sklearn.linear_model import LogisticRegression

from crowdnotes.jury.features import Features
from crowdnotes.jury.heads import Blend, Channel, Landmarks, VectorsHalf, WordsHalf

Floats = npt.NDArray[np.float64]
_LEAST_SPREAD = 0.02


@dataclass(frozen=True)
class WordsRecipe:
    """Blocks with their weighting, "idf" (rarity) or "ratio" (how unlike the two answers use the word).

    strength: inverse of the penalty; smoothing: counts added to each word before the ratio is taken;
    manner, stances: how large their columns stand beside a text block of length one.
    """

    channels: tuple[tuple[str, str], ...]
    strength: float
    smoothing: float = 1.0
    manner: float = 0.15
    stances: float = 0.08


def learn_words(read: Features, target: Floats, weight: Floats, recipe: WordsRecipe) -> WordsHalf:
    """Fit the words half; target and weight (n,)."""
    squares = [_squares(read.blocks[block], how, target, weight, recipe) for block, how in recipe.channels]
    scaled = [
        _unit_rows(read.blocks[block], values) for (block, _), values in zip(recipe.channels, squares, strict=True)
    ]
    numbers = np.column_stack((read.manner, read.stances))
    sizes = np.repeat([recipe.manner, recipe.stances], [read.manner.shape[1], read.stances.shape[1]])
    mean, scale = numbers.mean(axis=0), sizes / _spread(numbers)
    parts_in = [*scaled, csr_matrix((numbers - mean) * scale)]
    coefficients, constant = _logistic(hstack(parts_in).tocsr(), target, weight, recipe.strength)
    ends = np.cumsum([part.shape[1] for part in scaled])
    parts = np.split(coefficients, ends)
    channels = tuple(
        Channel(block, values.astype(np.float32), (np.sqrt(values) * part).astype(np.float32))
        for (block, _), values, part in zip(recipe.channels, squares, parts[:-1], strict=True)
    )
    of_numbers = parts[-1] * scale
    of_manner, of_stances = np.split(of_numbers, [read.manner.shape[1]])
    return WordsHalf(channels, of_manner, of_stances, float(constant - of_numbers @ mean))


@dataclass(frozen=True)
class Mapped:
    """Notes by the Nyström map K(x, L) K(L, L)^(-1/2), (n, k), and the map's root (l, k)."""

    columns: Floats
    root: Floats

    @classmethod
    def of(cls, read: Features, landmarks: Landmarks) -> Mapped:
        """Map every note once; the heads share it."""
        values, axes = np.linalg.eigh(landmarks.among_themselves())
        kept = values > 1e-4
        root = axes[:, kept] / np.sqrt(values[kept])
        return cls(landmarks.kernel(read) @ root, root)


@dataclass(frozen=True)
class MappedHalf:
    """Coefficients (k,) of the mapped columns, with a constant."""

    coefficients: Floats
    constant: float

    def score(self, mapped: Mapped, of: npt.NDArray[np.bool_]) -> Floats:
        """Log odds of the notes where `of` is true."""
        total: Floats = self.constant + mapped.columns[of] @ self.coefficients
        return total

    def on_landmarks(self, mapped: Mapped) -> VectorsHalf:
        """The same half, by nearness to landmarks."""
        return VectorsHalf(mapped.root @ self.coefficients, self.constant)


def learn_vectors(
    mapped: Mapped, of: npt.NDArray[np.bool_], target: Floats, weight: Floats, strength: float
) -> MappedHalf:
    """Fit the vectors half on the notes where `of` (n,) is true; target and weight (n,)."""
    coefficients, constant = _logistic(mapped.columns[of], target[of], weight[of], strength)
    return MappedHalf(coefficients, constant)


def choose_landmarks(
    read: Features, among: npt.NDArray[np.bool_], counts: tuple[int, int], sharpness: float, stances: float
) -> Landmarks:
    """Notes that stand for all: counts are of those where `among` (n,) is true, and not; all when few.

    stances: how far apart two notes are by a stance that is one standard deviation apart.
    """
    chance = np.random.default_rng(0)
    groups = (np.flatnonzero(among), np.flatnonzero(~among))
    rows = [chance.permutation(group)[:count] for group, count in zip(groups, counts, strict=True)]
    scales = (stances / _spread(read.stances)).astype(np.float16).astype(np.float32)
    return Landmarks.at(read.rows(np.sort(np.concatenate(rows))), scales, sharpness)


def _spread(columns: Floats) -> Floats:
    """Standard deviations (c,), not below what would let one rare column decide alone."""
    spread: Floats = np.maximum(columns.std(axis=0), _LEAST_SPREAD)
    return spread


def learn_blend(scores: Floats, target: Floats, weight: Floats) -> tuple[float, Floats]:
    """Weigh scores (n, k) to log odds that are right on the notes at hand: a constant and (k,) coefficients."""
    coefficients, constant = _logistic(scores, target, weight, 100.0)
    return constant, coefficients


def blends(words: Floats, vectors: Floats, target: Floats, weight: Floats) -> tuple[Blend, Blend]:
    """The blend of both halves, and of the words alone."""
    constant, (of_words, of_vectors) = learn_blend(np.column_stack((words, vectors)), target, weight)
    alone, (only,) = learn_blend(words[:, None], target, weight)
    return Blend(constant, float(of_words), float(of_vectors)), Blend(alone, float(only))


def _squares(block: csr_matrix, how: str, target: Floats, weight: Floats, recipe: WordsRecipe) -> Floats:
    """r^2 of each hashed word, (2**bits,); words in one note alone get 0."""
    seen = np.asarray((block > 0).sum(axis=0)).ravel()
    if how == "idf":
        r = np.log((1 + block.shape[0]) / (1 + seen)) + 1
    else:
        yes = recipe.smoothing + block.T @ (weight * target)
        no = recipe.smoothing + block.T @ (weight * (1 - target))
        r = np.log(yes / yes.sum()) - np.log(no / no.sum())
    return np.where(seen < 2, 0.0, r * r)


def _unit_rows(block: csr_matrix, squares: Floats) -> csr_matrix:
    """Rows of presence times r, of length one."""
    length = np.sqrt(block @ squares)
    scale = np.divide(1.0, length, out=np.zeros(len(length)), where=length > 0)
    scaled = block.multiply(np.sqrt(squares)).tocsr().multiply(scale[:, None]).tocsr()
    return csr_matrix(scaled)


def _logistic(columns: csr_matrix | Floats, target: Floats, weight: Floats, strength: float) -> tuple[Floats, float]:
    weight = weight / weight.mean()
    answers = (target > 0, target < 1)
    rows = [np.flatnonzero(answer) for answer in answers]
    picked = [columns[row] for row in rows]
    sparse = isinstance(columns, csr_matrix)
    both = vstack(picked).tocsr() if sparse else np.concatenate(picked)
    labels = np.repeat([1, 0], [len(row) for row in rows])
    weights = np.concatenate(((weight * target)[rows[0]], (weight * (1 - target))[rows[1]]))
    solver = LogisticRegression(
        C=strength, solver="liblinear" if sparse else "lbfgs", max_iter=500, random_state=0, tol=1e-4
    )
    solver.fit(both, labels, sample_weight=weights)
    return solver.coef_[0].astype(np.float64), float(solver.intercept_[0])
