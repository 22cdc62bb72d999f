"""Ratings laid out by note and by rater: any order and any cutting gives the same rows."""

from __future__ import annotations

import errno
from pathlib import Path
from unittest.mock import MagicMock

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numba.core import config
from numba.core.caching import CacheImpl, IndexDataCacheFile

from crowdnotes import workspace
from crowdnotes.bridging import compiled_code_folder, compiled_code_warning, has_kept_code, solver
from crowdnotes.bridging.model import RatingTable
from crowdnotes.bridging.solver import Rows, lay_out, workers

PAIRS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 12)), min_size=1, max_size=120, unique=True)


def _table(pairs: list[tuple[int, int]], weighted: bool) -> RatingTable:
    note, rater = (np.array(part, dtype=np.int32) for part in zip(*pairs, strict=True))
    helpful = ((note * 7 + rater) % 3 / 2).astype(np.float32)
    weight = (1.0 + note + 100 * rater).astype(np.float32) if weighted else None
    return RatingTable(np.arange(41), np.arange(13), note, rater, helpful, weight)


def _expected(own: np.ndarray, other: np.ndarray, table: RatingTable) -> list[tuple[float, ...]]:
    weight = np.zeros(len(table)) if table.weight is None else table.weight
    return sorted(zip(own.tolist(), other.tolist(), table.helpful.tolist(), weight.tolist(), strict=True))


def _held(rows: Rows) -> list[tuple[float, ...]]:
    """All ratings, by row, each row's in the order in which they lie."""
    held: list[tuple[float, ...]] = []
    for first, cut in zip(rows.bounds.tolist(), rows.cuts, strict=False):
        own, columns, values = ((first + rows.rows[cut].astype(int)).tolist(), rows.columns[cut], rows.values[cut])
        weights = rows.weights[cut].tolist() or [0.0] * len(own)
        held += sorted(zip(own, columns.tolist(), values.tolist(), weights, strict=True), key=lambda rating: rating[0])
    return held


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pairs=PAIRS, weighted=st.booleans(), chunk=st.integers(1, 40), most=st.integers(1, 40), by_note=st.booleans())
def test_rows_are_sorted_however_the_ratings_are_cut(
    monkeypatch: pytest.MonkeyPatch, pairs: list[tuple[int, int]], weighted: bool, chunk: int, most: int, by_note: bool
) -> None:
    monkeypatch.setattr(solver, "_RATINGS_PER_CHUNK", chunk)
    monkeypatch.setattr(solver, "_MAX_ROWS_PER_CHUNK", most)
    table = _table(sorted(pairs) if by_note else pairs, weighted)
    with workers() as crew:
        notes, raters = lay_out(table, crew.each)
    assert _held(notes) == _expected(table.note, table.rater, table)
    assert _held(raters) == _expected(table.rater, table.note, table)
    assert np.diff(notes.start).tolist() == np.bincount(table.note, minlength=41).tolist()
    assert np.diff(raters.start).tolist() == np.bincount(table.rater, minlength=13).tolist()


def test_more_notes_than_16_bits_count_are_put_in_order() -> None:
    notes = 70_000
    note = np.repeat(np.arange(notes, dtype=np.int32), 4)[::-1].copy()
    rater = np.arange(len(note), dtype=np.int32) % 13
    table = RatingTable(np.arange(notes), np.arange(13), note, rater, np.ones(len(note), dtype=np.float32))
    with workers() as crew:
        by_note, _ = lay_out(table, crew.each)
    assert _held(by_note) == _expected(table.note, table.rater, table)


def test_without_a_folder_for_what_is_compiled_it_is_compiled_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CacheImpl, "_locator_classes", [])

    @solver._compiled()
    def double(number: float) -> float:
        return 2.0 * number

    assert double(21.0) == 42.0


def test_on_a_full_disk_a_loop_is_compiled_and_not_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    full = MagicMock(side_effect=OSError(errno.ENOSPC, "No space left on device"))
    monkeypatch.setattr(IndexDataCacheFile, "save", full)

    @solver._compiled()
    def double(number: float) -> float:
        return 2.0 * number

    assert double(21.0) == 42.0
    assert full.called


def test_where_compiled_code_is_kept_is_found_as_numba_finds_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    compiled_code_folder.cache_clear()
    (tmp_path / "file").touch()
    monkeypatch.setattr("crowdnotes.bridging.__file__", str(tmp_path / "file" / "__init__.py"))
    monkeypatch.setattr("crowdnotes.bridging.user_cache_path", lambda *_, **__: tmp_path / "file" / "numba")
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    assert compiled_code_folder() is None
    assert "NUMBA_CACHE_DIR" in compiled_code_warning()
    compiled_code_folder.cache_clear()
    monkeypatch.setattr("crowdnotes.bridging.user_cache_path", MagicMock(side_effect=RuntimeError("no home")))
    assert compiled_code_folder() is None
    compiled_code_folder.cache_clear()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kept"))
    assert compiled_code_folder() == tmp_path / "kept"
    compiled_code_folder.cache_clear()


def test_whether_compiled_code_is_kept_is_seen_by_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    compiled_code_folder.cache_clear()
    assert not has_kept_code()
    (tmp_path / "of_a_loop").mkdir()
    (tmp_path / "of_a_loop" / "solver.by_column-324.py311.nbi").touch()
    assert has_kept_code()
    compiled_code_folder.cache_clear()


@pytest.mark.parametrize("kept", [True, False])
def test_the_first_start_compiles_what_a_page_would_wait_for(kept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    made = MagicMock()
    monkeypatch.setattr("crowdnotes.public_data.small_world.make_world", made)
    monkeypatch.setattr(workspace, "page_readers", MagicMock())
    monkeypatch.setattr(workspace, "gc", MagicMock())
    monkeypatch.setattr(workspace, "has_kept_code", lambda: kept)
    monkeypatch.setattr(workspace, "judge_helpfulness", MagicMock())
    workspace.warm_up(MagicMock())
    assert made.called is not kept
