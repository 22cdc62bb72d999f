"""Ratings grouped by note or rater, compiled: counting sorts, and ratings that come a second time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from crowdnotes.bridging.kernels import Indices, Offsets, Singles

Grouped = tuple[Indices, Indices, Singles, Singles]  # of each rating: row, column, value, weight


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
def count_buckets(keys: Indices, shift: int, counts: Offsets) -> None:
    """Add to counts (buckets,) how many keys fall into each; a key's bucket is key >> shift."""
    for key in keys:
        counts[key >> shift] += 1


@njit(nogil=True, cache=True)
def into_buckets(keys: Indices, others: Indices, values: Singles, weights: Singles, shift: int, following: Offsets,
                 into: Grouped) -> None:  # fmt: skip
    """Copy ratings to the places `following` (buckets,), which move on; weights may be empty."""
    to_keys, to_others, to_values, to_weights = into
    for position in range(keys.size):
        bucket = keys[position] >> shift
        target = following[bucket]
        following[bucket] = target + 1
        to_keys[target] = keys[position]
        to_others[target] = others[position]
        to_values[target] = values[position]
        if weights.size:
            to_weights[target] = weights[position]


@njit(nogil=True, cache=True)
def sort_bucket(first: int, last: int, ratings: Grouped, row: int, start: Offsets, others: Indices, values: Singles,
                weights: Singles) -> None:  # fmt: skip
    """A stable counting sort by key of ratings first..last-1, whose smallest row is `row`.

    start (rows,) of the bucket's rows, others, values and weights (m,) are written.
    """
    keys, from_others, from_values, from_weights = ratings
    start[:] = 0
    for position in range(first, last):
        start[keys[position] - row] += 1
    total = first
    for place in range(start.size):
        total, start[place] = total + start[place], total
    following = start.copy()
    for position in range(first, last):
        place = keys[position] - row
        target = following[place]
        following[place] = target + 1
        others[target] = from_others[position]
        values[target] = from_values[position]
        if weights.size:
            weights[target] = from_weights[position]


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
