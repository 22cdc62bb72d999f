"""An experiment on extremes: notes with the same average rating, of which one kind divides more than the other.

As in Vitalik Buterin's essay "What do I think about Community Notes?" (16 August 2023) and the program that it links
to: two sides, as many raters as notes, four kinds of notes, each note rated by few. A good note gets +2 from the side
of its author and 0 from the other, an extreme one +4 and −2, a neutral one +1 and −1, a poor one 0 and −2. Three
things are otherwise. The score is this project's, of ratings between 0 and 1: −2 counts as 0 and +4 as 1. An absent
rating is absent, where the essay's program takes it for 0. And each note has exactly so many ratings from its own side,
so that the averages of good and extreme notes are equal, not only nearly so.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdnotes.bridging.factorization import fit
from crowdnotes.bridging.model import Floats, Ids, RatingTable
from crowdnotes.wording import fill

ROUNDS = 100
KINDS = {
    "good": (2, 0),
    "good but extreme": (4, -2),
    "neutral": (1, -1),
    "poor": (0, -2),
}
"""What each kind gets from the side of its author and from the other."""
_KINDS_BY_STOPPED = {  # whether the rule stops good notes, extreme ones
    (True, True): "good and good but extreme ones",
    (True, False): "good ones",
    (False, True): "good but extreme ones",
    (False, False): "neither",
}
_MIN_CLEAR_GAP, _MIN_CLEAR_SHARE = 0.01, 0.75  # of the mean scores; of the rounds that put the same kind higher
_LOWEST_VALUE, _HIGHEST_VALUE = -2, 4
_NOTES_PER_RATING = 4  # as many times more notes and raters than ratings of a note


@dataclass(frozen=True, slots=True)
class KindResult:
    """Means over all notes of a kind: the average rating (−2 to 4), the score, the size of the note factor."""

    kind: str
    own: int
    other: int
    average: float
    score: float
    polarity: float


@dataclass(frozen=True, slots=True)
class Experiment:
    """rounds of notes with `ratings` ratings each, `own` of them from the side of the author.

    good_above: in how many rounds the good notes scored above the extreme ones. by_round: of each round and kind the
    mean average rating, score and size of polarity (rounds, 4, 3).
    """

    rounds: int
    ratings: int
    own: int
    good_above: int
    kinds: tuple[KindResult, ...]
    by_round: Floats

    @property
    def sentence(self) -> str:
        """Whether the score keeps extremes down, and plain averages do."""
        good, extreme = self.kinds[0], self.kinds[1]
        averages = f"Average ratings: good {good.average:+.2f}, extreme {extreme.average:+.2f}"
        scores = f"Scores: good {good.score:.3f}, extreme {extreme.score:.3f}"
        times = max(self.good_above, self.rounds - self.good_above)
        words = (
            "The score puts good notes above extreme ones in {n} of {all} rounds. {averages}. {scores}."
            if 2 * self.good_above >= self.rounds
            else "The score puts extreme notes above good ones in {n} of {all} rounds. {averages}. {scores}."
        )
        return fill(words, n=times, all=self.rounds, averages=averages, scores=scores)

    @property
    def verdict(self) -> str:
        """Whether the score resists extremes in these settings, and why if not."""
        good, extreme = self.kinds[0], self.kinds[1]
        gap = abs(good.score - extreme.score)
        same = max(self.good_above, self.rounds - self.good_above)
        if gap < _MIN_CLEAR_GAP or same < _MIN_CLEAR_SHARE * self.rounds:
            return (
                f"No clear difference: the scores are {gap:.3f} apart. The more ratings, the smaller the gap. The "
                "rule on viewpoints has to stop extreme notes: see below the picture."
            )
        if self.good_above > self.rounds / 2:
            return (
                "Yes. At the same average, notes that one side loves and the other hates score lower. The "
                "more ratings, the smaller the gap."
            )
        if 2 * self.own > self.ratings:
            return (
                "No. Most ratings come from the note's own side, so extreme notes have the higher average, "
                "and the score takes away only a part of that. The rule on viewpoints has to stop them: see below "
                "the picture."
            )
        return "No. In these settings the extreme notes score higher."

    def polarity_sentence(self, line: float) -> str:
        """Return what the rule on one-sided notes does with them. line: the polarity above which no note is shown."""
        good, extreme = self.kinds[0], self.kinds[1]
        stopped = _KINDS_BY_STOPPED[good.polarity > line, extreme.polarity > line]
        return (
            f"Viewpoint: good {good.polarity:.2f}, extreme {extreme.polarity:.2f}. The rule against notes above "
            f"{line:.2f} stops {stopped}."
        )

    @property
    def rows(self) -> dict[str, list[object]]:
        """The table of average results, by column."""
        return {
            "kind": [found.kind for found in self.kinds],
            "from own side": [_format_signed(found.own, "d") for found in self.kinds],
            "from other side": [_format_signed(found.other, "d") for found in self.kinds],
            "average rating": [_format_signed(found.average, ".2f") for found in self.kinds],
            "score": [f"{found.score:.4f}".replace("-", "−") for found in self.kinds],
            "size of viewpoint": [f"{found.polarity:.4f}" for found in self.kinds],
        }


def _format_signed(value: float, form: str) -> str:
    """With its sign, zero without."""
    return f"{value:+{form}}".replace("-", "−") if float(f"{value:{form}}") else f"{0:{form}}"


def run_experiment(ratings: int = 4, own: int = 2, rounds: int = ROUNDS) -> Experiment:
    """Run it. ratings: of each note, and by each rater; own: how many of a note's are from the side of its author."""
    found = np.array([_run_round(ratings, own, seed) for seed in range(rounds)])
    means = found.mean(axis=0)
    above = int((found[:, 0, 1] > found[:, 1, 1]).sum())
    results = (
        KindResult(kind, *gets, *(float(number) for number in row))
        for (kind, gets), row in zip(KINDS.items(), means, strict=True)
    )
    return Experiment(rounds, ratings, own, above, tuple(results), found)


