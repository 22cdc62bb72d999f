"""The documented filter: three steps, once, in order, each drop with its name."""

from __future__ import annotations

import numpy as np

from crowdnotes.bridging.model import RatingTable, apply_filter
from crowdnotes.settings import BridgingSettings


def _table(pairs: list[tuple[int, int]]) -> RatingTable:
    note = np.array([pair[0] for pair in pairs], dtype=np.int32)
    rater = np.array([pair[1] for pair in pairs], dtype=np.int32)
    return RatingTable(
        np.arange(note.max() + 1), np.arange(rater.max() + 1), note, rater, np.ones(len(pairs), dtype=np.float32)
    )


def test_notes_with_few_raters_and_raters_with_few_ratings_go_and_are_counted() -> None:
    lines = BridgingSettings(min_raters_per_note=2, min_ratings_per_rater=2)
    # Note 2 has one rater; rater 2 then has one rating; note 1 is then left with one rater.
    pairs = [(0, 0), (0, 1), (3, 0), (3, 1), (1, 0), (1, 2), (2, 2)]
    kept, report = apply_filter(_table(pairs), lines)
    assert report.kept == len(kept) == 4
    assert list(report.dropped.values()) == [1, 1, 1]
    assert kept.note_ids.tolist() == [0, 3]
    assert kept.rater_ids.tolist() == [0, 1]
    assert kept.note.tolist() == [0, 0, 1, 1]


def test_the_filter_runs_once_not_until_nothing_changes() -> None:
    lines = BridgingSettings(min_raters_per_note=2, min_ratings_per_rater=2)
    # Rater 1 loses note 1 in the last step and keeps one rating, under the line: it stays all the same.
    pairs = [(0, 0), (0, 1), (1, 1), (1, 2), (2, 0), (2, 3), (2, 0)]
    kept, _ = apply_filter(_table([*pairs, (3, 3), (3, 0)]), lines)
    counts = np.bincount(kept.rater)
    assert counts.min() < lines.min_ratings_per_rater


def test_a_rater_of_one_note_and_a_note_of_one_rater_never_enter() -> None:
    pairs = [(n, u) for n in range(12) for u in range(8)] + [(12, 0), (0, 8)]
    kept, _ = apply_filter(_table(pairs), BridgingSettings())
    assert 12 not in kept.note_ids
    assert 8 not in kept.rater_ids
    assert len(kept) == 96
