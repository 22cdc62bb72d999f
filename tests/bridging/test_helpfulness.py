"""Which raters enter the last fit, by their early ratings and by the notes they wrote."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdnotes.bridging.model import RatingTable
from crowdnotes.bridging.note_signals import NoteFacts, helpful_raters
from crowdnotes.bridging.status import NoteStatus
from crowdnotes.settings import BridgingSettings

HOUR = 3_600_000
START = 1_700_000_000_000
CRH, CRNH, NMR = NoteStatus.HELPFUL, NoteStatus.NOT_HELPFUL, NoteStatus.NEEDS_MORE_RATINGS
FACTS = NoteFacts(
    misleading=np.ones(3, dtype=bool),
    created_at_ms=np.full(3, START, dtype=np.int64),
    authors=None,
    was_helpful=None,
    status_at_ms=None,
)
# Note 0 is helpful, note 1 is not, note 2 is undecided. Rater 0 agrees, rater 1 does not.
TABLE = RatingTable(
    np.arange(3),
    np.array(["agrees", "differs"], dtype=object),
    np.array([0, 1, 2, 0, 1, 2], dtype=np.int32),
    np.array([0, 0, 0, 1, 1, 1], dtype=np.int32),
    np.array([1, 0, 0, 0, 1, 1], dtype=np.float32),
)
SOON = np.full(6, START + HOUR, dtype=np.int64)


def _chosen(
    table: RatingTable = TABLE,
    times: np.ndarray[tuple[int], np.dtype[np.int64]] = SOON,
    facts: NoteFacts = FACTS,
    intercepts: tuple[float, float, float] = (0.5, -0.2, 0.1),
) -> list[bool]:
    answer = helpful_raters(table, times, facts, [CRH, CRNH, NMR], np.array(intercepts), BridgingSettings())
    assert answer is not None
    return [bool(value) for value in answer]


def test_a_rater_who_agreed_early_with_the_outcome_is_kept() -> None:
    assert _chosen() == [True, False]


def test_somewhat_helpful_never_counts() -> None:
    assert _chosen(replace(TABLE, helpful=np.full(6, 0.5, dtype=np.float32))) == [False, False]


def test_ratings_after_48_hours_do_not_count() -> None:
    assert _chosen(times=np.full(6, START + 48 * HOUR, dtype=np.int64)) == [False, False]


def test_ratings_after_the_status_was_out_do_not_count() -> None:
    out = replace(FACTS, status_at_ms=np.full(3, START + HOUR, dtype=np.int64))
    assert _chosen(facts=out) == [False, False]


def test_two_thirds_of_agreement_are_just_enough() -> None:
    lines = np.array([1, 0, 1, 0, 1, 1], dtype=np.float32)
    answer = helpful_raters(
        replace(TABLE, helpful=lines), SOON, FACTS, [CRH, CRNH, CRNH], np.zeros(3), BridgingSettings()
    )
    assert answer is not None
    assert answer.tolist() == [True, False]


def test_of_early_notes_only_the_first_five_ratings_count() -> None:
    old = replace(FACTS, created_at_ms=np.full(1, 1_640_000_000_000, dtype=np.int64))
    table = RatingTable(
        np.array([0]),
        np.arange(7),
        np.zeros(7, dtype=np.int32),
        np.arange(7, dtype=np.int32),
        np.ones(7, dtype=np.float32),
    )
    times = 1_640_000_000_000 + np.arange(7, 0, -1)
    answer = helpful_raters(table, times, old, [CRH], np.array([0.5]), BridgingSettings())
    assert answer is not None
    assert answer.tolist() == [False, False, True, True, True, True, True]


@pytest.mark.parametrize(
    ("author_of", "intercepts", "kept"),
    [
        ([0], (0.5, -0.2, 0.1), True),
        ([1], (0.5, -0.2, 0.1), False),  # a note rated not helpful
        ([0, 1], (0.5, -0.2, 0.1), False),  # one helpful note does not outweigh it
        ([2], (0.5, -0.2, 0.04), False),  # mean intercept under 0.05
        ([2], (0.5, -0.2, 0.06), True),
    ],
)
def test_a_rater_s_own_notes_must_do_well(
    author_of: list[int], intercepts: tuple[float, float, float], kept: bool
) -> None:
    authors = np.array([None, None, None], dtype=object)
    authors[author_of] = "agrees"
    assert _chosen(facts=replace(FACTS, authors=authors), intercepts=intercepts)[0] is kept


def test_without_the_notes_times_no_rater_is_judged() -> None:
    facts = replace(FACTS, created_at_ms=None)
    assert helpful_raters(TABLE, SOON, facts, [CRH, CRNH, NMR], np.zeros(3), BridgingSettings()) is None
