"""The ratings laid out by note and by rater, and the compiled loops that solve every row, on the machine's cores.

A "row" is a note or a rater: the objective is the same seen from both sides. Rows come in chunks, and a chunk's ratings
lie in the order of the other side: a loop over them reads the other side's parameters from near to near and adds to
sums that a core's own cache holds, so that a rating costs the same among a thousand raters and among a million.
Compiled by numba without the interpreter's lock, so plain threads run chunks side by side, whichever thread of the app
asks; compiled code is kept on disk, where numba finds a place for it.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar, cast

import numpy as np
import numpy.typing as npt
from numba import njit

from crowdnotes.bridging.model import Floats, Indices, Offsets, RatingTable, Singles

# Chunks depend on the data alone, never on the machine's cores, so sums are the same everywhere.
# 2**17 ratings are about 0.5 ms of work: well above what handing them to a thread costs.
_RATINGS_PER_CHUNK = 1 << 17
_MAX_CHUNKS = 160  # each reads the whole other side; of fewer, larger ones the sums would not stay near the core
_MAX_ROWS_PER_CHUNK = 1 << 16  # of a chunk: a rating's row in it has 16 bits
_MEMORY_LAYOUT: Final = ("C", "W")  # the compiled loops know this memory layout alone
_NO_WEIGHTS = np.empty(0, dtype=np.float32)
Shorts = npt.NDArray[np.uint16]
Ratings = tuple[Indices, Indices, Singles, Singles]  # of each rating: row, column, value, weight
_Loop = TypeVar("_Loop", bound=Callable[..., Any])
Each = Callable[[Callable[[int], Any], int], None]  # runs a function for 0, 1, ... n - 1, side by side


def _compiled(**options: Any) -> Callable[[_Loop], _Loop]:
    """Compile a loop, for this process alone where numba finds no folder to keep it in: it raises RuntimeError then.

    An option that is not given must not be passed on: numba takes it from the loop that calls this one.
    """

    def compile_loop(loop: _Loop) -> _Loop:
        try:
            compiled = njit(nogil=True, cache=True, **options)(loop)
        except RuntimeError:
            return cast("_Loop", njit(nogil=True, **options)(loop))
        _go_on_where_nothing_can_be_kept(compiled._cache)
        return cast("_Loop", compiled)

    return compile_loop


def _go_on_where_nothing_can_be_kept(cache: Any) -> None:
    """Let numba use what it compiled where the disk is full: it raises OSError only after compiling."""
    keep = cache.save_overload

    def keep_if_possible(*of: Any) -> None:
        with suppress(OSError):
            keep(*of)

    cache.save_overload = keep_if_possible


@_compiled()
def subtract_intercepts(
    first: int,
    last: int,
    start: Offsets,
    rows: Shorts,
    columns: Indices,
    values: Singles,
    own: Floats,
    others: Floats,
    left: Singles,
) -> None:
    """Into `left`: values of rows first..last-1 minus both sides' intercepts (column 0 of own and others)."""
    for position in range(start[first], start[last]):
        left[position] = values[position] - own[first + rows[position], 0] - others[columns[position], 0]


