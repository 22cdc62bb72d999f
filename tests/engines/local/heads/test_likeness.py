"""Likeness to learned notes: the kernel as written, kept in plain arrays, silent where it has nothing to look at."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.engines.local.heads.likeness import FEATURES, Likeness, LikenessBlock, likeness_of


def _likeness() -> Likeness:
    notes = np.array([[0.0, 0.0], [2.0, 0.0]], dtype=np.float32)
    block = LikenessBlock(np.array([1.0, 1.0]), np.array([2.0, 1.0]), notes, weight=0.5, width=0.25)
    return Likeness({FEATURES: block}, np.array([1.0, -2.0]), offset=0.1, share=3.0)


def test_a_note_that_is_a_learned_one_gets_its_whole_weight() -> None:
    # Standardised it is (0, 0): distance 0 to the first learned note, squared distance 4 to the second.
    expected = 3.0 * (0.1 + 1.0 * 0.5 - 2.0 * 0.5 * np.exp(-0.25 * 4))
    assert _likeness().score({FEATURES: np.array([1.0, 1.0])}) == pytest.approx(expected)


def test_a_note_unlike_all_gets_the_offset_alone() -> None:
    assert _likeness().score({FEATURES: np.array([900.0, 900.0])}) == pytest.approx(0.3)


def test_without_what_it_looks_at_it_adds_nothing() -> None:
    assert _likeness().score({"another": np.array([1.0, 1.0])}) == 0.0


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=2))
def test_kept_arrays_give_the_same_scores(values: list[float]) -> None:
    kept = likeness_of({**_likeness().arrays(), "weights": np.zeros(3)})
    assert kept is not None
    at = {FEATURES: np.array(values)}
    assert kept.score(at) == pytest.approx(_likeness().score(at), abs=1e-6)


def test_a_head_without_likeness_has_none() -> None:
    assert likeness_of({"weights": np.zeros(3)}) is None


def test_a_damaged_file_is_noticed() -> None:
    arrays = {name: array for name, array in _likeness().arrays().items() if not name.endswith("/notes")}
    with pytest.raises(KeyError):
        likeness_of(arrays)
