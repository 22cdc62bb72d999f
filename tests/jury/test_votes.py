"""From numbers to chances, and from chances to a jury's votes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.jury.raters import Jurors, sample_raters, shipped_pool
from crowdnotes.jury.votes import OrdinalModel, Predictions, counts, middle, simulate_votes
from crowdnotes.settings import JurySettings

_NUMBER = st.floats(-50, 50)


@given(appeal=_NUMBER, lean=_NUMBER, intercept=st.floats(-1, 1), factor=st.floats(-1, 1), width=st.floats(0.001, 5))
def test_the_three_chances_are_chances(
    appeal: float, lean: float, intercept: float, factor: float, width: float
) -> None:
    jurors = Jurors(np.asarray([intercept]), np.asarray([factor]))
    helpful, not_helpful = OrdinalModel(4.0, width).chances(np.asarray([appeal]), np.asarray([lean]), jurors)
    assert 0 <= helpful[0, 0] <= 1
    assert 0 <= not_helpful[0, 0] <= 1
    assert helpful[0, 0] + not_helpful[0, 0] <= 1 + 1e-12


def test_a_lean_pleases_one_side_and_repels_the_other() -> None:
    jurors = Jurors(np.zeros(2), np.asarray([-0.5, 0.5]))
    helpful, _ = OrdinalModel(4.0, 0.4).chances(np.zeros(1), np.asarray([4.0]), jurors)
    assert helpful[0].tolist() == pytest.approx([1 / (1 + np.exp(2)), 1 / (1 + np.exp(-2))])


def test_odds_are_appeal_lean_and_the_raters_own_kindness() -> None:
    jurors = Jurors(np.asarray([0.1, 0.2]), np.asarray([0.5, -0.5]))
    odds = OrdinalModel(10.0, 0.4).odds(np.asarray([1.0, 0.0]), np.asarray([2.0, 1.0]), jurors)
    assert odds.tolist() == [pytest.approx([3.0, 2.0]), pytest.approx([1.5, 1.5])]


_ORDINAL = OrdinalModel(7.7, 0.4)


def test_ratings_occur_as_often_as_their_chances() -> None:
    chance = np.random.default_rng(0)
    jurors = sample_raters(shipped_pool(), 200_000, chance)
    predicted = Predictions(np.asarray([-0.5]), np.asarray([1.0]))
    outcome = simulate_votes(predicted, jurors, _ORDINAL, JurySettings(), chance)
    helpful, not_helpful = _ORDINAL.chances(predicted.appeal, predicted.lean, jurors)
    said = counts(outcome.ratings[0], np.ones(len(jurors), dtype=bool))
    expected = (helpful.sum(), len(jurors) - helpful.sum() - not_helpful.sum(), not_helpful.sum())
    assert np.asarray(said) / len(jurors) == pytest.approx(np.asarray(expected) / len(jurors), abs=0.005)


def test_ratings_are_sampled_and_a_note_that_one_side_likes_gets_that_sides_factor() -> None:
    chance = np.random.default_rng(0)
    jurors = sample_raters(shipped_pool(), 1_000, chance)
    outcome = simulate_votes(Predictions(np.asarray([-0.9]), np.zeros(1)), jurors, _ORDINAL, JurySettings(), chance)
    assert {0.0, 0.5, 1.0} == set(outcome.ratings[0].tolist())  # not the likeliest class
    leaning = Predictions(np.zeros(2), np.asarray([-6.0, 6.0]))
    outcome = simulate_votes(leaning, jurors, _ORDINAL, JurySettings(), chance)
    assert outcome.factors[0] < -0.5
    assert outcome.factors[1] > 0.5


def test_every_note_meets_the_same_jurors_with_the_same_luck() -> None:
    chance = np.random.default_rng(0)
    jurors = sample_raters(shipped_pool(), 500, chance)
    same = Predictions(np.asarray([0.3, 0.3, 0.8]), np.asarray([0.5, 0.5, 0.5]))
    outcome = simulate_votes(same, jurors, _ORDINAL, JurySettings(), chance)
    assert (outcome.ratings[0] == outcome.ratings[1]).all()
    assert (outcome.ratings[2] >= outcome.ratings[0]).all()
    assert outcome.intercepts[2] > outcome.intercepts[0]


def test_the_middle_leaves_a_twentieth_on_either_side() -> None:
    low, high = middle(np.arange(101, dtype=np.float64)[:, None])
    assert (low[0], high[0]) == pytest.approx((5.0, 95.0))