@_compiled(fastmath={"contract", "reassoc"})
def solve_rows_one_factor(
    first: int,
    last: int,
    start: Offsets,
    rows: Shorts,
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
    totals = np.empty(last - first)
    sums = np.zeros((last - first, 4))
    if weights.size == 0:
        for row in range(first, last):
            totals[row - first] = float(start[row + 1] - start[row])
        for position in range(start[first], start[last]):
            own = sums[rows[position]]
            other = columns[position]
            factor = float(others[other, 1])
            target = values[position] - shift - float(others[other, 0])
            own[0] += factor
            own[1] += factor * factor
            own[2] += target
            own[3] += target * factor
            squares += target * target
    else:
        totals[:] = 0.0
        for position in range(start[first], start[last]):
            own = sums[rows[position]]
            other = columns[position]
            weight = weights[position]
            factor = float(others[other, 1])
            target = values[position] - shift - float(others[other, 0])
            totals[rows[position]] += weight
            own[0] += weight * factor
            own[1] += weight * factor * factor
            own[2] += weight * target
            own[3] += weight * target * factor
            squares += weight * target * target
    for row in range(first, last):
        sum_f, sum_ff, sum_t, sum_tf = sums[row - first]
        corner = totals[row - first] + intercept_ridge
        other_corner = sum_ff + factor_ridge
        determinant = corner * other_corner - sum_f * sum_f
        intercept = (other_corner * sum_t - sum_f * sum_tf) / determinant
        factor = (corner * sum_tf - sum_f * sum_t) / determinant
        solved[row, 0] = intercept
        solved[row, 1] = factor
        # x'Ax = x'b - x'Rx at the solution, so the errors need no second pass over the ratings.
        squares -= intercept * sum_t + factor * sum_tf
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


@_compiled(fastmath={"contract", "reassoc"})
def solve_rows(
    first: int,
    last: int,
    start: Offsets,
    rows: Shorts,
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
    matrices = np.zeros((last - first, size, size))
    knowns = np.zeros((last - first, size))
    line = np.empty(size)
    answer = np.empty(size)
    squares = 0.0
    moments[:] = 0.0
    for position in range(start[first], start[last]):
        matrix = matrices[rows[position]]
        known = knowns[rows[position]]
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
        squares += weight * target * target
    for row in range(first, last):
        matrix = matrices[row - first]
        known = knowns[row - first]
        matrix[0, 0] += intercept_ridge
        for k in range(1, size):
            matrix[k, k] += factor_ridge
        _solve_in_place(matrix, known, answer)
        squares -= intercept_ridge * answer[0] * answer[0]
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


@_compiled()
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


@_compiled()
def move_rows(side: Floats, move: Floats) -> None:
    """Side (n, 1 + k) becomes [1, side] @ move[:, 1:] in place; move: (2 + k, 2 + k), see `factorization.Move`."""
    size = side.shape[1]
    moved = np.empty(size)
    for row in range(side.shape[0]):
        for j in range(size):
            moved[j] = move[0, j + 1]
            for i in range(size):
                moved[j] += side[row, i] * move[i + 1, j + 1]
        side[row] = moved


@_compiled()
def squared_errors(
    first: int,
    last: int,
    start: Offsets,
    rows: Shorts,
    columns: Indices,
    values: Singles,
    weights: Singles,
    own: Floats,
    others: Floats,
    shift: float,
) -> float:
    """Return the weighted sum of squared errors of rows first..last-1; own, others: (n, 1 + k), intercept first."""
    total = 0.0
    for position in range(start[first], start[last]):
        row, other = first + rows[position], columns[position]
        error = values[position] - shift - own[row, 0] - others[other, 0]
        for k in range(1, own.shape[1]):
            error -= own[row, k] * others[other, k]
        total += error * error if weights.size == 0 else weights[position] * error * error
    return total


@_compiled()
def in_order(note: Indices, rater: Indices) -> bool:
    """Return whether ratings (m,) come by note, and of each note by rater."""
    for position in range(1, note.size):
        before = position - 1
        if note[before] > note[position] or (note[before] == note[position] and rater[before] > rater[position]):
            return False
    return True


@_compiled()
def count_rows(keys: Indices, counts: Offsets) -> None:
    """Add to counts (rows,) how many ratings each has."""
    for key in keys:
        counts[key] += 1


@_compiled()
def count_chunks(keys: Indices, chunk: Indices, counts: Offsets) -> None:
    """Add to counts (chunks,) how many ratings fall into each; chunk (rows,) is each row's chunk."""
    for key in keys:
        counts[chunk[key]] += 1


@_compiled()
def into_chunks(keys: Indices, others: Indices, values: Singles, weights: Singles, chunk: Indices, bounds: Offsets,
                following: Offsets, rows: Shorts, columns: Indices, to_values: Singles, to_weights: Singles,
                ) -> None:  # fmt: skip
    """Copy ratings in their order to the places `following` (chunks,), which move on; weights may be empty."""
    for position in range(keys.size):
        at = chunk[keys[position]]
        target = following[at]
        following[at] = target + 1
        rows[target] = keys[position] - bounds[at]
        columns[target] = others[position]
        to_values[target] = values[position]
        if weights.size:
            to_weights[target] = weights[position]


@_compiled()
def by_column(first: int, columns: int, keys: Indices, others: Indices, values: Singles, weights: Singles,
              rows: Shorts, to_columns: Indices, to_values: Singles, to_weights: Singles) -> None:  # fmt: skip
    """Copy a chunk's ratings (m,) so that their `others`, under `columns`, rise; of each they keep their order."""
    following = np.zeros(columns + 1, dtype=np.int32)
    for other in others:
        following[other + 1] += 1
    for column in range(columns):
        following[column + 1] += following[column]
    for position in range(keys.size):
        other = others[position]
        target = following[other]
        following[other] = target + 1
        rows[target] = keys[position] - first
        to_columns[target] = other
        to_values[target] = values[position]
        if weights.size:
            to_weights[target] = weights[position]


@dataclass(frozen=True)
class Rows:
    """One side's view. Chunk c holds rows bounds[c]:bounds[c + 1], and row r start[r + 1] - start[r] ratings.

    A chunk's ratings are together, from start[bounds[c]] on: `rows` counts from the chunk's first row, `columns` is the
    other side, ascending within each row.
    """

    start: Offsets
    rows: Shorts
    columns: Indices
    values: Singles
    weights: Singles
    bounds: Offsets

    def __len__(self) -> int:
        return len(self.start) - 1

    def piece(self, number: int) -> tuple[int, int, Offsets, Shorts, Indices, Singles, Singles]:
        """Return what a compiled loop takes for one chunk of rows."""
        first, last = self.bounds[number : number + 2].tolist()
        return first, last, self.start, self.rows, self.columns, self.values, self.weights

    @property
    def cuts(self) -> list[slice]:
        """Each chunk's ratings, as a slice."""
        ends = self.start[self.bounds].tolist()
        return [slice(*pair) for pair in itertools.pairwise(ends)]


def lay_out(table: RatingTable, each: Each) -> tuple[Rows, Rows]:
    """Return the ratings by note and by rater, the same for any order; quicker if by note and then by rater."""
    note, rater = np.require(table.note, np.int32, _MEMORY_LAYOUT), np.require(table.rater, np.int32, _MEMORY_LAYOUT)
    helpful = np.require(table.helpful, np.float32, _MEMORY_LAYOUT)
    weight = _NO_WEIGHTS if table.weight is None else np.require(table.weight, np.float32, _MEMORY_LAYOUT)
    notes, raters = len(table.note_ids), len(table.rater_ids)
    if not in_order(note, rater):
        note, rater, helpful, weight = _sort_ratings((note, rater, helpful, weight), notes, each)

    cuts = [slice(at, at + _RATINGS_PER_CHUNK) for at in range(0, len(note), _RATINGS_PER_CHUNK)]

    def piece(number: int) -> Ratings:
        cut = cuts[number]
        return rater[cut], note[cut], helpful[cut], weight[cut]

    weighted = weight.size > 0
    by_rater = _group_by_row(rater, cuts, piece, raters, each, weighted=weighted)
    by_note = _allocate_rows(note, notes, weighted=weighted)

    def sort(number: int) -> None:
        cut = by_note.cuts[number]
        first = int(by_note.bounds[number])
        into = by_note.rows[cut], by_note.columns[cut], by_note.values[cut], by_note.weights[cut]
        by_column(first, raters, note[cut], rater[cut], helpful[cut], weight[cut], *into)

    each(sort, len(by_note.cuts))
    return by_note, by_rater


def _sort_ratings(ratings: Ratings, rows: int, each: Each) -> Ratings:
    """By row, then by column."""
    found = _group_by_row(ratings[0], [slice(0, None)], lambda _: ratings, rows, each, weighted=ratings[3].size > 0)
    note = np.empty_like(found.columns)

    def sort(number: int) -> None:
        cut = found.cuts[number]
        order = np.lexsort((found.columns[cut], found.rows[cut]))
        np.add(found.rows[cut][order], found.bounds[number], out=note[cut], casting="unsafe")  # not in 16 bits
        for part in (found.columns, found.values, found.weights):
            if part.size:
                part[cut] = part[cut][order]

    each(sort, len(found.cuts))
    return note, found.columns, found.values, found.weights


def _group_by_row(
    keys: Indices, cuts: list[slice], piece: Callable[[int], Ratings], rows: int, each: Each, *, weighted: bool
) -> Rows:
    """Return the pieces' ratings in chunks of their rows, in their order; keys[cuts[n]]: the rows of piece n."""
    found = _allocate_rows(keys, rows, weighted=weighted)
    start, bounds = found.start, found.bounds
    chunk = np.repeat(np.arange(len(bounds) - 1, dtype=np.int32), np.diff(bounds))
    counts = np.zeros((len(cuts), len(bounds) - 1), dtype=np.int64)
    each(lambda number: count_chunks(keys[cuts[number]], chunk, counts[number]), len(cuts))
    following = start[bounds[:-1]] + counts.cumsum(axis=0) - counts

    def spread(number: int) -> None:
        into = found.rows, found.columns, found.values, found.weights
        into_chunks(*piece(number), chunk, bounds, following[number], *into)

    each(spread, len(cuts))
    return found


def _allocate_rows(keys: Indices, rows: int, *, weighted: bool) -> Rows:
    """Return the chunks of rows with so many ratings as `keys` has of each, and space for the ratings."""
    start = np.zeros(rows + 1, dtype=np.int64)
    count_rows(keys, start[1:])
    np.cumsum(start, out=start)
    size = int(start[-1])
    chunks = min(max(1, size // _RATINGS_PER_CHUNK), _MAX_CHUNKS)
    ends = np.searchsorted(start, np.linspace(0, size, chunks + 1)[1:-1])
    bounds = np.unique(np.concatenate((ends, np.arange(0, rows, _MAX_ROWS_PER_CHUNK), [rows])))
    return Rows(
        start, np.empty(size, dtype=np.uint16), np.empty(size, dtype=np.int32), np.empty(size, dtype=np.float32),
        np.empty(size if weighted else 0, dtype=np.float32), bounds,
    )  # fmt: skip


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
        """Return the weighted sum of squared errors of all rows, by a pass over the ratings."""

        def run(piece: int) -> float:
            return float(squared_errors(*rows.piece(piece), own, others, mu))

        return self._sum(run, rows)

    def subtract_intercepts(self, rows: Rows, own: Floats, others: Floats) -> Rows:
        """Return the same rows with values less both sides' intercepts, column 0 of own and others."""
        left = np.empty_like(rows.values)

        def run(piece: int) -> None:
            subtract_intercepts(*rows.piece(piece)[:-1], own, others, left)

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
