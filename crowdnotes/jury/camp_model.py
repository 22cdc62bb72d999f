"""The model trained on camps: from votes of two camps, without any single rater's.

Three heads read a note: whether it divides the camps, which camp then likes it, and how well both like
it when it does not. Their mixture gives each side's chance of "helpful", and the two chances fix the
note's appeal and lean for every rater in between (the ordinal model of `votes`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdnotes.domain import JuryQuality
from crowdnotes.jury.features import Features
from crowdnotes.jury.heads import Head, Landmarks
from crowdnotes.jury.raters import Floats
from crowdnotes.jury.reading_model import SideRaters
from crowdnotes.jury.votes import OrdinalModel, Predictions, chances, logit, sigmoid

_STEPS = 12  # enough for 1e-6 at the furthest shares


@dataclass(frozen=True)
class CampChances:
    """Of n notes, (n,) each: the chance that the sides divide, that side + is then the one that likes it,
    and the share of helpful votes on both sides if they do not divide.
    """

    splits: Floats
    positive_likes: Floats
    joined_share: Floats


@dataclass(frozen=True)
class DividedShares:
    """Shares of helpful votes on a divided note: in the camp that likes it, and in the other."""

    likes: float
    dislikes: float


@dataclass(frozen=True)
class CampModel:
    """See the module's words. Implements `JuryModel`."""

    name: str
    embedder: str
    splits: Head
    positive_likes: Head
    joined: Head
    landmarks: Landmarks
    divided: DividedShares
    sides: SideRaters
    ordinal: OrdinalModel
    quality: JuryQuality
    reads_post: bool = False

    def read_camps(self, notes: Features) -> CampChances:
        """The three heads' chances."""
        kernel = self.landmarks.kernel(notes) if notes.vectors.shape[1] else None
        heads = (self.splits, self.positive_likes, self.joined)
        return CampChances(*(sigmoid(head.log_odds(notes, kernel)) for head in heads))

    def side_shares(self, camps: CampChances) -> Floats:
        """The share of helpful votes expected on each side, − then +: (n, 2)."""
        up, down = self.divided.likes, self.divided.dislikes
        positive = camps.positive_likes * up + (1 - camps.positive_likes) * down
        negative = camps.positive_likes * down + (1 - camps.positive_likes) * up
        joined = (1 - camps.splits) * camps.joined_share
        return np.column_stack((joined + camps.splits * negative, joined + camps.splits * positive))

    def familiarity(self, notes: Features) -> Floats:
        """See `JuryModel.familiarity`."""
        return self.splits.words.familiarity(notes)

    def read(self, notes: Features, posts: Features | None = None) -> Predictions:  # noqa: ARG002 - it reads notes alone
        """See `JuryModel.read`."""
        camps = self.read_camps(notes)
        appeal, lean = appeal_and_lean(self.side_shares(camps), self.sides, self.ordinal)
        return Predictions(appeal, lean, camps.splits)


def appeal_and_lean(shares: Floats, sides: SideRaters, ordinal: OrdinalModel) -> tuple[Floats, Floats]:
    """The appeal and lean (n,) under which each side's mean chance of "helpful" is its share (n, 2).

    Newton's method on two unknowns a note. Shares are kept from 0 and 1, where there is no answer.
    """
    wanted = np.clip(shares, 0.005, 0.995)
    places = np.asarray([sides.negative.factors.mean(), sides.positive.factors.mean()])
    kindness = ordinal.intercept_slope * np.asarray(
        [sides.negative.intercepts.mean(), sides.positive.intercepts.mean()]
    )
    odds = logit(wanted) - kindness  # exact if a side were its mean rater
    lean = (odds[:, 1] - odds[:, 0]) / (places[1] - places[0])
    appeal = odds[:, 0] - lean * places[0]
    for _ in range(_STEPS):
        values, by_appeal, by_lean = [], [], []
        for side in (sides.negative, sides.positive):
            helpful, _ = chances(appeal, lean, side, ordinal)
            slope = helpful * (1 - helpful)
            values.append(helpful.mean(axis=1))
            by_appeal.append(slope.mean(axis=1))
            by_lean.append(slope @ side.factors / len(side))
        miss = np.stack(values) - wanted.T
        determinant = by_appeal[0] * by_lean[1] - by_appeal[1] * by_lean[0]
        appeal = appeal - np.clip((by_lean[1] * miss[0] - by_lean[0] * miss[1]) / determinant, -2, 2)
        lean = lean - np.clip((by_appeal[0] * miss[1] - by_appeal[1] * miss[0]) / determinant, -5, 5)
    return appeal, lean
