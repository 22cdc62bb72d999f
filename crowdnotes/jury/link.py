"""From a note's two numbers and a rater's two numbers to the chances of the three ratings.

A proportional-odds model: with utility e = appeal + lean * f_u + b * i_u,

    P(helpful) = sigma(e),   P(not helpful) = sigma(-(e + width)),   P(somewhat helpful) = the rest.

The note's text enters by appeal and lean alone, so it is read once, and any number of jurors is an
outer product away. Appeal moves the note intercept of the factorization, lean its factor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdnotes.jury.pool import Floats
from crowdnotes.jury.sampling import Jurors


@dataclass(frozen=True)
class Link:
    """b, per unit of rater intercept, and the width of "somewhat helpful" in log odds (above 0)."""

    intercept_slope: float
    width: float


def helpful_odds(appeal: Floats, lean: Floats, jurors: Jurors, link: Link) -> Floats:
    """Log odds of "helpful", (n, u), of notes with appeal and lean (n,) each."""
    odds: Floats = appeal[:, None] + np.outer(lean, jurors.factors) + link.intercept_slope * jurors.intercepts
    return odds


def chances(appeal: Floats, lean: Floats, jurors: Jurors, link: Link) -> tuple[Floats, Floats]:
    """P(helpful) and P(not helpful), (n, u) each; what is missing to 1 is P(somewhat helpful)."""
    odds = helpful_odds(appeal, lean, jurors, link)
    return sigmoid(odds), sigmoid(-(odds + link.width))


def sigmoid(x: Floats) -> Floats:
    """1 / (1 + exp(-x)), without overflow."""
    bent: Floats = 0.5 * (1.0 + np.tanh(0.5 * x))
    return bent


def logit(p: Floats) -> Floats:
    """The inverse, of chances kept a hair away from 0 and 1."""
    kept = np.clip(p, 1e-6, 1 - 1e-6)
    odds: Floats = np.log(kept / (1 - kept))
    return odds
