"""Measures of a jury model."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from crowdnotes.studies.measures import auc, brier, calibration_curve, calibration_error


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans(), st.integers(1, 4)), min_size=2, max_size=40))
def test_auc_is_the_librarys_weighted_auc(rows: list[tuple[int, bool, int]]) -> None:
    score, label, weight = (np.asarray(column, dtype=np.float64) for column in zip(*rows, strict=True))
    found = auc(score, weight * label, weight * (1 - label))
    if label.all() or not label.any():
        assert found is None
    else:
        assert found == pytest.approx(roc_auc_score(label, score, sample_weight=weight))


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
