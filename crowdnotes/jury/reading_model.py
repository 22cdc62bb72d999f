"""What every model of the jury offers, and the raters that stand for each side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from crowdnotes.domain import JuryQuality
from crowdnotes.errors import InputError
from crowdnotes.jury.features import Features
from crowdnotes.jury.raters import Floats, Jurors
from crowdnotes.jury.votes import OrdinalModel, Predictions, chances

_PER_SIDE = 100


@dataclass(frozen=True)
class SideRaters:
    """Raters that stand for each side: averages over them are a side's."""

    negative: Jurors
    positive: Jurors

    @classmethod
    def of(cls, raters: Floats) -> SideRaters:
        """From many raters (m, 2), intercept and factor: evenly spread over each side's factors.

        Raises InputError when a side has nobody.
        """
        return cls(*(_spread(raters[(raters[:, 1] >= 0) == positive]) for positive in (False, True)))


def _spread(side: Floats) -> Jurors:
    if not len(side):
        raise InputError("All raters stand on one side.", "The jury needs raters of both sides.")
    ordered = side[np.lexsort((side[:, 0], side[:, 1]))]
    places = ((np.arange(_PER_SIDE) + 0.5) / _PER_SIDE * len(ordered)).astype(np.intp)
    return Jurors(ordered[places, 0].round(5), ordered[places, 1].round(5))


class JuryModel(Protocol):
    """Text to appeal and lean."""

    @property
    def name(self) -> str:
        """Which model, for the record."""
        ...

    @property
    def embedder(self) -> str:
        """The embedder whose vectors it knows."""
        ...

    @property
    def ordinal(self) -> OrdinalModel:
        """From the note's and a rater's numbers to the chances of a rating."""
        ...

    @property
    def sides(self) -> SideRaters:
        """The raters of its training."""
        ...

    @property
    def quality(self) -> JuryQuality:
        """What it was measured to do."""
        ...

    @property
    def reads_post(self) -> bool:
        """Whether the post's text has a part in its reading."""
        ...

    def familiarity(self, notes: Features) -> Floats:
        """The share of each note's words and pairs of words that the notes of its training had, (n,)."""
        ...

    def read(self, notes: Features, posts: Features | None = None) -> Predictions:
        """Read notes. Features without vectors (no columns) are read by words, letters, sources and manner.

        posts: of the notes' posts, row by row, for a model that reads them; None where there is no post.
        """
        ...


def side_chances(model: JuryModel, predicted: Predictions) -> Floats:
    """The mean P(helpful) on each side, − then +: (n, 2)."""
    return np.column_stack(
        [
            chances(predicted.appeal, predicted.lean, side, model.ordinal)[0].mean(axis=1)
            for side in (model.sides.negative, model.sides.positive)
        ]
    )


def tilt_of_audience(model: JuryModel, predicted: Predictions, strength: float) -> float:
    """See `sampling`: how one note's likely viewers lean, in log odds per unit of rater factor."""
    negative, positive = side_chances(model, predicted)[0]
    return float(strength * (negative - positive))


def no_vectors(features: Features) -> Features:
    """The same notes for a model whose embedder is not at hand."""
    return features.with_vectors(np.zeros((len(features), 0), dtype=np.float32))
