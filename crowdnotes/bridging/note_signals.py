"""What the rules look at: a note's score, its sides, its raters' tags, and who is busiest.

Distances between a note's and a rater's viewpoint are measured on the scale of all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from crowdnotes.bridging.columns import DAY_MS, HELPFUL_TAGS, NOT_HELPFUL_TAGS
from crowdnotes.bridging.model import Bools, Floats, ManySignals, RatingTable, Whole
from crowdnotes.bridging.ratings import Ratings
from crowdnotes.bridging.scoring import FrozenRaters, ScoredNotes, locate, score_notes
from crowdnotes.bridging.thresholds import Thresholds

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
    """Each rating with its note's and rater's factors: `used` (m,) where both are known.

    distance (m,): between the two, each in standard deviations over all notes and over all raters.
    """

    used: Bools
    note_factor: Floats
    rater_factor: Floats
    distance: Floats

    @classmethod
    def on(cls, scale: FactorScale, table: RatingTable, note_factors: Floats, raters: FrozenRaters) -> View:
        """Build it from the notes' factors (n,); where these are some of the notes, the scale is of all."""
        place, known = locate(table.rater_ids, raters.ids)
        notes, factors = note_factors[table.note], raters.factors[place[table.rater]]
        return cls(known[table.rater] & np.isfinite(notes), notes, factors, scale.distance(notes, factors))


def gather_signals(
    everything: Ratings,
    counting: Ratings,
    scored: ScoredNotes,
    raters: FrozenRaters,
    thresholds: Thresholds,
    *,
    misleading: Bools | None,
    was_helpful: Bools | None,
    usual: Floats | None,
    busy: Bools | None,
    by_group: bool,
    scale: FactorScale | None = None,
    half: float | None = None,
) -> ManySignals:
    """Gather what the rules look at, but for the lines of tags.

    everything: all ratings of the scored notes; counting: those by raters who count, of the same notes and raters.
    misleading, was_helpful (n,); usual (u,): see `usual_rates`; busy (u,): the busiest raters. None: not known.
    by_group: whether some raters are left out by their groups. scale, half: of all notes, where these are some of them.
    """
    table, notes = counting.table, len(counting.table.note_ids)
    factors = scored.notes.factors[:, 0]
    view = View.on(scale or FactorScale.of(factors, raters.factors), table, factors, raters)
    on_sides, means, net = both_sides(table, view)
    totals, shares = tag_aggregates(counting, view, thresholds, half) or (None, None)
    calm = None if busy is None else replace(table, weight=np.where(busy[table.rater], 0, 1).astype(np.float32))
    counted = np.bincount(table.note, minlength=notes)
    return ManySignals(
        ratings=counted,
        intercept=scored.notes.intercepts,
        factor=factors,
        upper_bound=scored.upper_bounds,
        raters=on_sides,
        means=means,
        net=net,
        misleading=misleading,
        was_helpful=was_helpful,
        tag_totals=totals,
        tag_shares=shares,
        tag_lines=None,
        incorrect=None if usual is None else incorrect_counts(counting, view, usual, thresholds),
        without_busy=None if calm is None else score_notes(calm, raters).notes.intercepts,
        left_out=np.bincount(everything.table.note, minlength=notes) - counted if by_group else None,
        sampled=None
        if counting.sampled is None
        else sampled_signals(table, counting.sampled, view, raters, thresholds),
        helpful_tags=_count_chosen_tags(everything, HELPFUL_TAGS, thresholds.explanation_raters),
        not_helpful_tags=_count_chosen_tags(everything, NOT_HELPFUL_TAGS, thresholds.explanation_raters),
    )


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
    """Return the distance from a note at which a rater's tags count half."""
    return float(np.percentile(view.distance[view.used], thresholds.tag_distance_percentile))


def tag_weights(distance: Floats, half: float) -> Floats:
    """Return weights: a rater counts for less the further their viewpoint is from the note's (tag_filter.py)."""
    weights: Floats = 1 / (1 + (distance / half) ** _WEIGHT_STEEPNESS) if half > 0 else np.ones(len(distance))
    return weights


