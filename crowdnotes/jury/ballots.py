"""A jury's ratings, sampled from their chances, and what the algorithm makes of them.

Sampled, never the likeliest class: a juror who finds a note helpful with 60 % would else always do so,
and the note would look unanimous (Supernotes 2.3). The ratings go through the closed form of
the scorer's final round (`bridging.scoring`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crowdnotes.bridging import FrozenRaters, score_votes
from crowdnotes.jury.link import Link, chances
from crowdnotes.jury.pool import Floats
from crowdnotes.jury.sampling import Jurors
from crowdnotes.settings import JurySettings


@dataclass(frozen=True)
class Readings:
    """What the model reads from n notes: appeal and lean, (n,) each.

    splits (n,): the chance that the sides are divided, where the model tells it.
    """

    appeal: Floats
    lean: Floats
    splits: Floats | None = None

    def __len__(self) -> int:
        return len(self.appeal)

    def only(self, row: int) -> Readings:
        """One note's."""
        part = slice(row, row + 1)
        return Readings(self.appeal[part], self.lean[part], None if self.splits is None else self.splits[part])


@dataclass(frozen=True)
class Outcome:
    """Of n notes before one jury: ratings (n, u) in {0, 0.5, 1}, intercepts, factors and upper bounds (n,)."""

    jurors: Jurors
    ratings: Floats
    intercepts: Floats
    factors: Floats
    upper_bounds: Floats

    def only(self, row: int) -> Outcome:
        """One note's."""
        part = slice(row, row + 1)
        return Outcome(
            self.jurors, self.ratings[part], self.intercepts[part], self.factors[part], self.upper_bounds[part]
        )


def hold(
    readings: Readings, jurors: Jurors, link: Link, settings: JurySettings, chance: np.random.Generator
) -> Outcome:
    """One jury rates every note; the same jurors and the same luck for all, so that only the notes differ."""
    helpful, not_helpful = chances(readings.appeal, readings.lean, jurors, link)
    luck = chance.random(len(jurors))
    # One luck a juror: from the top down helpful, somewhat, not helpful.
    ratings = 0.5 * ((luck < helpful).astype(np.float64) + (luck < 1.0 - not_helpful))
    intercepts, factors, bounds = score_votes(ratings, _frozen(jurors, settings))
    return Outcome(jurors, ratings, intercepts, factors, bounds)


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
