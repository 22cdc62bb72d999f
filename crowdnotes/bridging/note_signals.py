"""What the rules look at besides a note's score: its sides, its raters' tags, and who is busiest.

Distances between a note's and a rater's viewpoint are measured on the scale of all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from crowdnotes.bridging.columns import HELPFUL_TAGS, NOT_HELPFUL_TAGS
from crowdnotes.bridging.model import Floats, IncorrectSignal, RatingTable, Side
from crowdnotes.bridging.ratings import Bools, Ratings
from crowdnotes.bridging.scoring import FrozenRaters, ScoredNotes, locate, score_notes
from crowdnotes.bridging.thresholds import Thresholds

DAY_MS = 24 * 3600 * 1000
VOLUME_DAYS = (7, 28)
MIN_NOTES_WITH_BUSY_RATERS = 200
_WEIGHT_STEEPNESS = 5  # of the weight's fall with distance (tag_filter.py)


@dataclass(frozen=True)
class FactorScale:
    """Mean and standard deviation of all notes' factors, and of all raters': what distances are measured in."""

    note_mean: float
    note_spread: float
    rater_mean: float
    rater_spread: float

    @classmethod
    def of(cls, notes: Floats, raters: Floats) -> FactorScale:
        """Of factors, some of which may be NaN."""
        return cls(*_compute_mean_and_spread(notes), *_compute_mean_and_spread(raters))

    def distance(self, notes: Floats | float, raters: Floats) -> Floats:
        """Between notes and raters, pair by pair."""
        away: Floats = np.abs(
            (raters - self.rater_mean) / self.rater_spread - (notes - self.note_mean) / self.note_spread
        )
        return away


@dataclass(frozen=True)
class View:
    """Each rating with its note's and rater's factors: `used` (m,) tells where both are known.

    distance (m,): between the two, each in standard deviations over all notes and over all raters.
    """

    used: Bools
    note_factor: Floats
    rater_factor: Floats
    distance: Floats

    @classmethod
    def of(cls, ratings: Ratings, scored: ScoredNotes, raters: FrozenRaters) -> View:
        """scored: of the same notes, in the same order."""
        scale = FactorScale.of(scored.notes.factors[:, 0], raters.factors)
        return cls.on(scale, ratings.table, scored.notes.factors[:, 0], raters)

    @classmethod
    def on(cls, scale: FactorScale, table: RatingTable, note_factors: Floats, raters: FrozenRaters) -> View:
        """The same of some of the notes, their factors (n,) and distances on the scale of all."""
        place, known = locate(table.rater_ids, raters.ids)
        notes, factors = note_factors[table.note], raters.factors[place[table.rater]]
        return cls(known[table.rater] & np.isfinite(notes), notes, factors, scale.distance(notes, factors))


def sides(ratings: Ratings, view: View) -> list[tuple[Side, Side]]:
    """Each note's negative and positive side."""
    raters, means, net = both_sides(ratings.table, view)
    halves = [
        [Side(int(n), float(m), int(x)) for n, m, x in zip(raters[side], means[side], net[side], strict=True)]
        for side in range(2)
    ]
    return list(zip(halves[0], halves[1], strict=True))


def both_sides(table: RatingTable, view: View) -> tuple[Floats, Floats, Floats]:
    """Of each note's negative and positive side the raters, their mean rating, NaN without any, and the net helpful.

    (2, n) each.
    """
    notes = len(table.note_ids)
    raters, means, net = np.zeros((2, notes)), np.full((2, notes), np.nan), np.zeros((2, notes))
    for side, on_side in enumerate((view.rater_factor < 0, view.rater_factor >= 0)):
        mask = view.used & on_side
        row, value = table.note[mask], table.helpful[mask]
        raters[side] = np.bincount(row, minlength=notes)
        np.divide(np.bincount(row, value, notes), raters[side], out=means[side], where=raters[side] > 0)
        net[side] = np.bincount(row, (value == 1).astype(np.float64) - (value == 0), notes)
    return raters, means, net


def half_distance(view: View, thresholds: Thresholds) -> float:
    """The distance from a note at which a rater's tags count half."""
    return float(np.percentile(view.distance[view.used], thresholds.tag_distance_percentile))


def tag_weights(distance: Floats, half: float) -> Floats:
    """A rater counts for less the further their viewpoint is from the note's (tag_filter.py)."""
    weights: Floats = 1 / (1 + (distance / half) ** _WEIGHT_STEEPNESS) if half > 0 else np.ones(len(distance))
    return weights


def tag_aggregates(
    ratings: Ratings, view: View, thresholds: Thresholds, half: float | None = None
) -> tuple[dict[str, Floats], dict[str, Floats]] | None:
    """Per not-helpful tag the weighted number and the weighted share of raters, (n,) each; None without tags.

    half: of all notes, where these are some of them.
    """
    present = [tag for tag in NOT_HELPFUL_TAGS if tag in ratings.tags]
    if not present or not view.used.any():
        return None
    note, notes = ratings.table.note[view.used], len(ratings.table.note_ids)
    weight = tag_weights(view.distance[view.used], half_distance(view, thresholds) if half is None else half)
    everyone = np.bincount(note, weight, notes)
    totals: dict[str, Floats] = {
        tag: np.asarray(np.bincount(note, weight * ratings.tags[tag][view.used], notes), dtype=np.float64)
        for tag in present
    }
    shares: dict[str, Floats] = {
        tag: np.divide(total, everyone, out=np.zeros(notes), where=everyone > 0) for tag, total in totals.items()
    }
    return totals, shares


