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
from scipy.special import expit, logit

from crowdnotes.bridging.scoring import FrozenRaters, score_votes
from crowdnotes.errors import InputError
from crowdnotes.jury.raters import Floats, Jurors
from crowdnotes.settings import JurySettings

_PER_SIDE = 100
_STEPS = 12  # of Newton's method: enough for 1e-6 at the furthest shares


@dataclass(frozen=True)
class Predictions:
    """What the model reads from n notes: appeal and lean, (n,) each.

    splits (n,): the chance that the sides are divided, where the model tells it. shown (n,): the chance that X
    shows the note, where a head tells it.
    """

    appeal: Floats
    lean: Floats
    splits: Floats | None = None
    shown: Floats | None = None

    def __len__(self) -> int:
        return len(self.appeal)

    def only(self, row: int) -> Predictions:
        """One note's."""
        part = slice(row, row + 1)
        splits, shown = (None if known is None else known[part] for known in (self.splits, self.shown))
        return Predictions(self.appeal[part], self.lean[part], splits, shown)


@dataclass(frozen=True)
class OrdinalModel:
    """b, per unit of rater intercept, and the width of "somewhat helpful" in log odds (above 0)."""

    intercept_slope: float
    width: float

    def odds(self, appeal: Floats, lean: Floats, jurors: Jurors) -> Floats:
        """Log odds of "helpful", (n, u), of notes with appeal and lean (n,) each."""
        odds: Floats = appeal[:, None] + np.outer(lean, jurors.factors) + self.intercept_slope * jurors.intercepts
        return odds

    def chances(self, appeal: Floats, lean: Floats, jurors: Jurors) -> tuple[Floats, Floats]:
        """P(helpful) and P(not helpful), (n, u) each; what is missing to 1 is P(somewhat helpful)."""
        odds = self.odds(appeal, lean, jurors)
        return expit(odds), expit(-(odds + self.width))


@dataclass(frozen=True)
class Sides:
    """Raters that stand for each side: averages over them are a side's."""

    negative: Jurors
    positive: Jurors

    @classmethod
    def of(cls, raters: Floats) -> Sides:
        """From many raters (m, 2), intercept and factor: evenly spread over each side's factors.

        Raises InputError when a side has nobody.
        """
        return cls(*(_spread(raters[(raters[:, 1] >= 0) == positive]) for positive in (False, True)))

    def shares(self, predicted: Predictions, ordinal: OrdinalModel) -> Floats:
        """The mean P(helpful) on each side, − then +: (n, 2)."""
        both = (self.negative, self.positive)
        return np.column_stack(
            [ordinal.chances(predicted.appeal, predicted.lean, side)[0].mean(axis=1) for side in both]
        )

    def appeal_and_lean(self, shares: Floats, ordinal: OrdinalModel) -> tuple[Floats, Floats]:
        """The appeal and lean (n,) under which each side's mean chance of "helpful" is its share (n, 2).

        Newton's method on two unknowns a note. Shares are kept from 0 and 1, where there is no answer.
        """
        wanted = np.clip(shares, 0.005, 0.995)
        both = (self.negative, self.positive)
        places = [side.factors.mean() for side in both]
        # The start is exact if a side were its mean rater.
        odds = logit(wanted) - ordinal.intercept_slope * np.asarray([side.intercepts.mean() for side in both])
        lean = (odds[:, 1] - odds[:, 0]) / (places[1] - places[0])
        appeal = odds[:, 0] - lean * places[0]
        for _ in range(_STEPS):
            values, by_appeal, by_lean = [], [], []
            for side in both:
                helpful, _ = ordinal.chances(appeal, lean, side)
                slope = helpful * (1 - helpful)
                values.append(helpful.mean(axis=1))
                by_appeal.append(slope.mean(axis=1))
                by_lean.append(slope @ side.factors / len(side))
            miss = np.stack(values) - wanted.T
            determinant = by_appeal[0] * by_lean[1] - by_appeal[1] * by_lean[0]
            appeal = appeal - np.clip((by_lean[1] * miss[0] - by_lean[0] * miss[1]) / determinant, -2, 2)
            lean = lean - np.clip((by_appeal[0] * miss[1] - by_appeal[1] * miss[0]) / determinant, -5, 5)
        return appeal, lean


def _spread(side: Floats) -> Jurors:
    if not len(side):
        raise InputError("All raters stand on one side.", "The jury needs raters of both sides.")
    ordered = side[np.lexsort((side[:, 0], side[:, 1]))]
    places = ((np.arange(_PER_SIDE) + 0.5) / _PER_SIDE * len(ordered)).astype(np.intp)
    return Jurors(ordered[places, 0].round(5), ordered[places, 1].round(5))


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
    helpful, not_helpful = ordinal.chances(predicted.appeal, predicted.lean, jurors)
    luck = chance.random(len(jurors))
    # One random number a juror, compared with the chances: helpful first, then somewhat, then not helpful.
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
