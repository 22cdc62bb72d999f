"""The nouns of the factorization: what it is told, and what it finds.

Prediction for rater u and note n: mu + i_u + i_n + f_u . f_n (Community Notes guide, "Note ranking
algorithm"; the scorer's matrix_factorization package).

The documented filter before a fit: notes with few raters go, then raters with few ratings, then notes again.
Once in this order, not until nothing changes, as the scorer does it (process_data.py, `filter_ratings`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from crowdnotes.errors import InputError
from crowdnotes.settings import BridgingSettings
from crowdnotes.wording import say

Ids = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int64]


# The lambdas, for notes, raters and mu alike. They multiply *means* of squares, as in the production code; the guide's
# sums under-regularise.
INTERCEPT_PENALTY, FACTOR_PENALTY = 0.15, 0.03


@dataclass(frozen=True)
class RatingTable:
    """Ratings with ids as row numbers.

    note, rater: (m,) int32 into note_ids and rater_ids, which are sorted and without repeats (64-bit
    integers or strings, never floats). helpful: (m,) in [0, 1]: 1 HELPFUL, 0.5 SOMEWHAT_HELPFUL,
    0 NOT_HELPFUL. weight: (m,) non-negative, or None when every rating counts the same. A rater rates a note
    once (the readers drop repeats): of a pair that comes twice, a fit's last bits depend on the order.
    """

    note_ids: Ids
    rater_ids: Ids
    note: Indices
    rater: Indices
    helpful: Singles
    weight: Singles | None = None

    def __len__(self) -> int:
        return len(self.note)

    def keep(self, mask: npt.NDArray[np.bool_]) -> RatingTable:
        """The ratings where mask (m,) is true, with ids that no longer occur left out."""
        note_ids, note = _compact(self.note_ids, self.note[mask])
        rater_ids, rater = _compact(self.rater_ids, self.rater[mask])
        weight = None if self.weight is None else self.weight[mask]
        return RatingTable(note_ids, rater_ids, note, rater, self.helpful[mask], weight)


@dataclass(frozen=True)
class SideParameters:
    """One side's parameters: ids (n,), intercepts (n,), factors (n, k)."""

    ids: Ids
    intercepts: Floats
    factors: Floats

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Factorization:
    """A finished fit.

    objective: mean squared error plus penalties, at the returned parameters. seconds: from the table
    of ratings to the parameters, sorting included, reading and filtering not. converged: whether the
    stopping rule was met rather than the bound on sweeps.
    """

    global_intercept: float
    notes: SideParameters
    raters: SideParameters
    objective: float
    mean_squared_error: float
    iterations: int
    seconds: float
    ratings: int
    converged: bool

    @property
    def ratings_per_note(self) -> float:
        """Rho of the production code: fixed when notes are later scored with these raters frozen."""
        return self.ratings / len(self.notes)


def _compact(ids: Ids, index: Indices) -> tuple[Ids, Indices]:
    present = np.zeros(len(ids), dtype=bool)
    present[index] = True
    renumbered = np.cumsum(present, dtype=np.int32) - np.int32(1)
    return ids[present], renumbered[index].astype(np.int32, copy=False)


def filter_mask(table: RatingTable, settings: BridgingSettings) -> tuple[npt.NDArray[np.bool_], dict[str, int]]:
    """The ratings that enter the fit, as a mask (m,), and how many each step dropped, by a name that says why."""
    fewest, least = settings.min_raters_per_note, settings.min_ratings_per_rater
    everything = np.ones(len(table), dtype=bool)
    notes = _often_enough(table.note, everything, len(table.note_ids), fewest)
    raters = _often_enough(table.rater, notes, len(table.rater_ids), least)
    keep = _often_enough(table.note, raters, len(table.note_ids), fewest)
    dropped = {
        say("fit.few_raters", n=fewest): len(table) - int(notes.sum()),
        say("fit.few_ratings", n=least): int(notes.sum() - raters.sum()),
        say("fit.few_left", n=fewest): int(raters.sum() - keep.sum()),
    }
    return keep, {reason: count for reason, count in dropped.items() if count}


def nothing_left(dropped: Mapping[str, int], settings: BridgingSettings) -> InputError:
    """The error for ratings of which none can be fitted, with what was dropped on the way, by reason."""
    told = "; ".join(f"{reason}: {count}" for reason, count in dropped.items()) or say("fit.empty_file")
    return InputError(
        say("fit.nothing_left", dropped=told),
        say("fit.needs", raters=settings.min_raters_per_note, ratings=settings.min_ratings_per_rater),
    )


def _often_enough(
    row: npt.NDArray[np.int32], among: npt.NDArray[np.bool_], rows: int, least: int
) -> npt.NDArray[np.bool_]:
    often = np.bincount(row[among], minlength=rows) >= least
    return among & often[row]
