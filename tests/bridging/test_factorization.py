"""The fit: a minimum of the production objective, the same whatever the order, fit for odd data."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.bridging import factorization
from crowdnotes.bridging.columns import ENROLMENT
from crowdnotes.bridging.factorization import fit, fit_from_group
from crowdnotes.bridging.model import Factorization, Penalties, RatingTable, apply_filter
from crowdnotes.bridging.public_data import read_public_data
from crowdnotes.bridging.ratings import group_members
from crowdnotes.bridging.scoring import doubts
from crowdnotes.errors import InputError
from crowdnotes.settings import BridgingSettings
from tests.bridging.made import errors_of, made_ratings, objective_of, shuffled, table_of, write_tsv


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
    p, m = Penalties(), len(table)
    pull = errors_of(table, found) * (1 if table.weight is None else table.weight) / m
    notes, raters = found.notes, found.raters
    gradient = [
        -pull.sum() + p.global_intercept * found.global_intercept,
        -np.bincount(table.note, pull) + p.note_intercept * notes.intercepts / len(notes),
        -np.bincount(table.rater, pull) + p.rater_intercept * raters.intercepts / len(raters),
    ]
    for k in range(factors):
        across = pull * raters.factors[table.rater, k]
        gradient.append(-np.bincount(table.note, across) + p.note_factor * notes.factors[:, k] / len(notes))
        across = pull * notes.factors[table.note, k]
        gradient.append(-np.bincount(table.rater, across) + p.rater_factor * raters.factors[:, k] / len(raters))
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
    monkeypatch.setattr(factorization, "_LARGE", 0)
    single = fit(table)
    assert single.objective == pytest.approx(exact.objective, abs=2e-9)
    assert single.notes.intercepts == pytest.approx(exact.notes.intercepts, abs=1e-3)


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


def test_many_chunks_and_threads_give_what_one_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    table = made_ratings(notes=200, raters=150)
    one = fit(table)
    monkeypatch.setattr("crowdnotes.bridging.rows._CHUNK", 500)
    many = fit(table)
    assert many.objective == pytest.approx(one.objective, abs=1e-12)
    assert np.allclose(many.notes.intercepts, one.notes.intercepts, atol=1e-6)


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


def test_one_rating_alone_is_fitted() -> None:
    found = fit(table_of([0], [0], [1], rater_ids=["a"]))
    assert np.isfinite(found.objective)
    assert found.ratings == 1


def test_any_number_of_threads_gives_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crowdnotes.bridging.rows._CHUNK", 500)
    table = made_ratings(notes=200, raters=150)
    fits = []
    for cores in (1, 2, 7):
        monkeypatch.setattr("os.sched_getaffinity", lambda _, cores=cores: set(range(cores)), raising=False)
        fits.append(fit(table))
    assert fits[0].objective == fits[1].objective == fits[2].objective
    for other in fits[1:]:
        assert np.array_equal(other.notes.intercepts, fits[0].notes.intercepts)
        assert np.array_equal(other.raters.factors, fits[0].raters.factors)


def test_beginning_from_a_group_ends_at_the_full_fit_and_one_that_mostly_rated_no_note_is_refused() -> None:
    table = made_ratings(notes=150, raters=100)
    assert fit_from_group(table, np.arange(100) < 85).objective == pytest.approx(fit(table).objective, abs=1e-7)
    with pytest.raises(InputError, match="mostly rated"):
        fit_from_group(table, np.zeros(len(table.rater_ids), dtype=bool))


def test_the_enrolment_table_tells_who_is_in_the_group(tmp_path: Path) -> None:
    rows = [{"participantId": "A", "modelingGroup": "13.0"}, {"participantId": "B", "modelingGroup": "2.0"}]
    path = write_tsv(tmp_path / "userEnrollment-00000.tsv", ENROLMENT.columns, rows)
    ids = np.array(["A", "B", "C"], dtype=object)
    assert group_members(path, ids).tolist() == [True, False, False]
    assert group_members(tmp_path, ids, group=2).tolist() == [False, True, False]
    read_public_data(tmp_path, tmp_path / "out")
    assert group_members(tmp_path / "out", ids).tolist() == [True, False, False]


def test_an_enrolment_table_without_groups_is_refused(tmp_path: Path) -> None:
    path = write_tsv(tmp_path / "userEnrollment-00000.tsv", ["participantId"], [{"participantId": "A"}])
    with pytest.raises(InputError, match="modelingGroup"):
        group_members(path, np.array(["A"], dtype=object))
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(InputError, match="no enrolment"):
        group_members(empty, np.array(["A"], dtype=object))


def _table(pairs: list[tuple[int, int]]) -> RatingTable:
    return table_of([note for note, _ in pairs], [rater for _, rater in pairs], [1] * len(pairs))


def test_notes_with_few_raters_and_raters_with_few_ratings_go_and_are_counted() -> None:
    lines = BridgingSettings(min_raters_per_note=2, min_ratings_per_rater=2)
    # Note 2 has one rater; rater 2 then has one rating; note 1 is then left with one rater.
    pairs = [(0, 0), (0, 1), (3, 0), (3, 1), (1, 0), (1, 2), (2, 2)]
    kept, report = apply_filter(_table(pairs), lines)
    assert report.kept == len(kept) == 4
    assert list(report.dropped.values()) == [1, 1, 1]
    assert kept.note_ids.tolist() == [0, 3]
    assert kept.rater_ids.tolist() == [0, 1]
    assert kept.note.tolist() == [0, 0, 1, 1]


def test_the_filter_runs_once_not_until_nothing_changes() -> None:
    lines = BridgingSettings(min_raters_per_note=2, min_ratings_per_rater=2)
    # Rater 1 loses note 1 in the last step and keeps one rating, under the line: it stays all the same.
    pairs = [(0, 0), (0, 1), (1, 1), (1, 2), (2, 0), (2, 3), (2, 0)]
    kept, _ = apply_filter(_table([*pairs, (3, 3), (3, 0)]), lines)
    counts = np.bincount(kept.rater)
    assert counts.min() < lines.min_ratings_per_rater


def test_a_rater_of_one_note_and_a_note_of_one_rater_never_enter() -> None:
    pairs = [(n, u) for n in range(12) for u in range(8)] + [(12, 0), (0, 8)]
    kept, _ = apply_filter(_table(pairs), BridgingSettings())
    assert 12 not in kept.note_ids
    assert 8 not in kept.rater_ids
    assert len(kept) == 96
