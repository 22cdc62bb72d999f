"""Ratings for the fit: prepared tables and public data, ids kept whole, each loss by its name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from crowdnotes.bridging.columns import RATINGS
from crowdnotes.bridging.factorization import fit
from crowdnotes.bridging.model import RatingTable
from crowdnotes.bridging.public_files import column_names, found_table, read_column, read_public_data
from crowdnotes.bridging.ratings import load_ratings
from crowdnotes.errors import InputError
from tests.bridging.made import made_ratings, rating_row, write_ratings

_BIG = 2**53 + 1  # the first whole number that a float cannot hold


def _parquet(path: Path, **columns: object) -> Path:
    pd.DataFrame(columns).to_parquet(path)
    return path


def test_a_prepared_table_keeps_64_bit_ids_apart_and_either_id_may_be_text(tmp_path: Path) -> None:
    path = _parquet(tmp_path / "r.parquet", note_id=[_BIG, _BIG - 1], rater_id=["b", "a"], helpful_num=[1.0, 0.5])
    loaded = load_ratings(path)
    assert loaded.table.note_ids.tolist() == [_BIG - 1, _BIG]
    assert loaded.table.rater_ids.tolist() == ["a", "b"]
    assert loaded.table.note.tolist() == [1, 0]
    assert loaded.table.helpful.tolist() == [1.0, 0.5]
    assert not loaded.public
    table = load_ratings(_parquet(path, note_id=["n2", "n1"], rater_id=[_BIG, 3], helpful_num=[1, 0])).table
    assert (table.note_ids.tolist(), table.rater_ids.tolist()) == (["n1", "n2"], [3, _BIG])


def test_rows_without_id_or_number_and_repeats_are_dropped_by_name(tmp_path: Path) -> None:
    path = _parquet(
        tmp_path / "r.parquet",
        note_id=pd.array([1, 1, None, 2, 2, 1], dtype="Int64"),
        rater_id=["a", "b", "a", None, "c", "a"],
        helpful_num=[1.0, float("nan"), 1.0, 1.0, 1.7, 0.0],
    )
    loaded = load_ratings(path)
    assert loaded.dropped == {
        "no note_id": 1,
        "no rater_id": 1,
        "helpful_num is not a number from 0 to 1": 2,
        "repeated rating of a note by the same rater": 1,
    }
    assert (loaded.table.note_ids.tolist(), loaded.table.helpful.tolist()) == ([1], [1.0])


def test_weights_come_along(tmp_path: Path) -> None:
    columns = {"note_id": [1, 1, 1], "rater_id": ["a", "b", "c"], "helpful_num": [1, 0, 0], "weight": [2.0, 0.5, -1]}
    loaded = load_ratings(_parquet(tmp_path / "r.parquet", **columns))
    assert loaded.table.weight is not None
    assert loaded.table.weight.tolist() == [2.0, 0.5]
    assert loaded.dropped == {"weight is negative or not a number": 1}


def test_public_ratings_come_with_times_and_tags_when_asked(tmp_path: Path) -> None:
    rows = [rating_row(1, "A", helpfulClear=1), rating_row(1, "B", "NOT_HELPFUL", createdAtMillis=7)]
    path = write_ratings(tmp_path / "ratings-00000.tsv", rows)
    loaded = load_ratings(path, with_details=True)
    assert loaded.public
    assert loaded.created_at_ms is not None
    assert loaded.created_at_ms.tolist() == [1_700_000_000_000, 7]
    assert loaded.tags["helpfulClear"].tolist() == [True, False]
    kept = loaded.keep(np.array([False, True]))
    assert kept.tags["helpfulClear"].tolist() == [False]
    assert load_ratings(path).tags == {}


_WIDE = pd.array([2**63, 2**63 + 1], dtype="uint64")


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"note_id": [1], "mood": ["fine"]}, "rater_id, helpful_num"),
        ({"note_id": [1.0, 2.0], "rater_id": ["a", "b"], "helpful_num": [1, 0]}, "floating-point"),
        ({"note_id": _WIDE, "rater_id": ["a", "b"], "helpful_num": [1, 0]}, "beyond 64 bits"),
        ({"note_id": [1], "rater_id": ["a"], "helpful_num": ["good"]}, "other than numbers"),
    ],
    ids=["neither form", "ids as floats", "beyond 64 bits", "words"],
)
def test_a_table_that_would_be_read_wrongly_is_refused(tmp_path: Path, columns: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        load_ratings(_parquet(tmp_path / "r.parquet", **columns))


def test_a_parquet_file_that_is_cut_short_and_a_folder_without_ratings_are_refused_and_an_empty_table_is_empty(
    tmp_path: Path,
) -> None:
    with pytest.raises(InputError, match="no ratings"):
        load_ratings(tmp_path)
    frame = pd.DataFrame({"note_id": [1], "rater_id": ["a"], "helpful_num": [1.0]})
    path = tmp_path / "r.parquet"
    frame.iloc[:0].to_parquet(path)
    assert len(load_ratings(path).table) == 0
    frame.to_parquet(path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match="cut short"):
        load_ratings(path)


def test_a_folder_of_our_parquet_is_public_data(tmp_path: Path) -> None:
    write_ratings(tmp_path / "ratings-00000.tsv", [rating_row(_BIG, "A"), rating_row(_BIG, "B", "NOT_HELPFUL")])
    read_public_data(tmp_path, tmp_path / "out")
    loaded = load_ratings(tmp_path / "out")
    assert loaded.public
    assert loaded.table.note_ids.tolist() == [_BIG]


_SMALL = made_ratings(notes=10, raters=10)


def _with_one(bad: float) -> RatingTable:
    return replace(_SMALL, helpful=np.where(np.arange(len(_SMALL)) == 3, bad, _SMALL.helpful).astype(np.float32))


def _weighing(weight: float) -> RatingTable:
    return replace(_SMALL, weight=np.full(len(_SMALL), weight, dtype=np.float32))


@pytest.mark.parametrize(
    ("table", "options", "says"),
    [
        (_with_one(float("nan")), {}, "from 0 to 1"),
        (_with_one(-0.1), {}, "from 0 to 1"),
        (_with_one(1.5), {}, "from 0 to 1"),
        (_with_one(float("inf")), {}, "from 0 to 1"),
        (_weighing(-1.0), {}, "weight"),
        (_weighing(float("nan")), {}, "weight"),
        (_SMALL.keep(np.zeros(len(_SMALL), dtype=bool)), {}, "no ratings"),
        (_SMALL, {"factors": 0}, "factors"),
        (_SMALL, {"factors": 4}, "factors"),
        (_SMALL, {"factors": 2, "start": fit(_SMALL)}, "same number"),
    ],
    ids="nan negative large infinite negative-weight nan-weight empty no-factor 4-factors another-start".split(),
)
def test_what_cannot_be_fitted_is_refused(table: RatingTable, options: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        fit(table, **options)


def test_more_factors_than_raters_weights_beyond_reckoning_are_refused() -> None:
    table = made_ratings()
    with pytest.raises(InputError, match="2 notes or raters"):
        fit(table.keep(table.rater < 2), factors=3)
    weight = np.ones(len(table), dtype=np.float32)
    weight[::7] = 1e30
    with pytest.raises(InputError, match="differ too much"):
        fit(replace(table, weight=weight), factors=2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A download of three ratings, one of them given twice."""
    rows = [rating_row(1, "A"), rating_row(1, "B"), rating_row(2, "A"), rating_row(1, "A")]
    write_ratings(tmp_path / "ratings-00000.tsv", rows)
    return tmp_path


