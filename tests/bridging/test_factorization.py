"""The fit: a minimum of the production objective, the same whatever the order, fit for odd data."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.bridging import factorization
from crowdnotes.bridging.factorization import balance, fit, penalty
from crowdnotes.bridging.model import FACTOR_PENALTY, INTERCEPT_PENALTY, Factorization, Floats, RatingTable, filter_mask
from crowdnotes.bridging.scoring import doubts
from crowdnotes.bridging.solver import move_rows
from crowdnotes.bridging.thresholds import Thresholds
from tests.bridging.made import errors_of, made_ratings, objective_of, shuffled, table_of


def _weighted(table: RatingTable, seed: int = 3) -> RatingTable:
    return replace(table, weight=np.random.default_rng(seed).uniform(0.2, 2, len(table)).astype(np.float32))


@pytest.mark.parametrize("factors", [1, 2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_reported_objective_is_the_production_objective_of_the_returned_parameters(
    factors: int, weighted: bool
) -> None:
    table = _weighted(made_ratings()) if weighted else made_ratings()
    found = fit(table, factors=factors)
    assert found.objective == pytest.approx(objective_of(table, found), abs=1e-12)
    weight = np.ones(len(table)) if table.weight is None else table.weight
    assert found.mean_squared_error == pytest.approx(np.mean(weight * errors_of(table, found) ** 2), abs=1e-12)


@pytest.mark.parametrize("factors", [1, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_gradient_vanishes_at_the_returned_parameters(factors: int, weighted: bool) -> None:
    table = _weighted(made_ratings()) if weighted else made_ratings()
    found = fit(table, factors=factors)
    m = len(table)
    pull = errors_of(table, found) * (1 if table.weight is None else table.weight) / m
    notes, raters = found.notes, found.raters
    gradient = [
        -pull.sum() + INTERCEPT_PENALTY * found.global_intercept,
        -np.bincount(table.note, pull) + INTERCEPT_PENALTY * notes.intercepts / len(notes),
        -np.bincount(table.rater, pull) + INTERCEPT_PENALTY * raters.intercepts / len(raters),
    ]
    for k in range(factors):
        across = pull * raters.factors[table.rater, k]
        gradient.append(-np.bincount(table.note, across) + FACTOR_PENALTY * notes.factors[:, k] / len(notes))
        across = pull * notes.factors[table.note, k]
        gradient.append(-np.bincount(table.rater, across) + FACTOR_PENALTY * raters.factors[:, k] / len(raters))
    assert max(float(np.abs(part).max()) for part in gradient) < 2e-5


def test_every_seed_finds_the_same_optimum() -> None:
    table = made_ratings(notes=150, raters=100)
    fits = [fit(table, seed=seed) for seed in range(4)]
    for other in fits[1:]:
        assert other.objective == pytest.approx(fits[0].objective, abs=1e-8)
        assert np.corrcoef(other.notes.intercepts, fits[0].notes.intercepts)[0, 1] > 0.9999
        assert np.corrcoef(other.notes.factors[:, 0], fits[0].notes.factors[:, 0])[0, 1] > 0.9999


def test_the_same_ratings_in_another_order_give_the_same_bits() -> None:
    table = made_ratings()
    one, other = fit(table), fit(shuffled(table))
    assert one.objective == other.objective
    assert np.array_equal(one.notes.intercepts, other.notes.intercepts)
    assert np.array_equal(one.raters.factors, other.raters.factors)


def test_more_sweeps_never_raise_the_objective(monkeypatch: pytest.MonkeyPatch) -> None:
    table = made_ratings(share=0.15, seed=5)
    objectives = []
    for bound in (2, 3, 5, 8, 13, 21):
        monkeypatch.setattr("crowdnotes.bridging.factorization.MAX_SWEEPS", bound)
        objectives.append(fit(table).objective)
    assert all(later <= earlier + 1e-12 for earlier, later in itertools.pairwise(objectives))


@given(seed=st.integers(0, 1000), share=st.floats(0.05, 0.9), factors=st.integers(1, 3))
def test_no_small_change_of_the_parameters_betters_the_objective(seed: int, share: float, factors: int) -> None:
    full = made_ratings(notes=20, raters=15, share=share, seed=seed)
    table = full.keep(np.ones(len(full), dtype=bool))
    if not len(table):
        return
    found = fit(table, factors=factors)
    chance = np.random.default_rng(seed)
    for _ in range(5):
        assert objective_of(table, _nudged(found, chance)) >= found.objective - 1e-7


def _nudged(found: Factorization, chance: np.random.Generator) -> Factorization:
    notes = replace(found.notes, intercepts=found.notes.intercepts + chance.normal(0, 1e-3, len(found.notes)))
    factors = found.raters.factors
    raters = replace(found.raters, factors=factors + chance.normal(0, 1e-3, factors.shape))
    return replace(found, notes=notes, raters=raters, global_intercept=found.global_intercept + chance.normal(0, 1e-3))


def test_the_larger_camp_is_negative() -> None:
    for seed in range(4):
        main = fit(made_ratings(seed=seed)).raters.factors[:, 0]
        assert np.mean(main < 0) >= 0.5


def test_a_warm_start_from_the_optimum_is_over_at_once_and_one_from_fewer_raters_ends_there_too() -> None:
    table = made_ratings()
    cold = fit(table)
    warm = fit(table, start=cold)
    assert warm.iterations <= 4 < cold.iterations
    assert warm.objective == pytest.approx(cold.objective, abs=1e-8)
    earlier = fit(table.keep(table.rater > 4))
    assert fit(table, start=earlier).objective == pytest.approx(cold.objective, abs=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_weights_far_apart_leave_nothing_to_gain(seed: int) -> None:
    table = made_ratings(notes=120, raters=90, share=0.1, seed=seed)
    weight = np.random.default_rng(seed).choice([0.0, 1.0, 5.0, 100.0], len(table)).astype(np.float32)
    found = fit(replace(table, weight=weight))
    assert found.converged
    assert fit(replace(table, weight=weight), start=found).objective >= found.objective - 1e-7


def test_single_precision_finds_the_same_minimum(monkeypatch: pytest.MonkeyPatch) -> None:
    table = made_ratings(notes=300, raters=200)
    exact = fit(table)
    monkeypatch.setattr(factorization, "_MIN_SINGLE_PRECISION_RATINGS", 0)
    single = fit(table)
    assert single.objective == pytest.approx(exact.objective, abs=2e-9)
    assert single.notes.intercepts == pytest.approx(exact.notes.intercepts, abs=1e-3)
    monkeypatch.setattr(factorization, "_MIN_PARTED_RATINGS", len(table) // 2)
    parted = fit(table)
    assert parted.objective == pytest.approx(exact.objective, abs=2e-9)
    assert parted.notes.intercepts == pytest.approx(exact.notes.intercepts, abs=1e-3)


def test_a_second_factor_fits_at_least_as_well_and_stands_upright() -> None:
    table = made_ratings(notes=150, raters=100)
    two = fit(table, factors=2)
    assert two.objective <= fit(table).objective + 1e-9
    together = two.notes.factors.T @ two.notes.factors / np.trace(two.notes.factors.T @ two.notes.factors)
    together += two.raters.factors.T @ two.raters.factors / np.trace(two.raters.factors.T @ two.raters.factors)
    assert abs(together[0, 1]) < 1e-6
    assert together[0, 0] >= together[1, 1]


def test_a_weight_of_two_is_a_rating_given_twice() -> None:
    table = made_ratings(notes=30, raters=20)
    doubled = table.note % 3 == 0
    heavy = replace(table, weight=np.where(doubled, 2, 1).astype(np.float32))
    found = fit(heavy)
    errors = errors_of(heavy, found) ** 2
    assert found.mean_squared_error == pytest.approx((errors.sum() + errors[doubled].sum()) / len(table), abs=1e-9)


def test_all_helpful_ratings_and_a_single_camp_are_doubted_and_two_camps_are_not() -> None:
    table = made_ratings()
    found = fit(table)
    assert doubts(found) == []
    one_side = np.abs(found.raters.factors) + 0.1 * np.random.default_rng(0).random((60, 1))
    single = replace(found, raters=replace(found.raters, factors=one_side))
    assert any("one side" in sentence for sentence in doubts(single))
    helpful = fit(replace(table, helpful=np.ones_like(table.helpful)))
    assert np.isfinite(helpful.objective)
    assert any("no differing viewpoints" in sentence for sentence in doubts(helpful))


def test_many_chunks_give_what_one_gives_and_any_number_of_threads_the_same_bits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = made_ratings(notes=200, raters=150)
    whole = fit(table)
    monkeypatch.setattr("crowdnotes.bridging.solver._RATINGS_PER_CHUNK", 500)
    fits = []
    for cores in (1, 2, 7):
        monkeypatch.setattr("os.sched_getaffinity", lambda _, cores=cores: set(range(cores)), raising=False)
        fits.append(fit(table))
    assert fits[0].objective == fits[1].objective == fits[2].objective == pytest.approx(whole.objective, abs=1e-12)
    assert np.allclose(fits[0].notes.intercepts, whole.notes.intercepts, atol=1e-6)
    for other in fits[1:]:
        assert np.array_equal(other.notes.intercepts, fits[0].notes.intercepts)
        assert np.array_equal(other.raters.factors, fits[0].raters.factors)


def _table(pairs: list[tuple[int, int]]) -> RatingTable:
    return table_of([note for note, _ in pairs], [rater for _, rater in pairs], [1] * len(pairs))


def test_notes_with_few_raters_and_raters_with_few_ratings_go_and_are_counted() -> None:
    lines = Thresholds(min_raters_per_note=2, min_ratings_per_rater=2)
    # Note 2 has one rater; rater 2 then has one rating; note 1 is then left with one rater.
    pairs = [(0, 0), (0, 1), (3, 0), (3, 1), (1, 0), (1, 2), (2, 2)]
    keep, dropped = filter_mask(_table(pairs), lines)
    kept = _table(pairs).keep(keep)
    assert list(dropped.values()) == [1, 1, 1]
    assert kept.note_ids.tolist() == [0, 3]
    assert kept.rater_ids.tolist() == [0, 1]
    assert kept.note.tolist() == [0, 0, 1, 1]


def test_the_filter_runs_once_not_until_nothing_changes() -> None:
    lines = Thresholds(min_raters_per_note=2, min_ratings_per_rater=2)
    # Rater 1 loses note 1 in the last step and keeps one rating, under the line: it stays all the same.
    pairs = [(0, 0), (0, 1), (1, 1), (1, 2), (2, 0), (2, 3), (2, 0)]
    table = _table([*pairs, (3, 3), (3, 0)])
    counts = np.bincount(table.keep(filter_mask(table, lines)[0]).rater)
    assert counts.min() < lines.min_ratings_per_rater


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
    best = balance(_moments(notes), _moments(raters), mu)
    before = _predictions(notes, raters, mu)
    costs = penalty(_moments(notes), _moments(raters), mu)
    move_rows(notes, best.notes)
    move_rows(raters, best.raters)
    assert np.allclose(_predictions(notes, raters, best.mu), before, atol=1e-8 * scale)
    assert np.allclose(_moments(notes), best.note_moments, rtol=1e-6, atol=1e-8)
    after = penalty(_moments(notes), _moments(raters), best.mu)
    assert after <= costs * (1 + 1e-9)
    assert after == pytest.approx(penalty(best.note_moments, best.rater_moments, best.mu), rel=1e-6)
