"""The three figures of a ranking."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.studies.measures import ndcg, recall, reciprocal_rank

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
