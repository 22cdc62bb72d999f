"""Matrix factorization of ratings: who finds what helpful, with the part that viewpoint explains taken out.

The objective is the production scorer's (matrix_factorization.py, `_get_loss` and `_get_reg_loss`):

    mean over ratings of w (r - mu - i_u - i_n - f_u . f_n)^2
    + 0.15 mean_u(i_u^2) + 0.15 mean_n(i_n^2) + 0.15 mu^2 + 0.03 mean_u |f_u|^2 + 0.03 mean_n |f_n|^2

Given the raters, every note is a small ridge regression of its own, and the other way round, so the
sweeps alternate between exact solves. After each, `gauge.balance` takes the best move along the
directions in which no prediction changes. Every step is an exact minimum, so the objective never
rises by more than rounding; the same ratings give the same bits, in whatever order they come.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from crowdnotes.bridging.acceleration import Extrapolation
from crowdnotes.bridging.gauge import balance, penalty, principal_axes
from crowdnotes.bridging.initialisation import cold_start, warm_start
from crowdnotes.bridging.kernels import Floats, move_rows
from crowdnotes.bridging.layout import Rows, lay_out
from crowdnotes.bridging.parameters import Factorization, Penalties, RatingTable, SideParameters
from crowdnotes.bridging.workers import Workers, workers
from crowdnotes.errors import InputError

TOLERANCE = 1e-9  # of the objective, a hundred times finer than the official scorer's 1e-7
MAX_SWEEPS = 500
_ROUNDING = 1e-10  # of the objective; two sums of the same numbers differ by less
# From here on, and without weights, solves read single precision: its errors average out far below _ROUNDING.
_LARGE = 1 << 20
_QUIET_SWEEPS = 2  # one small step may be a saddle passed slowly; two in a row are the end
_DEFAULT_PENALTIES = Penalties()


def fit(
    table: RatingTable,
    *,
    factors: int = 1,
    penalties: Penalties = _DEFAULT_PENALTIES,
    start: Factorization | None = None,
    seed: int = 0,
) -> Factorization:
    """Find mu, intercepts and factors that minimise the objective.

    factors: 1 to 3. start: an earlier fit to begin from (warm start); ids it does not know begin at
    zero, as in production. seed: of the first rater factors when there is no start.
    Raises InputError for an empty table, for values that are not numbers in [0, 1], for more factors than
    notes or raters, and for weights that lie too far apart to compute with.
    """
    _check(table, factors, start)
    single = table.weight is None and len(table) >= _LARGE
    _load_compiled(factors, single)
    found = _fit(table, factors, penalties, start, seed, single=single)
    if not np.isfinite(found.objective):
        raise InputError("The weights lie too far apart to fit.", "Give weights of like size.")
    return found


@cache
def _load_compiled(factors: int, single: bool) -> None:
    """Load the compiled loops (compile them, the first time on a machine), so that no fit's seconds include it."""
    row = np.zeros(1, dtype=np.int32)
    one = RatingTable(row, row, row, row, np.ones(1, dtype=np.float32))
    _fit(one, factors, _DEFAULT_PENALTIES, None, 0, single=single)


def _fit(
    table: RatingTable, factors: int, penalties: Penalties, start: Factorization | None, seed: int, *, single: bool
) -> Factorization:
    began = time.perf_counter()
    per_note, per_rater = len(table) / len(table.note_ids), len(table) / len(table.rater_ids)
    ridges = (
        (penalties.note_intercept * per_note, penalties.note_factor * per_note),
        (penalties.rater_intercept * per_rater, penalties.rater_factor * per_rater),
    )
    with workers(single=single) as crew:
        by_note, by_rater = lay_out(table, crew.each)
        if start is None:
            first = _Point(cold_start(by_note, by_rater, factors, ridges, seed, crew), 0.0)
        else:
            first = _Point(warm_start(table.rater_ids, start), start.global_intercept)
        found = _alternate(_Sweeper(by_note, by_rater, penalties, ridges, crew), first)
        if factors > 1:
            _turn_to_principal_axes(found)
        _fix_sign(found)
        # From a pass over the ratings rather than from the solves' sums: what is reported is what is returned.
        mean_squares = crew.squared_errors(by_note, found.notes, found.raters, found.mu) / len(table)
    objective = mean_squares + penalty(_moments(found.notes), _moments(found.raters), found.mu, penalties)
    seconds = time.perf_counter() - began
    return Factorization(
        global_intercept=found.mu,
        notes=SideParameters(table.note_ids, found.notes[:, 0].copy(), found.notes[:, 1:].copy()),
        raters=SideParameters(table.rater_ids, found.raters[:, 0].copy(), found.raters[:, 1:].copy()),
        objective=objective,
        mean_squared_error=mean_squares,
        iterations=found.sweeps,
        seconds=seconds,
        ratings=len(table),
        converged=found.converged,
    )


