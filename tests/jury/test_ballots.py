"""A jury's ratings and what the algorithm makes of them."""

from __future__ import annotations

import numpy as np
import pytest

from crowdnotes.jury.ballots import Readings, counts, hold, middle
from crowdnotes.jury.link import Link, chances
from crowdnotes.jury.pool import shipped_pool
from crowdnotes.jury.sampling import seat
from crowdnotes.settings import JurySettings

_LINK = Link(7.7, 0.4)


def test_ratings_occur_as_often_as_their_chances() -> None:
    chance = np.random.default_rng(0)
    jurors = seat(shipped_pool(), 200_000, chance)
    readings = Readings(np.asarray([-0.5]), np.asarray([1.0]))
    outcome = hold(readings, jurors, _LINK, JurySettings(), chance)
    helpful, not_helpful = chances(readings.appeal, readings.lean, jurors, _LINK)
    said = counts(outcome.ratings[0], np.ones(len(jurors), dtype=bool))
    expected = (helpful.sum(), len(jurors) - helpful.sum() - not_helpful.sum(), not_helpful.sum())
    assert np.asarray(said) / len(jurors) == pytest.approx(np.asarray(expected) / len(jurors), abs=0.005)


def test_ratings_are_sampled_and_not_the_likeliest_class() -> None:
    chance = np.random.default_rng(0)
    jurors = seat(shipped_pool(), 1_000, chance)
    outcome = hold(Readings(np.asarray([-0.9]), np.zeros(1)), jurors, _LINK, JurySettings(), chance)
    assert {0.0, 0.5, 1.0} == set(outcome.ratings[0].tolist())


def test_every_note_meets_the_same_jurors_with_the_same_luck() -> None:
    chance = np.random.default_rng(0)
    jurors = seat(shipped_pool(), 500, chance)
    same = Readings(np.asarray([0.3, 0.3, 0.8]), np.asarray([0.5, 0.5, 0.5]))
    outcome = hold(same, jurors, _LINK, JurySettings(), chance)
    assert (outcome.ratings[0] == outcome.ratings[1]).all()
    assert (outcome.ratings[2] >= outcome.ratings[0]).all()
    assert outcome.intercepts[2] > outcome.intercepts[0]


def test_a_note_that_one_side_likes_gets_that_sides_factor() -> None:
    chance = np.random.default_rng(0)
    jurors = seat(shipped_pool(), 1_000, chance)
    outcome = hold(Readings(np.zeros(2), np.asarray([-6.0, 6.0])), jurors, _LINK, JurySettings(), chance)
    assert outcome.factors[0] < -0.5
    assert outcome.factors[1] > 0.5


def test_the_middle_leaves_a_twentieth_on_either_side() -> None:
    low, high = middle(np.arange(101, dtype=np.float64)[:, None])
    assert (low[0], high[0]) == pytest.approx((5.0, 95.0))
