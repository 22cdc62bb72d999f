"""Ratings grouped by note or rater, compiled: counting sorts, and ratings that come a second time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from crowdnotes.bridging.kernels import Indices, Offsets, Singles


@njit(nogil=True, cache=True)
def group_by(keys: Indices, rows: int) -> tuple[Offsets, Offsets]:
    """A stable counting sort: where each row starts (rows + 1), and which rating stands where."""
    start = np.zeros(rows + 1, dtype=np.int64)
    for key in keys:
        start[key + 1] += 1
    for row in range(rows):
        start[row + 1] += start[row]
    following = start[:-1].copy()
    order = np.empty(keys.size, dtype=np.int64)
    for position in range(keys.size):
        row = keys[position]
        order[following[row]] = position
        following[row] += 1
    return start, order


@njit(nogil=True, cache=True)
def scatter(
    keys: Indices, others: Indices, values: Singles, weights: Singles, rows: int
) -> tuple[Offsets, Indices, Singles, Singles]:
    """Ratings grouped by key, in their order within each group: where each row starts (rows + 1), and the rest.

    `weights` is empty when every rating counts the same, and stays so.
    """
    start = np.zeros(rows + 1, dtype=np.int64)
    for key in keys:
        start[key + 1] += 1
    for row in range(rows):
        start[row + 1] += start[row]
    following = start[:-1].copy()
    grouped_others = np.empty_like(others)
    grouped_values = np.empty_like(values)
    grouped_weights = np.empty_like(weights)
    for position in range(keys.size):
        target = following[keys[position]]
        following[keys[position]] = target + 1
        grouped_others[target] = others[position]
        grouped_values[target] = values[position]
        if weights.size:
            grouped_weights[target] = weights[position]
    return start, grouped_others, grouped_values, grouped_weights


@njit(nogil=True, cache=True)
def repeats(start: Offsets, order: Offsets, notes: Indices, width: int) -> npt.NDArray[np.bool_]:
    """Which ratings come again: true where the same rater rated the same note earlier in the table.

    start, order: of `group_by` over the raters; notes: (m,) below width.
    """
    again = np.zeros(notes.size, dtype=np.bool_)
    seen_by = np.full(width, -1, dtype=np.int64)
    for rater in range(start.size - 1):
        for place in range(start[rater], start[rater + 1]):
            position = order[place]
            if seen_by[notes[position]] == rater:
                again[position] = True
            seen_by[notes[position]] = rater
    return again
