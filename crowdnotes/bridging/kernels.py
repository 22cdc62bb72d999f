"""The compiled inner loops of the factorization: solving every row, and grouping ratings by row.

A "row" is a note (its ratings sorted by rater) or a rater (sorted by note): the objective is the
same seen from both sides. Compiled by numba without the interpreter's lock, so plain threads run
them side by side, whichever thread of the app asks; compiled code is cached on disk.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from crowdnotes.bridging.model import Floats, Indices, Offsets, Singles


@njit(nogil=True, cache=True)
def subtract_intercepts(
    first: int,
    last: int,
    start: Offsets,
    columns: Indices,
    values: Singles,
    own: Floats,
    others: Floats,
    left: Singles,
) -> None:
    """Into `left`: values of rows first..last-1 minus both sides' intercepts (column 0 of own and others)."""
    for row in range(first, last):
        for position in range(start[row], start[row + 1]):
            left[position] = values[position] - own[row, 0] - others[columns[position], 0]


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc"})
def solve_rows_one_factor(
    first: int,
    last: int,
    start: Offsets,
    columns: Indices,
    values: Singles,
    weights: Singles,
    others: Singles | Floats,
    shift: float,
    intercept_ridge: float,
    factor_ridge: float,
    solved: Floats,
    moments: Floats,
) -> float:
    """Solve rows first..last-1 against the other side's fixed parameters; one factor.

    Each row minimises sum w (r - shift - other_intercept - i - f * other_factor)^2
    + intercept_ridge i^2 + factor_ridge f^2, a ridge regression of two unknowns.

    others, solved: (n, 2), intercept and factor; others in single or double precision, sums in double.
    `moments` (3, 3) is overwritten with the sum over the rows of [1, i, f]' [1, i, f]. Returns the rows'
    weighted sum of squared errors.
    """
    squares = 0.0
    moments[:] = 0.0
    for row in range(first, last):
        total = 0.0
        sum_f = 0.0
        sum_ff = 0.0
        sum_t = 0.0
        sum_tf = 0.0
        sum_tt = 0.0
        if weights.size == 0:
            total = float(start[row + 1] - start[row])
            for position in range(start[row], start[row + 1]):
                other = columns[position]
                factor = float(others[other, 1])
                target = values[position] - shift - float(others[other, 0])
                sum_f += factor
                sum_ff += factor * factor
                sum_t += target
                sum_tf += target * factor
                sum_tt += target * target
        else:
            for position in range(start[row], start[row + 1]):
                other = columns[position]
                weight = weights[position]
                factor = float(others[other, 1])
                target = values[position] - shift - float(others[other, 0])
                total += weight
                sum_f += weight * factor
                sum_ff += weight * factor * factor
                sum_t += weight * target
                sum_tf += weight * target * factor
                sum_tt += weight * target * target
        corner = total + intercept_ridge
        other_corner = sum_ff + factor_ridge
        determinant = corner * other_corner - sum_f * sum_f
        intercept = (other_corner * sum_t - sum_f * sum_tf) / determinant
        factor = (corner * sum_tf - sum_f * sum_t) / determinant
        solved[row, 0] = intercept
        solved[row, 1] = factor
        # x'Ax = x'b - x'Rx at the solution, so the errors need no second pass over the ratings.
        squares += sum_tt - intercept * sum_t - factor * sum_tf
        squares -= intercept_ridge * intercept * intercept + factor_ridge * factor * factor
        moments[0, 0] += 1.0
        moments[0, 1] += intercept
        moments[0, 2] += factor
        moments[1, 1] += intercept * intercept
        moments[1, 2] += intercept * factor
        moments[2, 2] += factor * factor
    moments[1, 0] = moments[0, 1]
    moments[2, 0] = moments[0, 2]
    moments[2, 1] = moments[1, 2]
    return squares


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc"})
def solve_rows(
    first: int,
    last: int,
    start: Offsets,
    columns: Indices,
    values: Singles,
    weights: Singles,
    others: Singles | Floats,
    shift: float,
    intercept_ridge: float,
    factor_ridge: float,
    solved: Floats,
    moments: Floats,
) -> float:
    """As `solve_rows_one_factor`, for any number k of factors: (1 + k) unknowns a row, by Cholesky."""
    size = others.shape[1]
    matrix = np.empty((size, size))
    known = np.empty(size)
    line = np.empty(size)
    answer = np.empty(size)
    squares = 0.0
    moments[:] = 0.0
    for row in range(first, last):
        matrix[:] = 0.0
        known[:] = 0.0
        sum_tt = 0.0
        for position in range(start[row], start[row + 1]):
            other = columns[position]
            weight = 1.0 if weights.size == 0 else weights[position]
            target = values[position] - shift - others[other, 0]
            line[0] = 1.0
            for k in range(1, size):
                line[k] = others[other, k]
            for i in range(size):
                scaled = weight * line[i]
                known[i] += scaled * target
                for j in range(i + 1):
                    matrix[i, j] += scaled * line[j]
            sum_tt += weight * target * target
        matrix[0, 0] += intercept_ridge
        for k in range(1, size):
            matrix[k, k] += factor_ridge
        _solve_in_place(matrix, known, answer)
        squares += sum_tt - intercept_ridge * answer[0] * answer[0]
        for i in range(size):
            solved[row, i] = answer[i]
            squares -= answer[i] * known[i]
            if i:
                squares -= factor_ridge * answer[i] * answer[i]
        moments[0, 0] += 1.0
        for i in range(size):
            moments[0, i + 1] += answer[i]
            moments[i + 1, 0] += answer[i]
            for j in range(size):
                moments[i + 1, j + 1] += answer[i] * answer[j]
    return squares


@njit(nogil=True, cache=True)
def _solve_in_place(matrix: Floats, known: Floats, answer: Floats) -> None:
    """Solve matrix @ answer = known; the lower half of the positive definite matrix becomes its root."""
    size = known.size
    for i in range(size):
        for j in range(i + 1):
            value = matrix[i, j]
            for k in range(j):
                value -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = np.sqrt(value) if i == j else value / matrix[j, j]
    for i in range(size):
        value = known[i]
        for k in range(i):
            value -= matrix[i, k] * answer[k]
        answer[i] = value / matrix[i, i]
    for i in range(size - 1, -1, -1):
        value = answer[i]
        for k in range(i + 1, size):
            value -= matrix[k, i] * answer[k]
        answer[i] = value / matrix[i, i]


@njit(nogil=True, cache=True)
def move_rows(side: Floats, move: Floats) -> None:
    """Side (n, 1 + k) becomes [1, side] @ move[:, 1:] in place; move: (2 + k, 2 + k), see identifiability.py."""
    size = side.shape[1]
    moved = np.empty(size)
    for row in range(side.shape[0]):
        for j in range(size):
            moved[j] = move[0, j + 1]
            for i in range(size):
                moved[j] += side[row, i] * move[i + 1, j + 1]
        side[row] = moved


@njit(nogil=True, cache=True)
def squared_errors(
    first: int,
    last: int,
    start: Offsets,
    columns: Indices,
    values: Singles,
    weights: Singles,
    own: Floats,
    others: Floats,
    shift: float,
) -> float:
    """The weighted sum of squared errors of rows first..last-1; own, others: (n, 1 + k), intercept first."""
    total = 0.0
    for row in range(first, last):
        for position in range(start[row], start[row + 1]):
            other = columns[position]
            error = values[position] - shift - own[row, 0] - others[other, 0]
            for k in range(1, own.shape[1]):
                error -= own[row, k] * others[other, k]
            total += error * error if weights.size == 0 else weights[position] * error * error
    return total


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