def test_a_download_is_read_for_the_moment_and_its_drops_are_told(folder: Path) -> None:
    with found_table(RATINGS, folder) as found:
        assert found is not None
        assert found.dropped == {"repeated noteId and raterParticipantId": 1}
        assert read_column(found.parquet, "noteId").to_pylist() == [1, 1, 2]
    assert not found.parquet.exists()


def test_our_parquet_is_taken_from_its_folder_and_by_its_name(folder: Path) -> None:
    read_public_data(folder, folder / "out")
    for path in (folder / "out", folder / "out" / "ratings.parquet"):
        with found_table(RATINGS, path) as found:
            assert found is not None
            assert (found.parquet, found.dropped) == (folder / "out" / "ratings.parquet", {})
        assert found.parquet.exists()


def test_a_folder_without_the_table_has_none_and_no_folder_is_an_error(tmp_path: Path) -> None:
    with found_table(RATINGS, tmp_path) as found:
        assert found is None
    with pytest.raises(InputError, match="no file or folder"), found_table(RATINGS, tmp_path / "nowhere.parquet"):
        pass


def test_a_column_damaged_in_the_middle_of_the_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    pd.DataFrame({"note_id": range(5000)}).to_parquet(path)
    content = bytearray(path.read_bytes())
    content[60:2000] = b"\x55" * 1940
    path.write_bytes(bytes(content))
    assert column_names(path) == ["note_id"]
    with pytest.raises(InputError, match=r"note_id of r\.parquet is damaged"):
        read_column(path, "note_id")