def tag_aggregates(
    ratings: Ratings, view: View, thresholds: Thresholds, half: float | None = None
) -> tuple[dict[str, Floats], dict[str, Floats]] | None:
    """Per not-helpful tag the weighted number and the weighted share of raters, (n,) each; None without tags.

    half: of all notes, where these are some of them.
    """
    present = [tag for tag in NOT_HELPFUL_TAGS if tag in ratings.tags]
    if not present or (half is None and not view.used.any()):
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


def with_tag_lines(notes: ManySignals, helpful: Bools, thresholds: Thresholds) -> ManySignals:
    """Return them with each tag's unusual share: a high percentile among notes that prescoring found helpful (n,)."""
    if notes.tag_shares is None or not helpful.any():
        return notes
    lines = {tag: float(np.percentile(of[helpful], thresholds.tag_percentile)) for tag, of in notes.tag_shares.items()}
    return replace(notes, tag_lines=lines)


def usual_rates(ratings: Ratings) -> Floats | None:
    """Return of each rater's complaints the share that says "incorrect" (u,); None without tags."""
    if "notHelpfulIncorrect" not in ratings.tags:
        return None
    complains, raters = _mask_complaints(ratings), len(ratings.table.rater_ids)
    says = np.bincount(ratings.table.rater[complains & ratings.tags["notHelpfulIncorrect"]], minlength=raters)
    return says / np.maximum(np.bincount(ratings.table.rater[complains], minlength=raters), 1)


def incorrect_counts(ratings: Ratings, view: View, usual: Floats, thresholds: Thresholds) -> Floats:
    """Count raters near the note's viewpoint that chose any not-helpful tag (incorrect_filter.py), (3, n).

    How many they are, their "incorrect" tags, and their usual rates (u,) summed.
    """
    table, notes = ratings.table, len(ratings.table.note_ids)
    clip = thresholds.incorrect_clip
    distances = np.abs(np.clip(view.rater_factor, -clip, clip) - np.clip(view.note_factor, -clip, clip))
    near = view.used & _mask_complaints(ratings) & (distances < thresholds.incorrect_interval)
    row, says = table.note[near], ratings.tags["notHelpfulIncorrect"][near]
    sums = np.bincount(row, says, notes), np.bincount(row, usual[table.rater[near]], notes)
    return np.array((np.bincount(row, minlength=notes), *sums), dtype=np.float64)


def _mask_complaints(ratings: Ratings) -> Bools:
    """Return which ratings come with any not-helpful tag (m,)."""
    complains = np.zeros(len(ratings.table), dtype=bool)
    for tag in NOT_HELPFUL_TAGS:
        if tag in ratings.tags:
            complains |= ratings.tags[tag]
    return complains


def _count_chosen_tags(ratings: Ratings, tags: tuple[str, ...], raters: int) -> Whole | None:
    """Return how many of these tags so many raters chose, (n,); None without any tags."""
    if not ratings.tags:
        return None
    chosen = np.zeros(len(ratings.table.note_ids), dtype=np.int64)
    for tag in tags:
        if tag in ratings.tags:
            chosen += np.bincount(ratings.table.note[ratings.tags[tag]], minlength=len(chosen)) >= raters
    return chosen


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
    """Return the busiest raters (u,) of the last 7 or 28 days of the data; None without times.

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
    """Return the raters with the highest numbers of ratings (u,) among all who rated at all."""
    active = counts[counts > 0]
    return counts > (np.quantile(active, 1 - thresholds.high_volume_share) if len(active) else 0)


def _compute_mean_and_spread(values: Floats) -> tuple[float, float]:
    known = values[np.isfinite(values)]
    spread = float(known.std()) if len(known) else 0.0
    return float(known.mean()) if len(known) else 0.0, spread if spread > 0 else 1.0
