"""Notes scored with raters frozen: the ridge's own minimum, its upper bound, and what is left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.bridging.factorization import fit
from crowdnotes.bridging.model import RatingTable
from crowdnotes.bridging.scoring import FrozenRaters, locate, score_as_rated, score_notes, score_votes
from crowdnotes.errors import InputError
from tests.bridging.made import made_ratings, table_of


def _raters(count: int, seed: int = 0) -> FrozenRaters:
    chance = np.random.default_rng(seed)
    return FrozenRaters(np.arange(count), chance.normal(0.05, 0.1, count), chance.uniform(-0.8, 0.8, count), 0.17, 35.0)


def _one_note(values: list[float]) -> RatingTable:
    return table_of([0] * len(values), range(len(values)), values)


@given(values=st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=30), seed=st.integers(0, 99))
def test_a_note_gets_the_ridge_regression_s_answer(values: list[float], seed: int) -> None:
    raters = _raters(len(values), seed)
    scored = score_notes(_one_note(values), raters)
    rows = np.column_stack((np.ones(len(values)), raters.factors))
    target = np.array(values) - raters.global_intercept - raters.intercepts
    system = rows.T @ rows + raters.ratings_per_note * np.diag([0.15, 0.03])
    expected = np.linalg.solve(system, rows.T @ target)
    assert scored.notes.intercepts[0] == pytest.approx(expected[0], abs=1e-6)
    assert scored.notes.factors[0, 0] == pytest.approx(expected[1], abs=1e-6)


@given(values=st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=12), seed=st.integers(0, 99))
def test_the_upper_bound_is_the_best_of_the_note_and_three_extreme_helpful_raters(
    values: list[float], seed: int
) -> None:
    raters = _raters(len(values), seed)
    low = float(raters.intercepts.min())
    intercepts = [score_notes(_one_note(values), raters).notes.intercepts[0]]
    for factor in (raters.factors.min(), 0.0, raters.factors.max()):
        intercepts_of, factors_of = np.append(raters.intercepts, low), np.append(raters.factors, factor)
        more = replace(raters, ids=np.arange(len(values) + 1), intercepts=intercepts_of, factors=factors_of)
        intercepts.append(score_notes(_one_note([*values, 1.0]), more).notes.intercepts[0])
    assert score_notes(_one_note(values), raters).upper_bounds[0] == pytest.approx(max(intercepts), abs=1e-6)


def test_votes_in_a_matrix_score_as_ratings_in_a_table_do() -> None:
    table = made_ratings(notes=15, raters=12)
    raters = FrozenRaters.of(fit(table))
    votes = np.full((15, 12), np.nan)
    votes[table.note, table.rater] = table.helpful
    intercepts, factors, bounds = score_votes(votes, raters)
    scored = score_notes(table, raters)
    assert np.allclose(intercepts, scored.notes.intercepts)
    assert np.allclose(factors, scored.notes.factors[:, 0])
    assert np.allclose(bounds, scored.upper_bounds)


def test_at_the_optimum_scoring_again_changes_nothing() -> None:
    table = made_ratings()
    found = fit(table)
    scored = score_notes(table, FrozenRaters.of(found))
    assert np.allclose(scored.notes.intercepts, found.notes.intercepts, atol=2e-3)


def test_ratings_by_unknown_raters_are_left_out() -> None:
    known = replace(_raters(2), ids=np.array([0, 2]))
    scored = score_notes(_one_note([1.0, 0.0, 1.0]), known)
    without = score_notes(_one_note([1.0, 1.0]), _raters(2))
    assert scored.notes.intercepts == pytest.approx(without.notes.intercepts)
    assert scored.notes.factors == pytest.approx(without.notes.factors)


def test_a_note_without_a_known_rater_has_no_score() -> None:
    scored = score_notes(_one_note([1.0]), replace(_raters(1), ids=np.array([77])))
    assert np.isnan(scored.notes.intercepts[0])
    assert np.isnan(scored.upper_bounds[0])


def test_five_helpful_ratings_of_balanced_raters_reach_the_line() -> None:
    factors = np.array([-0.5, 0.5, -0.5, 0.5, 0.0])
    raters = FrozenRaters(np.arange(5), np.zeros(5), factors, 0.17, 35.0)
    assert score_notes(_one_note([1.0] * 5), raters).notes.intercepts[0] >= 0.40
    assert score_notes(_one_note([1.0] * 4), replace(raters, ids=np.arange(5))).notes.intercepts[0] < 0.40


def test_votes_of_the_wrong_width_and_a_second_factor_are_refused() -> None:
    with pytest.raises(InputError, match="do not fit"):
        score_votes(np.zeros((2, 3)), _raters(4))
    with pytest.raises(InputError, match="one factor"):
        FrozenRaters.of(fit(made_ratings(), factors=2))


def test_ids_are_found_or_said_to_be_unknown() -> None:
    place, known = locate(np.array(["b", "x"], dtype=object), np.array(["a", "b"], dtype=object))
    assert place[0] == 1
    assert known.tolist() == [True, False]
    assert not locate(np.array([3]), np.array([], dtype=np.int64))[1].any()


def test_a_note_scored_rating_by_rating_ends_where_the_whole_note_does() -> None:
    table = made_ratings(notes=3, raters=60)
    raters = FrozenRaters.of(fit(table))
    for note in range(3):
        mine = table.keep(table.note == note)
        for ratings in (1, 7, len(mine)):
            first = mine.keep(np.arange(len(mine)) < ratings)
            whole = score_notes(first, raters)
            place, _ = locate(mine.rater_ids, raters.ids)
            who = place[mine.rater]
            scored = score_as_rated(
                mine.helpful.astype(np.float64), raters.intercepts[who], raters.factors[who], raters.extremes
            )
            expected = (whole.notes.intercepts[0], whole.notes.factors[0, 0], whole.upper_bounds[0])
            assert [float(of[ratings - 1]) for of in scored] == pytest.approx(expected)
