"""The ratings laid out twice for the solves: by note and by rater, each row sorted, cut in chunks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from crowdnotes.bridging.kernels import Floats, Indices, Offsets, Singles, group_by, solve_rows, solve_rows_one_factor
from crowdnotes.bridging.kernels import transpose as _transpose
from crowdnotes.bridging.parameters import RatingTable

# Chunks depend on the data alone, never on the machine's cores, so sums are the same everywhere.
# 2**17 ratings are about 0.2 ms of work: well above what handing them to a thread costs.
_CHUNK = 1 << 17


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


class Workers:
    """Runs a side's chunks on the machine's cores; the compiled code holds no lock."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool = pool

    def solve(
        self, rows: Rows, others: Floats, mu: float, ridges: tuple[float, float], solved: Floats
    ) -> tuple[float, Floats]:
        """Solve every row into `solved` (n, 1 + k); the sum of squared errors, and the mean moments (2 + k, 2 + k)."""
        kernel = solve_rows_one_factor if others.shape[1] == 2 else solve_rows
        pieces = list(zip(rows.bounds[:-1], rows.bounds[1:], strict=True))
        moments = np.empty((len(pieces), others.shape[1] + 1, others.shape[1] + 1))

        def run(piece: int) -> float:
            first, last = pieces[piece]
            return float(
                kernel(
                    first,
                    last,
                    rows.start,
                    rows.columns,
                    rows.values,
                    rows.weights,
                    others,
                    mu,
                    *ridges,
                    solved,
                    moments[piece],
                )
            )

        if len(pieces) == 1:
            squares = run(0)
        else:
            squares = sum(self._pool.map(run, range(len(pieces))))
        return squares, moments.sum(axis=0) / len(rows)


@contextmanager
def workers() -> Iterator[Workers]:
    """As many threads as this process may use cores."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    with ThreadPoolExecutor(cores, thread_name_prefix="factorization") as pool:
        yield Workers(pool)


def lay_out(table: RatingTable) -> tuple[Rows, Rows]:
    """The ratings by note and by rater. Weights are scaled to mean 1, so that the penalties keep their meaning."""
    weights = np.empty(0, dtype=np.float32)
    if table.weight is not None:
        weights = (table.weight / table.weight.mean(dtype=np.float64)).astype(np.float32)
    start, order = group_by(table.rater, len(table.rater_ids))
    unsorted = (start, table.note[order], table.helpful[order], weights[order] if weights.size else weights)
    del order
    by_note = _rows(*_transpose(*unsorted, len(table.note_ids)))
    by_rater = _rows(*_transpose(by_note.start, by_note.columns, by_note.values, by_note.weights, len(start) - 1))
    return by_note, by_rater


def _rows(start: Offsets, columns: Indices, values: Singles, weights: Singles) -> Rows:
    chunks = max(1, len(columns) // _CHUNK)
    cuts = np.searchsorted(start, np.linspace(0, len(columns), chunks + 1)[1:-1])
    bounds = np.unique(np.concatenate(([0], cuts, [len(start) - 1])))
    return Rows(start, columns, values, weights, tuple(int(bound) for bound in bounds))
