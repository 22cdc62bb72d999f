"""The raters that a jury is sampled from: a Gaussian mixture of real raters' intercepts and factors, or one's own.

The shipped mixture was fitted to the 11,100 raters of the production algorithm of March 2023; its file also holds
the raters' histograms, which a test compares with what is drawn. A jury is sampled from the pool as it is, from
both sides alike, or as the post's audience. The audience is an assumption, not a measurement: viewers of a post
mostly share its author's view, and a note mostly pleases the other side. So a rater is likelier the further they
are from those whom the note pleases: log odds = strength x (how much more side − likes the note) x factor.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path

import numpy as np
import numpy.typing as npt

from crowdnotes.errors import ConfigurationError, InputError

ASSETS = Path(__file__).resolve().parents[2] / "assets" / "jury"
SHIPPED_RATERS = ASSETS / "raters.json"

Floats = npt.NDArray[np.float64]
POOL_COLUMNS = ("rater_intercept", "rater_factor")


@dataclass(frozen=True)
class Mixture:
    """A Gaussian mixture with k parts: weights (k,), means (k, 2), covariances (k, 2, 2), all (intercept, factor).

    low, high (2,): the range of the raters it was fitted to; what falls outside is drawn to its edge,
    so that no juror is more extreme than any real rater.
    """

    weights: Floats
    means: Floats
    covariances: Floats
    low: Floats
    high: Floats

    def draw(self, count: int, chance: np.random.Generator) -> Floats:
        """Raters at random: intercept and factor, (count, 2)."""
        part = chance.choice(len(self.weights), size=count, p=self.weights)
        roots = np.linalg.cholesky(self.covariances)
        moved = np.einsum("nij,nj->ni", roots[part], chance.standard_normal((count, 2)))
        drawn: Floats = np.clip(self.means[part] + moved, self.low, self.high)
        return drawn


@dataclass(frozen=True)
class Roster:
    """Raters of one's own, drawn with replacement: (m, 2)."""

    raters: Floats

    def draw(self, count: int, chance: np.random.Generator) -> Floats:
        """See `Mixture.draw`."""
        drawn: Floats = self.raters[chance.integers(0, len(self.raters), count)]
        return drawn


RaterPool = Mixture | Roster


def shipped_pool(path: Path = SHIPPED_RATERS) -> Mixture:
    """Return the mixture that ships with the program. Raises ConfigurationError when it is damaged."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return Mixture(*(np.asarray(content[field.name], dtype=np.float64) for field in fields(Mixture)))
    except (OSError, ValueError, KeyError) as error:
        raise ConfigurationError("The jury's rater pool cannot be read.", "Install the program again.") from error


def own_pool(path: Path) -> Roster:
    """Raters from a Parquet file with the columns rater_intercept and rater_factor.

    Rows where one is missing are left out. Raises InputError when nothing usable is left.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(
            f"{path.name} is no Parquet file that can be read.", "Give a Parquet file of raters."
        ) from error
    missing = [name for name in POOL_COLUMNS if name not in table.column_names]
    if missing:
        raise InputError(
            f"{path.name} has no column {' and '.join(missing)}.", "`crowdnotes bridging fit` writes raters.parquet."
        )
    try:
        columns = [table[name].cast(pa.float64()).to_numpy() for name in POOL_COLUMNS]
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(f"{path.name}: intercepts and factors must be numbers.", "Check the two columns.") from error
    raters = np.column_stack(columns)
    raters = raters[np.isfinite(raters).all(axis=1)]
    if not len(raters):
        raise InputError(f"{path.name} holds no rater with both numbers.", "Check the two columns.")
    return Roster(raters)


_DRAWS_PER_JUROR = 8  # raters drawn for each juror of an audience; weights rarely differ by more
_MAX_DRAW_ROUNDS = 200


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


def sample_raters(
    pool: RaterPool,
    count: int,
    chance: np.random.Generator,
    how: Sampling = Sampling.UNIFORM,
    *,
    audience_tilt: float = 0.0,
) -> Jurors:
    """Draw a jury.

    audience_tilt: log odds per unit of rater factor, for AUDIENCE alone; above 0 draws more of side +.
    Raises InputError when a polarised jury is asked of a pool with one side only.
    """
    if how is Sampling.POLARISED:
        half = count // 2
        negative = _draw_side(pool, half, chance, positive=False)
        raters = np.concatenate((negative, _draw_side(pool, count - half, chance, positive=True)))
    elif how is Sampling.AUDIENCE:
        drawn = pool.draw(count * _DRAWS_PER_JUROR, chance)
        weight = np.exp(audience_tilt * (drawn[:, 1] - np.abs(drawn[:, 1]).max()))
        raters = drawn[chance.choice(len(drawn), size=count, p=weight / weight.sum())]
    else:
        raters = pool.draw(count, chance)
    return Jurors(raters[:, 0].copy(), raters[:, 1].copy())


def _draw_side(pool: RaterPool, count: int, chance: np.random.Generator, *, positive: bool) -> Floats:
    found: list[Floats] = [np.empty((0, 2))]
    missing = count
    for _ in range(_MAX_DRAW_ROUNDS):
        if missing <= 0:
            break
        drawn = pool.draw(max(missing * 3, 64), chance)
        side = drawn[(drawn[:, 1] >= 0) == positive][:missing]
        found.append(side)
        missing -= len(side)
    if missing > 0:
        raise InputError("The rater pool has (almost) nobody on one side.", "A polarised jury needs raters of both.")
    return np.concatenate(found)
