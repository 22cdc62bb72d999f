"""From a note's two numbers to a jury's votes, and from the chance that X shows a note to those numbers.

A proportional-odds model: with utility e = appeal + lean * f_u + b * i_u,

    P(helpful) = sigma(e),   P(not helpful) = sigma(-(e + width)),   P(somewhat helpful) = the rest.

The note's text enters by appeal and lean alone, so it is read once, and any number of jurors is an outer product
away. Appeal moves the note intercept of the factorization, lean its factor.

Votes are drawn, never the likeliest class: a juror who finds a note helpful with 60 % would else always do so, and
the note would look unanimous (Supernotes 2.3). They go through the closed form of the scorer's final round
(`bridging.scoring`).

The chance that X shows a note fixes its intercept, what divides the camps its factor. A note's true intercept is not
known, but how likely it lies at 0.40 or above is. With z the normal quantile of that chance, the truth is drawn as
line + slope * (z + e), e standard normal, so that it reaches the line as often as the chance says. The intercept that
is shown is a careful one: at least two of three such notes reach it.

Two slopes are conventions, for no public data show how far above or below the line a note with some chance is: a note
of which one in six of its like are shown gets 0.45 under the line, where X calls notes not helpful, and one with 19 in
20 gets 0.15 above it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit, ndtri

from crowdnotes.bridging.scoring import FrozenRaters, score_votes
from crowdnotes.errors import InputError
from crowdnotes.jury.raters import Floats, Jurors, RaterPool
from crowdnotes.settings_sections import JurySettings

_RATERS_PER_SIDE = 100
_NEWTON_STEPS = 12  # of Newton's method: enough for 1e-6 at the furthest shares
CAREFUL_SHARE = 2 / 3
_CAREFUL_QUANTILE = float(ndtri(1 - CAREFUL_SHARE))
_SLOPE_BELOW_LINE = 0.45 / float(ndtri(CAREFUL_SHARE) - ndtri(1 / 6))
_SLOPE_ABOVE_LINE = 0.15 / float(ndtri(0.95) - ndtri(CAREFUL_SHARE))
_FACTOR_LEVELS, _INTERCEPT_LEVELS, _POOL_DRAWS = 20, 5, 20_000  # levels of each, and how many raters they are read from
_CROWD_SIZE = _FACTOR_LEVELS * _INTERCEPT_LEVELS
_MAX_APPEAL = 25.0  # appeal; votes are all but unanimous long before
_BISECTION_STEPS = 24
_CURVE_POINTS = 32
_MAX_SIDE_SHARE = 0.98  # the share of helpful votes on a side that likes a note


@dataclass(frozen=True)
class Predictions:
    """What the model reads from n notes: appeal and lean, (n,) each.

    splits (n,): the chance that the sides are divided, where the model gives it. shown (n,): the chance that X
    shows the note, where a head gives it.
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
    """Raters that represent each side: averages over them are a side's."""

    negative: Jurors
    positive: Jurors

    @classmethod
    def of(cls, raters: Floats) -> Sides:
        """From many raters (m, 2), intercept and factor: evenly spread over each side's factors.

        Raises InputError when a side has nobody.
        """
        return cls(*(_pick_evenly(raters[(raters[:, 1] >= 0) == positive]) for positive in (False, True)))

    def shares(self, predicted: Predictions, ordinal: OrdinalModel) -> Floats:
        """Return the mean P(helpful) on each side, − then +: (n, 2)."""
        both = (self.negative, self.positive)
        return np.column_stack(
            [ordinal.chances(predicted.appeal, predicted.lean, side)[0].mean(axis=1) for side in both]
        )

    def appeal_and_lean(self, shares: Floats, ordinal: OrdinalModel) -> tuple[Floats, Floats]:
        """Return the appeal and lean (n,) under which each side's mean chance of "helpful" is its share (n, 2).

        Newton's method on two unknowns a note. Shares are kept from 0 and 1, where there is no answer.
        """
        wanted = np.clip(shares, 0.005, 0.995)
        both = (self.negative, self.positive)
        places = [side.factors.mean() for side in both]
        # The start is exact if a side were its mean rater.
        odds = logit(wanted) - ordinal.intercept_slope * np.asarray([side.intercepts.mean() for side in both])
        lean = (odds[:, 1] - odds[:, 0]) / (places[1] - places[0])
        appeal = odds[:, 0] - lean * places[0]
        for _ in range(_NEWTON_STEPS):
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


def _pick_evenly(side: Floats) -> Jurors:
    if not len(side):
        raise InputError("All raters are on one side.", "The jury needs raters of both sides.")
    ordered = side[np.lexsort((side[:, 0], side[:, 1]))]
    places = ((np.arange(_RATERS_PER_SIDE) + 0.5) / _RATERS_PER_SIDE * len(ordered)).astype(np.intp)
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
    intercepts, factors, bounds = score_votes(ratings, _freeze_jurors(jurors, settings))
    return Votes(jurors, ratings, intercepts, factors, bounds)


