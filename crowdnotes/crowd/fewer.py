"""A note's score and status with some of its ratings taken away, all else as it is: whether a little less flips it.

The raters' parameters are held as fitted, as in the note's story: the ratings that go are missing for this note alone.
"""

from __future__ import annotations

from collections import Counter
from enum import StrEnum

import numpy as np

from crowdnotes.bridging.status import NoteStatus, RuleName
from crowdnotes.crowd.replay import Replay, deciding_rule, why
from crowdnotes.domain import Noun
from crowdnotes.wording import say

TAKEN = (1, 5, 10)
_DRAWS, _FEW_DRAWS, _MANY = 100, 20, 10_000  # of a note with many ratings fewer: each costs a pass over them


class Which(StrEnum):
    """Which ratings go. The first two go by what a rating adds to the score: its level beyond its rater's usual."""

    HELPFUL = say("fewer.helpful")
    UNHELPFUL = say("fewer.unhelpful")
    RANDOM = say("fewer.random")


class Fewer(Noun):
    """The note with `taken` ratings less, once for each way to take them: one, or of random ones many.

    before: its status with all of them. scores: null where too few known raters are left. rules: what decided each
    status; why: the reasons of the first.
    """

    taken: int
    which: Which
    score: float | None
    before: NoteStatus
    scores: tuple[float | None, ...]
    statuses: tuple[NoteStatus, ...]
    rules: tuple[RuleName, ...]
    why: str

    @property
    def changed(self) -> int:
        """How many of the ways change the status."""
        return sum(status is not self.before for status in self.statuses)

    @property
    def sentence(self) -> str:
        """What came of it."""
        ratings = say("fewer.ratings", n=self.taken)
        if self.which is Which.RANDOM:
            said = say("fewer.of_random", changed=self.changed, all=len(self.statuses), ratings=ratings)
            by = Counter(rule for rule, status in zip(self.rules, self.statuses, strict=True) if status != self.before)
            return f"{said} {say('fewer.mostly', rule=by.most_common(1)[0][0].in_words)}" if by else said
        stays = "fewer.stays" if not self.changed else "fewer.becomes"
        said = say(stays, which=self.which, ratings=ratings, status=self.statuses[0].in_words)
        (score,) = self.scores
        if score is None:
            return f"{said} {say('fewer.few_known')}"
        return f"{said} {say('fewer.score', score=score)}" + (f" {self.why}" if self.changed else "")


def fewer(replayed: Replay, taken: int, which: Which) -> Fewer | None:
    """Take so many ratings away; None where the note has no more than that. The same note gives the same draws."""
    ratings = len(replayed)
    if ratings <= taken:
        return None
    now = replayed.moment(ratings)
    shown = now.status is NoteStatus.HELPFUL  # as in X's next run
    if which is Which.RANDOM:
        chance = np.random.default_rng(ratings)
        draws = _DRAWS if ratings <= _MANY else _FEW_DRAWS
        gone = [chance.choice(ratings, taken, replace=False) for _ in range(draws)]
    else:
        order = np.argsort(replayed.worth, kind="stable")  # ratings that do not count stand last, as NaN
        known = order[: int(np.isfinite(replayed.worth).sum())]
        gone = [known[-taken:] if which is Which.HELPFUL else known[:taken]]
    left = [replayed.without(places) for places in gone]
    found = [one.decided(len(one), was_helpful=shown) for one in left]
    return Fewer(
        taken=taken, which=which, score=now.intercept, before=now.status,
        scores=tuple(one.note_intercept for one in found), statuses=tuple(one.status for one in found),
        rules=tuple(deciding_rule(one) for one in found), why=why(found[0]),
    )  # fmt: skip
