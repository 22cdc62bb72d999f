"""The documented filter before a fit: notes with few raters go, then raters with few ratings, then notes again.

Once in this order, not until nothing changes, as the scorer does it (process_data.py, `filter_ratings`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crowdnotes.bridging.parameters import RatingTable
from crowdnotes.settings import BridgingSettings


@dataclass(frozen=True)
class FilterReport:
    """How many ratings each step dropped, by a name that says why."""

    kept: int
    dropped: dict[str, int]


def apply_filter(table: RatingTable, settings: BridgingSettings) -> tuple[RatingTable, FilterReport]:
    """The ratings that enter the fit, and what was dropped."""
    keep, report = filter_mask(table, settings)
    return table.keep(keep), report


def filter_mask(table: RatingTable, settings: BridgingSettings) -> tuple[npt.NDArray[np.bool_], FilterReport]:
    """As `apply_filter`, but as a mask over the ratings (m,)."""
    fewest, least = settings.min_raters_per_note, settings.min_ratings_per_rater
    everything = np.ones(len(table), dtype=bool)
    notes = _often_enough(table.note, everything, len(table.note_ids), fewest)
    raters = _often_enough(table.rater, notes, len(table.rater_ids), least)
    keep = _often_enough(table.note, raters, len(table.note_ids), fewest)
    dropped = {
        f"ratings of notes with under {fewest} raters": len(table) - int(notes.sum()),
        f"ratings by raters with under {least} ratings": int(notes.sum() - raters.sum()),
        f"ratings of notes then left with under {fewest} raters": int(raters.sum() - keep.sum()),
    }
    return keep, FilterReport(int(keep.sum()), dropped)


def _often_enough(
    row: npt.NDArray[np.int32], among: npt.NDArray[np.bool_], rows: int, least: int
) -> npt.NDArray[np.bool_]:
    counts = np.bincount(row[among], minlength=rows)
    return among & (counts[row] >= least)
