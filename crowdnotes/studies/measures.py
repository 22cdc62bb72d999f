"""Figures of a judge: macro-F1, accuracy, area under the curve, and Wilson's interval of a share."""

from __future__ import annotations

import math
from collections.abc import Sequence

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
