"""Fit the proportional-odds model of `jury.votes` to single ratings: L-BFGS on the exact likelihood.

A note's appeal and lean are linear in its columns; a rating costs one addition in each, so an epoch is
a sparse product over notes plus a pass over ratings.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from crowdnotes.jury.votes import OrdinalModel, logit, sigmoid

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int32]
_LEAST_WIDTH = 1e-3
_ROUNDS = 300


@dataclass(frozen=True)
class RatedRows:
    """Ratings (m,): note row, the rater's intercept and factor, and the value in {0, 0.5, 1}."""

    note: Rows
    intercept: Floats
    factor: Floats
    value: Floats

    def __len__(self) -> int:
        return len(self.note)


@dataclass(frozen=True)
class RatingFit:
    """Weights of the notes' columns (c, 2) on appeal and lean, their constants (2,), and the ordinal model."""

    weights: Floats
    constants: Floats
    ordinal: OrdinalModel

    def appeal_and_lean(self, columns: csr_matrix) -> Floats:
        """Of notes with columns (n, c): (n, 2)."""
        both: Floats = columns @ self.weights + self.constants
        return both

    def odds(self, columns: csr_matrix, rows: RatedRows) -> Floats:
        """Log odds of "helpful" for each rating, (m,)."""
        return _odds(self.appeal_and_lean(columns), rows, self.ordinal.intercept_slope)


def fit_ratings(columns: csr_matrix, rows: RatedRows, penalty: float) -> RatingFit:
    """Minimise the ratings' negative log likelihood plus penalty / 2 times the weights' squares."""
    width = columns.shape[1]
    across = columns.T.tocsr()
    helpful, not_helpful = rows.value == 1, rows.value == 0
    somewhat = ~(helpful | not_helpful)

    def cost(packed: Floats) -> tuple[float, Floats]:
        weights = packed[: 2 * width].reshape(width, 2)
        constants, slope, wide = packed[-4:-2], packed[-2], np.exp(packed[-1]) + _LEAST_WIDTH
        odds = _odds(columns @ weights + constants, rows, slope)
        top, bottom = sigmoid(odds), sigmoid(odds + wide)
        chance = np.where(helpful, top, np.where(not_helpful, 1 - bottom, bottom - top))
        by_odds = np.where(helpful, top - 1, np.where(not_helpful, bottom, top + bottom - 1))
        # Where a class is all but impossible its gradient is bounded; the chance is kept from 0 for the logarithm.
        kept = np.maximum(chance, 1e-12)
        by_width = np.where(not_helpful, bottom, np.where(somewhat, -bottom * (1 - bottom) / kept, 0.0))
        per_note = np.column_stack(
            (
                np.bincount(rows.note, by_odds, columns.shape[0]),
                np.bincount(rows.note, by_odds * rows.factor, columns.shape[0]),
            )
        )
        slopes = across @ per_note + penalty * weights
        rest = (*per_note.sum(axis=0), float(by_odds @ rows.intercept), by_width.sum() * (wide - _LEAST_WIDTH))
        total = -np.log(kept).sum() + penalty / 2 * float((weights**2).sum())
        return float(total), np.concatenate((slopes.ravel(), rest))

    start = np.zeros(2 * width + 4)
    start[-4] = logit(np.asarray([helpful.mean()]))[0]
    start[-2] = 1.0
    start[-1] = -1.0
    found = minimize(cost, start, jac=True, method="L-BFGS-B", options={"maxiter": _ROUNDS, "maxcor": 20}).x
    return RatingFit(
        found[: 2 * width].reshape(width, 2),
        found[-4:-2],
        OrdinalModel(float(found[-2]), float(np.exp(found[-1])) + _LEAST_WIDTH),
    )


def log_loss(odds: Floats, ordinal: OrdinalModel, value: Floats) -> float:
    """Mean negative log likelihood of ratings under their log odds."""
    top, bottom = sigmoid(odds), sigmoid(odds + ordinal.width)
    chance = np.where(value == 1, top, np.where(value == 0, 1 - bottom, bottom - top))
    return float(-np.log(np.maximum(chance, 1e-12)).mean())


def _odds(both: Floats, rows: RatedRows, slope: float) -> Floats:
    odds: Floats = both[rows.note, 0] + both[rows.note, 1] * rows.factor + slope * rows.intercept
    return odds
