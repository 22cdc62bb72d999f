"""Notes scored with raters held fixed: a ridge regression of two unknowns for each note, in closed form.

For ratings r of raters with intercept i_u and factor f_u, the scorer's final round minimises

    sum_u (r_u - mu - i_u - i_n - f_u f_n)^2 + rho (0.15 i_n^2 + 0.03 f_n^2)

with rho the ratings per note of the fit that the raters come from. The upper bound is the highest
intercept over the note as it is and with one more HELPFUL rating by an extreme rater: the lowest
intercept of all raters with the lowest factor, none, or the highest (pseudo_raters.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crowdnotes.bridging.model import (
    FACTOR_PENALTY,
    INTERCEPT_PENALTY,
    Factorization,
    Floats,
    Ids,
    RatingTable,
    SideParameters,
)
from crowdnotes.errors import InputError


@dataclass(frozen=True)
class FrozenRaters:
    """Raters whose parameters stay: ids, intercepts and factors (u,), the global intercept, and rho."""

    ids: Ids
    intercepts: Floats
    factors: Floats
    global_intercept: float
    ratings_per_note: float

    @classmethod
    def of(cls, fit: Factorization) -> FrozenRaters:
        """Return the raters of a fit with one factor."""
        if fit.raters.factors.shape[1] != 1:
            raise InputError("Notes are scored on one factor.", "Fit with one factor.")
        return cls(
            fit.raters.ids, fit.raters.intercepts, fit.raters.factors[:, 0], fit.global_intercept, fit.ratings_per_note
        )

    @property
    def extremes(self) -> Extremes:
        """Of these raters."""
        lowest = float(self.intercepts.min()), float(self.factors.min()), float(self.factors.max())
        return Extremes(self.global_intercept, self.ratings_per_note, *lowest)


@dataclass(frozen=True)
class Extremes:
    """What a note's score takes of a fit besides its own raters: mu, rho, and how far out any rater is."""

    global_intercept: float
    ratings_per_note: float
    least_intercept: float
    least_factor: float
    most_factor: float


@dataclass(frozen=True)
class ScoredNotes:
    """Intercepts, factors and the intercepts' upper bounds, (n,) each."""

    notes: SideParameters
    upper_bounds: Floats

    def keep(self, rows: slice) -> ScoredNotes:
        """Return some of the notes."""
        notes = self.notes
        kept = SideParameters(notes.ids[rows], notes.intercepts[rows], notes.factors[rows])
        return ScoredNotes(kept, self.upper_bounds[rows])


def score_notes(table: RatingTable, raters: FrozenRaters) -> ScoredNotes:
    """Score every note of the table; ratings by raters that are not known are left out.

    A note left without any rating gets intercept and factor NaN: no score is not a score of 0.
    """
    place, known = locate(table.rater_ids, raters.ids)
    used = known[table.rater]
    note = table.note[used]
    rater = place[table.rater[used]]
    weight = np.ones(len(note)) if table.weight is None else table.weight[used].astype(np.float64)
    factor = raters.factors[rater]
    target = table.helpful[used].astype(np.float64) - raters.global_intercept - raters.intercepts[rater]
    count = len(table.note_ids)
    parts = (np.ones(len(note)), factor, factor * factor, target, target * factor)
    sums = _NormalEquations(*(np.asarray(np.bincount(note, weight * part, count), dtype=np.float64) for part in parts))
    notes, bounds = _solve_with_bounds(sums, raters.extremes)
    return ScoredNotes(SideParameters(table.note_ids, notes[:, 0], notes[:, 1:]), bounds)


