"""A small camp model for tests: it knows a handful of words and the fake embedder's vectors."""

from __future__ import annotations

import numpy as np

from crowdnotes.domain import JuryQuality
from crowdnotes.jury.camp_model import CampModel, DividedShares
from crowdnotes.jury.features import BITS, features
from crowdnotes.jury.heads import Blend, Channel, Head, Landmarks, VectorsHalf, WordsHalf
from crowdnotes.jury.jury import Jury
from crowdnotes.jury.raters import shipped_pool
from crowdnotes.jury.reading_model import SideRaters
from crowdnotes.jury.votes import OrdinalModel
from crowdnotes.settings import BridgingSettings, JurySettings
from crowdnotes.testing import HashingEmbedder

QUALITY = JuryQuality(
    data="made",
    notes=1,
    polarising_auc=0.8,
    camp_auc=0.7,
    rating_auc=0.7,
    expected_calibration_error=0.04,
    note="A simulation of made words.",
)
SIDES = SideRaters.of(shipped_pool().draw(5_000, np.random.default_rng(0)))
_AT = features(["one landmark", "another one"], HashingEmbedder())
LANDMARKS = Landmarks.at(_AT, np.zeros(_AT.stances.shape[1], dtype=np.float32), 1.0)


def head(weights: dict[str, float], constant: float = 0.0) -> Head:
    """Log odds: `constant` plus the weights of the words present, over the root of how many are known."""
    squares = np.zeros(1 << BITS["words"], dtype=np.float32)
    products = np.zeros_like(squares)
    for word, weight in weights.items():
        # The word with the full stop that stands before the links' words gives its hashed column.
        columns = features([word], None).blocks["words"].indices
        squares[columns] = 1.0
        products[columns] = weight
    manner = np.zeros(features(["x"], None).manner.shape[1])
    stances = np.zeros(len(LANDMARKS.scales))
    words = WordsHalf((Channel("words", squares, products),), manner, stances, constant)
    return Head(words, VectorsHalf(np.zeros(2), 0.0), Blend(0.0, 1.0, 1.0), Blend(0.0, 1.0))


def small_model() -> CampModel:
    """ "divisive" divides, "plus" and "minus" please a side when it does, "lovely" joins well, "dreadful" badly."""
    return CampModel(
        name="small",
        embedder=HashingEmbedder.name,
        splits=head({"divisive": 6.0}, -3.0),
        positive_likes=head({"plus": 5.0, "minus": -5.0}),
        joined=head({"lovely": 3.0, "dreadful": -6.0}, 0.8),
        landmarks=LANDMARKS,
        divided=DividedShares(0.96, 0.04),
        sides=SIDES,
        ordinal=OrdinalModel(7.7, 0.4),
        quality=QUALITY,
    )


def small_jury(**settings: object) -> Jury:
    """A jury of the small model, the shipped raters and the fake embedder."""
    return Jury(
        small_model(), shipped_pool(), HashingEmbedder(), JurySettings.model_validate(settings), BridgingSettings()
    )
