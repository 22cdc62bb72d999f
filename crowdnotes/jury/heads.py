"""A head: one log odds from a note's features. Two halves that were trained apart and are then weighed.

Words half, over blocks of hashed words, letters and sources: presence times a word's own weight r,
brought to length one (as naive-Bayes support vector machines do, Wang and Manning 2012), times the
coefficients w. Stored as r^2 and r w, so a note's score is  sum_j r_j w_j / sqrt(sum_j r_j^2)  per block.

Vectors half: a Gaussian kernel between the note and landmark notes (Nyström approximation), by their vectors
and their stances together: the same people like notes that are near each other in meaning and take the same side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crowdnotes.jury.features import Features
from crowdnotes.jury.raters import Floats

Singles = npt.NDArray[np.float32]
_FURTHEST = 0.25  # a stance that few notes take must not push a note away from all landmarks


@dataclass(frozen=True)
class Channel:
    """One block under one weighting: squares r^2 and products r w, (2**bits,) each."""

    block: str
    squares: Singles
    products: Singles

    def score(self, features: Features) -> Floats:
        """The block's part of the log odds, (n,)."""
        present = features.blocks[self.block]
        length = np.sqrt(np.asarray(present @ self.squares, dtype=np.float64))
        part: Floats = np.divide(present @ self.products, length, out=np.zeros(len(features)), where=length > 0)
        return part

    def familiarity(self, features: Features) -> Floats:
        """The share of the block's entries that have a weight, (n,); 0 for a note without any."""
        present = features.blocks[self.block]
        known = np.asarray(present @ (self.squares > 0).astype(np.float64), dtype=np.float64)
        entries = np.diff(present.indptr)
        share: Floats = np.divide(known, entries, out=np.zeros(len(features)), where=entries > 0)
        return share


@dataclass(frozen=True)
class WordsHalf:
    """Channels, and coefficients of the manner (s,) and the stances (t,), with a constant."""

    channels: tuple[Channel, ...]
    manner: Floats
    stances: Floats
    constant: float

    def score(self, features: Features) -> Floats:
        """Log odds by words, manner and stances, (n,)."""
        total: Floats = self.constant + features.manner @ self.manner + features.stances @ self.stances
        for channel in self.channels:
            total = total + channel.score(features)
        return total

    def familiarity(self, features: Features) -> Floats:
        """The share of each note's words and pairs of words that two notes or more had which it learned from, (n,)."""
        return next(channel for channel in self.channels if channel.block == "words").familiarity(features)


@dataclass(frozen=True)
class VectorsHalf:
    """Coefficients (l,) of the kernel with each landmark, with a constant."""

    coefficients: Floats
    constant: float

    def score(self, kernel: Floats) -> Floats:
        """Log odds by meaning alone, (n,); kernel (n, l)."""
        total: Floats = self.constant + kernel @ self.coefficients
        return total


@dataclass(frozen=True)
class Landmarks:
    """Notes that others are near to or far from.

    points (l, d + t): their vectors, then their stances, scaled. scales (t,): what a note's stances are multiplied
    by. sharpness: of the kernel exp(-sharpness |x - y|^2).
    """

    points: Singles
    scales: Singles
    sharpness: float

    @classmethod
    def at(cls, notes: Features, scales: Singles, sharpness: float) -> Landmarks:
        """Landmarks at these notes, each place once."""
        return cls(np.unique(_points(notes, scales), axis=0), scales, sharpness)

    def kernel(self, notes: Features) -> Floats:
        """Nearness of notes to landmarks, (n, l)."""
        return self._near(_points(notes, self.scales))

    def among_themselves(self) -> Floats:
        """Nearness of landmarks to landmarks, (l, l)."""
        return self._near(self.points)

    def _near(self, points: Singles) -> Floats:
        apart = (points**2).sum(axis=1)[:, None] + (self.points**2).sum(axis=1) - 2 * (points @ self.points.T)
        near: Floats = np.exp(-self.sharpness * apart).astype(np.float64)
        return near


def _points(notes: Features, scales: Singles) -> Singles:
    stances = np.clip(notes.stances * scales, -_FURTHEST, _FURTHEST)
    # Half precision from the start, so that what is measured is what is saved.
    return np.column_stack((notes.vectors, stances)).astype(np.float16).astype(np.float32)


@dataclass(frozen=True)
class Blend:
    """Calibrated log odds: constant + words * words score + vectors * vectors score."""

    constant: float
    words: float
    vectors: float = 0.0


@dataclass(frozen=True)
class Head:
    """Both halves, and how they are weighed with vectors and without."""

    words: WordsHalf
    vectors: VectorsHalf
    both: Blend
    words_alone: Blend

    def log_odds(self, features: Features, kernel: Floats | None) -> Floats:
        """Calibrated log odds, (n,); kernel None when there are no vectors."""
        by_words = self.words.score(features)
        if kernel is None:
            return self.words_alone.constant + self.words_alone.words * by_words
        by_meaning = self.vectors.score(kernel)
        return self.both.constant + self.both.words * by_words + self.both.vectors * by_meaning