def _freeze_jurors(jurors: Jurors, settings: JurySettings) -> FrozenRaters:
    ids = np.arange(len(jurors))
    return FrozenRaters(ids, jurors.intercepts, jurors.factors, settings.global_intercept, settings.ratings_per_note)


def careful_intercepts(chances: Floats, line: float) -> Floats:
    """Return what two of three notes with such chances (n,) reach."""
    return _convert_to_intercepts(ndtri(_clip_chances(chances)) + _CAREFUL_QUANTILE, line)


def possible_intercepts(chances: Floats, line: float, count: int) -> Floats:
    """Truths that the chances (n,) leave open, evenly spread over what may be: (count, n)."""
    luck = ndtri((np.arange(count) + 0.5) / count)
    return _convert_to_intercepts(ndtri(_clip_chances(chances)) + luck[:, None], line)


def _clip_chances(chances: Floats) -> Floats:
    inside: Floats = np.clip(chances, 1e-6, 1 - 1e-6)
    return inside


def _convert_to_intercepts(above: Floats, line: float) -> Floats:
    found: Floats = line + np.where(above >= 0, _SLOPE_ABOVE_LINE, _SLOPE_BELOW_LINE) * above
    return found


@dataclass(frozen=True)
class Crowd:
    """Raters that represent a whole pool, evenly spread over its factors, and the constants of the algorithm."""

    raters: Jurors
    frozen: FrozenRaters

    @classmethod
    def of(cls, pool: RaterPool, settings: JurySettings) -> Crowd:
        """Build them so that together they weigh as much as the jury: the penalties are then the same."""
        drawn = pool.draw(_POOL_DRAWS, np.random.default_rng(0))
        by_factor = drawn[np.argsort(drawn[:, 1], kind="stable")].reshape(_FACTOR_LEVELS, -1, 2)
        order = np.argsort(by_factor[:, :, 0], axis=1, kind="stable")[:, :, None]
        drawn = np.take_along_axis(by_factor, order, axis=1).reshape(_CROWD_SIZE, -1, 2).mean(axis=1)
        rho = settings.ratings_per_note * _CROWD_SIZE / settings.jurors
        frozen = FrozenRaters(np.arange(_CROWD_SIZE), drawn[:, 0], drawn[:, 1], settings.global_intercept, rho)
        return cls(Jurors(drawn[:, 0], drawn[:, 1]), frozen)

    def appeal(self, wanted: Floats, lean: Floats, gap: Floats, ordinal: OrdinalModel) -> Floats:
        """Return the appeal (n,) under which notes of that lean (n,) come out at the wanted intercepts (n,).

        gap (n,): how much larger side +'s share of helpful votes is than side −'s. Votes end at "helpful" and at
        "not helpful", so what divides the camps can be neither liked nor disliked by all: the wanted intercept
        gives way.
        """
        liked, disliked = self._with_gap(gap, _MAX_SIDE_SHARE), self._with_gap(gap, 1 - _MAX_SIDE_SHARE)
        wanted = np.clip(wanted, disliked, liked)
        low, high = np.full(len(wanted), -_MAX_APPEAL), np.full(len(wanted), _MAX_APPEAL)
        for _ in range(_BISECTION_STEPS):
            middle = (low + high) / 2
            under = self._expected(middle, lean, ordinal) < wanted
            low, high = np.where(under, middle, low), np.where(under, high, middle)
        appeal: Floats = (low + high) / 2
        return appeal

    def appeals(self, wanted: Floats, lean: Floats, gap: Floats, ordinal: OrdinalModel) -> Floats:
        """Return the same for several wanted intercepts (k, n) of each note: between the ends, from a curve.

        The curve's points are so near that an intercept comes out within 0.001.
        """
        low = self.appeal(wanted.min(axis=0), lean, gap, ordinal)
        high = self.appeal(wanted.max(axis=0), lean, gap, ordinal)
        points = low + (high - low) * np.linspace(0, 1, _CURVE_POINTS)[:, None]
        curve = np.stack([self._expected(appeal, lean, ordinal) for appeal in points])
        each = [np.interp(wanted[:, note], curve[:, note], points[:, note]) for note in range(len(lean))]
        return np.column_stack(each)

    def _expected(self, appeal: Floats, lean: Floats, ordinal: OrdinalModel) -> Floats:
        odds = ordinal.odds(appeal, lean, self.raters)
        return score_votes((expit(odds) + expit(odds + ordinal.width)) / 2, self.frozen)[0]

    def _with_gap(self, gap: Floats, end: float) -> Floats:
        """Return the intercept when the side nearer to `end` votes so, and the other is its gap away."""
        positive = self.raters.factors >= 0
        step = np.abs(gap) if end > 0.5 else -np.abs(gap)
        nearer = positive == (gap * (end - 0.5) >= 0)[:, None]
        return score_votes(np.clip(np.where(nearer, end, end - step[:, None]), 0, 1), self.frozen)[0]
