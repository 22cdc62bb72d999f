"""The compiled loops, run on the machine's cores: each side's rows in chunks, sums always in the same order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from crowdnotes.bridging.kernels import (
    Floats,
    solve_rows,
    solve_rows_one_factor,
    squared_errors,
    subtract_intercepts,
)
from crowdnotes.bridging.layout import Rows


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
