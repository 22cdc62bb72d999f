"""From a note's two numbers to a jury's votes: the ordinal model's chances, votes drawn from them, their outcome.

A proportional-odds model: with utility e = appeal + lean * f_u + b * i_u,

    P(helpful) = sigma(e),   P(not helpful) = sigma(-(e + width)),   P(somewhat helpful) = the rest.

The note's text enters by appeal and lean alone, so it is read once, and any number of jurors is an outer product
away. Appeal moves the note intercept of the factorization, lean its factor.

Votes are drawn, never the likeliest class: a juror who finds a note helpful with 60 % would else always do so, and
the note would look unanimous (Supernotes 2.3). They go through the closed form of the scorer's final round
(`bridging.scoring`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crowdnotes.bridging.scoring import FrozenRaters, score_votes
from crowdnotes.jury.raters import Floats, Jurors
from crowdnotes.settings import JurySettings


@dataclass(frozen=True)
class OrdinalModel:
    """b, per unit of rater intercept, and the width of "somewhat helpful" in log odds (above 0)."""

    intercept_slope: float
    width: float


def helpful_odds(appeal: Floats, lean: Floats, jurors: Jurors, ordinal: OrdinalModel) -> Floats:
    """Log odds of "helpful", (n, u), of notes with appeal and lean (n,) each."""
    odds: Floats = appeal[:, None] + np.outer(lean, jurors.factors) + ordinal.intercept_slope * jurors.intercepts
    return odds


def chances(appeal: Floats, lean: Floats, jurors: Jurors, ordinal: OrdinalModel) -> tuple[Floats, Floats]:
    """P(helpful) and P(not helpful), (n, u) each; what is missing to 1 is P(somewhat helpful)."""
    odds = helpful_odds(appeal, lean, jurors, ordinal)
    return sigmoid(odds), sigmoid(-(odds + ordinal.width))


def sigmoid(x: Floats) -> Floats:
    """1 / (1 + exp(-x)), without overflow."""
    bent: Floats = 0.5 * (1.0 + np.tanh(0.5 * x))
    return bent


def logit(p: Floats) -> Floats:
    """The inverse, of chances kept a hair away from 0 and 1."""
    kept = np.clip(p, 1e-6, 1 - 1e-6)
    odds: Floats = np.log(kept / (1 - kept))
    return odds


@dataclass(frozen=True)
class Predictions:
    """What the model reads from n notes: appeal and lean, (n,) each.

    splits (n,): the chance that the sides are divided, where the model tells it.
    """

    appeal: Floats
    lean: Floats
    splits: Floats | None = None

    def __len__(self) -> int:
        return len(self.appeal)

    def only(self, row: int) -> Predictions:
        """One note's."""
        part = slice(row, row + 1)
        return Predictions(self.appeal[part], self.lean[part], None if self.splits is None else self.splits[part])


@dataclass(frozen=True)
class Votes:
    """Of n notes before one jury: ratings (n, u) in {0, 0.5, 1}, intercepts, factors and upper bounds (n,)."""

    jurors: Jurors
    ratings: Floats
    intercepts: Floats
    factors: Floats
    upper_bounds: Floats

    def only(self, row: int) -> Votes:
        """One note's."""
        part = slice(row, row + 1)
        return Votes(
            self.jurors, self.ratings[part], self.intercepts[part], self.factors[part], self.upper_bounds[part]
        )


def simulate_votes(
    predicted: Predictions, jurors: Jurors, ordinal: OrdinalModel, settings: JurySettings, chance: np.random.Generator
) -> Votes:
    """One jury rates every note; the same jurors and the same luck for all, so that only the notes differ."""
    helpful, not_helpful = chances(predicted.appeal, predicted.lean, jurors, ordinal)
    luck = chance.random(len(jurors))
    # One luck a juror: from the top down helpful, somewhat, not helpful.
    ratings = 0.5 * ((luck < helpful).astype(np.float64) + (luck < 1.0 - not_helpful))
    intercepts, factors, bounds = score_votes(ratings, _frozen(jurors, settings))
    return Votes(jurors, ratings, intercepts, factors, bounds)


def middle(values: Floats, share: float = 0.9) -> tuple[Floats, Floats]:
    """The bounds of the middle share over the first axis: (repeats, n) to (n,) twice."""
    low, high = np.quantile(values, [(1 - share) / 2, (1 + share) / 2], axis=0)
    return low, high


def counts(ratings: Floats, of: npt.NDArray[np.bool_]) -> tuple[int, int, int]:
    """Helpful, somewhat helpful, not helpful among one note's ratings (u,) where `of` (u,) is true."""
    chosen = ratings[of]
    return int((chosen == 1).sum()), int((chosen == 0.5).sum()), int((chosen == 0).sum())


def _frozen(jurors: Jurors, settings: JurySettings) -> FrozenRaters:
    ids = np.arange(len(jurors))
    return FrozenRaters(ids, jurors.intercepts, jurors.factors, settings.global_intercept, settings.ratings_per_note)
