"""A small world of raters and notes, made from a seed, and what the Community Notes algorithm makes of its ratings.

A rater u of the world rates a note n, on a scale from 0 to 1:

    0.5 + worth of n + lean of n x position of u + generosity of u + chance

rounded to NOT_HELPFUL, SOMEWHAT_HELPFUL or HELPFUL. Worth, lean, position and generosity are known here and hidden from
the algorithm, which sees the ratings alone: `score`, as for the public data, finds intercepts, factors and statuses.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

import numpy as np
import numpy.typing as npt

from crowdnotes.bridging.model import Factorization, Floats, NoteStatus, RatingTable, SideParameters, StatusResult
from crowdnotes.bridging.public_scoring import NoteFacts, PublicScores, score
from crowdnotes.bridging.ratings import Ratings
from crowdnotes.bridging.scoring import locate
from crowdnotes.bridging.thresholds import THRESHOLDS, Thresholds
from crowdnotes.wording import fill, plural

RATERS, NOTES = 120, 60
NOW_MS = 1_750_000_000_000  # when all notes were written and rated: after the last change of the rules on time
_CAMP_SPREAD = 0.1  # of positions within a camp
_START_SPREAD = 0.3  # of raters' factors before a fit from a random start
_MAX_SAME_MOVE = 0.005  # between two intercepts: less is not seen in two decimals
_MIN_SHOWN_MOVE = 0.0001  # smallest difference that is given as a number
_KIND_SPREAD = 0.08  # of worth and lean among notes of a kind


class NoteKind(StrEnum):
    """What a note was made to be."""

    BOTH = "helps both sides"
    MINUS = "pleases side A"
    PLUS = "pleases side B"
    POOR = "helps nobody"

    @property
    def one_sided(self) -> bool:
        """Whether it pleases one side alone."""
        return self in {NoteKind.MINUS, NoteKind.PLUS}


_WORTH_AND_LEAN_BY_KIND = {
    NoteKind.BOTH: (0.4, 0.0),
    NoteKind.MINUS: (0.2, -0.7),
    NoteKind.PLUS: (0.2, 0.7),
    NoteKind.POOR: (-0.3, 0.0),
}
"""Worth and lean of each kind."""
_NAME_WITHOUT_SIDES = {
    NoteKind.BOTH: "helps everybody",
    NoteKind.MINUS: "leans one way",
    NoteKind.PLUS: "leans the other way",
}
_MIRRORED_KIND = {NoteKind.MINUS: NoteKind.PLUS, NoteKind.PLUS: NoteKind.MINUS}


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldOptions:
    """How a world is made.

    camps: 1 or 2. polarity: distance of the two from the middle, 0 to 1. share: of the larger one among all raters.
    generosity, noise: standard deviations, on the scale of ratings. ratings_each: how many notes each rater rates.
    """

    camps: int = 2
    polarity: float = 0.7
    share: float = 0.75
    generosity: float = 0.1
    noise: float = 0.2
    ratings_each: int = 20
    seed: int = 0


@dataclass(frozen=True, slots=True)
class SideSum:
    """How the raters of a note on one side, by their factors, come to their ratings: means over them.

    predicted = mu + intercept + note intercept + factor x note factor. rated: what they said. NaN without raters.
    """

    raters: int
    intercept: float
    factor: float
    predicted: float
    rated: float


@dataclass(frozen=True, eq=False)
class World:
    """A world with its ratings and their scores.

    camps (u,): -1 or 1 for each rater; 0 where all are in one. kinds, made (n, 2): of each note, its worth and lean.
    averages (n,): of its ratings. statuses: of each note, in order. fit: of those raters whom the crowd came to agree
    with.
    """

    options: WorldOptions
    camps: npt.NDArray[np.int8]
    kinds: tuple[NoteKind, ...]
    made: Floats
    table: RatingTable
    averages: Floats
    fit: Factorization
    statuses: tuple[StatusResult, ...]
    notices: tuple[str, ...]
    thresholds: Thresholds

    @property
    def one_camp(self) -> bool:
        """Whether the world has no sides."""
        return self.options.camps == 1 or not self.options.polarity

    def name(self, kind: NoteKind) -> str:
        """Return what notes of the kind are called: without sides they please none of them."""
        return _NAME_WITHOUT_SIDES[kind] if self.one_camp and kind in _NAME_WITHOUT_SIDES else kind.value

    @cached_property
    def scores(self) -> Floats:
        """The note intercepts (n,), NaN where too few ratings count."""
        return np.array([found.note_intercept for found in self.statuses], dtype=np.float64)

    @cached_property
    def factors(self) -> Floats:
        """The note factors (n,), NaN as the scores."""
        return np.array([found.note_factor for found in self.statuses], dtype=np.float64)

    @cached_property
    def shown(self) -> npt.NDArray[np.bool_]:
        """Which notes (n,) the algorithm shows."""
        return np.array([found.status is NoteStatus.HELPFUL for found in self.statuses])

    @cached_property
    def average_line(self) -> float | None:
        """The average rating from which plain averaging would show as many notes; None where none are shown."""
        many = int(self.shown.sum())
        return float(np.sort(self.averages)[-many]) if many else None

    @property
    def sentence(self) -> str:
        """What the map of notes shows."""
        many = int(self.shown.sum())
        if not many:
            best = int(np.argmax(np.nan_to_num(self.scores, nan=-np.inf)))
            score = self.scores[best]
            reached = "" if np.isnan(score) else f"Note {best + 1} has the highest score, {score:.2f}. "
            return f"No note is shown. {reached}{self.reasons(best)}"
        return plural(
            many,
            "{n} note of {all} is shown: {kinds}.",
            "{n} notes of {all} are shown: {kinds}.",
            all=NOTES,
            kinds=self._of_kinds(self.shown),
        )

    @property
    def average_sentence(self) -> str:
        """How plain averages order the same notes, compared with the score."""
        by_average, by_score = (self._below_one_sided(values) for values in (self.averages, self.scores))
        words = (
            (
                "By average, the best note that leans one way beats {by_average} of {n} notes that help "
                "everybody. By score, it beats {by_score}."
            )
            if self.one_camp
            else (
                "By average, the best one-sided note beats {by_average} of {n} notes that help both sides. By "
                "score, it beats {by_score}."
            )
        )
        return fill(words, by_average=by_average, n=NOTES // len(_WORTH_AND_LEAN_BY_KIND), by_score=by_score or "none")

    def _below_one_sided(self, values: Floats) -> int:
        """Return how many notes that help both sides lie below the best one-sided one; those without a score do not."""
        one_sided = np.array([kind.one_sided for kind in self.kinds])
        both = np.array([kind is NoteKind.BOTH for kind in self.kinds])
        return int((values[both] < np.nan_to_num(values[one_sided], nan=-np.inf).max()).sum())

    @property
    def left_out_sentence(self) -> str:
        """How many raters do not count, and how many notes then have no score; "" where there are none."""
        raters, notes = RATERS - len(self.fit.raters), int(np.isnan(self.scores).sum())
        sentences = []
        if raters:
            share = self.thresholds.rater_helpfulness
            does = plural(raters, "1 rater of {all} does", "{n} raters of {all} do", all=RATERS)
            sentences.append(f"{does} not count: as on X, a rater must agree with {share:.0%} of first verdicts.")
        if notes:
            few = self.thresholds.min_raters_per_note
            have = plural(notes, "1 note has", "{n} notes have")
            sentences.append(f"{have} no score: under {few} of the ratings count.")
        return " ".join(sentences)

    @property
    def sides_sentence(self) -> str:
        """How well the raters' sides were found; that there are none, where the world has one camp."""
        if self.one_camp:
            return (
                "Everybody thinks alike here, so a plain average would do. What the model takes for sides A and B is "
                "mostly chance."
            )
        of_sides = self.camps[self.fit.raters.ids] * self.fit.raters.factors[:, 0]
        return f"From ratings alone, the model finds the side of {int((of_sides > 0).sum())} of {len(of_sides)} raters."

    def story(self, note: int) -> str:
        """Return why a note is shown or not, in a sentence or two."""
        sentence_by_status = {
            NoteStatus.HELPFUL: "Note {note} is shown. {reasons}",
            NoteStatus.NOT_HELPFUL: "Note {note} is rated not helpful. {reasons}",
        }
        sentence = sentence_by_status.get(self.statuses[note].status, "Note {note} is not shown. {reasons}")
        return fill(sentence, note=note + 1, reasons=self.reasons(note))

    def reasons(self, note: int) -> str:
        """Return what the rules say of a note: each that keeps it from being shown, or why it is."""
        found = self.statuses[note]
        return " ".join(dict.fromkeys(rule.reason for rule in found.blocked_by)) or found.reason

    def side_sums(self, note: int) -> tuple[SideSum, SideSum]:
        """Of side − and side +, as the fit has them."""
        of_note = self.table.note == note
        place, known = locate(self.table.rater_ids[self.table.rater[of_note]], self.fit.raters.ids)
        factors, intercepts = self.fit.raters.factors[place[known], 0], self.fit.raters.intercepts[place[known]]
        rated = self.table.helpful[of_note][known]
        base, note_factor = self.fit.global_intercept + self.scores[note], self.factors[note]

        def of(side: npt.NDArray[np.bool_]) -> SideSum:
            if not side.any():
                return SideSum(0, *[float("nan")] * 4)
            own, factor = float(intercepts[side].mean()), float(factors[side].mean())
            predicted = float(base + own + factor * note_factor)
            return SideSum(int(side.sum()), own, factor, predicted, float(rated[side].mean()))

        return of(factors < 0), of(factors >= 0)

    @property
    def rows(self) -> dict[str, list[object]]:
        """Every note with its numbers, by column."""
        return {
            "note": [note + 1 for note in range(len(self.kinds))],
            "made to be": [self.name(kind) for kind in self.kinds],
            "average rating": [round(float(number), 3) for number in self.averages],
            "score": [round(float(number), 3) for number in self.scores],
            "viewpoint": [round(float(number), 3) for number in self.factors],
            "status": [found.status.value for found in self.statuses],
            "decided by": [found.decided_by.value for found in self.statuses],
        }

    def _of_kinds(self, chosen: npt.NDArray[np.bool_]) -> str:
        counts = Counter(kind for kind, is_chosen in zip(self.kinds, chosen, strict=True) if is_chosen)
        one_sided = counts[NoteKind.MINUS] + counts[NoteKind.PLUS]
        of = NOTES // len(_WORTH_AND_LEAN_BY_KIND)
        words = (
            "{n} of {all} that help everybody, {one_sided} of {all_one_sided} that lean one way or the other"
            if self.one_camp
            else "{n} of {all} that help both sides, {one_sided} of {all_one_sided} that please one side"
        )
        return fill(words, n=counts[NoteKind.BOTH], all=of, one_sided=one_sided, all_one_sided=2 * of)