def _run_round(ratings: int, own: int, seed: int) -> Floats:
    """Return the mean average rating, score and size of polarity of each kind, (4, 3)."""
    size = _NOTES_PER_RATING * ratings
    kinds = np.repeat(np.arange(len(KINDS)), size // len(KINDS))
    note, rater = _assign_ratings(size, ratings, own, np.random.default_rng(seed))
    gets = np.array(list(KINDS.values()))[kinds[note]]
    value = np.where(note % 2 == rater % 2, gets[:, 0], gets[:, 1])
    helpful = ((value - _LOWEST_VALUE) / (_HIGHEST_VALUE - _LOWEST_VALUE)).astype(np.float32)
    table = RatingTable(np.arange(size), np.arange(size), note.astype(np.int32), rater.astype(np.int32), helpful)
    found = fit(table).notes
    averages = np.bincount(note, value, size) / ratings
    rows = np.column_stack((averages, found.intercepts, np.abs(found.factors[:, 0])))
    return np.array([rows[kinds == kind].mean(axis=0) for kind in range(len(KINDS))])


def _assign_ratings(size: int, ratings: int, own: int, chance: np.random.Generator) -> tuple[Ids, Ids]:
    """Pairs of note and rater: `ratings` of each, `own` of them between those of one side (both even, or both odd)."""
    notes, raters = [], []
    for same in (True, False):
        for side in (0, 1):
            on_side = chance.permutation(np.arange(side, size, 2))
            who = chance.permutation(np.arange(side if same else 1 - side, size, 2))
            for turn in range(own if same else ratings - own):
                notes.append(on_side)
                raters.append(np.roll(who, turn))
    return np.concatenate(notes), np.concatenate(raters)
