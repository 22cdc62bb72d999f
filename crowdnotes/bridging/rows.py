"""The ratings laid out by note and by rater, and the compiled loops that solve every row, on the machine's cores.

A "row" is a note (its ratings sorted by rater) or a rater (sorted by note): the objective is the
same seen from both sides. Compiled by numba without the interpreter's lock, so plain threads run
them side by side, whichever thread of the app asks; compiled code is cached on disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numba import njit

from crowdnotes.bridging.model import Floats, Indices, Offsets, RatingTable, Singles

# Chunks depend on the data alone, never on the machine's cores, so sums are the same everywhere.
# 2**17 ratings are about 0.2 ms of work: well above what handing them to a thread costs.
_CHUNK = 1 << 17
_PIECE = 1 << 20  # ratings put into buckets in one go
_BUCKET = 1 << 16  # ratings in a bucket: a core's own cache holds them
_MOST_BUCKET_BITS = 8  # more buckets than that would themselves not stay in it
_USABLE: Final = ("C", "W")  # the compiled loops know this memory layout alone
_NO_WEIGHTS = np.empty(0, dtype=np.float32)
Grouped = tuple[Indices, Indices, Singles, Singles]  # of each rating: row, column, value, weight
_Side = tuple[Offsets, Indices, Singles, Singles]  # where each row starts, and the ratings' columns, values, weights
Each = Callable[[Callable[[int], None], int], None]  # runs a function for 0, 1, ... n - 1, side by side


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


@dataclass(frozen=True)
class Rows:
    """One side's view: row r holds positions start[r]:start[r + 1] of columns, values and weights."""

    start: Offsets
    columns: Indices
    values: Singles
    weights: Singles
    bounds: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.start) - 1

    def piece(self, number: int) -> tuple[int, int, Offsets, Indices, Singles, Singles]:
        """What a compiled loop takes for one chunk of rows."""
        return (
            self.bounds[number],
            self.bounds[number + 1],
            self.start,
            self.columns,
            self.values,
            self.weights,
        )


def lay_out(table: RatingTable, each: Each) -> tuple[Rows, Rows]:
    """The ratings by note and by rater, each row in rising order of the other side whatever order they came in."""
    note, rater = np.require(table.note, np.int32, _USABLE), np.require(table.rater, np.int32, _USABLE)
    helpful = np.require(table.helpful, np.float32, _USABLE)
    weight = _NO_WEIGHTS if table.weight is None else np.require(table.weight, np.float32, _USABLE)
    ratings = (rater, note, helpful, weight)
    notes, raters = len(table.note_ids), len(table.rater_ids)
    buckets = _like(ratings)
    unsorted = _group(ratings, raters, buckets, each)
    by_note = _turned(unsorted, notes, buckets, each)
    by_rater = _turned(by_note, raters, buckets, each)
    return _rows(*by_note), _rows(*by_rater)


def _turned(grouped: _Side, width: int, buckets: Grouped, each: Each) -> _Side:
    """The same ratings grouped by the other side; a stable sort, so each row rises."""
    start, columns, values, weights = grouped
    row = np.repeat(np.arange(len(start) - 1, dtype=np.int32), np.diff(start))
    return _group((columns, row, values, weights), width, buckets, each)


def _like(ratings: Grouped) -> Grouped:
    keys, others, values, weights = ratings
    return np.empty_like(keys), np.empty_like(others), np.empty_like(values), np.empty_like(weights)


