"""Ratings for the fit: prepared tables and public data, ids kept whole, each loss by its name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from crowdnotes.bridging.columns import RATINGS
from crowdnotes.bridging.factorization import fit
from crowdnotes.bridging.model import Penalties
from crowdnotes.bridging.public_data import column_names, found_table, read_column, read_public_data
from crowdnotes.bridging.ratings import load_ratings
from crowdnotes.errors import InputError
from tests.bridging.made import made_ratings, rating_row, write_ratings

_BIG = 2**53 + 1  # the first whole number that a float cannot hold


def _parquet(path: Path, **columns: object) -> Path:
    pd.DataFrame(columns).to_parquet(path)
    return path


def test_a_prepared_table_keeps_64_bit_ids_apart(tmp_path: Path) -> None:
    path = _parquet(tmp_path / "r.parquet", note_id=[_BIG, _BIG - 1], rater_id=["b", "a"], helpful_num=[1.0, 0.5])
    loaded = load_ratings(path)
    assert loaded.table.note_ids.tolist() == [_BIG - 1, _BIG]
    assert loaded.table.rater_ids.tolist() == ["a", "b"]
    assert loaded.table.note.tolist() == [1, 0]
    assert loaded.table.helpful.tolist() == [1.0, 0.5]
    assert not loaded.public


def test_rater_ids_may_be_whole_numbers_and_notes_strings(tmp_path: Path) -> None:
    path = _parquet(tmp_path / "r.parquet", note_id=["n2", "n1"], rater_id=[_BIG, 3], helpful_num=[1, 0])
    loaded = load_ratings(path)
    assert loaded.table.note_ids.tolist() == ["n1", "n2"]
    assert loaded.table.rater_ids.tolist() == [3, _BIG]


def test_ids_as_floats_are_refused(tmp_path: Path) -> None:
    path = _parquet(tmp_path / "r.parquet", note_id=[1.0, 2.0], rater_id=["a", "b"], helpful_num=[1, 0])
    with pytest.raises(InputError, match="floating-point"):
        load_ratings(path)


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
    path = _parquet(
        tmp_path / "r.parquet",
        note_id=[1, 1, 1],
        rater_id=["a", "b", "c"],
        helpful_num=[1, 0, 0],
        weight=[2.0, 0.5, -1],
    )
    loaded = load_ratings(path)
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


def test_a_table_that_is_neither_form_is_refused_with_what_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="rater_id, helpful_num"):
        load_ratings(_parquet(tmp_path / "r.parquet", note_id=[1], mood=["fine"]))


def test_numbers_that_are_words_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="other than numbers"):
        load_ratings(_parquet(tmp_path / "r.parquet", note_id=[1], rater_id=["a"], helpful_num=["good"]))


def test_a_parquet_file_that_is_cut_short_is_refused(tmp_path: Path) -> None:
    path = _parquet(tmp_path / "r.parquet", note_id=[1], rater_id=["a"], helpful_num=[1])
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match="cut short"):
        load_ratings(path)


def test_a_folder_without_ratings_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no ratings"):
        load_ratings(tmp_path)


def test_an_empty_table_loads_as_empty(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    frame = pd.DataFrame({"note_id": [1], "rater_id": ["a"], "helpful_num": [1.0]})
    frame.iloc[:0].to_parquet(path)
    assert len(load_ratings(path).table) == 0


def test_numbers_beyond_64_bits_are_refused_rather_than_wrapped(tmp_path: Path) -> None:
    ids = pd.array([2**63, 2**63 + 1], dtype="uint64")
    path = _parquet(tmp_path / "r.parquet", note_id=ids, rater_id=["a", "b"], helpful_num=[1, 0])
    with pytest.raises(InputError, match="beyond 64 bits"):
        load_ratings(path)


def test_a_folder_of_our_parquet_is_public_data(tmp_path: Path) -> None:
    write_ratings(tmp_path / "ratings-00000.tsv", [rating_row(_BIG, "A"), rating_row(_BIG, "B", "NOT_HELPFUL")])
    read_public_data(tmp_path, tmp_path / "out")
    loaded = load_ratings(tmp_path / "out")
    assert loaded.public
    assert loaded.table.note_ids.tolist() == [_BIG]


@pytest.mark.parametrize("bad", [float("nan"), -0.1, 1.5, float("inf")])
def test_a_rating_that_is_no_number_from_0_to_1_is_refused(bad: float) -> None:
    table = made_ratings(notes=10, raters=10)
    helpful = table.helpful.copy()
    helpful[3] = bad
    with pytest.raises(InputError, match="from 0 to 1"):
        fit(replace(table, helpful=helpful))


def test_an_empty_table_is_refused() -> None:
    table = made_ratings()
    with pytest.raises(InputError, match="no ratings"):
        fit(table.keep(np.zeros(len(table), dtype=bool)))


@pytest.mark.parametrize("factors", [0, 4])
def test_other_than_one_to_three_factors_are_refused(factors: int) -> None:
    with pytest.raises(InputError, match="factors"):
        fit(made_ratings(), factors=factors)


def test_a_start_with_another_number_of_factors_is_refused() -> None:
    table = made_ratings()
    with pytest.raises(InputError, match="same number"):
        fit(table, factors=2, start=fit(table))


@pytest.mark.parametrize("weight", [-1.0, float("nan")])
def test_a_weight_that_cannot_weigh_is_refused(weight: float) -> None:
    table = made_ratings(notes=10, raters=10)
    with pytest.raises(InputError, match="weight"):
        fit(replace(table, weight=np.full(len(table), weight, dtype=np.float32)))


def test_penalties_must_be_positive() -> None:
    with pytest.raises(InputError, match="note_factor"):
        Penalties(note_factor=0)


def test_more_factors_than_raters_and_weights_beyond_reckoning_are_refused() -> None:
    table = made_ratings()
    with pytest.raises(InputError, match="2 notes or raters"):
        fit(table.keep(table.rater < 2), factors=3)
    weight = np.ones(len(table), dtype=np.float32)
    weight[::7] = 1e30
    with pytest.raises(InputError, match="too far apart"):
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
