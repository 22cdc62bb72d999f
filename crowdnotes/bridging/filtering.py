"""The documented filter before a fit: notes with few raters go, then raters with few ratings, then notes again.

Once in this order, not until nothing changes, as the scorer does it (process_data.py, `filter_ratings`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crowdnotes.bridging.parameters import RatingTable
from crowdnotes.errors import InputError
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


def nothing_left(dropped: Mapping[str, int], settings: BridgingSettings) -> InputError:
    """The error for ratings of which none can be fitted, with what was dropped on the way, by reason."""
    told = "; ".join(f"{reason}: {count}" for reason, count in dropped.items()) or "nothing, the file is empty"
    return InputError(
        f"No ratings are left to fit. Dropped were: {told}.",
        f"The algorithm needs notes with {settings.min_raters_per_note} raters, and raters with "
        f"{settings.min_ratings_per_rater} ratings.",
    )


def _often_enough(
    row: npt.NDArray[np.int32], among: npt.NDArray[np.bool_], rows: int, least: int
) -> npt.NDArray[np.bool_]:
    counts = np.bincount(row[among], minlength=rows)
    return among & (counts[row] >= least)
