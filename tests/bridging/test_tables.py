"""A table wherever it lies: our Parquet or the download; a damaged file is one sentence."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from crowdnotes.bridging.columns import RATINGS
from crowdnotes.bridging.public_data import column_names, found_table, read_column, read_public_data
from crowdnotes.errors import InputError
from tests.bridging.made import rating_row, write_ratings


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
