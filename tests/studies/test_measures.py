"""Measures of judges, of a jury model, and of a ranking."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.studies.measures import (
    accuracy,
    area_under_curve,
    auc,
    bootstrap_auc,
    brier,
    calibration_curve,
    calibration_error,
    macro_f1,
    mean_auc,
    ndcg,
    recall,
    reciprocal_rank,
    wilson,
)


def test_votes_count_by_their_weight_and_one_answer_alone_has_no_auc() -> None:
    score, yes, no = np.asarray([0.9, 0.5, 0.1]), np.asarray([2.0, 1.0, 0.0]), np.asarray([0.0, 1.0, 3.0])
    assert auc(score, yes, no) == pytest.approx((2 * 1 + 2 * 3 + 1 * 1 / 2 + 1 * 3) / 12)
    assert auc(score, yes, 0 * no) is None


def test_a_lead_over_a_rival_is_measured_on_the_notes_that_each_set_scored() -> None:
    truth, groups = [True, False] * 20, np.arange(40)
    right, guess = np.asarray(truth, dtype=float), np.zeros(40)
    half = np.where(groups < 20, right, np.nan)
    assert mean_auc(truth, [half, guess]) == pytest.approx((1 + 0.5) / 2)
    assert bootstrap_auc(truth, [right], groups, 50, rival=[guess]) == pytest.approx((0.5, 0.5))
    assert bootstrap_auc(truth, [right, half], groups, 50) == pytest.approx((1, 1))
    assert math.isnan(mean_auc([True] * 40, [guess]))


def test_chances_that_come_true_have_no_calibration_error() -> None:
    chance = np.asarray([0.2, 0.2, 0.7])
    assert calibration_error(chance, chance, np.ones(3)) == pytest.approx(0)
    assert calibration_error(chance, chance + 0.1, np.ones(3)) == pytest.approx(0.1)


def test_the_curve_tells_what_was_said_and_what_happened() -> None:
    curve = calibration_curve(np.asarray([0.1, 0.1, 1.0]), np.asarray([0.0, 1.0, 1.0]), np.ones(3))
    assert curve == [
        {"said": 0.1, "happened": 0.5, "weight": 2.0},
        {"said": 1.0, "happened": 1.0, "weight": 1.0},
    ]


def test_brier_counts_single_votes() -> None:
    assert brier(np.asarray([0.5]), np.asarray([0.3]), np.ones(1)) == pytest.approx(0.25)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1))
def test_figures_are_shares(pairs: list[tuple[bool, bool]]) -> None:
    truth, said = [a for a, _ in pairs], [b for _, b in pairs]
    assert 0 <= macro_f1(truth, said) <= 1
    assert 0 <= accuracy(truth, said) <= 1
    auc = area_under_curve(truth, [float(b) for b in said])
    assert auc is None or 0 <= auc <= 1


@given(st.integers(0, 500), st.integers(0, 500))
def test_wilsons_interval_holds_the_share(hits: int, misses: int) -> None:
    low, high = wilson(hits, hits + misses)
    assert 0 <= low <= high <= 1
    if hits + misses:
        assert low - 1e-9 <= hits / (hits + misses) <= high + 1e-9


GRADES = {1: 2, 2: 1, 3: 0, 4: 2}


def test_the_best_order_has_an_ndcg_of_one() -> None:
    assert ndcg([1, 4, 2, 3], GRADES) == pytest.approx(1.0)


def test_a_known_ranking_has_the_ndcg_that_is_worked_out_by_hand() -> None:
    gained = 1 / math.log2(2) + 2 / math.log2(4)
    best = 2 / math.log2(2) + 2 / math.log2(3) + 1 / math.log2(4)
    assert ndcg([2, 3, 1], GRADES) == pytest.approx(gained / best)


def test_records_that_nobody_judged_change_ndcg_in_nothing_but_count_for_recall_and_rank() -> None:
    unjudged = [90, 91, 92]
    assert ndcg([*unjudged, 1, 4, 2], GRADES) == ndcg([1, 4, 2], GRADES)
    assert recall([*unjudged, 1], GRADES, at=3) == 0
    assert reciprocal_rank([*unjudged, 1], GRADES) == 1 / 4


def test_recall_and_rank_are_of_directly_helpful_records_alone() -> None:
    assert recall([2, 1], GRADES) == 0.5
    assert reciprocal_rank([2, 4], GRADES) == 0.5
    assert reciprocal_rank([2, 3], GRADES) == 0


def test_a_post_without_anything_to_find_has_no_figure() -> None:
    assert ndcg([1], {1: 0}) is None
    assert recall([1], {1: 1}) is None
    assert reciprocal_rank([1], {1: 1}) is None


@given(st.permutations(range(8)), st.lists(st.integers(0, 2), min_size=8, max_size=8))
def test_every_figure_lies_between_nothing_and_one(ranking: list[int], grades: list[int]) -> None:
    judged = dict(enumerate(grades))
    for figure in (ndcg(ranking, judged), recall(ranking, judged), reciprocal_rank(ranking, judged)):
        assert figure is None or 0 <= figure <= 1 + 1e-9
