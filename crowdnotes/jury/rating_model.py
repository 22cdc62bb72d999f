"""The model trained on the public data: single raters' ratings, with their intercepts and factors, and posts.

Two heads read a note's appeal and lean straight away; what the post adds is linear in its vector and in
how near the note is to it. Trained by `crowdnotes train jury` on a folder of public data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdnotes.domain import JuryQuality
from crowdnotes.jury.features import Features
from crowdnotes.jury.heads import Head, Landmarks
from crowdnotes.jury.raters import Floats
from crowdnotes.jury.reading_model import SideRaters
from crowdnotes.jury.votes import OrdinalModel, Predictions


@dataclass(frozen=True)
class RatingModel:
    """See the module's words. Implements `JuryModel`.

    post_weights (d + 1, 2): of the post's vector and of note and post's likeness, on appeal and lean;
    no rows when it was trained without posts.
    """

    name: str
    embedder: str
    appeal: Head
    lean: Head
    landmarks: Landmarks
    post_weights: Floats
    sides: SideRaters
    ordinal: OrdinalModel
    quality: JuryQuality

    @property
    def reads_post(self) -> bool:
        """See `JuryModel`."""
        return bool(len(self.post_weights))

    def familiarity(self, notes: Features) -> Floats:
        """See `JuryModel.familiarity`."""
        return self.appeal.words.familiarity(notes)

    def read(self, notes: Features, posts: Features | None = None) -> Predictions:
        """See `JuryModel.read`. A post counts only where both vectors are there."""
        kernel = self.landmarks.kernel(notes) if notes.vectors.shape[1] else None
        appeal, lean = self.appeal.log_odds(notes, kernel), self.lean.log_odds(notes, kernel)
        if kernel is not None and posts is not None and self.reads_post:
            added = post_columns(notes, posts) @ self.post_weights
            appeal, lean = appeal + added[:, 0], lean + added[:, 1]
        return Predictions(appeal, lean)


def post_columns(notes: Features, posts: Features) -> Floats:
    """What is read of posts, (n, d + 1): their vectors, and their likeness to the notes."""
    likeness = np.einsum("nd,nd->n", notes.vectors, posts.vectors)
    return np.column_stack((posts.vectors, likeness)).astype(np.float64)
