"""The rater pool: a Gaussian mixture of real raters' intercepts and factors, or raters of one's own.

The shipped mixture was fitted to the 11,100 raters of the production algorithm of March 2023; its
file also holds the raters' histograms, so that the fit can be seen beside the data.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from crowdnotes.errors import ConfigurationError, InputError
from crowdnotes.jury.assets import SHIPPED_RATERS

Floats = npt.NDArray[np.float64]
COLUMNS = ("rater_intercept", "rater_factor")


class RaterPool(Protocol):
    """Where jurors come from."""

    def draw(self, count: int, chance: np.random.Generator) -> Floats:
        """Raters at random: intercept and factor, (count, 2)."""
        ...


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
        """See `RaterPool.draw`."""
        part = chance.choice(len(self.weights), size=count, p=self.weights)
        roots = np.linalg.cholesky(self.covariances)
        moved = np.einsum("nij,nj->ni", roots[part], chance.standard_normal((count, 2)))
        drawn: Floats = np.clip(self.means[part] + moved, self.low, self.high)
        return drawn

    def density(self, at: Floats, column: int) -> Floats:
        """The fitted density of one column (0 intercept, 1 factor) at the values (m,)."""
        spread = np.sqrt(self.covariances[:, column, column])
        z = (at[:, None] - self.means[:, column]) / spread
        parts: Floats = np.exp(-0.5 * z**2) / (spread * np.sqrt(2 * np.pi)) @ self.weights
        return parts


@dataclass(frozen=True)
class Roster:
    """Raters of one's own, drawn with replacement: (m, 2)."""

    raters: Floats

    def draw(self, count: int, chance: np.random.Generator) -> Floats:
        """See `RaterPool.draw`."""
        drawn: Floats = self.raters[chance.integers(0, len(self.raters), count)]
        return drawn


@dataclass(frozen=True)
class FittedColumn:
    """One column's histogram of real raters beside the fit: edges (b + 1,), both densities (b,), at bin centres."""

    name: str
    edges: Floats
    data: Floats
    fit: Floats


def shipped_pool(path: Path = SHIPPED_RATERS) -> Mixture:
    """The mixture that ships with the program."""
    return _mixture(_read(path))


def fit_beside_data(path: Path = SHIPPED_RATERS) -> tuple[FittedColumn, FittedColumn]:
    """Intercepts and factors: what the mixture says beside what the real raters are, for a plot."""
    content = _read(path)
    mixture = _mixture(content)
    columns = []
    for number, name in enumerate(COLUMNS):
        edges = np.asarray(content["histograms"][name]["edges"], dtype=np.float64)
        counts = np.asarray(content["histograms"][name]["counts"], dtype=np.float64)
        data = counts / (counts.sum() * np.diff(edges))
        columns.append(FittedColumn(name, edges, data, mixture.density((edges[:-1] + edges[1:]) / 2, number)))
    return columns[0], columns[1]


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
    missing = [name for name in COLUMNS if name not in table.column_names]
    if missing:
        raise InputError(
            f"{path.name} has no column {' and '.join(missing)}.", "`crowdnotes bridging fit` writes raters.parquet."
        )
    try:
        columns = [table[name].cast(pa.float64()).to_numpy() for name in COLUMNS]
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(f"{path.name}: intercepts and factors must be numbers.", "Check the two columns.") from error
    raters = np.column_stack(columns)
    raters = raters[np.isfinite(raters).all(axis=1)]
    if not len(raters):
        raise InputError(f"{path.name} holds no rater with both numbers.", "Check the two columns.")
    return Roster(raters)


def _read(path: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError("The jury's rater pool cannot be read.", "Install the program again.") from error
    return content


def _mixture(content: dict[str, Any]) -> Mixture:
    names = ("weights", "means", "covariances", "low", "high")
    return Mixture(*(np.asarray(content[name], dtype=np.float64) for name in names))
