"""What cannot be fitted is refused with a sentence, never fitted wrongly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdnotes.bridging.factorization import fit
from crowdnotes.bridging.model import Penalties
from crowdnotes.errors import InputError
from tests.bridging.made import made_ratings


@pytest.mark.parametrize("bad", [float("nan"), -0.1, 1.5, float("inf")])
def test_a_rating_that_is_no_number_from_0_to_1_is_refused(bad: float) -> None:
    table = made_ratings(notes=10, raters=10)
    helpful = table.helpful.copy()
    helpful[3] = bad
    with pytest.raises(InputError, match="from 0 to 1"):
        fit(replace(table, helpful=helpful))


def test_an_empty_table_is_refused() -> None:
    table = made_ratings()
    with pytest.raises(InputError, match="no ratings"):
        fit(table.keep(np.zeros(len(table), dtype=bool)))


@pytest.mark.parametrize("factors", [0, 4])
def test_other_than_one_to_three_factors_are_refused(factors: int) -> None:
    with pytest.raises(InputError, match="factors"):
        fit(made_ratings(), factors=factors)


def test_a_start_with_another_number_of_factors_is_refused() -> None:
    table = made_ratings()
    with pytest.raises(InputError, match="same number"):
        fit(table, factors=2, start=fit(table))


@pytest.mark.parametrize("weight", [-1.0, float("nan")])
def test_a_weight_that_cannot_weigh_is_refused(weight: float) -> None:
    table = made_ratings(notes=10, raters=10)
    with pytest.raises(InputError, match="weight"):
        fit(replace(table, weight=np.full(len(table), weight, dtype=np.float32)))


def test_penalties_must_be_positive() -> None:
    with pytest.raises(InputError, match="note_factor"):
        Penalties(note_factor=0)


def test_more_factors_than_raters_and_weights_beyond_reckoning_are_refused() -> None:
    table = made_ratings()
    with pytest.raises(InputError, match="2 notes or raters"):
        fit(table.keep(table.rater < 2), factors=3)
    weight = np.ones(len(table), dtype=np.float32)
    weight[::7] = 1e30
    with pytest.raises(InputError, match="too far apart"):
        fit(replace(table, weight=weight), factors=2)
