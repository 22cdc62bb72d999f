"""Measures of a model of single ratings, as in Supernotes: AUC of three classes, calibration, precision at 1."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from crowdnotes.domain import Noun
from crowdnotes.jury.votes import OrdinalModel, sigmoid
from crowdnotes.studies.measures import auc, calibration_curve, calibration_error

Floats = npt.NDArray[np.float64]
_LEAST_RATINGS = 5  # of a note before its mean rating says which note on a post is best
_MOST_NOTES = 5  # posts with as many notes or more are counted together


class PrecisionAtOne(Noun):
    """Of posts with so many notes: how often the model's best note is the raters' best; chance is 1 / notes."""

    notes_on_post: str
    posts: int
    precision: float
    chance: float


class PublicFigures(Noun):
    """On newer notes than those learned from, by raters whose parameters are from the past alone.

    *_auc: one class against the rest, over single ratings; None where a class does not occur. ece and
    curve are of "helpful".
    """

    helpful_auc: float | None
    somewhat_helpful_auc: float | None
    not_helpful_auc: float | None
    log_loss: float
    ece: float
    curve: tuple[dict[str, float], ...]
    precision_at_1: tuple[PrecisionAtOne, ...]
    ratings: int
    notes: int
    learned_from_ratings: int
    learned_from_notes: int
    raters: int
    reads_posts: bool
    penalty: float
    dropped: dict[str, int]


def class_aucs(odds: Floats, ordinal: OrdinalModel, value: Floats) -> tuple[float | None, float | None, float | None]:
    """Helpful, somewhat helpful, not helpful, each against the rest; odds and value (m,)."""
    helpful, not_helpful = sigmoid(odds), sigmoid(-(odds + ordinal.width))
    scores = ((helpful, 1.0), (1 - helpful - not_helpful, 0.5), (not_helpful, 0.0))
    found = [auc(score, (value == level).astype(float), (value != level).astype(float)) for score, level in scores]
    return found[0], found[1], found[2]


def helpful_calibration(odds: Floats, value: Floats) -> tuple[float, tuple[dict[str, float], ...]]:
    """The calibration error of "helpful", and its curve."""
    said, happened, one = sigmoid(odds), (value == 1).astype(float), np.ones(len(odds))
    return calibration_error(said, happened, one), tuple(calibration_curve(said, happened, one))


def precision_at_one(
    expected: Floats, note: npt.NDArray[np.int32], value: Floats, posts: npt.NDArray[np.int64]
) -> tuple[PrecisionAtOne, ...]:
    """Expected (n,): the model's mean rating of each note; note, value (m,): its ratings; posts (n,).

    Notes with few ratings, and posts that are not known, are left out; ties of raters count for the model.
    """
    count = np.bincount(note, minlength=len(posts))
    mean = np.divide(np.bincount(note, value, len(posts)), count, out=np.zeros(len(posts)), where=count > 0)
    usable = (count >= _LEAST_RATINGS) & (posts >= 0)
    hits: dict[int, list[tuple[bool, float]]] = {}
    for post in np.unique(posts[usable]):
        rows = np.flatnonzero(usable & (posts == post))
        if len(rows) < 2:
            continue
        best = rows[int(np.argmax(expected[rows]))]
        hits.setdefault(min(len(rows), _MOST_NOTES), []).append((mean[best] == mean[rows].max(), 1 / len(rows)))
    return tuple(
        PrecisionAtOne(
            notes_on_post=f"{number} or more" if number == _MOST_NOTES else str(number),
            posts=len(found),
            precision=round(float(np.mean([hit for hit, _ in found])), 4),
            chance=round(float(np.mean([chance for _, chance in found])), 4),
        )
        for number, found in sorted(hits.items())
    )