def make_world(options: WorldOptions, thresholds: Thresholds = THRESHOLDS) -> World:
    """Make it, draw its ratings, and score them. The same options give the same world."""
    chance = np.random.default_rng(options.seed)
    camps = _assign_camps(options)
    generosity = chance.normal(0, 1, RATERS) * options.generosity
    position = camps * options.polarity + chance.normal(0, _CAMP_SPREAD, RATERS)
    kinds = tuple(list(NoteKind)[note % len(_WORTH_AND_LEAN_BY_KIND)] for note in range(NOTES))
    made = np.array([_WORTH_AND_LEAN_BY_KIND[kind] for kind in kinds]) + chance.normal(0, _KIND_SPREAD, (NOTES, 2))
    # Everybody's chances are drawn for all notes, so that a slider that moves leaves the rest of the world as it is.
    order = chance.random((RATERS, NOTES)).argsort(axis=1)[:, : options.ratings_each]
    rater, note = np.repeat(np.arange(RATERS, dtype=np.int32), options.ratings_each), order.ravel().astype(np.int32)
    noise = chance.normal(0, 1, (RATERS, NOTES)) * options.noise
    liking = opinion(made[note], position[rater], generosity[rater] + noise[rater, note])
    table = RatingTable(np.arange(NOTES), np.arange(RATERS), note, rater, liking).keep(np.ones(len(note), dtype=bool))
    scored = _score_world(table, thresholds)
    if camps[scored.fit.raters.ids] @ scored.fit.raters.factors[:, 0] < 0:  # the fit calls the larger camp negative
        camps = -camps
        kinds = tuple(_MIRRORED_KIND.get(kind, kind) for kind in kinds)
        made = made * (1, -1)
    averages = np.bincount(table.note, table.helpful, NOTES) / np.bincount(table.note, minlength=NOTES)
    return World(
        options,
        camps,
        kinds,
        made,
        table,
        averages,
        scored.fit,
        scored.statuses,
        scored.notices[:-1],  # every fit has the last one
        thresholds,
    )


