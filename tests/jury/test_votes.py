"""From numbers to chances, and from chances to a jury's votes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.jury.raters import Jurors, sample_raters, shipped_pool
from crowdnotes.jury.votes import (
    Crowd,
    OrdinalModel,
    Predictions,
    careful_intercepts,
    possible_intercepts,
    simulate_votes,
)
from crowdnotes.settings_sections import JurySettings

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
    said = [(outcome.ratings[0] == level).sum() for level in (1, 0.5, 0)]
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


_LINE = 0.40


@given(st.floats(0, 1))
def test_the_truths_reach_the_line_as_often_as_the_chance_says(chance: float) -> None:
    truths = possible_intercepts(np.asarray([chance]), _LINE, 200)[:, 0]
    assert float((truths >= _LINE).mean()) == pytest.approx(chance, abs=0.006)


@pytest.mark.parametrize(("chance", "reached"), [(0.66, False), (0.67, True), (0.5, False)])
def test_the_intercept_that_is_told_reaches_the_line_from_two_in_three(chance: float, reached: bool) -> None:
    careful = careful_intercepts(np.asarray([chance]), _LINE)[0]
    assert bool(careful >= _LINE) is reached
    truths = possible_intercepts(np.asarray([chance]), _LINE, 200)[:, 0]
    assert (truths >= careful).mean() == pytest.approx(2 / 3, abs=0.01), "so the screen says"


def test_of_two_chances_the_larger_has_the_larger_intercept() -> None:
    told = careful_intercepts(np.linspace(0, 1, 50), _LINE)
    assert (np.diff(told[1:-1]) > 0).all()


def test_the_votes_of_a_jury_give_the_intercept_back() -> None:
    wanted, lean = np.asarray([-0.2, 0.1, 0.4, 0.55]), np.asarray([0.0, 2.0, -1.0, 0.5])
    pool, settings, chance = shipped_pool(), JurySettings(), np.random.default_rng(0)
    appeal = Crowd.of(pool, settings).appeal(wanted, lean, np.zeros(4), _ORDINAL)
    juries = [
        simulate_votes(Predictions(appeal, lean), sample_raters(pool, 1_000, chance), _ORDINAL, settings, chance)
        for _ in range(30)
    ]
    assert np.mean([votes.intercepts for votes in juries], axis=0) == pytest.approx(wanted, abs=0.01)


@pytest.mark.parametrize("gap", [0.9, -0.9])
def test_what_divides_the_sides_cannot_please_all_of_them(gap: float) -> None:
    crowd = Crowd.of(shipped_pool(), JurySettings())
    lean = np.full(2, 8.0 * np.sign(gap))
    divided, plain = crowd.appeal(np.asarray([0.5, 0.5]), lean, np.asarray([gap, 0.0]), _ORDINAL)
    assert divided < plain - 1
