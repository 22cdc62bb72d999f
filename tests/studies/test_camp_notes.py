"""Reading notes with two camps' votes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from crowdnotes.errors import InputError
from crowdnotes.studies.data_files import read_camps, split_by_time
from tests.jury.made_camps import camp_rows


def _read(rows: pd.DataFrame, tmp_path: Path) -> object:
    rows.to_parquet(tmp_path / "camps.parquet")
    return read_camps(tmp_path / "camps.parquet")


def test_notes_come_in_order_of_time_with_camp_1_as_side_minus(tmp_path: Path) -> None:
    rows = camp_rows(50)
    rows.sample(frac=1, random_state=0).to_parquet(tmp_path / "camps.parquet")
    notes = read_camps(tmp_path / "camps.parquet")
    assert (np.diff(notes.ids) > 0).all()
    assert notes.approvals[:, 0].tolist() == pytest.approx(rows["approval_1"].tolist(), nan_ok=True)
    assert notes.raters[:, 1].tolist() == pytest.approx(rows["raters_0"].tolist(), nan_ok=True)
    assert notes.dropped == {}


def test_ids_beyond_53_bits_stay_exact(tmp_path: Path) -> None:
    rows = camp_rows(5)
    rows["note_id"] = [2**60 + 2 * number + 1 for number in range(5)]
    rows.to_parquet(tmp_path / "camps.parquet")
    assert read_camps(tmp_path / "camps.parquet").ids.tolist() == rows["note_id"].tolist()


def test_no_post_is_on_both_sides_of_the_split(tmp_path: Path) -> None:
    camp_rows(203).to_parquet(tmp_path / "camps.parquet")
    notes = read_camps(tmp_path / "camps.parquet")
    older, newest = split_by_time(notes, 0.2)
    assert newest.sum() == 41
    assert not set(notes.posts[older]) & set(notes.posts[newest])
    assert notes.ids[older].max() < notes.ids[newest].min()


def test_rows_that_cannot_be_used_are_counted_by_reason(tmp_path: Path) -> None:
    rows = camp_rows(60)
    divided = rows.index[rows["kind"] == "polarising"][:3]
    joined = rows.index[rows["kind"] == "bridging"][:3]
    rows.loc[divided[0], "approval_0"] = np.nan
    rows.loc[divided[1], "approval_1"] = 1.5
    rows.loc[divided[2], "raters_0"] = 0
    rows.loc[joined[0], "bridge_score"] = np.nan
    rows.loc[joined[1], "text"] = "  "
    rows.loc[joined[2], "kind"] = "other"
    rows = pd.concat((rows, rows.tail(1)))
    rows.to_parquet(tmp_path / "camps.parquet")
    notes = read_camps(tmp_path / "camps.parquet")
    assert notes.dropped == {
        "kind is neither polarising nor bridging": 1,
        "no text": 1,
        "repeated note": 1,
        "polarising without both camps' approval": 2,
        "polarising without both camps' raters": 1,
        "bridging without a bridge score": 1,
    }
    assert len(notes) == 61 - 7


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows: rows.drop(columns="kind"), "lacks the columns kind"),
        (lambda rows: rows.assign(note_id=rows["note_id"].astype(float)), "note_id must be whole numbers"),
        (lambda rows: rows.assign(post_id="x"), "post_id holds something that is no whole number"),
        (lambda rows: rows.assign(approval_0="much"), "approval_0 holds something that is no number"),
        (lambda rows: rows.assign(kind="other"), "no usable note"),
    ],
)
def test_a_file_of_another_form_is_refused(tmp_path: Path, change: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        _read(change(camp_rows(20)), tmp_path)  # type: ignore[operator]


def test_a_truncated_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "camps.parquet"
    camp_rows(50).to_parquet(path)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(InputError, match="no Parquet"):
        read_camps(path)
