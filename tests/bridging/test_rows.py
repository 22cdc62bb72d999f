"""Ratings laid out by note and by rater: any order and any cutting gives the same rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowdnotes.bridging import rows
from crowdnotes.bridging.model import RatingTable
from crowdnotes.bridging.rows import Rows, lay_out, workers

PAIRS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 12)), min_size=1, max_size=120, unique=True)


def _table(pairs: list[tuple[int, int]], weighted: bool) -> RatingTable:
    note, rater = (np.array(part, dtype=np.int32) for part in zip(*pairs, strict=True))
    helpful = ((note * 7 + rater) % 3 / 2).astype(np.float32)
    weight = (1.0 + note + 100 * rater).astype(np.float32) if weighted else None
    return RatingTable(np.arange(41), np.arange(13), note, rater, helpful, weight)


def _expected(
    own: np.ndarray, other: np.ndarray, table: RatingTable, rows: int
) -> tuple[list[int], list[tuple[int, ...]]]:
    order = np.lexsort((other, own))
    start = np.searchsorted(own[order], np.arange(rows + 1))
    weight = np.zeros(len(table)) if table.weight is None else table.weight
    return start.tolist(), list(
        zip(other[order].tolist(), table.helpful[order].tolist(), weight[order].tolist(), strict=True)
    )


def _held(rows: Rows) -> tuple[list[int], list[tuple[int, ...]]]:
    weights = rows.weights.tolist() or [0.0] * len(rows.columns)
    return rows.start.tolist(), list(zip(rows.columns.tolist(), rows.values.tolist(), weights, strict=True))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pairs=PAIRS, weighted=st.booleans(), piece=st.integers(1, 40), bucket=st.integers(1, 40))
def test_rows_are_sorted_however_the_ratings_are_cut(
    monkeypatch: pytest.MonkeyPatch, pairs: list[tuple[int, int]], weighted: bool, piece: int, bucket: int
) -> None:
    monkeypatch.setattr(rows, "_PIECE", piece)
    monkeypatch.setattr(rows, "_BUCKET", bucket)
    table = _table(pairs, weighted)
    with workers() as crew:
        by_note, by_rater = lay_out(table, crew.each)
    assert _held(by_note) == _expected(table.note, table.rater, table, 41)
    assert _held(by_rater) == _expected(table.rater, table.note, table, 13)
