"""Where the sweeps begin: intercepts first, then the strongest patterns in what they leave over.

The objective is not convex once factors come in, and a random start can end in a poorer valley or
creep past a saddle. So the intercepts are settled without factors; then a few rounds of subspace
iteration on the errors give factors along the main disagreement. From these the official scorer's
own optimum is reached on its reference sets, whatever the seed.
"""

from __future__ import annotations

import numpy as np

from crowdnotes.bridging.kernels import Floats
from crowdnotes.bridging.layout import Rows
from crowdnotes.bridging.parameters import Factorization, Ids
from crowdnotes.bridging.workers import Workers

_INTERCEPT_SWEEPS = 2
_PATTERN_ROUNDS = 4
_SPREAD = 0.3  # standard deviation of rater factors in the public data; the first sweep corrects it
_NO_INTERCEPT = 1e15  # a ridge that holds the intercepts at zero


def cold_start(
    by_note: Rows, by_rater: Rows, factors: int, ridges: tuple[tuple[float, float], tuple[float, float]],
    seed: int, crew: Workers,
) -> Floats:  # fmt: skip
    """First rater parameters (u, 1 + factors). ridges: of notes and of raters, each (intercept, factor)."""
    notes = np.zeros((len(by_note), 2))
    raters = np.zeros((len(by_rater), 2))
    for _ in range(_INTERCEPT_SWEEPS):
        crew.solve(by_note, raters, 0.0, ridges[0], notes)
        crew.solve(by_rater, notes, 0.0, ridges[1], raters)
    errors_by_note = crew.subtract_intercepts(by_note, notes, raters)
    errors_by_rater = crew.subtract_intercepts(by_rater, raters, notes)
    note_patterns = np.zeros((len(by_note), 1 + factors))
    patterns = np.zeros((len(by_rater), 1 + factors))
    patterns[:, 1:] = _upright(np.random.default_rng(seed).standard_normal((len(by_rater), factors)))
    for _ in range(_PATTERN_ROUNDS):
        crew.solve(errors_by_note, patterns, 0.0, (_NO_INTERCEPT, ridges[0][1]), note_patterns)
        note_patterns[:, 1:] = _upright(note_patterns[:, 1:])
        crew.solve(errors_by_rater, note_patterns, 0.0, (_NO_INTERCEPT, ridges[1][1]), patterns)
        patterns[:, 1:] = _upright(patterns[:, 1:])
    patterns[:, 0] = raters[:, 0]
    return patterns


def warm_start(rater_ids: Ids, start: Factorization) -> Floats:
    """First rater parameters (u, 1 + factors) from an earlier fit; raters it does not know begin at zero."""
    raters = np.zeros((len(rater_ids), 1 + start.raters.factors.shape[1]))
    place = np.minimum(np.searchsorted(start.raters.ids, rater_ids), len(start.raters) - 1)
    known = start.raters.ids[place] == rater_ids
    raters[known, 0] = start.raters.intercepts[place[known]]
    raters[known, 1:] = start.raters.factors[place[known]]
    return raters


def _upright(patterns: Floats) -> Floats:
    """The patterns (n, k) at right angles to each other, each with a standard deviation of _SPREAD."""
    directions, _ = np.linalg.qr(patterns)
    upright: Floats = directions * (_SPREAD * np.sqrt(len(patterns)))
    return upright
