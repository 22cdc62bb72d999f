"""Which raters enter the last fit: those whose early ratings the crowd came to agree with.

The scorer's helpfulness_scores.py. Its penalty for harassment needs a model of its own and is not part.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from crowdnotes.bridging.note_facts import NoteFacts
from crowdnotes.bridging.parameters import Ids, RatingTable
from crowdnotes.bridging.scoring import locate
from crowdnotes.bridging.verdicts import NoteStatus
from crowdnotes.settings import BridgingSettings

Bools = npt.NDArray[np.bool_]
Times = npt.NDArray[np.int64]
_WINDOW_MS = 48 * 3600 * 1000
_FIRST_RATINGS_ONLY_BEFORE_MS = 1_652_918_400_000  # 2022-05-19: earlier notes count their first five ratings
_FIRST_RATINGS = 5
_NOT_HELPFUL_WEIGHT = 5  # a not-helpful note weighs against its author as much as five helpful ones for


def helpful_raters(
    table: RatingTable,
    created_at_ms: npt.NDArray[np.int64],
    facts: NoteFacts,
    statuses: list[NoteStatus],
    intercepts: npt.NDArray[np.float64],
    settings: BridgingSettings,
) -> Bools | None:
    """Which raters (u,) are at or above the thresholds, given the notes' provisional statuses and intercepts (n,).

    created_at_ms: of the ratings (m,). None when it is not known when the notes were written.
    """
    if facts.created_at_ms is None:
        return None
    helpful = np.array([status is NoteStatus.HELPFUL for status in statuses])
    not_helpful = np.array([status is NoteStatus.NOT_HELPFUL for status in statuses])
    valid = _valid(table, created_at_ms, facts.created_at_ms, facts.status_at_ms, helpful | not_helpful)
    agrees = valid & (table.helpful == helpful[table.note])
    judged = np.bincount(table.rater[valid], minlength=len(table.rater_ids))
    matches = np.bincount(table.rater[agrees], minlength=len(table.rater_ids))
    share = np.divide(matches, judged, out=np.full(len(judged), -1.0), where=judged > 0)
    enough = np.asarray(share >= settings.rater_helpfulness)
    if facts.authors is None:
        return enough
    return enough & _good_author(table.rater_ids, facts.authors, helpful, not_helpful, intercepts, settings)


def _valid(
    table: RatingTable, created_at_ms: Times, note_created: Times, status_at: Times | None, decided: Bools
) -> Bools:
    note = table.note
    clear = (table.helpful == 0) | (table.helpful == 1)
    early = created_at_ms < note_created[note] + _WINDOW_MS
    unseen = True if status_at is None else created_at_ms < status_at[note]
    order = np.lexsort((created_at_ms, note))
    starts = np.searchsorted(note[order], np.arange(len(table.note_ids)))
    rank = np.empty(len(note), dtype=np.int64)
    rank[order] = np.arange(len(note)) - starts[note[order]]
    among_first = (rank < _FIRST_RATINGS) | (note_created[note] >= _FIRST_RATINGS_ONLY_BEFORE_MS)
    valid: Bools = decided[note] & clear & early & unseen & among_first
    return valid


def _good_author(
    rater_ids: Ids,
    authors: Ids,
    helpful: Bools,
    not_helpful: Bools,
    intercepts: npt.NDArray[np.float64],
    settings: BridgingSettings,
) -> Bools:
    """Raters whose own notes do well enough, or who have written none."""
    known = np.array([author is not None for author in authors], dtype=bool)
    who = np.zeros(len(authors), dtype=np.intp)
    wrote = np.zeros(len(authors), dtype=bool)
    who[known], wrote[known] = locate(authors[known], rater_ids)
    raters = len(rater_ids)
    notes = np.bincount(who[wrote], minlength=raters)
    score = np.bincount(who[wrote], helpful[wrote] - _NOT_HELPFUL_WEIGHT * not_helpful[wrote].astype(float), raters)
    mean = np.bincount(who[wrote], intercepts[wrote], raters)
    with np.errstate(invalid="ignore"):
        good = (score / notes >= settings.author_ratio_difference) & (mean / notes >= settings.author_mean_intercept)
    return np.asarray(good | (notes == 0), dtype=bool)