def score_votes(votes: Floats, raters: FrozenRaters) -> tuple[Floats, Floats, Floats]:
    """Score notes that all raters have seen: votes (n, u) in [0, 1], NaN where a rater did not rate.

    Returns intercepts, factors and the intercepts' upper bounds, (n,) each. A matrix product.
    """
    if votes.ndim != 2 or votes.shape[1] != len(raters.ids):
        raise InputError(f"Votes of shape {votes.shape} do not fit {len(raters.ids)} raters.", "One column a rater.")
    rated = ~np.isnan(votes)
    seen = rated.astype(np.float64)
    targets = np.where(rated, votes - raters.global_intercept - raters.intercepts, 0.0)
    powers = np.column_stack((np.ones(len(raters.ids)), raters.factors, raters.factors**2))
    plain, first = seen @ powers, targets @ powers[:, :2]
    sums = _NormalEquations(plain[:, 0], plain[:, 1], plain[:, 2], first[:, 0], first[:, 1])
    notes, bounds = _solve_with_bounds(sums, raters.extremes)
    return notes[:, 0], notes[:, 1], bounds


def score_as_rated(
    helpful: Floats, intercepts: Floats, factors: Floats, fit: Extremes
) -> tuple[Floats, Floats, Floats]:
    """One note's intercept, factor and upper bound after each of its ratings, (m,) each.

    helpful: in [0, 1], (m,) in their order, with the intercepts and factors of their raters.
    """
    target = helpful - fit.global_intercept - intercepts
    parts = (np.ones(len(target)), factors, factors * factors, target, target * factors)
    notes, bounds = _solve_with_bounds(_NormalEquations(*(np.cumsum(part) for part in parts)), fit)
    return notes[:, 0], notes[:, 1], bounds


def locate(ids: Ids, among: Ids) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
    """Return each id's place in the sorted `among`, and whether it is there."""
    if not len(among):
        return np.zeros(len(ids), dtype=np.intp), np.zeros(len(ids), dtype=bool)
    place = np.minimum(np.searchsorted(among, ids), len(among) - 1)
    return place, np.asarray(among[place] == ids, dtype=bool)


@dataclass(frozen=True)
class _NormalEquations:
    """The normal equations of each note: sums of 1, f, f^2, target and target f over its ratings, (n,) each."""

    ones: Floats
    f: Floats
    ff: Floats
    t: Floats
    tf: Floats

    def with_rating(self, factor: float, target: float) -> _NormalEquations:
        return _NormalEquations(
            self.ones + 1, self.f + factor, self.ff + factor**2, self.t + target, self.tf + target * factor
        )


def _solve_ridge(sums: _NormalEquations, ratings_per_note: float) -> Floats:
    corner = sums.ones + ratings_per_note * INTERCEPT_PENALTY
    other = sums.ff + ratings_per_note * FACTOR_PENALTY
    determinant = corner * other - sums.f**2
    intercept = (other * sums.t - sums.f * sums.tf) / determinant
    factor = (corner * sums.tf - sums.f * sums.t) / determinant
    return np.column_stack((intercept, factor))


def _solve_with_bounds(sums: _NormalEquations, fit: Extremes) -> tuple[Floats, Floats]:
    notes = _solve_ridge(sums, fit.ratings_per_note)
    bounds = notes[:, 0].copy()
    target = 1.0 - fit.global_intercept - fit.least_intercept
    for factor in (fit.least_factor, 0.0, fit.most_factor):
        more = _solve_ridge(sums.with_rating(factor, target), fit.ratings_per_note)
        bounds = np.maximum(bounds, more[:, 0])
    unrated = sums.ones == 0
    notes[unrated] = np.nan
    bounds[unrated] = np.nan
    return notes, bounds


_MIN_FACTOR_SPREAD = 0.02  # real raters' factors have a standard deviation near 0.3
_MIN_SIDE_SHARE = 0.05


def doubts(fit: Factorization) -> list[str]:
    """Sentences on a fit that found no viewpoints, only one camp, or did not settle. Empty when all is well."""
    found = []
    if not fit.converged:
        found.append("The fit stopped before it settled: its numbers are approximate.")
    main = fit.raters.factors[:, 0]
    if float(np.std(main)) < _MIN_FACTOR_SPREAD:
        found.append(
            "The ratings show no differing viewpoints: every score is plain popularity, not agreement across sides."
        )
    elif min(np.mean(main < 0), np.mean(main > 0)) < _MIN_SIDE_SHARE:
        found.append("Nearly all raters are on one side: scores say little about agreement across sides.")
    return found
