"""Figures of a judge or a ranking: macro-F1, accuracy, area under the curve, Wilson's interval, nDCG, recall.

A ranking is a list of record numbers, best first. `grades` maps the records that were judged to 0 (no
help), 1 (helps somewhat) or 2 (directly helpful); a record that is not in it was not judged.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

# SciPy's statistics and scikit-learn take most of a second to load, so each figure imports what it needs.
Numbers = npt.NDArray[np.float64]
Truths = Sequence[bool] | npt.NDArray[np.bool_]
DIRECTLY_HELPFUL = 2


def macro_f1(truth: Truths, said: Truths) -> float:
    """Return the mean of both classes' F1, in [0, 1]; a class that neither side has counts 0."""
    from sklearn.metrics import f1_score

    return float(f1_score(truth, said, labels=[True, False], average="macro", zero_division=0))


def accuracy(truth: Sequence[bool], said: Sequence[bool]) -> float:
    """Return the share of verdicts that are right, in [0, 1]."""
    return float(np.mean(np.asarray(truth) == np.asarray(said)))


def area_under_curve(truth: Truths, scores: Sequence[float] | Numbers) -> float | None:
    """Return the chance that a true one scores above a false one, ties half; None when one class is missing."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(truth, scores)) if len(set(truth)) == 2 else None


def auc(score: Numbers, yes: Numbers, no: Numbers) -> float | None:
    """Return that chance for cases that were voted on: each is one "yes" and one "no", with these weights (n,).

    None when there is no weight on one side.
    """
    if not (yes.sum() > 0 and no.sum() > 0):
        return None
    truth = np.repeat([True, False], len(score))
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(truth, np.tile(score, 2), sample_weight=np.concatenate([yes, no])))


def rounded(value: float | None) -> float | None:
    """To four decimals, as figures are printed and pinned."""
    return None if value is None else round(value, 4)


def rounded_ends(ends: tuple[float, float]) -> list[float]:
    """Return the ends of an interval in the same way."""
    return [round(end, 4) for end in ends]


def wilson(hits: int, of: int) -> tuple[float, float]:
    """Return the 95 % interval of a share (Wilson, 1927), in [0, 1]; (0, 1) of nothing."""
    if not of:
        return 0.0, 1.0
    from scipy.stats import binomtest

    interval = binomtest(hits, of).proportion_ci(method="wilson")
    return max(0.0, float(interval.low)), min(1.0, float(interval.high))


def brier(chance: Numbers, share: Numbers, weight: Numbers) -> float:
    """Mean squared error of chances against shares of "yes": of votes, each counted, not of the shares."""
    squares = share * (1 - chance) ** 2 + (1 - share) * chance**2
    return float((squares * weight).sum() / weight.sum())


def calibration_error(chance: Numbers, share: Numbers, weight: Numbers, bins: int = 10) -> float:
    """Return the expected calibration error: the mean distance of chance and outcome, over bins of equal width."""
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


def ndcg(ranking: Sequence[int], grades: Mapping[int, int], at: int = 10) -> float | None:
    """Discounted cumulative gain over the best possible, in [0, 1] (Järvelin and Kekäläinen, 2002).

    Records that nobody judged are taken out of the ranking first (Sakai, 2007): being unknown is not
    being bad. The gain is the grade, the discount log2(rank + 1). None when no grade is above 0.
    """
    best = _compute_discounted_gain(sorted(grades.values(), reverse=True)[:at])
    if best == 0:
        return None
    return _compute_discounted_gain([grades[record] for record in ranking if record in grades][:at]) / best


def recall(ranking: Sequence[int], grades: Mapping[int, int], at: int = 10) -> float | None:
    """Return the share of the directly helpful records among the first `at`, judged or not; None without any."""
    helpful = {record for record, grade in grades.items() if grade == DIRECTLY_HELPFUL}
    return len(helpful.intersection(ranking[:at])) / len(helpful) if helpful else None


def reciprocal_rank(ranking: Sequence[int], grades: Mapping[int, int]) -> float | None:
    """1 over the rank of the first directly helpful record, 0 when it is not ranked; None without any."""
    if DIRECTLY_HELPFUL not in grades.values():
        return None
    return next((1 / rank for rank, record in enumerate(ranking, 1) if grades.get(record) == DIRECTLY_HELPFUL), 0.0)


def _compute_discounted_gain(grades: Sequence[int]) -> float:
    return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, 1))


def mean_auc(truth: Truths, sets: Sequence[Numbers]) -> float:
    """Return the mean area under the curve of sets of scores (n,), each over the cases that it does not leave NaN.

    A set of which one class is missing does not count; NaN when none does.
    """
    labels = np.asarray(truth, dtype=bool)
    known = [~np.isnan(scores) for scores in sets]
    areas = [area_under_curve(labels[rows], scores[rows]) for scores, rows in zip(sets, known, strict=True)]
    counted = [area for area in areas if area is not None]
    return float(np.mean(counted)) if counted else math.nan


def bootstrap_auc(
    truth: Truths,
    sets: Sequence[Numbers],
    groups: npt.NDArray[np.int64],
    draws: int = 1_000,
    *,
    rival: Sequence[Numbers] = (),
) -> tuple[float, float]:
    """Return the 95 % interval of `mean_auc` over resampled groups of notes that belong together.

    With `rival`, other sets of scores of the same notes: of how much better the first are.
    """
    chance = np.random.default_rng(0)
    members = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    labels = np.asarray(truth, dtype=bool)
    found = []
    for _ in range(draws):
        rows = np.concatenate([members[at] for at in chance.integers(len(members), size=len(members))])
        mine, other = ([scores[rows] for scores in each] for each in (sets, rival))
        found.append(mean_auc(labels[rows], mine) - (mean_auc(labels[rows], other) if rival else 0.0))
    low, high = np.nanquantile(found, [0.025, 0.975])
    return float(low), float(high)


def bootstrap_share(share: Numbers, groups: npt.NDArray[np.int64]) -> tuple[float, float]:
    """Return the 95 % interval of a mean over resampled groups of cases that belong together."""
    chance = np.random.default_rng(0)
    _, place = np.unique(groups, return_inverse=True)
    size, total = np.bincount(place), np.bincount(place, share)
    drawn = chance.integers(len(size), size=(1_000, len(size)))
    low, high = np.quantile(total[drawn].sum(axis=1) / size[drawn].sum(axis=1), [0.025, 0.975])
    return float(low), float(high)
