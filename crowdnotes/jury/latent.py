"""One latent model: the chance that X shows a note fixes its intercept, what divides the camps its factor.

A note's true intercept is not known, but how likely it lies at 0.40 or above is. With z the normal quantile of that
chance, the truth is drawn as line + slope * (z + e), e standard normal, so that it reaches the line as often as the
chance says. The intercept that is told is a careful one: at least two of three such notes reach it.

Two slopes are conventions, for no public data tell how far above or below the line a note is that has one's chance:
a note that one in six of its like are shown is told to stand 0.45 under the line, where X calls notes not helpful, and
one with 19 in 20 stands 0.15 above it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtri

from crowdnotes.bridging.scoring import FrozenRaters, score_votes
from crowdnotes.jury.raters import Floats, Jurors, RaterPool
from crowdnotes.jury.votes import OrdinalModel
from crowdnotes.settings import JurySettings

CAREFUL = 2 / 3
_CAREFUL = float(ndtri(1 - CAREFUL))
_BELOW = 0.45 / float(ndtri(CAREFUL) - ndtri(1 / 6))
_ABOVE = 0.15 / float(ndtri(0.95) - ndtri(CAREFUL))
_FACTORS, _INTERCEPTS, _DRAWS = 20, 5, 20_000  # levels of each, and how many raters they are read from
_RATERS = _FACTORS * _INTERCEPTS
_FURTHEST = 25.0  # appeal; votes are all but unanimous long before
_HALVINGS = 24
_MOST = 0.98  # the share of helpful votes on a side that likes a note


def careful_intercepts(chances: Floats, line: float) -> Floats:
    """What two of three notes with such chances (n,) reach."""
    return _intercepts(ndtri(_inside(chances)) + _CAREFUL, line)


def possible_intercepts(chances: Floats, line: float, count: int) -> Floats:
    """Truths that the chances (n,) leave open, evenly spread over what may be: (count, n)."""
    luck = ndtri((np.arange(count) + 0.5) / count)
    return _intercepts(ndtri(_inside(chances)) + luck[:, None], line)


def _inside(chances: Floats) -> Floats:
    inside: Floats = np.clip(chances, 1e-6, 1 - 1e-6)
    return inside


def _intercepts(above: Floats, line: float) -> Floats:
    found: Floats = line + np.where(above >= 0, _ABOVE, _BELOW) * above
    return found


@dataclass(frozen=True)
class Crowd:
    """Raters that stand for a whole pool, evenly spread over its factors, and the constants of the algorithm."""

    raters: Jurors
    frozen: FrozenRaters

    @classmethod
    def of(cls, pool: RaterPool, settings: JurySettings) -> Crowd:
        """Each stands for as many jurors as make the jury, so that the penalties weigh as they do there."""
        drawn = pool.draw(_DRAWS, np.random.default_rng(0))
        by_factor = drawn[np.argsort(drawn[:, 1], kind="stable")].reshape(_FACTORS, -1, 2)
        order = np.argsort(by_factor[:, :, 0], axis=1, kind="stable")[:, :, None]
        drawn = np.take_along_axis(by_factor, order, axis=1).reshape(_RATERS, -1, 2).mean(axis=1)
        rho = settings.ratings_per_note * _RATERS / settings.jurors
        frozen = FrozenRaters(np.arange(_RATERS), drawn[:, 0], drawn[:, 1], settings.global_intercept, rho)
        return cls(Jurors(drawn[:, 0], drawn[:, 1]), frozen)

    def appeal(self, wanted: Floats, lean: Floats, gap: Floats, ordinal: OrdinalModel) -> Floats:
        """The appeal (n,) under which notes of that lean (n,) come out at the wanted intercepts (n,).

        gap (n,): how much larger side +'s share of helpful votes is than side −'s. Votes end at "helpful" and at
        "not helpful", so what divides the camps can be neither liked nor disliked by all: the wanted intercept
        gives way.
        """
        liked, disliked = self._with_gap(gap, _MOST), self._with_gap(gap, 1 - _MOST)
        wanted = np.clip(wanted, disliked, liked)
        low, high = np.full(len(wanted), -_FURTHEST), np.full(len(wanted), _FURTHEST)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            under = self._expected(middle, lean, ordinal) < wanted
            low, high = np.where(under, middle, low), np.where(under, high, middle)
        appeal: Floats = (low + high) / 2
        return appeal

    def _expected(self, appeal: Floats, lean: Floats, ordinal: OrdinalModel) -> Floats:
        odds = ordinal.odds(appeal, lean, self.raters)
        return score_votes((expit(odds) + expit(odds + ordinal.width)) / 2, self.frozen)[0]

    def _with_gap(self, gap: Floats, end: float) -> Floats:
        """The intercept when the side nearer to `end` votes so, and the other is its gap away."""
        positive = self.raters.factors >= 0
        step = np.abs(gap) if end > 0.5 else -np.abs(gap)
        nearer = positive == (gap * (end - 0.5) >= 0)[:, None]
        return score_votes(np.clip(np.where(nearer, end, end - step[:, None]), 0, 1), self.frozen)[0]
