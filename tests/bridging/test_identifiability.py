"""The moves that change no prediction: they keep every prediction, and never raise the penalties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.bridging.identifiability import balance, penalty
from crowdnotes.bridging.kernels import move_rows
from crowdnotes.bridging.model import Floats, Penalties


def _moments(side: Floats) -> Floats:
    rows = np.column_stack((np.ones(len(side)), side))
    moments: Floats = rows.T @ rows / len(rows)
    return moments


def _predictions(notes: Floats, raters: Floats, mu: float) -> Floats:
    predictions: Floats = mu + notes[:, :1] + raters[:, 0] + notes[:, 1:] @ raters[:, 1:].T
    return predictions


@given(seed=st.integers(0, 10_000), factors=st.integers(1, 3), mu=st.floats(-1, 1), scale=st.floats(0.01, 20))
def test_predictions_stay_and_penalties_fall(seed: int, factors: int, mu: float, scale: float) -> None:
    chance = np.random.default_rng(seed)
    notes, raters = chance.normal(0.2, scale, (12, 1 + factors)), chance.normal(-0.1, 0.5, (9, 1 + factors))
    penalties = Penalties(note_intercept=0.3, rater_factor=0.01)
    best = balance(_moments(notes), _moments(raters), mu, penalties)
    before = _predictions(notes, raters, mu)
    costs = penalty(_moments(notes), _moments(raters), mu, penalties)
    move_rows(notes, best.notes)
    move_rows(raters, best.raters)
    assert np.allclose(_predictions(notes, raters, best.mu), before, atol=1e-8 * scale)
    assert np.allclose(_moments(notes), best.note_moments, rtol=1e-6, atol=1e-8)
    after = penalty(_moments(notes), _moments(raters), best.mu, penalties)
    assert after <= costs * (1 + 1e-9)
    assert after == pytest.approx(penalty(best.note_moments, best.rater_moments, best.mu, penalties), rel=1e-6)


def test_a_dead_factor_stays_dead_without_a_fault() -> None:
    notes, raters = np.zeros((5, 2)), np.zeros((4, 2))
    notes[:, 0] = 0.3
    best = balance(_moments(notes), _moments(raters), 0.1, Penalties())
    move_rows(notes, best.notes)
    assert np.all(np.isfinite(notes))
    assert np.all(notes[:, 1] == 0)
