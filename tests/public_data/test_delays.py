"""Planted delays are recovered; groups hold their own; where nothing can be said, that is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from crowdnotes.errors import InputError
from crowdnotes.public_data.database import reading
from crowdnotes.public_data.delays import Delays, delays
from crowdnotes.public_data.loading import snowflake
from crowdnotes.public_data.posts import Filter
from tests.public_data.made import HOUR, WRITTEN, indexed, made_index, note_row, write_history, write_notes


def _of(folder: Path) -> Delays:
    indexed(folder / "public", folder / "crowd.duckdb")
    with reading(folder / "crowd.duckdb") as connection:
        return delays(connection, Filter())


def _post(hours_before: float, number: int) -> int:
    return int(snowflake(np.array([WRITTEN - round(hours_before * HOUR)]))[0]) + number


def test_the_planted_delays_are_recovered() -> None:
    index, planted = made_index()
    with reading(index) as connection:
        found = delays(connection, Filter())
    first, verdict = found.overall.to_first_note, found.overall.to_verdict
    assert (first.p25, first.p50, first.p75, first.p90) == pytest.approx(planted.first_note_hours, rel=1e-4)
    assert (verdict.p25, verdict.p50, verdict.p75, verdict.p90) == pytest.approx(planted.verdict_hours, rel=1e-4)
    assert found.overall.never.share == pytest.approx(planted.never_left_share)
    assert found.overall.never.n == planted.notes
    assert (found.posts, found.not_dated, found.backwards) == (planted.posts, 0, 0)
    assert f"{first.p50:.1f} hours" in found.sentence


def test_every_post_is_in_one_language_and_month_and_has_a_topic_or_none() -> None:
    index, planted = made_index()
    with reading(index) as connection:
        found = delays(connection, Filter())
        spanish = delays(connection, Filter("es"))
    assert sum(group.posts for group in found.by_language) == planted.posts
    assert sum(group.posts for group in found.by_month) == planted.posts
    assert [group.group for group in found.by_month] == sorted(group.group for group in found.by_month)
    assert found.by_topic[-1].group == found.by_topic[-1].name == "none of them"
    assert [group for group in found.by_language if group.group == "es"] == [spanish.overall.replace(group="es")]
    assert spanish.counted == "es"
    every = {group.group: group.name for group in (found.overall, *found.by_language, *found.by_month)}
    names = {"all": "All", "es": "Spanish", "2025-03": "Mar 2025"}
    assert {group: every[group] for group in names} == names


def test_a_post_counts_from_its_first_note_to_the_first_verdict_of_any(tmp_path: Path) -> None:
    notes = [
        row
        for number in range(5)
        for row in (
            note_row(10 + number, tweetId=_post(3, number)),
            note_row(20 + number, tweetId=_post(3, number), createdAtMillis=WRITTEN + HOUR),
        )
    ]
    notes.append(note_row(30, tweetId=_post(-2, 0)))  # a note before its post
    verdict = {"currentStatus": "NEEDS_MORE_RATINGS", "timestampMillisOfFirstNonNMRStatus": WRITTEN + 4 * HOUR}
    write_notes(tmp_path / "public" / "notes-00000.tsv", *notes)
    write_history(
        tmp_path / "public" / "noteStatusHistory-00000.tsv",
        *({"noteId": 10 + number, "currentStatus": "NEEDS_MORE_RATINGS"} for number in range(5)),
        *({"noteId": 20 + number, **verdict} for number in range(5)),
    )
    found = _of(tmp_path)
    assert found.overall.to_first_note.p50 == pytest.approx(3, abs=1e-3)
    assert found.overall.to_verdict.n == 5
    assert found.overall.to_verdict.p50 == pytest.approx(4)
    assert (found.overall.never.n, found.overall.never.share, found.overall.never.young) == (10, 0.5, 5)
    assert found.backwards == 1


def test_without_history_or_with_few_posts_nothing_is_made_up(tmp_path: Path) -> None:
    write_notes(tmp_path / "public" / "notes-00000.tsv", note_row(1), note_row(2, tweetId=7))
    found = _of(tmp_path)
    assert found.overall.to_first_note.not_run == "Only 1 post. At least 5 are needed."
    assert found.overall.to_verdict.not_run == "The index has no status history. Add the noteStatusHistory files."
    assert found.overall.never.share is None
    assert (found.not_dated, found.sentence) == (1, "There is too little data on delays.")


def test_an_index_without_notes_is_refused(tmp_path: Path) -> None:
    write_history(tmp_path / "public" / "noteStatusHistory-00000.tsv", {"noteId": 1, "currentStatus": ""})
    with pytest.raises(InputError, match="has no notes"):
        _of(tmp_path)
