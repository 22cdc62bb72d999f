"""The moves that leave every prediction as it is, and the best of them for the penalties.

Predictions mu + i_u + i_n + f_u . f_n stay the same when a constant moves between the intercepts,
when one side's factors are shifted and the other side's intercepts take it up, and when one side's
factors are turned or stretched and the other's turned back. Along these directions the errors say
nothing, so alternating solves creep; the penalties alone decide, and their minimum has a closed
form. Taking it after every sweep cuts the sweeps several times and can never raise the objective.

Everything happens on second moments: for a side with rows [1, i, f], M = mean of [1, i, f]'[1, i, f],
shape (2 + k, 2 + k). A move is a matrix T with new row = row @ T, so the new M is T' M T.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdnotes.bridging.model import Floats, Penalties

_ROUNDS = 3  # the moves touch each other a little; after three rounds nothing is left to gain
_TINY = 1e-12


@dataclass(frozen=True)
class Balanced:
    """The best move: T of the notes and of the raters (2 + k, 2 + k), the new mu, and the moments after it."""

    notes: Floats
    raters: Floats
    mu: float
    note_moments: Floats
    rater_moments: Floats


def balance(note_moments: Floats, rater_moments: Floats, mu: float, penalties: Penalties) -> Balanced:
    """Find the move that makes the penalties least while no prediction changes."""
    move = _Move(note_moments, rater_moments, mu, penalties)
    for _ in range(_ROUNDS):
        move.level()
        move.shift_rater_factors()
        move.shift_note_factors()
        move.stretch()
    return Balanced(move.notes, move.raters, move.mu, move.note_moments, move.rater_moments)


def penalty(note_moments: Floats, rater_moments: Floats, mu: float, penalties: Penalties) -> float:
    """The objective without its errors: lambda times the means of the squares, as the production code has it."""
    notes, raters = np.diagonal(note_moments), np.diagonal(rater_moments)
    return float(
        penalties.note_intercept * notes[1]
        + penalties.rater_intercept * raters[1]
        + penalties.note_factor * notes[2:].sum()
        + penalties.rater_factor * raters[2:].sum()
        + penalties.global_intercept * mu * mu
    )


def principal_axes(note_moments: Floats, rater_moments: Floats) -> Floats:
    """The rotation (k, k) after which the factors of both sides are uncorrelated, strongest first.

    Any rotation is as good for the objective; this one makes several factors comparable between fits.
    """
    together = note_moments[2:, 2:] / max(np.trace(note_moments[2:, 2:]), _TINY)
    together = together + rater_moments[2:, 2:] / max(np.trace(rater_moments[2:, 2:]), _TINY)
    _, axes = np.linalg.eigh(together)
    return np.ascontiguousarray(axes[:, ::-1])


class _Move:
    """The move so far. A side's M after T1 then T2 is T2' (T1' M T1) T2."""

    def __init__(self, note_moments: Floats, rater_moments: Floats, mu: float, penalties: Penalties) -> None:
        self.note_moments, self.rater_moments, self.mu = note_moments, rater_moments, mu
        self.penalties = penalties
        self.notes = np.eye(len(note_moments))
        self.raters = np.eye(len(rater_moments))

    def level(self) -> None:
        """Spread the constant part over mu and both intercepts in inverse proportion to their penalties."""
        p = self.penalties
        note_mean, rater_mean = self.note_moments[0, 1], self.rater_moments[0, 1]
        shared = (note_mean + rater_mean + self.mu) / (
            1 / p.note_intercept + 1 / p.rater_intercept + 1 / p.global_intercept
        )
        to_notes = np.eye(len(self.notes))
        to_notes[0, 1] = shared / p.note_intercept - note_mean
        to_raters = np.eye(len(self.raters))
        to_raters[0, 1] = shared / p.rater_intercept - rater_mean
        self.mu = float(shared / p.global_intercept)
        self._apply(to_notes, to_raters)

    def shift_rater_factors(self) -> None:
        """f_u += c, i_n -= f_n . c."""
        p = self.penalties
        c = _best_shift(self.note_moments, self.rater_moments, p.note_intercept, p.rater_factor)
        to_notes, to_raters = np.eye(len(self.notes)), np.eye(len(self.raters))
        to_raters[0, 2:] = c
        to_notes[2:, 1] = -c
        self._apply(to_notes, to_raters)

    def shift_note_factors(self) -> None:
        """f_n += d, i_u -= f_u . d."""
        p = self.penalties
        d = _best_shift(self.rater_moments, self.note_moments, p.rater_intercept, p.note_factor)
        to_notes, to_raters = np.eye(len(self.notes)), np.eye(len(self.raters))
        to_notes[0, 2:] = d
        to_raters[2:, 1] = -d
        self._apply(to_notes, to_raters)

    def stretch(self) -> None:
        """Stretch the note factors by S and the rater factors by its inverse, so that both weigh the same."""
        note_spread = self.penalties.note_factor * self.note_moments[2:, 2:]
        rater_spread = self.penalties.rater_factor * self.rater_moments[2:, 2:]
        if min(np.linalg.eigvalsh(note_spread)[0], np.linalg.eigvalsh(rater_spread)[0]) < _TINY:
            return  # a factor has died out: there is nothing to stretch
        root, back = _roots(note_spread)
        middle, _ = _roots(root @ rater_spread @ root)
        stretched, inverse = _roots(back @ middle @ back)
        to_notes, to_raters = np.eye(len(self.notes)), np.eye(len(self.raters))
        to_notes[2:, 2:] = stretched
        to_raters[2:, 2:] = inverse
        self._apply(to_notes, to_raters)

    def _apply(self, to_notes: Floats, to_raters: Floats) -> None:
        self.notes, self.raters = self.notes @ to_notes, self.raters @ to_raters
        self.note_moments = to_notes.T @ self.note_moments @ to_notes
        self.rater_moments = to_raters.T @ self.rater_moments @ to_raters


def _best_shift(moments: Floats, other: Floats, intercept_penalty: float, factor_penalty: float) -> Floats:
    """C that minimises factor_penalty mean|g + c|^2 + intercept_penalty mean (i - f . c)^2."""
    system = intercept_penalty * moments[2:, 2:] + factor_penalty * np.eye(len(moments) - 2)
    shift = np.linalg.solve(system, intercept_penalty * moments[2:, 1] - factor_penalty * other[0, 2:])
    return np.asarray(shift, dtype=np.float64)


def _roots(matrix: Floats) -> tuple[Floats, Floats]:
    """The square root of a positive definite matrix, and the root's inverse."""
    values, vectors = np.linalg.eigh(matrix)
    root = np.sqrt(np.maximum(values, _TINY * _TINY))
    return (vectors * root) @ vectors.T, (vectors / root) @ vectors.T
