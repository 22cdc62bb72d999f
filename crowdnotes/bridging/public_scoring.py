"""The public data to statuses, as the scorer's Core model does it, as far as public data allows.

Filter, first fit, provisional statuses, raters whom the crowd came to agree with, second fit on
theirs, notes scored with these raters frozen, rules. What had to be left out is told in `notices`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from crowdnotes.bridging.factorization import fit
from crowdnotes.bridging.model import Factorization, RatingTable, filter_mask, nothing_left
from crowdnotes.bridging.note_signals import (
    NoteFacts,
    View,
    explanation_counts,
    gather_facts,
    helpful_raters,
    high_volume_raters,
    incorrect_signals,
    sides,
    tag_aggregates,
    tag_lines,
)
from crowdnotes.bridging.ratings import Bools, Ratings, load_ratings
from crowdnotes.bridging.rules import PRESCORING_RULES, decide
from crowdnotes.bridging.scoring import FrozenRaters, ScoredNotes, doubts, locate, score_notes
from crowdnotes.bridging.status import NoteSignals, NoteStatus, StatusResult
from crowdnotes.errors import InputError
from crowdnotes.settings import BridgingSettings

_NOT_MISLEADING_UNTIL_MS = 1_664_755_200_000  # 2022-10-03: ratings on such notes until then are not used


@dataclass(frozen=True)
class PublicScores:
    """Every rated note's status, the fit behind it, what was dropped, and what was left out and why."""

    statuses: tuple[StatusResult, ...]
    fit: Factorization
    dropped: dict[str, int]
    notices: tuple[str, ...]


def score_public_data(data: Path, settings: BridgingSettings) -> PublicScores:
    """Read ratings, notes and history under `data` and give every rated note its status.

    Raises InputError when there are no ratings, or none are left after the filter.
    """
    if data.is_file():
        raise InputError(f"{data} is a file.", "Give the folder that holds it, with notes and status history.")
    ratings = load_ratings(data, with_details=True)
    return score(ratings, gather_facts(data, ratings.table.note_ids), settings)


def score(ratings: Ratings, facts: NoteFacts, settings: BridgingSettings) -> PublicScores:
    """As `score_public_data`, from loaded ratings and the facts of their notes."""
    notices = ["The penalty for rating harassing notes as helpful is not applied: it needs a model of its own."]
    dropped = dict(ratings.dropped)
    ratings, facts = _without_early_not_misleading(ratings, facts, dropped, notices)
    keep, report = filter_mask(ratings.table, settings)
    dropped |= {reason: count for reason, count in report.dropped.items() if count}
    if not keep.any():
        raise nothing_left(dropped, settings)
    fitted = ratings.keep(keep)
    first = fit(fitted.table)
    provisional = _provisional(first, fitted.table, facts, ratings.table, settings)
    second = _second_fit(first, fitted, provisional, facts.keep(_rows(fitted.table, ratings.table)), settings, notices)
    notices += doubts(second)
    raters = FrozenRaters.of(second)
    scored = _final_scores(ratings.table, raters, settings)
    helpful_before = np.zeros(len(ratings.table.note_ids), dtype=bool)
    helpful_before[_rows(fitted.table, ratings.table)] = [status is NoteStatus.HELPFUL for status in provisional]
    signals = _signals(ratings, facts, scored, raters, helpful_before, settings)
    return PublicScores(tuple(decide(note, settings) for note in signals), second, dropped, tuple(notices))


def _without_early_not_misleading(
    ratings: Ratings, facts: NoteFacts, dropped: dict[str, int], notices: list[str]
) -> tuple[Ratings, NoteFacts]:
    if facts.misleading is None or facts.created_at_ms is None:
        notices.append("The notes table is missing: whether a note calls its post misleading is not known.")
        return ratings, facts
    early = ~facts.misleading & (facts.created_at_ms <= _NOT_MISLEADING_UNTIL_MS)
    keep = ~early[ratings.table.note]
    if keep.all():
        return ratings, facts
    dropped["ratings of early notes that call the post not misleading"] = int((~keep).sum())
    kept = ratings.keep(keep)
    return kept, facts.keep(_rows(kept.table, ratings.table))


