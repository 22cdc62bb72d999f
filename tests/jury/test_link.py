"""From numbers to the chances of a rating."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.jury.link import Link, chances, helpful_odds, logit, sigmoid
from crowdnotes.jury.sampling import Jurors

_NUMBER = st.floats(-50, 50)


@given(appeal=_NUMBER, lean=_NUMBER, intercept=st.floats(-1, 1), factor=st.floats(-1, 1), width=st.floats(0.001, 5))
def test_the_three_chances_are_chances(
    appeal: float, lean: float, intercept: float, factor: float, width: float
) -> None:
    jurors = Jurors(np.asarray([intercept]), np.asarray([factor]))
    helpful, not_helpful = chances(np.asarray([appeal]), np.asarray([lean]), jurors, Link(4.0, width))
    assert 0 <= helpful[0, 0] <= 1
    assert 0 <= not_helpful[0, 0] <= 1
    assert helpful[0, 0] + not_helpful[0, 0] <= 1 + 1e-12


def test_a_lean_pleases_one_side_and_repels_the_other() -> None:
    jurors = Jurors(np.zeros(2), np.asarray([-0.5, 0.5]))
    helpful, _ = chances(np.zeros(1), np.asarray([4.0]), jurors, Link(4.0, 0.4))
    assert helpful[0].tolist() == pytest.approx([1 / (1 + np.exp(2)), 1 / (1 + np.exp(-2))])


def test_odds_are_appeal_lean_and_the_raters_own_kindness() -> None:
    jurors = Jurors(np.asarray([0.1, 0.2]), np.asarray([0.5, -0.5]))
    odds = helpful_odds(np.asarray([1.0, 0.0]), np.asarray([2.0, 1.0]), jurors, Link(10.0, 0.4))
    assert odds.tolist() == [pytest.approx([3.0, 2.0]), pytest.approx([1.5, 1.5])]


@given(st.floats(0.001, 0.999))
def test_logit_undoes_sigmoid(chance: float) -> None:
    assert sigmoid(logit(np.asarray([chance])))[0] == pytest.approx(chance)
