"""What the rules look at, gathered from ratings: checked against sums done by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from crowdnotes.bridging.model import RatingTable
from crowdnotes.bridging.note_signals import (
    View,
    explanation_counts,
    high_volume_raters,
    incorrect_signals,
    sides,
    tag_aggregates,
    tag_lines,
)
from crowdnotes.bridging.ratings import Ratings
from crowdnotes.bridging.scoring import FrozenRaters, score_notes
from crowdnotes.settings import BridgingSettings

LINES = BridgingSettings()
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


def _view(ratings: Ratings) -> View:
    return View.of(ratings, score_notes(ratings.table, RATERS), RATERS)


def test_each_side_has_its_raters_mean_and_net() -> None:
    (negative, positive), (other_negative, _) = sides(_ratings(), _view(_ratings()))
    assert (negative.raters, negative.net_helpful) == (3, 2)
    assert negative.mean == pytest.approx(2.5 / 3)
    assert (positive.raters, positive.net_helpful) == (3, -1)
    assert (other_negative.mean, other_negative.net_helpful) == (0, -3)


def test_a_side_without_raters_has_no_mean() -> None:
    everyone = _ratings()
    ratings = everyone.keep(everyone.table.rater < 3)
    (negative, positive), _ = sides(ratings, _view(ratings))
    assert negative.raters == 3
    assert positive.raters == 0
    assert math.isnan(positive.mean)


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
    shares = {INCORRECT: np.array([0.1, 0.2, 0.9])}
    lines = tag_lines(shares, np.array([True, True, False]), LINES)
    assert lines is not None
    assert lines[INCORRECT] == pytest.approx(0.195)
    assert tag_lines(shares, np.zeros(3, dtype=bool), LINES) is None


def test_incorrect_counts_like_minded_raters_with_a_complaint() -> None:
    ratings = _ratings()
    view = _view(ratings)
    signals = incorrect_signals(ratings, view, LINES)
    assert signals is not None
    near = np.abs(np.clip(RATERS.factors, -0.4, 0.4) - np.clip(view.note_factor[7], -0.4, 0.4)) < 0.3
    assert signals[1].tags == int(near[:3].sum())
    assert signals[1].usual == pytest.approx(near[:3].sum())  # each of them tags nothing else
    assert signals[0].tags == 0


def test_explanations_count_raters_per_tag() -> None:
    helpful, not_helpful = explanation_counts(_ratings())
    assert helpful["helpfulClear"].tolist() == [2, 0]
    assert not_helpful[INCORRECT].tolist() == [0, 3]


def test_the_busiest_raters_of_the_last_days_are_found() -> None:
    note = np.concatenate((np.arange(50), np.zeros(20))).astype(np.int32)
    rater = np.concatenate((np.zeros(50), np.arange(1, 21))).astype(np.int32)
    table = RatingTable(np.arange(50), np.arange(21), note, rater, np.ones(70, dtype=np.float32))
    times = np.full(70, 100 * DAY, dtype=np.int64)
    wide = BridgingSettings(high_volume_share=0.06)
    busy = high_volume_raters(Ratings(table, True, {}, times), wide)
    assert busy is not None
    assert np.flatnonzero(busy).tolist() == [0]
    assert high_volume_raters(Ratings(table, True, {}), wide) is None


def test_without_tags_there_is_nothing_to_say_of_them() -> None:
    bare = replace(_ratings(), tags={})
    assert tag_aggregates(bare, _view(bare), LINES) is None
    assert incorrect_signals(bare, _view(bare), LINES) is None