@dataclass(frozen=True, slots=True)
class OtherStarts:
    """The same ratings fitted from other random starts.

    most: by how much the intercept of any note moves at most, of notes that keep a score. changed: how many notes have
    another status from any of the starts; `notes` in all.
    """

    starts: int
    most: float
    changed: int
    notes: int

    @property
    def sentence(self) -> str:
        """How much depends on the start."""
        same = self.changed == 0 and self.most < _MAX_SAME_MOVE
        words = (
            "{starts} other random starts give the same answer: no note changes its status."
            if same
            else "{starts} other random starts differ: in some, {n} of {all} notes change their status."
        )
        words += " The largest move of a score is {most}."
        most = f"{self.most:.4f}" if self.most >= _MIN_SHOWN_MOVE else f"less than {_MIN_SHOWN_MOVE}"
        return fill(words, starts=self.starts, most=most, n=self.changed, all=self.notes)


def other_starts(world: World, starts: int = 20) -> OtherStarts:
    """Fit the world anew from raters at random, as X does: factors by chance, intercepts at zero."""
    status = np.array([found.status for found in world.statuses])
    most, changed = 0.0, np.zeros(len(status), dtype=bool)
    for seed in range(starts):
        factors = np.random.default_rng(seed).normal(0, _START_SPREAD, (len(world.table.rater_ids), 1))
        start = replace(
            world.fit,
            global_intercept=0.0,
            raters=SideParameters(world.table.rater_ids, np.zeros(len(factors)), factors),
        )
        found = _score_world(world.table, world.thresholds, start).statuses
        moved = np.abs(np.array([one.note_intercept for one in found], dtype=np.float64) - world.scores)
        most = max(most, float(np.nanmax(moved, initial=0.0)))
        changed |= np.array([one.status for one in found]) != status
    return OtherStarts(starts, most, int(changed.sum()), len(status))


def _score_world(table: RatingTable, thresholds: Thresholds, start: Factorization | None = None) -> PublicScores:
    notes = len(table.note_ids)
    facts = NoteFacts(
        misleading=np.ones(notes, dtype=bool),
        created_at_ms=np.full(notes, NOW_MS),
        authors=None,
        was_helpful=np.zeros(notes, dtype=bool),
        status_at_ms=None,
    )
    return score(Ratings(table, True, {}, np.full(len(table), NOW_MS)), facts, thresholds, start)


def opinion(made: Floats, position: Floats, besides: Floats) -> npt.NDArray[np.float32]:
    """Ratings (m,) of 0, 0.5 or 1 of notes (m, 2), worth and lean, from positions (m,) and what else moves a rater."""
    value = 0.5 + made[:, 0] + made[:, 1] * position + besides
    return (np.round(np.clip(value, 0, 1) * 2) / 2).astype(np.float32)


def _assign_camps(options: WorldOptions) -> npt.NDArray[np.int8]:
    """Raters in the order of their camps."""
    if options.camps == 1:
        return np.zeros(RATERS, dtype=np.int8)
    minus = round(RATERS * options.share)
    return np.repeat(np.array([-1, 1], dtype=np.int8), [minus, RATERS - minus])