@dataclass(frozen=True)
class _Point:
    """Where a sweep begins: raters (u, 1 + k), intercept first, and mu. The notes follow from these."""

    raters: Floats
    mu: float

    def flat(self) -> Floats:
        return np.append(self.raters.ravel(), self.mu)

    def like(self, flat: Floats) -> _Point:
        return _Point(flat[:-1].reshape(self.raters.shape), float(flat[-1]))


@dataclass(frozen=True)
class _Found:
    """The best parameters so far, notes (n, 1 + k) included."""

    notes: Floats
    raters: Floats
    mu: float
    objective: float
    sweeps: int = 0
    converged: bool = False


@dataclass(frozen=True)
class _Sweeper:
    """One sweep: notes given the raters, raters given the notes, and the best move that changes no prediction."""

    by_note: Rows
    by_rater: Rows
    penalties: Penalties
    ridges: tuple[tuple[float, float], tuple[float, float]]
    crew: Workers

    def sweep(self, point: _Point) -> _Found:
        notes = np.empty((len(self.by_note), point.raters.shape[1]))
        raters = np.empty_like(point.raters)
        _, note_moments = self.crew.solve(self.by_note, point.raters, point.mu, self.ridges[0], notes)
        squares, rater_moments = self.crew.solve(self.by_rater, notes, point.mu, self.ridges[1], raters)
        best = balance(note_moments, rater_moments, point.mu, self.penalties)
        objective = squares / len(self.by_note.columns)
        objective += penalty(best.note_moments, best.rater_moments, best.mu, self.penalties)
        move_rows(notes, best.notes)
        move_rows(raters, best.raters)
        return _Found(notes, raters, best.mu, objective)


def _alternate(sweeper: _Sweeper, first: _Point) -> _Found:
    """Sweep until the objective stands still, or MAX_SWEEPS."""
    best, quiet = sweeper.sweep(first), 0
    extrapolation = Extrapolation()
    point = first.like(extrapolation.following(first.flat(), _Point(best.raters, best.mu).flat()))
    extrapolated = False
    for sweeps in range(2, MAX_SWEEPS + 1):
        now = sweeper.sweep(point)
        if now.objective > best.objective + _ROUNDING:
            if not extrapolated:  # a sweep from the best point itself rises by rounding alone: this is the floor
                return replace(best, sweeps=sweeps, converged=True)
            extrapolation.forget()
            point, extrapolated = _Point(best.raters, best.mu), False
            continue
        quiet = quiet + 1 if best.objective - now.objective < TOLERANCE else 0
        best = now
        if quiet >= _QUIET_SWEEPS:
            return replace(best, sweeps=sweeps, converged=True)
        point = point.like(extrapolation.following(point.flat(), _Point(best.raters, best.mu).flat()))
        extrapolated = True
    return replace(best, sweeps=MAX_SWEEPS)


def _turn_to_principal_axes(state: _Found) -> None:
    axes = principal_axes(_moments(state.notes), _moments(state.raters))
    state.notes[:, 1:] = state.notes[:, 1:] @ axes
    state.raters[:, 1:] = state.raters[:, 1:] @ axes


def _fix_sign(state: _Found) -> None:
    """The larger camp is negative: turn a factor when under half of the raters not at zero have it so."""
    for k in range(1, state.raters.shape[1]):
        column = state.raters[:, k]
        if np.count_nonzero(column < 0) * 2 < np.count_nonzero(column):
            state.raters[:, k] *= -1
            state.notes[:, k] *= -1


def _moments(side: Floats) -> Floats:
    rows = np.column_stack((np.ones(len(side)), side))
    moments: Floats = np.einsum("ni,nj->ij", rows, rows) / len(rows)
    return moments


def _check(table: RatingTable, factors: int, start: Factorization | None) -> None:
    if not 1 <= factors <= 3:
        raise InputError(f"{factors} factors were asked for.", "Ask for one, two or three.")
    if start is not None and start.raters.factors.shape[1] != factors:
        raise InputError(
            f"The fit to start from has {start.raters.factors.shape[1]} factors, not {factors}.",
            "Start from a fit with the same number of factors.",
        )
    if len(table) == 0:
        raise InputError("There are no ratings to fit.", "Check the file, or the filter's report of what it dropped.")
    if (least := min(len(table.note_ids), len(table.rater_ids))) < factors:
        raise InputError(f"{factors} factors were asked for, but there are {least} notes or raters.", "Ask for fewer.")
    if not np.all((table.helpful >= 0) & (table.helpful <= 1)):  # NaN fails too
        raise InputError(
            "A rating is not a number from 0 to 1.", "Read the ratings with the reader, which drops those."
        )
    if table.weight is not None and not (np.all(np.isfinite(table.weight)) and np.all(table.weight >= 0)):
        raise InputError("A rating's weight is negative or not a number.", "Weights must be zero or more.")
    if table.weight is not None and not np.any(table.weight > 0):
        raise InputError("All ratings have weight zero.", "At least one rating must count.")
