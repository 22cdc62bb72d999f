"""The index's fit and statuses are those of the whole algorithm, though it reads the ratings in parts."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from crowdnotes.bridging.model import RuleName
from crowdnotes.bridging.public_scoring import score_public_data
from crowdnotes.bridging.thresholds import THRESHOLDS, Thresholds
from crowdnotes.public_data import indexing
from crowdnotes.public_data.database import reading
from crowdnotes.public_data.indexing import index_folder
from crowdnotes.public_data.sample_data import make_public_data
from crowdnotes.settings_sections import RatersWanted
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
    # Lines at which each rule speaks in so little data.
    lines = Thresholds(
        high_volume_share=0.02, core_share=0.85, sampled_ratings=3, sampled_per_side=1, sampled_intercept=0.5,
        sampled_gap=-0.1,
    )  # fmt: skip
    report = index_folder(tmp_path / "public", tmp_path / "crowd.duckdb", lines, NOW)
    whole = score_public_data(tmp_path / "public", lines)
    with reading(tmp_path / "crowd.duckdb") as connection:
        rated = dict(connection.execute("SELECT note, count(*) FROM ratings GROUP BY note").fetchall())
        rows = connection.execute("SELECT note, status, decided_by, intercept, factor FROM scores").fetchall()
        busy = connection.execute("SELECT count(*) FROM raters WHERE busy").fetchall()
    expected = {one.note_id: one for one in whole.statuses if rated[one.note_id] >= lines.min_raters_per_note}
    assert {row[0] for row in rows} == set(expected)
    for note, status, decided_by, intercept, factor in rows:
        one = expected[note]
        assert (status, decided_by) == (one.status.value, one.decided_by.value)
        if intercept is None or one.note_intercept is None:
            assert intercept is factor is one.note_intercept is one.note_factor is None
        else:
            assert (intercept, factor) == pytest.approx((one.note_intercept, one.note_factor), abs=1e-9)
    assert busy != [(0,)]
    assert (report.fit.whose, report.fit.whose and report.fit.whose.left_out) == (whole.raters, 50)
    decided = {row[2] for row in rows}
    assert {RuleName.CAPTURE.value, RuleName.SAMPLED.value} <= decided
    assert report.fit.ratings == whole.fit.ratings
    assert sum(report.fit.dropped.values()) == sum(whole.dropped.values())
    assert any("call the post not misleading" in reason for reason in report.fit.dropped)
    assert sum(report.fit.statuses.values()) == len(rows) == report.fit.on_x
    assert 0 < report.fit.as_on_x < report.fit.on_x


def test_raters_are_fitted_anew_when_others_count_and_the_report_says_who_does(tmp_path: Path) -> None:
    data, index = tmp_path / "public", tmp_path / "crowd.duckdb"
    make_public_data(data, notes=300, ratings=9_000)
    enrolment = (data / "userEnrollment-00000.tsv").rename(tmp_path / "userEnrollment-00000.tsv")
    everybody = index_folder(data, index, THRESHOLDS, NOW).fit
    assert everybody.whose is not None
    assert "the userEnrollment files name them" in everybody.whose.sentence
    enrolment.rename(data / "userEnrollment-00000.tsv")
    core = index_folder(data, index, THRESHOLDS, NOW).fit
    assert core.whose is not None
    assert core.whose.taken + core.whose.left_out == everybody.whose.taken
    assert core.ratings < everybody.ratings
    later = NOW + timedelta(days=1)
    assert index_folder(data, index, THRESHOLDS, later).fit == core, "nothing is new"
    asked_for = index_folder(data, index, Thresholds(raters=RatersWanted.ALL), later).fit
    assert asked_for.statuses == everybody.statuses
    assert asked_for.whose is not None
    assert "as CROWDNOTES_BRIDGING_RATERS asks" in asked_for.whose.sentence
