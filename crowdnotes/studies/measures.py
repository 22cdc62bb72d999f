"""Figures of a judge or a ranking: macro-F1, accuracy, area under the curve, Wilson's interval, nDCG, recall.

A ranking is a list of record numbers, best first. `grades` maps the records that were judged to 0 (no
help), 1 (helps somewhat) or 2 (directly helpful); a record that is not in it was not judged.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

Numbers = npt.NDArray[np.float64]
_Z = 1.959963984540054  # of 95 %


def macro_f1(truth: Sequence[bool], said: Sequence[bool]) -> float:
    """The mean of both classes' F1, in [0, 1]; a class that neither side has counts 0."""
    return sum(_f1(truth, said, of=label) for label in (True, False)) / 2


def accuracy(truth: Sequence[bool], said: Sequence[bool]) -> float:
    """The share of verdicts that are right, in [0, 1]."""
    return sum(a == b for a, b in zip(truth, said, strict=True)) / len(truth)


def area_under_curve(truth: Sequence[bool], scores: Sequence[float] | Numbers) -> float | None:
    """The chance that a true one scores above a false one, ties half; None when one class is missing."""
    labels = np.asarray(truth, dtype=bool)
    true, false = int(labels.sum()), int((~labels).sum())
    if not true or not false:
        return None
    ranks = rankdata(np.asarray(scores, dtype=np.float64))
    return float((ranks[labels].sum() - true * (true + 1) / 2) / (true * false))


def wilson(hits: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson, 1927), in [0, 1]; (0, 1) of nothing."""
    if not of:
        return 0.0, 1.0
    share, square = hits / of, _Z * _Z
    centre = (share + square / (2 * of)) / (1 + square / of)
    half = _Z * math.sqrt(share * (1 - share) / of + square / (4 * of * of)) / (1 + square / of)
    return max(0.0, centre - half), min(1.0, centre + half)


def _f1(truth: Sequence[bool], said: Sequence[bool], *, of: bool) -> float:
    pairs = list(zip(truth, said, strict=True))
    both = sum(a is of and b is of for a, b in pairs)
    one = sum((a is of) != (b is of) for a, b in pairs)
    return 2 * both / (2 * both + one) if both else 0.0


def auc(score: Numbers, yes: Numbers, no: Numbers) -> float | None:
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


def brier(chance: Numbers, share: Numbers, weight: Numbers) -> float:
    """Mean squared error of chances against shares of "yes": of votes, each counted, not of the shares."""
    squares = share * (1 - chance) ** 2 + (1 - share) * chance**2
    return float((squares * weight).sum() / weight.sum())


def calibration_error(chance: Numbers, share: Numbers, weight: Numbers, bins: int = 10) -> float:
    """Expected calibration error: mean distance of chance and what happened, over bins of equal width."""
    place = np.minimum((chance * bins).astype(np.int64), bins - 1)
    total = np.bincount(place, weight, bins)
    gap = np.abs(np.bincount(place, weight * chance, bins) - np.bincount(place, weight * share, bins))
    return float(gap.sum() / total.sum())


def calibration_curve(chance: Numbers, share: Numbers, weight: Numbers, bins: int = 10) -> list[dict[str, float]]:
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


DIRECTLY_HELPFUL = 2


def ndcg(ranking: Sequence[int], grades: Mapping[int, int], at: int = 10) -> float | None:
    """Discounted cumulative gain over the best possible, in [0, 1] (Järvelin and Kekäläinen, 2002).

    Records that nobody judged are taken out of the ranking first (Sakai, 2007): being unknown is not
    being bad. The gain is the grade, the discount log2(rank + 1). None when no grade is above 0.
    """
    best = _gain(sorted(grades.values(), reverse=True)[:at])
    if best == 0:
        return None
    return _gain([grades[record] for record in ranking if record in grades][:at]) / best


def recall(ranking: Sequence[int], grades: Mapping[int, int], at: int = 10) -> float | None:
    """The share of the directly helpful records that stand among the first `at`, judged or not; None without any."""
    helpful = {record for record, grade in grades.items() if grade == DIRECTLY_HELPFUL}
    return len(helpful.intersection(ranking[:at])) / len(helpful) if helpful else None


def reciprocal_rank(ranking: Sequence[int], grades: Mapping[int, int]) -> float | None:
    """1 over the rank of the first directly helpful record, 0 when it is not ranked; None without any."""
    if DIRECTLY_HELPFUL not in grades.values():
        return None
    return next((1 / rank for rank, record in enumerate(ranking, 1) if grades.get(record) == DIRECTLY_HELPFUL), 0.0)


def _gain(grades: Sequence[int]) -> float:
    return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, 1))
