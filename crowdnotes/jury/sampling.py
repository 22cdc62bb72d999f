"""Who sits on the jury: seeded, from the pool as it is, from both sides alike, or as the post's audience.

The audience is an assumption, not a measurement: viewers of a post mostly share its author's view, and
a note mostly pleases the other side. So a rater is likelier the further they stand from those whom
the note pleases: log odds = strength x (how much more "side −" likes the note, in [-1, 1]) x factor.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from crowdnotes.errors import InputError
from crowdnotes.jury.pool import Floats, RaterPool

_OVERSAMPLE = 8  # raters drawn per audience seat; weights rarely differ by more
_ROUNDS = 200


class Sampling(StrEnum):
    """How jurors are chosen."""

    UNIFORM = "uniform"
    POLARISED = "polarised"
    AUDIENCE = "audience"


@dataclass(frozen=True)
class Jurors:
    """Intercepts and factors, (u,) each."""

    intercepts: Floats
    factors: Floats

    def __len__(self) -> int:
        return len(self.factors)


def seat(
    pool: RaterPool,
    count: int,
    chance: np.random.Generator,
    how: Sampling = Sampling.UNIFORM,
    *,
    audience_tilt: float = 0.0,
) -> Jurors:
    """Draw a jury.

    audience_tilt: log odds per unit of rater factor, for AUDIENCE alone; above 0 seats more of side +.
    Raises InputError when a polarised jury is asked of a pool with one side only.
    """
    if how is Sampling.POLARISED:
        half = count // 2
        negative = _of_side(pool, half, chance, positive=False)
        raters = np.concatenate((negative, _of_side(pool, count - half, chance, positive=True)))
    elif how is Sampling.AUDIENCE:
        drawn = pool.draw(count * _OVERSAMPLE, chance)
        weight = np.exp(audience_tilt * (drawn[:, 1] - np.abs(drawn[:, 1]).max()))
        raters = drawn[chance.choice(len(drawn), size=count, p=weight / weight.sum())]
    else:
        raters = pool.draw(count, chance)
    return Jurors(raters[:, 0].copy(), raters[:, 1].copy())


def _of_side(pool: RaterPool, count: int, chance: np.random.Generator, *, positive: bool) -> Floats:
    found: list[Floats] = [np.empty((0, 2))]
    missing = count
    for _ in range(_ROUNDS):
        if missing <= 0:
            break
        drawn = pool.draw(max(missing * 3, 64), chance)
        side = drawn[(drawn[:, 1] >= 0) == positive][:missing]
        found.append(side)
        missing -= len(side)
    if missing > 0:
        raise InputError("The rater pool has (almost) nobody on one side.", "A polarised jury needs raters of both.")
    return np.concatenate(found)
