"""Who sits on the jury."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.errors import InputError
from crowdnotes.jury.pool import Roster, shipped_pool
from crowdnotes.jury.sampling import Sampling, seat


@given(count=st.integers(1, 300), seed=st.integers(0, 1000), how=st.sampled_from(Sampling))
def test_the_same_seed_seats_the_same_jury(count: int, seed: int, how: Sampling) -> None:
    first, second = (seat(shipped_pool(), count, np.random.default_rng(seed), how, audience_tilt=1.0) for _ in range(2))
    assert len(first) == count
    assert (first.factors == second.factors).all()
    assert (first.intercepts == second.intercepts).all()


@given(count=st.integers(1, 301))
def test_a_polarised_jury_has_equal_halves(count: int) -> None:
    jurors = seat(shipped_pool(), count, np.random.default_rng(0), Sampling.POLARISED)
    assert (jurors.factors < 0).sum() == count // 2


def test_a_polarised_jury_of_one_sided_raters_is_refused() -> None:
    with pytest.raises(InputError, match="both"):
        seat(Roster(np.asarray([[0.1, 0.4]])), 10, np.random.default_rng(0), Sampling.POLARISED)


@pytest.mark.parametrize("tilt", [-2.0, 2.0])
def test_an_audience_leans_by_its_tilt(tilt: float) -> None:
    even = seat(shipped_pool(), 5_000, np.random.default_rng(0))
    audience = seat(shipped_pool(), 5_000, np.random.default_rng(0), Sampling.AUDIENCE, audience_tilt=tilt)
    moved = audience.factors.mean() - even.factors.mean()
    assert moved * tilt > 0.2


def test_without_a_tilt_the_audience_is_the_pool() -> None:
    audience = seat(shipped_pool(), 20_000, np.random.default_rng(0), Sampling.AUDIENCE, audience_tilt=0.0)
    assert (audience.factors < 0).mean() == pytest.approx(0.577, abs=0.02)