def _group(ratings: Grouped, rows: int, buckets: Grouped, each: Each) -> _Side:
    """Ratings grouped by key, in their order within each group: where each row starts (rows + 1), and the rest.

    First into buckets of neighbouring rows, then within each: a write to one of a million rows at random
    would miss the caches, one to a few hundred does not. `buckets` is overwritten: fresh memory costs time.
    """
    keys = ratings[0]
    bits = min(_MOST_BUCKET_BITS, (len(keys) // _BUCKET).bit_length())
    shift = max(0, (rows - 1).bit_length() - bits)
    pieces = [slice(at, at + _PIECE) for at in range(0, len(keys), _PIECE)]
    counts = np.zeros((len(pieces), ((rows - 1) >> shift) + 1), dtype=np.int64)
    each(lambda piece: count_buckets(keys[pieces[piece]], shift, counts[piece]), len(pieces))
    ends = counts.T.cumsum().reshape(counts.T.shape).T
    following = ends - counts
    bounds = [0, *ends[-1].tolist()]

    def spread(piece: int) -> None:
        cut = pieces[piece]
        key, other, value, weight = ratings
        into_buckets(key[cut], other[cut], value[cut], weight[cut], shift, following[piece], buckets)

    each(spread, len(pieces))
    start = np.full(rows + 1, len(keys), dtype=np.int64)
    _, others, values, weights = _like(ratings)

    def sort(bucket: int) -> None:
        row = bucket << shift
        own = start[row : min(row + (1 << shift), rows)]
        sort_bucket(bounds[bucket], bounds[bucket + 1], buckets, row, own, others, values, weights)

    each(sort, counts.shape[1])
    return start, others, values, weights


def _rows(start: Offsets, columns: Indices, values: Singles, weights: Singles) -> Rows:
    chunks = max(1, len(columns) // _CHUNK)
    cuts = np.searchsorted(start, np.linspace(0, len(columns), chunks + 1)[1:-1])
    bounds = np.unique(np.concatenate(([0], cuts, [len(start) - 1])))
    return Rows(start, columns, values, weights, tuple(int(bound) for bound in bounds))


class Workers:
    """Runs a side's chunks on the machine's cores; the compiled code holds no lock."""

    def __init__(self, pool: ThreadPoolExecutor, *, single: bool) -> None:
        """single: solves read the other side in single precision, so that twice as much of it stays near the core."""
        self._pool = pool
        self._single = single

    def solve(
        self, rows: Rows, others: Floats, mu: float, ridges: tuple[float, float], solved: Floats
    ) -> tuple[float, Floats]:
        """Solve every row into `solved` (n, 1 + k); the sum of squared errors, and the mean moments (2 + k, 2 + k)."""
        kernel = solve_rows_one_factor if others.shape[1] == 2 else solve_rows
        moments = np.empty((len(rows.bounds) - 1, others.shape[1] + 1, others.shape[1] + 1))
        near = others.astype(np.float32) if self._single else others

        def run(piece: int) -> float:
            return float(kernel(*rows.piece(piece), near, mu, *ridges, solved, moments[piece]))

        return self._sum(run, rows), moments.sum(axis=0) / len(rows)

    def squared_errors(self, rows: Rows, own: Floats, others: Floats, mu: float) -> float:
        """The weighted sum of squared errors of all rows, by a pass over the ratings."""

        def run(piece: int) -> float:
            return float(squared_errors(*rows.piece(piece), own, others, mu))

        return self._sum(run, rows)

    def subtract_intercepts(self, rows: Rows, own: Floats, others: Floats) -> Rows:
        """The same rows with values less both sides' intercepts, column 0 of own and others."""
        left = np.empty_like(rows.values)

        def run(piece: int) -> None:
            first, last, start, columns, values, _ = rows.piece(piece)
            subtract_intercepts(first, last, start, columns, values, own, others, left)

        self.each(run, len(rows.bounds) - 1)
        return replace(rows, values=left)

    def each(self, run: Callable[[int], None], pieces: int) -> None:
        """Run every piece; they touch nothing in common."""
        for _ in map(run, range(pieces)) if pieces == 1 else self._pool.map(run, range(pieces)):
            pass

    def _sum(self, run: Callable[[int], float], rows: Rows) -> float:
        pieces = range(len(rows.bounds) - 1)
        # One piece is not worth the hand-over; several are added in their order, so that sums never vary.
        return run(0) if len(pieces) == 1 else sum(self._pool.map(run, pieces))


@contextmanager
def workers(*, single: bool = False) -> Iterator[Workers]:
    """As many threads as this process may use cores; for `single` see `Workers`."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    with ThreadPoolExecutor(cores, thread_name_prefix="factorization") as pool:
        yield Workers(pool, single=single)
