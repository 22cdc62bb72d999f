"""The index's fit and statuses are those of the whole algorithm, though it reads the ratings in parts."""

from __future__ import annotations

from pathlib import Path

import pytest

from crowdnotes.bridging.public_scoring import score_public_data
from crowdnotes.public_data import indexing
from crowdnotes.public_data.database import reading
from crowdnotes.public_data.indexing import index_folder
from crowdnotes.public_data.sample_data import make_public_data
from crowdnotes.settings_sections import BridgingSettings
from tests.public_data.made import NOW


def test_every_note_has_the_status_that_the_whole_algorithm_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "_MAX_RATINGS_PER_PART", 7_000)
    make_public_data(tmp_path / "public", notes=900, ratings=30_000, days=1_200, shards=2, raters=600, zipped=True)
    early = tmp_path / "public" / "notes-00000.tsv"
    header, *lines_of_notes = early.read_text("utf-8").splitlines(keepends=True)
    calls_fine = [row.replace("MISINFORMED_OR_POTENTIALLY_MISLEADING", "NOT_MISLEADING") for row in lines_of_notes[::3]]
    early.write_text("".join([header, *calls_fine, *lines_of_notes[1::3], *lines_of_notes[2::3]]), "utf-8")
    lines = BridgingSettings(high_volume_share=0.02)
    report = index_folder(tmp_path / "public", tmp_path / "crowd.duckdb", lines, NOW)
    whole = score_public_data(tmp_path / "public", lines)
    expected = {one.note_id: one for one in whole.statuses if one.ratings >= lines.min_raters_per_note}
    with reading(tmp_path / "crowd.duckdb") as connection:
        rows = connection.execute("SELECT note, status, decided_by, intercept, factor FROM scores").fetchall()
        busy = connection.execute("SELECT count(*) FROM raters WHERE busy").fetchall()
    assert {row[0] for row in rows} == set(expected)
    for note, status, decided_by, intercept, factor in rows:
        one = expected[note]
        assert (status, decided_by) == (one.status.value, one.decided_by.value)
        assert (intercept, factor) == pytest.approx((one.note_intercept, one.note_factor), abs=1e-9)
    assert busy != [(0,)]
    assert report.fit.ratings == whole.fit.ratings
    assert sum(report.fit.dropped.values()) == sum(whole.dropped.values())
    assert any("call the post not misleading" in reason for reason in report.fit.dropped)
    assert sum(report.fit.statuses.values()) == len(rows) == report.fit.on_x
    assert 0 < report.fit.as_on_x < report.fit.on_x
