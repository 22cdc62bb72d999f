"""Measures of a jury model: how well it ranks, and whether its chances are what happens."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def auc(score: Floats, yes: Floats, no: Floats) -> float | None:
    """The chance that a case of "yes" scores above one of "no", ties half; weights yes, no (n,).

    None when there is no weight on one side.
    """
    if not (yes.sum() > 0 and no.sum() > 0):
        return None
    values, place = np.unique(score, return_inverse=True)
    yes_at = np.bincount(place, yes, len(values))
    no_at = np.bincount(place, no, len(values))
    below = np.cumsum(no_at) - no_at
    return float((yes_at * (below + no_at / 2)).sum() / (yes.sum() * no.sum()))


def brier(chance: Floats, share: Floats, weight: Floats) -> float:
    """Mean squared error of chances against shares of "yes": of votes, each counted, not of the shares."""
    squares = share * (1 - chance) ** 2 + (1 - share) * chance**2
    return float((squares * weight).sum() / weight.sum())


def calibration_error(chance: Floats, share: Floats, weight: Floats, bins: int = 10) -> float:
    """Expected calibration error: mean distance of chance and what happened, over bins of equal width."""
    place = np.minimum((chance * bins).astype(np.int64), bins - 1)
    total = np.bincount(place, weight, bins)
    gap = np.abs(np.bincount(place, weight * chance, bins) - np.bincount(place, weight * share, bins))
    return float(gap.sum() / total.sum())


def calibration_curve(chance: Floats, share: Floats, weight: Floats, bins: int = 10) -> list[dict[str, float]]:
    """Per bin that has cases: the mean chance, what happened, and the weight."""
    place = np.minimum((chance * bins).astype(np.int64), bins - 1)
    curve = []
    for number in range(bins):
        mine = place == number
        if mine.any():
            said = float(np.average(chance[mine], weights=weight[mine]))
            happened = float(np.average(share[mine], weights=weight[mine]))
            curve.append({"said": round(said, 4), "happened": round(happened, 4), "weight": float(weight[mine].sum())})
    return curve