def _provisional(
    first: Factorization, table: RatingTable, facts: NoteFacts, whole: RatingTable, settings: BridgingSettings
) -> list[NoteStatus]:
    """Prescoring's statuses; without the notes table every note counts as misleading, as a deleted note does."""
    rows = _rows(table, whole)
    counts = np.bincount(table.note, minlength=len(table.note_ids))
    misleading = np.ones(len(rows), dtype=bool) if facts.misleading is None else facts.misleading[rows]
    return [
        decide(
            NoteSignals(note_id, int(count), float(intercept), float(factor), misleading=bool(calls)),
            settings,
            PRESCORING_RULES,
        ).status
        for note_id, count, intercept, factor, calls in zip(
            table.note_ids.tolist(), counts, first.notes.intercepts, first.notes.factors[:, 0], misleading, strict=True
        )
    ]


def _second_fit(
    first: Factorization,
    fitted: Ratings,
    provisional: list[NoteStatus],
    facts: NoteFacts,
    settings: BridgingSettings,
    notices: list[str],
) -> Factorization:
    """The fit on ratings by raters at or above the helpfulness thresholds, begun from the first."""
    chosen = None
    if fitted.created_at_ms is not None:
        chosen = helpful_raters(
            fitted.table, fitted.created_at_ms, facts, provisional, first.notes.intercepts, settings
        )  # fmt: skip
    if chosen is None:
        notices.append("Raters are not chosen by helpfulness: it is not known when notes or ratings were made.")
        return first
    if not chosen.any():
        notices.append("No rater reaches the helpfulness threshold, so all of them are kept.")
        return first
    return fit(fitted.table.keep(chosen[fitted.table.rater]), start=first)


def _final_scores(table: RatingTable, raters: FrozenRaters, settings: BridgingSettings) -> ScoredNotes:
    """Notes with enough ratings by the frozen raters; the others have no score (NaN)."""
    scored = score_notes(table, raters)
    _, known = locate(table.rater_ids, raters.ids)
    counts = np.bincount(table.note[known[table.rater]], minlength=len(table.note_ids))
    few = counts < settings.min_raters_per_note
    scored.notes.intercepts[few] = np.nan
    scored.notes.factors[few] = np.nan
    scored.upper_bounds[few] = np.nan
    return scored


def _signals(
    ratings: Ratings,
    facts: NoteFacts,
    scored: ScoredNotes,
    raters: FrozenRaters,
    helpful_before: Bools,
    settings: BridgingSettings,
) -> list[NoteSignals]:
    table = ratings.table
    view = View.of(ratings, scored, raters)
    counts = np.bincount(table.note, minlength=len(table.note_ids))
    tags = tag_aggregates(ratings, view, settings)
    lines = None if tags is None else tag_lines(tags[1], helpful_before, settings)
    incorrect = incorrect_signals(ratings, view, settings)
    explained = explanation_counts(ratings) if ratings.tags else None
    without_busy = _without_busy(ratings, raters, settings)
    return [
        NoteSignals(
            note_id=note_id,
            ratings=int(counts[n]),
            intercept=float(scored.notes.intercepts[n]),
            factor=float(scored.notes.factors[n, 0]),
            negative=negative,
            positive=positive,
            misleading=None if facts.misleading is None else bool(facts.misleading[n]),
            upper_bound=float(scored.upper_bounds[n]),
            was_helpful=None if facts.was_helpful is None else bool(facts.was_helpful[n]),
            tag_totals=None if tags is None else {tag: float(values[n]) for tag, values in tags[0].items()},
            tag_shares=None if tags is None else {tag: float(values[n]) for tag, values in tags[1].items()},
            tag_lines=lines,
            incorrect=None if incorrect is None else incorrect[n],
            intercept_without_high_volume=None if without_busy is None else float(without_busy[n]),
            helpful_tags=None if explained is None else {tag: int(v[n]) for tag, v in explained[0].items()},
            not_helpful_tags=None if explained is None else {tag: int(v[n]) for tag, v in explained[1].items()},
        )
        for n, (note_id, (negative, positive)) in enumerate(
            zip(table.note_ids.tolist(), sides(ratings, view), strict=True)
        )
    ]


def _without_busy(
    ratings: Ratings, raters: FrozenRaters, settings: BridgingSettings
) -> np.ndarray[tuple[int], np.dtype[np.float64]] | None:
    """Intercepts without the busiest raters (n,), NaN where none are left; None when times are not known."""
    busy = high_volume_raters(ratings, settings)
    if busy is None:
        return None
    weight = np.where(busy[ratings.table.rater], 0, 1).astype(np.float32)
    scored = score_notes(replace(ratings.table, weight=weight), raters)
    return scored.notes.intercepts


def _rows(part: RatingTable, whole: RatingTable) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Where the notes of a part stand among the notes of the whole."""
    return np.searchsorted(whole.note_ids, part.note_ids)
