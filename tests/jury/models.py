"""A small camp model for tests: it knows a handful of words."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from crowdnotes.domain import JuryQuality
from crowdnotes.jury.jury import Jury
from crowdnotes.jury.model import COLUMNS, CampModel, Landmarks, Rarity, Score, features
from crowdnotes.jury.raters import shipped_pool
from crowdnotes.jury.votes import Crowd, OrdinalModel, Sides
from crowdnotes.settings_sections import JurySettings
from tests.fakes import HashingEmbedder

QUALITY = JuryQuality(
    data="made",
    notes=1,
    polarising_auc=0.8,
    camp_auc=0.7,
    rating_auc=0.7,
    expected_calibration_error=0.04,
    note="A simulation of made words.",
)
_WORDS = {
    "splits": {"divisive": 9.0},
    "positive_likes": {"plus": 7.0, "minus": -7.0},
}
_CONSTANTS = {"splits": -3.0, "positive_likes": 0.0}


def small_model(joined: float = 0.9) -> CampModel:
    """ "divisive" divides, "plus" and "minus" please a side when it does; a note that joins gets `joined`."""
    rarity = np.zeros(COLUMNS, dtype=np.float32)
    landmarks = Landmarks(features(["one landmark"], HashingEmbedder()).vectors, 1.0)
    scores = {}
    for name, words in _WORDS.items():
        hashed = np.zeros(COLUMNS, dtype=np.float32)
        for word, weight in words.items():
            column = features([word], None).hashed.indices[0]
            rarity[column], hashed[column] = 1.0, weight
        constant = _CONSTANTS[name]
        scores[name] = Score(hashed, np.zeros(1, dtype=np.float32), constant, (constant, 1.0))
    return CampModel(
        name="small",
        embedder=HashingEmbedder.name,
        rarity=Rarity(rarity),
        landmarks=landmarks,
        scores=scores,
        ordinal=OrdinalModel(7.7, 0.4),
        sides=Sides.of(shipped_pool().draw(5_000, np.random.default_rng(0))),
        quality=QUALITY,
        likes=0.96,
        dislikes=0.04,
        joined=joined,
    )


class EveryWordFamiliar(JurySettings):
    """Settings under which no text is too strange for the jury."""

    familiar_words: ClassVar[float] = 0.0


def small_jury(*, joined: float = 0.9, kind: type[JurySettings] = JurySettings, **settings: object) -> Jury:
    """A jury of the small model, the shipped raters and the fake embedder."""
    return Jury(
        small_model(joined),
        shipped_pool(),
        HashingEmbedder(),
        kind.model_validate(settings),
        Crowd.of(shipped_pool(), JurySettings()),
    )
