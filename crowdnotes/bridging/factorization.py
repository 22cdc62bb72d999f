"""Matrix factorization of ratings: who finds what helpful, with the part that viewpoint explains taken out.

The objective is the production scorer's (matrix_factorization.py, `_get_loss` and `_get_reg_loss`):

    mean over ratings of w (r - mu - i_u - i_n - f_u . f_n)^2
    + 0.15 mean_u(i_u^2) + 0.15 mean_n(i_n^2) + 0.15 mu^2 + 0.03 mean_u |f_u|^2 + 0.03 mean_n |f_n|^2

Given the raters, every note is a small ridge regression of its own, and the other way round, so the
sweeps alternate between exact solves. After each, `balance` takes the best move along the
directions in which no prediction changes. Every step is an exact minimum, so the objective never
rises by more than rounding; the same ratings give the same bits, in whatever order they come.

Where the sweeps begin: the objective is not convex once factors come in, and a random start can end in a poorer
valley or creep past a saddle. So the intercepts are settled without factors; then a few rounds of subspace
iteration on the errors give factors along the main disagreement. From these the official scorer's own optimum
is reached on its reference sets, whatever the seed. A large table begins where the fit of every fourth note ended:
that costs a quarter of the ratings, and saves half of the sweeps over all of them.

Anderson acceleration with a safeguard saves sweeps: from the last few steps the next point is extrapolated
(Walker and Ni, 2011, type II). The objective after a sweep from an extrapolated point is known at no cost; when
it is above the best so far the point is dropped, the memory cleared, and the sweeps go on from the last good one.

The moves that leave every prediction as it is: a constant may move between the intercepts, one side's factors may be
shifted while the other side's intercepts take it up, and one side's factors may be turned or stretched while the
other's are turned back. Along these directions the errors say nothing, so alternating solves creep; the penalties alone
decide, and their minimum has a closed form. Taking it after every sweep cuts the sweeps several times and can never
raise the objective. It needs second moments alone: for a side with rows [1, i, f], M = mean of [1, i, f]'[1, i, f],
shape (2 + k, 2 + k). A move is a matrix T with new row = row @ T, so the new M is T' M T.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from crowdnotes.bridging.model import (
    FACTOR_PENALTY,
    INTERCEPT_PENALTY,
    Factorization,
    Floats,
    Ids,
    RatingTable,
    SideParameters,
)
from crowdnotes.bridging.solver import Rows, Workers, lay_out, move_rows, workers
from crowdnotes.errors import InputError

_BALANCE_ROUNDS = 3  # the moves touch each other a little; after three rounds nothing is left to gain
_TINY = 1e-12
_REMEMBERED_STEPS = 6  # more remembered steps gained nothing on the reference sets
_DAMPING = 1e-12  # relative; keeps the small system solvable when two steps are nearly the same


class Move:
    """The best move: T of the notes and of the raters (2 + k, 2 + k), the new mu, and the moments after it.

    A side's M after T1 then T2 is T2' (T1' M T1) T2.
    """

    def __init__(self, note_moments: Floats, rater_moments: Floats, mu: float) -> None:
        self.note_moments, self.rater_moments, self.mu = note_moments, rater_moments, mu
        self.notes = np.eye(len(note_moments))
        self.raters = np.eye(len(rater_moments))

    def level(self) -> None:
        """Spread the constant part evenly over mu and both intercepts: their penalties are one."""
        note_mean, rater_mean = self.note_moments[0, 1], self.rater_moments[0, 1]
        shared = float(note_mean + rater_mean + self.mu) / 3
        to_notes, to_raters = np.eye(len(self.notes)), np.eye(len(self.raters))
        to_notes[0, 1], to_raters[0, 1] = shared - note_mean, shared - rater_mean
        self.mu = shared
        self._apply(to_notes, to_raters)

    def shift_factors(self) -> None:
        """First f_u += c, i_n -= f_n . c; then the same with the sides exchanged."""
        to_notes, to_raters = _find_factor_shift(self.note_moments, self.rater_moments)
        self._apply(to_notes, to_raters)
        to_raters, to_notes = _find_factor_shift(self.rater_moments, self.note_moments)
        self._apply(to_notes, to_raters)

    def stretch(self) -> None:
        """Stretch the note factors by S and the rater factors by its inverse, so that both weigh the same."""
        note_spread, rater_spread = self.note_moments[2:, 2:], self.rater_moments[2:, 2:]
        if min(np.linalg.eigvalsh(note_spread)[0], np.linalg.eigvalsh(rater_spread)[0]) < _TINY:
            return  # a factor has died out: there is nothing to stretch
        root, back = _take_matrix_roots(note_spread)
        middle, _ = _take_matrix_roots(root @ rater_spread @ root)
        stretched, inverse = _take_matrix_roots(back @ middle @ back)
        to_notes, to_raters = np.eye(len(self.notes)), np.eye(len(self.raters))
        to_notes[2:, 2:] = stretched
        to_raters[2:, 2:] = inverse
        self._apply(to_notes, to_raters)

    def _apply(self, to_notes: Floats, to_raters: Floats) -> None:
        self.notes, self.raters = self.notes @ to_notes, self.raters @ to_raters
        self.note_moments = to_notes.T @ self.note_moments @ to_notes
        self.rater_moments = to_raters.T @ self.rater_moments @ to_raters


def balance(note_moments: Floats, rater_moments: Floats, mu: float) -> Move:
    """Find the move that makes the penalties least while no prediction changes."""
    move = Move(note_moments, rater_moments, mu)
    for _ in range(_BALANCE_ROUNDS):
        move.level()
        move.shift_factors()
        move.stretch()
    return move


def _find_factor_shift(own: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Return moves of own and other for the shift c of the other's factors that costs least.

    It minimises FACTOR_PENALTY mean|g + c|^2 + INTERCEPT_PENALTY mean (i - f . c)^2.
    """
    system = INTERCEPT_PENALTY * own[2:, 2:] + FACTOR_PENALTY * np.eye(len(own) - 2)
    shift = np.linalg.solve(system, INTERCEPT_PENALTY * own[2:, 1] - FACTOR_PENALTY * other[0, 2:])
    to_own, to_other = np.eye(len(own)), np.eye(len(other))
    to_own[2:, 1], to_other[0, 2:] = -shift, shift
    return to_own, to_other


def penalty(note_moments: Floats, rater_moments: Floats, mu: float) -> float:
    """Return the objective without its errors: lambda times the means of the squares, as the production code has it."""
    squares = np.diagonal(note_moments) + np.diagonal(rater_moments)
    return float(INTERCEPT_PENALTY * (squares[1] + mu * mu) + FACTOR_PENALTY * squares[2:].sum())


def principal_axes(note_moments: Floats, rater_moments: Floats) -> Floats:
    """Return the rotation (k, k) after which the factors of both sides are uncorrelated, strongest first.

    Any rotation is as good for the objective; this one makes several factors comparable between fits.
    """
    together = note_moments[2:, 2:] / max(np.trace(note_moments[2:, 2:]), _TINY)
    together = together + rater_moments[2:, 2:] / max(np.trace(rater_moments[2:, 2:]), _TINY)
    _, axes = np.linalg.eigh(together)
    return np.ascontiguousarray(axes[:, ::-1])


def _take_matrix_roots(matrix: Floats) -> tuple[Floats, Floats]:
    """Return the square root of a positive definite matrix, and the root's inverse."""
    values, vectors = np.linalg.eigh(matrix)
    root = np.sqrt(np.maximum(values, _TINY * _TINY))
    return (vectors * root) @ vectors.T, (vectors / root) @ vectors.T


class Extrapolation:
    """Proposes the next point from the points and images seen so far. All vectors have one length."""

    def __init__(self) -> None:
        self._image_steps: list[Floats] = []
        self._gap_steps: list[Floats] = []
        self._products: list[list[float]] = []  # of the gap steps with each other
        self._last: tuple[Floats, Floats] | None = None

    def following(self, point: Floats, image: Floats) -> Floats:
        """Return the point to try after a sweep took `point` to `image`."""
        gap = image - point
        if self._last is not None:
            self._remember(image - self._last[0], gap - self._last[1])
        self._last = (image, gap)
        products = np.array(self._products)
        if not self._products or not products.trace() > 0:
            return image  # no step to learn from, or nothing moves any more
        products += np.eye(len(products)) * products.trace() * _DAMPING
        shares = np.linalg.solve(products, [_compute_inner_product(step, gap) for step in self._gap_steps])
        for share, step in zip(shares, self._image_steps, strict=True):
            image = image - share * step
        return image

    def forget(self) -> None:
        """Begin anew after a point that did not help."""
        self._image_steps, self._gap_steps, self._products, self._last = [], [], [], None

    def _remember(self, image_step: Floats, gap_step: Floats) -> None:
        if len(self._gap_steps) == _REMEMBERED_STEPS:
            self._image_steps, self._gap_steps = self._image_steps[1:], self._gap_steps[1:]
            self._products = [row[1:] for row in self._products[1:]]
        with_new = [_compute_inner_product(step, gap_step) for step in self._gap_steps]
        self._image_steps.append(image_step)
        self._gap_steps.append(gap_step)
        self._products = [[*row, new] for row, new in zip(self._products, with_new, strict=True)]
        self._products.append([*with_new, _compute_inner_product(gap_step, gap_step)])


def _compute_inner_product(one: Floats, two: Floats) -> float:
    """Return the inner product. Not by BLAS, whose threads go on spinning on the cores that the next sweep needs."""
    return float(np.einsum("i,i->", one, two))


_INTERCEPT_SWEEPS = 2
_PATTERN_ROUNDS = 4
_RATER_FACTOR_SPREAD = 0.3  # standard deviation of rater factors in the public data; the first sweep corrects it
_ZERO_INTERCEPT_RIDGE = 1e15  # a ridge that holds the intercepts at zero


def cold_start(
    by_note: Rows, by_rater: Rows, factors: int, ridges: tuple[tuple[float, float], tuple[float, float]],
    seed: int, crew: Workers,
) -> Floats:  # fmt: skip
    """First rater parameters (u, 1 + factors). ridges: of notes and of raters, each (intercept, factor)."""
    notes = np.zeros((len(by_note), 2))
    raters = np.zeros((len(by_rater), 2))
    for _ in range(_INTERCEPT_SWEEPS):
        crew.solve(by_note, raters, 0.0, ridges[0], notes)
        crew.solve(by_rater, notes, 0.0, ridges[1], raters)
    errors_by_note = crew.subtract_intercepts(by_note, notes, raters)
    errors_by_rater = crew.subtract_intercepts(by_rater, raters, notes)
    note_patterns = np.zeros((len(by_note), 1 + factors))
    patterns = np.zeros((len(by_rater), 1 + factors))
    patterns[:, 1:] = _orthogonalise(np.random.default_rng(seed).standard_normal((len(by_rater), factors)))
    for _ in range(_PATTERN_ROUNDS):
        crew.solve(errors_by_note, patterns, 0.0, (_ZERO_INTERCEPT_RIDGE, ridges[0][1]), note_patterns)
        note_patterns[:, 1:] = _orthogonalise(note_patterns[:, 1:])
        crew.solve(errors_by_rater, note_patterns, 0.0, (_ZERO_INTERCEPT_RIDGE, ridges[1][1]), patterns)
        patterns[:, 1:] = _orthogonalise(patterns[:, 1:])
    patterns[:, 0] = raters[:, 0]
    return patterns


def warm_start(rater_ids: Ids, start: Factorization) -> Floats:
    """First rater parameters (u, 1 + factors) from an earlier fit; raters it does not know begin at zero."""
    if start.raters.ids is rater_ids:
        return np.column_stack((start.raters.intercepts, start.raters.factors))
    raters = np.zeros((len(rater_ids), 1 + start.raters.factors.shape[1]))
    place = np.minimum(np.searchsorted(start.raters.ids, rater_ids), len(start.raters) - 1)
    known = start.raters.ids[place] == rater_ids
    raters[known, 0] = start.raters.intercepts[place[known]]
    raters[known, 1:] = start.raters.factors[place[known]]
    return raters


def _orthogonalise(patterns: Floats) -> Floats:
    """Return the patterns (n, k) at right angles to each other, each with the spread of real rater factors."""
    directions, _ = np.linalg.qr(patterns)
    upright: Floats = directions * (_RATER_FACTOR_SPREAD * np.sqrt(len(patterns)))
    return upright


TOLERANCE = 1e-9  # of the objective, a hundred times finer than the official scorer's 1e-7
MAX_SWEEPS = 500
_ROUNDING_TOLERANCE = 1e-10  # of the objective; two sums of the same numbers differ by less
# From here on, and without weights, solves read single precision: its errors average out far below rounding.
_MIN_SINGLE_PRECISION_RATINGS = 1 << 20
_PART_STEP, _MIN_PARTED_RATINGS = 4, 1 << 22  # from so many ratings on, every fourth note is fitted first
_MIN_RATINGS_PER_RATER = 20  # ratings a rater, in that part: with fewer it takes many sweeps, and says little
_PART_TOLERANCE = 1e-5  # of that fit, which is only where another begins
_QUIET_SWEEPS = 2  # one small step may be a saddle passed slowly; two in a row are the end


def fit(
    table: RatingTable,
    *,
    factors: int = 1,
    start: Factorization | None = None,
    seed: int = 0,
) -> Factorization:
    """Find mu, intercepts and factors that minimise the objective.

    factors: 1 to 3. start: an earlier fit to begin from (warm start); ids it does not know begin at
    zero, as in production. seed: of the first rater factors when there is no start.
    Raises InputError for an empty table, for values that are not numbers in [0, 1], for more factors than
    notes or raters, and for weights that differ too much to compute with.
    """
    _check_fit_arguments(table, factors, start)
    single = table.weight is None and len(table) >= _MIN_SINGLE_PRECISION_RATINGS
    _load_compiled(factors, single)
    found = _fit_table(table, factors, start, seed, single=single)
    if not np.isfinite(found.objective):
        raise InputError("The weights differ too much to fit.", "Give weights of like size.")
    return found


@cache
def _load_compiled(factors: int, single: bool) -> None:
    """Load the compiled loops (compile them, the first time on a machine), so that no fit's seconds include it."""
    row = np.zeros(1, dtype=np.int32)
    one = RatingTable(row, row, row, row, np.ones(1, dtype=np.float32))
    _fit_table(one, factors, None, 0, single=single)


def _fit_table(
    table: RatingTable, factors: int, start: Factorization | None, seed: int, *, single: bool,
    tolerance: float = TOLERANCE,
) -> Factorization:  # fmt: skip
    began = time.perf_counter()
    per_note, per_rater = len(table) / len(table.note_ids), len(table) / len(table.rater_ids)
    ridges = (
        (INTERCEPT_PENALTY * per_note, FACTOR_PENALTY * per_note),
        (INTERCEPT_PENALTY * per_rater, FACTOR_PENALTY * per_rater),
    )
    if (
        start is None
        and single
        and len(table) >= max(_MIN_PARTED_RATINGS, _PART_STEP * _MIN_RATINGS_PER_RATER * len(table.rater_ids))
    ):
        start = _fit_table(_select_part(table), factors, None, seed, single=True, tolerance=_PART_TOLERANCE)
    with workers(single=single) as crew:
        by_note, by_rater = lay_out(table, crew.each)
        if start is None:
            first = _SweepPoint(cold_start(by_note, by_rater, factors, ridges, seed, crew), 0.0)
        else:
            first = _SweepPoint(warm_start(table.rater_ids, start), start.global_intercept)
        found = _sweep_until_converged(_Sweeper(by_note, by_rater, ridges, crew), first, tolerance)
        if factors > 1:
            _turn_to_principal_axes(found)
        _fix_sign(found)
        # From a pass over the ratings rather than from the solves' sums: what is reported is what is returned.
        mean_squares = crew.squared_errors(by_note, found.notes, found.raters, found.mu) / len(table)
    objective = mean_squares + penalty(_compute_moments(found.notes), _compute_moments(found.raters), found.mu)
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


def _select_part(table: RatingTable) -> RatingTable:
    """Return the ratings of every fourth note, of all raters: those who lose all their ratings begin at zero."""
    mask = (table.note & (_PART_STEP - 1)) == 0  # a power of two: a remainder of 200 million numbers takes long
    return RatingTable(
        table.note_ids[::_PART_STEP],
        table.rater_ids,
        table.note[mask] // _PART_STEP,
        table.rater[mask],
        table.helpful[mask],
    )


@dataclass(frozen=True)
class _SweepPoint:
    """Where a sweep begins: raters (u, 1 + k), intercept first, and mu. The notes follow from these."""

    raters: Floats
    mu: float

    def flat(self) -> Floats:
        return np.append(self.raters.ravel(), self.mu)

    def like(self, flat: Floats) -> _SweepPoint:
        return _SweepPoint(flat[:-1].reshape(self.raters.shape), float(flat[-1]))


@dataclass(frozen=True)
class _BestFit:
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
    ridges: tuple[tuple[float, float], tuple[float, float]]
    crew: Workers

    def sweep(self, point: _SweepPoint) -> _BestFit:
        notes = np.empty((len(self.by_note), point.raters.shape[1]))
        raters = np.empty_like(point.raters)
        _, note_moments = self.crew.solve(self.by_note, point.raters, point.mu, self.ridges[0], notes)
        squares, rater_moments = self.crew.solve(self.by_rater, notes, point.mu, self.ridges[1], raters)
        best = balance(note_moments, rater_moments, point.mu)
        objective = squares / len(self.by_note.columns)
        objective += penalty(best.note_moments, best.rater_moments, best.mu)
        move_rows(notes, best.notes)
        move_rows(raters, best.raters)
        return _BestFit(notes, raters, best.mu, objective)


def _sweep_until_converged(sweeper: _Sweeper, first: _SweepPoint, tolerance: float) -> _BestFit:
    """Sweep until the objective no longer changes, or MAX_SWEEPS."""
    best, quiet = sweeper.sweep(first), 0
    extrapolation = Extrapolation()
    point = first.like(extrapolation.following(first.flat(), _SweepPoint(best.raters, best.mu).flat()))
    extrapolated = False
    for sweeps in range(2, MAX_SWEEPS + 1):
        now = sweeper.sweep(point)
        if now.objective > best.objective + _ROUNDING_TOLERANCE:
            if not extrapolated:  # a sweep from the best point itself rises by rounding alone: this is the minimum
                return replace(best, sweeps=sweeps, converged=True)
            extrapolation.forget()
            point, extrapolated = _SweepPoint(best.raters, best.mu), False
            continue
        quiet = quiet + 1 if best.objective - now.objective < tolerance else 0
        best = now
        if quiet >= _QUIET_SWEEPS:
            return replace(best, sweeps=sweeps, converged=True)
        point = point.like(extrapolation.following(point.flat(), _SweepPoint(best.raters, best.mu).flat()))
        extrapolated = True
    return replace(best, sweeps=MAX_SWEEPS)


def _turn_to_principal_axes(state: _BestFit) -> None:
    axes = principal_axes(_compute_moments(state.notes), _compute_moments(state.raters))
    state.notes[:, 1:] = state.notes[:, 1:] @ axes
    state.raters[:, 1:] = state.raters[:, 1:] @ axes


def _fix_sign(state: _BestFit) -> None:
    """Make the larger camp negative: turn a factor when under half of the raters not at zero have it so."""
    for k in range(1, state.raters.shape[1]):
        column = state.raters[:, k]
        if np.count_nonzero(column < 0) * 2 < np.count_nonzero(column):
            state.raters[:, k] *= -1
            state.notes[:, k] *= -1


def _compute_moments(side: Floats) -> Floats:
    rows = np.column_stack((np.ones(len(side)), side))
    moments: Floats = np.einsum("ni,nj->ij", rows, rows) / len(rows)
    return moments


def _check_fit_arguments(table: RatingTable, factors: int, start: Factorization | None) -> None:
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
