"""The ratings laid out twice for the solves: by note and by rater, each row sorted, cut in chunks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from crowdnotes.bridging.grouping import scatter
from crowdnotes.bridging.kernels import (
    Floats,
    Indices,
    Offsets,
    Singles,
    solve_rows,
    solve_rows_one_factor,
    squared_errors,
)
from crowdnotes.bridging.parameters import RatingTable

# Chunks depend on the data alone, never on the machine's cores, so sums are the same everywhere.
# 2**17 ratings are about 0.2 ms of work: well above what handing them to a thread costs.
_CHUNK = 1 << 17
_Grouped = tuple[Offsets, Indices, Singles, Singles]


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


class Workers:
    """Runs a side's chunks on the machine's cores; the compiled code holds no lock."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool = pool

    def solve(
        self, rows: Rows, others: Floats, mu: float, ridges: tuple[float, float], solved: Floats
    ) -> tuple[float, Floats]:
        """Solve every row into `solved` (n, 1 + k); the sum of squared errors, and the mean moments (2 + k, 2 + k)."""
        kernel = solve_rows_one_factor if others.shape[1] == 2 else solve_rows
        moments = np.empty((len(rows.bounds) - 1, others.shape[1] + 1, others.shape[1] + 1))

        def run(piece: int) -> float:
            return float(kernel(*rows.piece(piece), others, mu, *ridges, solved, moments[piece]))

        return self._sum(run, rows), moments.sum(axis=0) / len(rows)

    def squared_errors(self, rows: Rows, own: Floats, others: Floats, mu: float) -> float:
        """The weighted sum of squared errors of all rows, by a pass over the ratings."""

        def run(piece: int) -> float:
            return float(squared_errors(*rows.piece(piece), own, others, mu))

        return self._sum(run, rows)

    def _sum(self, run: Callable[[int], float], rows: Rows) -> float:
        pieces = range(len(rows.bounds) - 1)
        # One piece is not worth the hand-over; several are added in their order, so that sums never vary.
        return run(0) if len(pieces) == 1 else sum(self._pool.map(run, pieces))


@contextmanager
def workers() -> Iterator[Workers]:
    """As many threads as this process may use cores."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    with ThreadPoolExecutor(cores, thread_name_prefix="factorization") as pool:
        yield Workers(pool)


def lay_out(table: RatingTable) -> tuple[Rows, Rows]:
    """The ratings by note and by rater, each row in rising order of the other side whatever order they came in."""
    note, rater, helpful, weight = (
        np.require(part, kind, ("C", "W"))
        for part, kind in (
            (table.note, np.int32),
            (table.rater, np.int32),
            (table.helpful, np.float32),
            (np.empty(0) if table.weight is None else table.weight, np.float32),
        )
    )
    unsorted = scatter(rater, note, helpful, weight, len(table.rater_ids))
    by_note = _turned(unsorted, len(table.note_ids))
    by_rater = _turned(by_note, len(table.rater_ids))
    return _rows(*by_note), _rows(*by_rater)


def _turned(grouped: _Grouped, width: int) -> _Grouped:
    """The same ratings grouped by the other side; a stable sort, so each row rises."""
    start, columns, values, weights = grouped
    row = np.repeat(np.arange(len(start) - 1, dtype=np.int32), np.diff(start))
    turned: _Grouped = scatter(columns, row, values, weights, width)
    return turned


def _rows(start: Offsets, columns: Indices, values: Singles, weights: Singles) -> Rows:
    chunks = max(1, len(columns) // _CHUNK)
    cuts = np.searchsorted(start, np.linspace(0, len(columns), chunks + 1)[1:-1])
    bounds = np.unique(np.concatenate(([0], cuts, [len(start) - 1])))
    return Rows(start, columns, values, weights, tuple(int(bound) for bound in bounds))
