"""What is known of the notes: from the notes table, from the status history where a note was deleted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from crowdnotes.bridging.columns import HISTORY, NOTES
from crowdnotes.bridging.model import Ids, ManySignals, NoteStatus, RatingTable
from crowdnotes.bridging.note_signals import (
    FactorScale,
    View,
    gather_signals,
    high_volume_raters,
    tag_aggregates,
    usual_rates,
    with_tag_lines,
)
from crowdnotes.bridging.public_scoring import NoteFacts, gather_facts, helpful_raters
from crowdnotes.bridging.ratings import Ratings
from crowdnotes.bridging.scoring import FrozenRaters, score_notes
from crowdnotes.bridging.thresholds import THRESHOLDS, Thresholds
from crowdnotes.errors import InputError
from tests.bridging.made import table_of, write_tsv

_BIG = 2**53 + 1  # the first whole number that a float cannot hold
_IDS: Ids = np.array([_BIG, _BIG + 1])


def test_a_deleted_note_has_its_time_and_author_from_the_history_and_counts_as_misleading(tmp_path: Path) -> None:
    assert all(value is None for value in vars(gather_facts(tmp_path, _IDS)).values())
    note = {"noteId": _BIG, "classification": "NOT_MISLEADING", "createdAtMillis": 5, "noteAuthorParticipantId": "A"}
    write_tsv(tmp_path / "notes-00000.tsv", NOTES.columns, [note])
    status = {"currentStatus": "CURRENTLY_RATED_HELPFUL", "timestampMillisOfLatestNonNMRStatus": 70}
    history = [
        {"noteId": _BIG, "createdAtMillis": 9, "noteAuthorParticipantId": "Z", "currentStatus": ""},
        {"noteId": _BIG + 1, "createdAtMillis": 6, "noteAuthorParticipantId": "B", **status},
    ]
    write_tsv(tmp_path / "noteStatusHistory-00000.tsv", HISTORY.columns, history)
    facts = {name: list(value) for name, value in vars(gather_facts(tmp_path, _IDS)).items()}
    assert facts["misleading"] == [False, True]
    assert facts["created_at_ms"] == [5, 6]
    assert facts["authors"] == ["A", "B"]
    assert facts["was_helpful"][1] is np.True_
    assert facts["status_at_ms"][1] == 70


_ONE = ["NOT_MISLEADING"]


@pytest.mark.parametrize(
    ("columns", "ids", "sentence"),
    [
        ({"noteId": [float(_BIG)], "classification": _ONE}, _IDS, "holds double, not 64-bit integers"),
        ({"noteId": [str(_BIG)], "classification": _ONE}, _IDS, "holds string, not 64-bit integers"),
        ({"noteId": [_BIG, _BIG], "classification": _ONE * 2}, _IDS, "one note twice"),
        ({"noteId": [_BIG]}, _IDS, "lacks the column classification"),
        ({"noteId": [_BIG], "classification": _ONE}, np.array([str(_BIG)], dtype=object), "name notes by text"),
    ],
)
def test_a_table_that_would_match_wrongly_is_refused(
    tmp_path: Path, columns: dict[str, object], ids: Ids, sentence: str
) -> None:
    pd.DataFrame(columns).to_parquet(tmp_path / "notes.parquet")
    with pytest.raises(InputError, match=sentence):
        gather_facts(tmp_path, ids)


LINES = THRESHOLDS
DAY = 24 * 3_600_000
RATERS = FrozenRaters(np.arange(6), np.zeros(6), np.array([-0.5, -0.4, -0.3, 0.3, 0.4, 0.5]), 0.2, 5.0)
INCORRECT = "notHelpfulIncorrect"


def _ratings() -> Ratings:
    """Two notes; raters 0 to 5 rate both, rater 9 is not known."""
    note = np.repeat([0, 1], 7).astype(np.int32)
    rater = np.tile(np.arange(7), 2).astype(np.int32)
    helpful = np.array([1, 1, 0.5, 0, 0, 1, 1, 0, 0, 0, 0, 0.5, 1, 0], dtype=np.float32)
    says = np.zeros(14, dtype=bool)
    says[[7, 8, 9]] = True
    clear = np.zeros(14, dtype=bool)
    clear[[0, 1]] = True
    table = RatingTable(np.array([10, 20]), np.array([0, 1, 2, 3, 4, 5, 9]), note, rater, helpful)
    tags = {INCORRECT: says, "helpfulClear": clear, "notHelpfulOther": np.arange(14) == 3}
    return Ratings(table, True, {}, np.arange(14, dtype=np.int64) * DAY, tags)


def _signals(ratings: Ratings) -> ManySignals:
    scored = score_notes(ratings.table, RATERS)
    return gather_signals(
        ratings, ratings, scored, RATERS, LINES,
        misleading=None, was_helpful=None, usual=usual_rates(ratings), busy=None, by_group=False,
    )  # fmt: skip


def _view(ratings: Ratings) -> View:
    factors = score_notes(ratings.table, RATERS).notes.factors[:, 0]
    return View.on(FactorScale.of(factors, RATERS.factors), ratings.table, factors, RATERS)


def test_each_side_has_its_raters_mean_and_net_and_without_raters_no_mean() -> None:
    first, other = (_signals(_ratings()).note(n, n) for n in range(2))
    assert (first.negative.raters, first.negative.net_helpful) == (3, 2)
    assert first.negative.mean == pytest.approx(2.5 / 3)
    assert (first.positive.raters, first.positive.net_helpful) == (3, -1)
    assert (other.negative.mean, other.negative.net_helpful) == (0, -3)
    few = _signals(_ratings().keep(_ratings().table.rater < 3)).note(0, 0)
    assert (few.negative.raters, few.positive.raters) == (3, 0)
    assert math.isnan(few.positive.mean)


def test_tags_weigh_less_the_further_the_rater_is() -> None:
    ratings = _ratings()
    view = _view(ratings)
    aggregates = tag_aggregates(ratings, view, LINES)
    assert aggregates is not None
    totals, shares = aggregates
    distance = view.distance[view.used]
    weight = 1 / (1 + (distance / np.percentile(distance, 40)) ** 5)
    of_note = weight[ratings.table.note[view.used] == 1]
    assert totals[INCORRECT][1] == pytest.approx(of_note[:3].sum())
    assert shares[INCORRECT][1] == pytest.approx(of_note[:3].sum() / of_note.sum())
    assert totals[INCORRECT][0] == 0


def test_the_line_of_a_tag_is_its_high_percentile_among_helpful_notes() -> None:
    signals = replace(_signals(_ratings()), tag_shares={INCORRECT: np.array([0.1, 0.2, 0.9])})
    lines = with_tag_lines(signals, np.array([True, True, False]), LINES).tag_lines
    assert lines is not None
    assert lines[INCORRECT] == pytest.approx(0.195)
    assert with_tag_lines(signals, np.zeros(3, dtype=bool), LINES).tag_lines is None


def test_incorrect_counts_like_minded_raters_with_a_complaint() -> None:
    view = _view(_ratings())
    first, other = (_signals(_ratings()).note(n, n).incorrect for n in range(2))
    assert first is not None
    assert other is not None
    near = np.abs(np.clip(RATERS.factors, -0.4, 0.4) - np.clip(view.note_factor[7], -0.4, 0.4)) < 0.3
    assert other.tags == int(near[:3].sum())
    assert other.usual == pytest.approx(near[:3].sum())  # each of them tags nothing else
    assert first.tags == 0


def test_explanations_are_tags_that_enough_raters_chose() -> None:
    notes = [_signals(_ratings()).note(n, n) for n in range(2)]
    assert [(note.helpful_tags, note.not_helpful_tags) for note in notes] == [(1, 0), (0, 1)]


def _rated(counts: Sequence[int]) -> Ratings:
    """Raters with so many ratings each, of as many notes as the busiest has, on one day."""
    note = [note for many in counts for note in range(many)]
    rater = [rater for rater, many in enumerate(counts) for _ in range(many)]
    return Ratings(table_of(note, rater, [1] * len(note)), True, {}, np.full(len(note), 100 * DAY, dtype=np.int64))


def test_the_busiest_raters_of_the_last_days_are_those_above_the_linear_quantile_as_pandas_has_it() -> None:
    counts = [300, 290, *range(1, 60)]
    wide = Thresholds(high_volume_share=0.03)
    busy = high_volume_raters(_rated(counts), wide)
    assert busy is not None
    assert np.flatnonzero(busy).tolist() == [0, 1]
    assert counts[1] > pd.Series(counts).quantile(0.97) > 59
    assert high_volume_raters(replace(_rated(counts), created_at_ms=None), wide) is None


def test_of_under_200_notes_nobody_is_called_busy() -> None:
    few = high_volume_raters(_rated([199, *[1] * 20]), LINES)
    assert few is not None
    assert not few.any()
    enough = high_volume_raters(_rated([200, *[1] * 20]), LINES)
    assert enough is not None
    assert np.flatnonzero(enough).tolist() == [0]


def test_without_tags_there_is_nothing_to_say_of_them() -> None:
    bare = replace(_ratings(), tags={})
    note = _signals(bare).note(0, 0)
    assert (note.tag_totals, note.tag_shares, note.incorrect) == (None, None, None)
    assert (note.helpful_tags, note.not_helpful_tags) == (None, None)


HOUR = 3_600_000
START = 1_700_000_000_000
CRH, CRNH, NMR = NoteStatus.HELPFUL, NoteStatus.NOT_HELPFUL, NoteStatus.NEEDS_MORE_RATINGS
FACTS = NoteFacts(np.ones(3, dtype=bool), np.full(3, START, dtype=np.int64), None, None, None)
# Note 0 is helpful, note 1 is not, note 2 is undecided. Rater 0 agrees, rater 1 does not.
TABLE = table_of([0, 1, 2, 0, 1, 2], [0, 0, 0, 1, 1, 1], [1, 0, 0, 0, 1, 1], rater_ids=["agrees", "differs"])
SOON = np.full(6, START + HOUR, dtype=np.int64)


def _chosen(
    table: RatingTable = TABLE,
    times: np.ndarray[tuple[int], np.dtype[np.int64]] = SOON,
    facts: NoteFacts = FACTS,
    intercepts: Sequence[float] = (0.5, -0.2, 0.1),
    statuses: Sequence[NoteStatus] = (CRH, CRNH, NMR),
) -> list[bool]:
    answer = helpful_raters(table, times, facts, list(statuses), np.array(intercepts), THRESHOLDS)
    assert answer is not None
    return [bool(value) for value in answer]


def test_a_rater_who_agreed_early_with_the_outcome_is_kept() -> None:
    assert _chosen() == [True, False]
    two_thirds = replace(TABLE, helpful=np.array([1, 0, 1, 0, 1, 1], dtype=np.float32))
    assert _chosen(two_thirds, intercepts=[0.0] * 3, statuses=[CRH, CRNH, CRNH]) == [True, False]


@pytest.mark.parametrize(
    "change",
    [
        {"table": replace(TABLE, helpful=np.full(6, 0.5, dtype=np.float32))},
        {"times": np.full(6, START + 48 * HOUR, dtype=np.int64)},
        {"facts": replace(FACTS, status_at_ms=np.full(3, START + HOUR, dtype=np.int64))},
    ],
    ids=["somewhat helpful", "after 48 hours", "after the status was out"],
)
def test_what_never_counts_as_agreement(change: dict[str, Any]) -> None:
    assert _chosen(**change) == [False, False]


def test_of_early_notes_only_the_first_five_ratings_count() -> None:
    old = replace(FACTS, created_at_ms=np.full(1, 1_640_000_000_000, dtype=np.int64))
    table = table_of([0] * 7, range(7), [1] * 7)
    times = 1_640_000_000_000 + np.arange(7, 0, -1)
    assert _chosen(table, times, old, [0.5], [CRH]) == [False, False, True, True, True, True, True]


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
    assert helpful_raters(TABLE, SOON, facts, [CRH, CRNH, NMR], np.zeros(3), THRESHOLDS) is None
