"""From the chance that X shows a note to its intercept, and from that to votes that give it back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.jury.latent import Crowd, careful_intercepts, possible_intercepts
from crowdnotes.jury.raters import sample_raters, shipped_pool
from crowdnotes.jury.votes import OrdinalModel, Predictions, simulate_votes
from crowdnotes.settings import JurySettings

_LINE = 0.40
_ORDINAL = OrdinalModel(7.7, 0.4)


@given(st.floats(0, 1))
def test_the_truths_reach_the_line_as_often_as_the_chance_says(chance: float) -> None:
    truths = possible_intercepts(np.asarray([chance]), _LINE, 200)[:, 0]
    assert float((truths >= _LINE).mean()) == pytest.approx(chance, abs=0.006)


@pytest.mark.parametrize(("chance", "reached"), [(0.66, False), (0.67, True), (0.5, False)])
def test_the_intercept_that_is_told_reaches_the_line_from_two_in_three(chance: float, reached: bool) -> None:
    assert bool(careful_intercepts(np.asarray([chance]), _LINE)[0] >= _LINE) is reached


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