def tag_lines(shares: dict[str, Floats], helpful: Bools, thresholds: Thresholds) -> dict[str, float] | None:
    """Per tag the share that is unusual: a high percentile among notes that prescoring found helpful (n,)."""
    if not helpful.any():
        return None
    return {tag: float(np.percentile(share[helpful], thresholds.tag_percentile)) for tag, share in shares.items()}


def incorrect_signals(ratings: Ratings, view: View, thresholds: Thresholds) -> list[IncorrectSignal] | None:
    """Of raters near the note's viewpoint that chose any not-helpful tag (incorrect_filter.py); None without tags."""
    if "notHelpfulIncorrect" not in ratings.tags:
        return None
    table, raters = ratings.table, len(ratings.table.rater_ids)
    complains = _mask_complaints(ratings)
    complaints = np.bincount(table.rater[complains], minlength=raters)
    says = complains & ratings.tags["notHelpfulIncorrect"]
    usual = np.bincount(table.rater[says], minlength=raters) / np.maximum(complaints, 1)
    return [
        IncorrectSignal(int(number), int(tags), float(rates))
        for number, tags, rates in incorrect_counts(ratings, view, usual, thresholds).T
    ]


def incorrect_counts(ratings: Ratings, view: View, usual: Floats, thresholds: Thresholds) -> Floats:
    """The same as (3, n): these raters, their "incorrect" tags, and their usual rates summed; usual (u,): of raters."""
    table, notes = ratings.table, len(ratings.table.note_ids)
    clip = thresholds.incorrect_clip
    apart = np.abs(np.clip(view.rater_factor, -clip, clip) - np.clip(view.note_factor, -clip, clip))
    near = view.used & _mask_complaints(ratings) & (apart < thresholds.incorrect_interval)
    row, says = table.note[near], ratings.tags["notHelpfulIncorrect"][near]
    sums = np.bincount(row, says, notes), np.bincount(row, usual[table.rater[near]], notes)
    return np.array((np.bincount(row, minlength=notes), *sums), dtype=np.float64)


def _mask_complaints(ratings: Ratings) -> Bools:
    """Which ratings come with any not-helpful tag (m,)."""
    complains = np.zeros(len(ratings.table), dtype=bool)
    for tag in NOT_HELPFUL_TAGS:
        if tag in ratings.tags:
            complains |= ratings.tags[tag]
    return complains


def explanation_counts(ratings: Ratings) -> tuple[dict[str, npt.NDArray[np.int64]], dict[str, npt.NDArray[np.int64]]]:
    """How many raters chose each helpful and each not-helpful tag, (n,) each."""

    def count(tags: tuple[str, ...]) -> dict[str, npt.NDArray[np.int64]]:
        return {
            tag: np.bincount(ratings.table.note[ratings.tags[tag]], minlength=len(ratings.table.note_ids))
            for tag in tags
            if tag in ratings.tags
        }

    return count(HELPFUL_TAGS), count(NOT_HELPFUL_TAGS)


def sampled_signals(
    table: RatingTable, sampled: Bools, view: View, raters: FrozenRaters, thresholds: Thresholds
) -> Floats:
    """Of the ratings that X asked people drawn at random for, a mask (m,): see `SampledSignal`, (3, n).

    The intercept is by the same raters, held as they are, at a price of its own (mf_base_scorer.py, `score_final`).
    """
    held = replace(raters, ratings_per_note=thresholds.sampled_ratings_per_note)
    intercepts = score_notes(table.only(sampled), held).notes.intercepts
    mine = sampled & view.used
    on_side = (mine & (view.rater_factor < 0), mine & (view.rater_factor >= 0))
    counts = [np.bincount(table.note[side], minlength=len(table.note_ids)) for side in on_side]
    return np.array((intercepts, *counts), dtype=np.float64)


def high_volume_raters(ratings: Ratings, thresholds: Thresholds) -> Bools | None:
    """The busiest raters (u,) of the last 7 or 28 days of the data; None without times.

    Of under 200 notes nobody is: the scorer takes so few for a test (process_data.py, `tag_high_volume_raters`).
    """
    if ratings.created_at_ms is None or not len(ratings.table):
        return None
    busiest = np.zeros(len(ratings.table.rater_ids), dtype=bool)
    if np.count_nonzero(np.bincount(ratings.table.note)) < MIN_NOTES_WITH_BUSY_RATERS:
        return busiest
    end = int(ratings.created_at_ms.max())
    for days in VOLUME_DAYS:
        recent = ratings.created_at_ms > end - days * DAY_MS
        busiest |= mask_busiest(np.bincount(ratings.table.rater[recent], minlength=len(busiest)), thresholds)
    return busiest


def mask_busiest(counts: npt.NDArray[np.int64], thresholds: Thresholds) -> Bools:
    """The raters whose numbers of ratings (u,) stand out among those of all who rated at all."""
    active = counts[counts > 0]
    return counts > (np.quantile(active, 1 - thresholds.high_volume_share) if len(active) else 0)


def _compute_mean_and_spread(values: Floats) -> tuple[float, float]:
    known = values[np.isfinite(values)]
    spread = float(known.std()) if len(known) else 0.0
    return float(known.mean()) if len(known) else 0.0, spread if spread > 0 else 1.0
