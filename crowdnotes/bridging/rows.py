"""The ratings laid out twice, by note and by rater, and the compiled loops run over them on the machine's cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from crowdnotes.bridging.kernels import (
    Grouped,
    count_buckets,
    into_buckets,
    solve_rows,
    solve_rows_one_factor,
    sort_bucket,
    squared_errors,
    subtract_intercepts,
)
from crowdnotes.bridging.model import Floats, Indices, Offsets, RatingTable, Singles

# Chunks depend on the data alone, never on the machine's cores, so sums are the same everywhere.
# 2**17 ratings are about 0.2 ms of work: well above what handing them to a thread costs.
_CHUNK = 1 << 17
_PIECE = 1 << 20  # ratings put into buckets in one go
_BUCKET = 1 << 16  # ratings in a bucket: a core's own cache holds them
_MOST_BUCKET_BITS = 8  # more buckets than that would themselves not stay in it
_USABLE: Final = ("C", "W")  # the compiled loops know this memory layout alone
_NO_WEIGHTS = np.empty(0, dtype=np.float32)
_Side = tuple[Offsets, Indices, Singles, Singles]  # where each row starts, and the ratings' columns, values, weights
Each = Callable[[Callable[[int], None], int], None]  # runs a function for 0, 1, ... n - 1, side by side


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
