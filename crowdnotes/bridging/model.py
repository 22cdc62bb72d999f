"""Data of the Community Notes algorithm: ratings, factorization, note signals, rules and statuses.

Prediction for rater u and note n: mu + i_u + i_n + f_u . f_n (Community Notes guide, "Note ranking algorithm"; the
scorer's matrix_factorization package). The filter before a fit drops notes with few raters, then raters with few
ratings, then notes again: once in this order, as the scorer does it (process_data.py, `filter_ratings`). Status names
are the public data's own (guide, "Note status").
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from pydantic import BeforeValidator

from crowdnotes.bridging.thresholds import THRESHOLDS, Thresholds
from crowdnotes.domain import FrozenModel
from crowdnotes.domain.base import LabelledEnum
from crowdnotes.errors import InputError
from crowdnotes.text.markdown import in_figures
from crowdnotes.wording import fill

Ids = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int64]
Whole = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


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
        """Return the ratings where mask (m,) is true, with ids that no longer occur left out."""
        note_ids, note = _drop_unused_ids(self.note_ids, self.note[mask])
        rater_ids, rater = _drop_unused_ids(self.rater_ids, self.rater[mask])
        weight = None if self.weight is None else self.weight[mask]
        return RatingTable(note_ids, rater_ids, note, rater, self.helpful[mask], weight)

    def only(self, mask: npt.NDArray[np.bool_]) -> RatingTable:
        """Return the ratings where mask (m,) is true; notes and raters without ratings stay in their places."""
        weight = None if self.weight is None else self.weight[mask]
        return replace(self, note=self.note[mask], rater=self.rater[mask], helpful=self.helpful[mask], weight=weight)


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


def _drop_unused_ids(ids: Ids, index: Indices) -> tuple[Ids, Indices]:
    present = np.zeros(len(ids), dtype=bool)
    present[index] = True
    renumbered = np.cumsum(present, dtype=np.int32) - np.int32(1)
    return ids[present], renumbered[index].astype(np.int32, copy=False)


def filter_mask(
    table: RatingTable, thresholds: Thresholds = THRESHOLDS
) -> tuple[npt.NDArray[np.bool_], dict[str, int]]:
    """Return the ratings that enter the fit, as a mask (m,), and how many each step dropped, by reason."""
    fewest, least = thresholds.min_raters_per_note, thresholds.min_ratings_per_rater
    everything = np.ones(len(table), dtype=bool)
    notes = _mask_often_enough(table.note, everything, len(table.note_ids), fewest)
    raters = _mask_often_enough(table.rater, notes, len(table.rater_ids), least)
    keep = _mask_often_enough(table.note, raters, len(table.note_ids), fewest)
    dropped = {
        f"ratings of notes with under {fewest} raters": len(table) - int(notes.sum()),
        f"ratings by raters with under {least} ratings": int(notes.sum() - raters.sum()),
        f"ratings of notes then left with under {fewest} raters": int(raters.sum() - keep.sum()),
    }
    return keep, {reason: count for reason, count in dropped.items() if count}


DROPPED_GROUP_RATINGS = "ratings by raters of groups that X's Core model leaves out"


def nothing_left(dropped: Mapping[str, int], thresholds: Thresholds = THRESHOLDS) -> InputError:
    """Return the error for a file without ratings to fit; it names how many were dropped for which reason."""
    reasons = "; ".join(f"{reason}: {count}" for reason, count in dropped.items()) or "nothing, the file is empty"
    return InputError(
        f"No ratings are left to fit. Dropped were: {reasons}.",
        (
            f"The algorithm needs notes with {thresholds.min_raters_per_note} raters, and raters with "
            f"{thresholds.min_ratings_per_rater} ratings."
            + (
                " CROWDNOTES_BRIDGING_RATERS=all counts the raters of all groups."
                if DROPPED_GROUP_RATINGS in dropped
                else ""
            )
        ),
    )


def _mask_often_enough(
    row: npt.NDArray[np.int32], among: npt.NDArray[np.bool_], rows: int, least: int
) -> npt.NDArray[np.bool_]:
    often = np.bincount(row[among], minlength=rows) >= least
    return among & often[row]


class NoteStatus(StrEnum):
    """A status inside one scorer. The last two are shown to readers as NEEDS_MORE_RATINGS."""

    NEEDS_MORE_RATINGS = "NEEDS_MORE_RATINGS"
    HELPFUL = "CURRENTLY_RATED_HELPFUL"
    NOT_HELPFUL = "CURRENTLY_RATED_NOT_HELPFUL"
    NEEDS_YOUR_HELP = "NEEDS_YOUR_HELP"
    FIRM_REJECT = "FIRM_REJECT"

    @property
    def shown(self) -> NoteStatus:
        """What readers and the status history see."""
        return NoteStatus.NEEDS_MORE_RATINGS if self in _INTERNAL_STATUSES else self

    @property
    def as_text(self) -> str:
        """The status as readers see it."""
        return _TEXT_BY_STATUS[self.shown]


_INTERNAL_STATUSES = (NoteStatus.NEEDS_YOUR_HELP, NoteStatus.FIRM_REJECT)
_TEXT_BY_STATUS = {
    NoteStatus.HELPFUL: "shown on the post",
    NoteStatus.NOT_HELPFUL: "rated not helpful",
    NoteStatus.NEEDS_MORE_RATINGS: "waiting for more ratings",
}


class RuleName(LabelledEnum):
    """The rules in the order they run; a later one overwrites an earlier one."""

    INITIAL = "InitialNMR", "the start: needs more ratings"
    GENERAL_HELPFUL = "GeneralCRH", "liked across sides"
    GENERAL_NOT_HELPFUL = "GeneralCRNH", "rated low"
    UPPER_BOUND = "UcbCRNH", "low whatever comes next"
    RATIO = "RatioCRNH", "disliked on both sides"
    NOT_MISLEADING = "NmCRNH", "says that the post is fine"
    INERTIA = "GeneralCRHInertia", "a shown note stays a little longer"
    TAGS = "TagFilter", "an unusual complaint"
    INCORRECT = "FilterIncorrect", "said to be incorrect"
    LOW_DILIGENCE = "FilterLowDiligence", "doubts about facts and sources"
    LARGE_FACTOR = "FilterLargeFactor", "speaks to one side"
    LOW_INTERCEPT = "RejectLowIntercept", "too low for any of X's models"
    MINORITY = "MinMinorityRaters", "too few helpful ratings from one side"
    BALANCE = "RaterBalance", "nearly all helpful ratings from one side"
    HIGH_VOLUME = "NoHighVolIntercept", "carried by the busiest raters"
    CORRELATED = "NoCorrelatedIntercept", "carried by raters who act together"
    CAPTURE = "CaptureThreshold", "rated mostly by groups that X's Core model leaves out"
    SAMPLED = "PopulationSampledIntercept", "liked less by people whom X drew at random"
    EXPLANATION = "InsufficientExplanation", "too few reasons ticked"


@dataclass(frozen=True)
class Side:
    """One side of the viewpoint (rater factor below 0, or from 0 up): how its raters rated the note.

    mean: of the ratings in [0, 1], NaN without any. net_helpful: helpful minus not helpful ratings.
    """

    raters: int = 0
    mean: float = float("nan")
    net_helpful: int = 0


@dataclass(frozen=True)
class IncorrectSignal:
    """Of like-minded raters with a complaint: how many, how many 'incorrect' tags, and their usual rates summed."""

    raters: int
    tags: int
    usual: float


@dataclass(frozen=True)
class SampledSignal:
    """Of ratings that X asked people drawn at random for: the note's intercept by them, and how many on each side."""

    intercept: float
    negative: int
    positive: int


@dataclass(frozen=True)
class NoteSignals:
    """Everything the rules may look at for one note; None is "not known", and its rule is not applied.

    ratings: all ratings of the note that count. left_out: those by raters whom Core leaves out; None where all raters
    count. tag_totals, tag_shares: weighted number and share of raters per not-helpful tag; tag_lines: the share above
    which a tag is unusual. helpful_tags, not_helpful_tags: how many tags enough raters chose to explain a status.
    """

    note_id: int | str
    ratings: int
    intercept: float
    factor: float
    negative: Side = field(default_factory=Side)
    positive: Side = field(default_factory=Side)
    misleading: bool | None = None
    upper_bound: float | None = None
    was_helpful: bool | None = None
    tag_totals: Mapping[str, float] | None = None
    tag_shares: Mapping[str, float] | None = None
    tag_lines: Mapping[str, float] | None = None
    incorrect: IncorrectSignal | None = None
    diligence_intercept: float | None = None
    intercept_without_high_volume: float | None = None
    intercept_without_correlated: float | None = None
    left_out: int | None = None
    sampled: SampledSignal | None = None
    helpful_tags: int | None = None
    not_helpful_tags: int | None = None


@dataclass(frozen=True)
class ManySignals:
    """What `NoteSignals` has of one note, of n: (n,) each, of the two sides (2, n), by tag (n,) each.

    raters, means, net: of the sides, negative first. incorrect (3, n): like-minded raters with a complaint, their
    "incorrect" tags, and the usual rates summed. without_busy: the intercept. sampled (3, n): see `SampledSignal`.
    """

    ratings: Whole
    intercept: Floats
    factor: Floats
    upper_bound: Floats
    raters: Floats
    means: Floats
    net: Floats
    misleading: Bools | None
    was_helpful: Bools | None
    tag_totals: dict[str, Floats] | None
    tag_shares: dict[str, Floats] | None
    tag_lines: dict[str, float] | None
    incorrect: Floats | None
    without_busy: Floats | None
    left_out: Whole | None
    sampled: Floats | None
    helpful_tags: Whole | None
    not_helpful_tags: Whole | None

    @classmethod
    def joined(cls, parts: list[ManySignals]) -> ManySignals:
        """Return the notes of all parts as one, and empty the list: no column is in memory twice for long."""
        rows = [dict(vars(part)) for part in parts]
        parts.clear()
        return cls(**{name: _join_columns([row.pop(name) for row in rows]) for name in list(rows[0])})

    def note(self, n: int, note_id: int | str) -> NoteSignals:
        """Return one note's signals."""
        sides = zip(self.raters[:, n].tolist(), self.means[:, n].tolist(), self.net[:, n].tolist(), strict=True)
        negative, positive = (Side(int(raters), mean, int(net)) for raters, mean, net in sides)
        incorrect = sampled = None
        if self.incorrect is not None:
            raters, tags, usual = self.incorrect[:, n].tolist()
            incorrect = IncorrectSignal(int(raters), int(tags), usual)
        if self.sampled is not None:
            intercept, *counts = self.sampled[:, n].tolist()
            sampled = SampledSignal(intercept, *map(int, counts))
        return NoteSignals(
            note_id=note_id,
            ratings=int(self.ratings[n]),
            intercept=float(self.intercept[n]),
            factor=float(self.factor[n]),
            negative=negative,
            positive=positive,
            misleading=None if self.misleading is None else bool(self.misleading[n]),
            upper_bound=float(self.upper_bound[n]),
            was_helpful=None if self.was_helpful is None else bool(self.was_helpful[n]),
            tag_totals=None if self.tag_totals is None else {tag: float(of[n]) for tag, of in self.tag_totals.items()},
            tag_shares=None if self.tag_shares is None else {tag: float(of[n]) for tag, of in self.tag_shares.items()},
            tag_lines=self.tag_lines,
            incorrect=incorrect,
            intercept_without_high_volume=None if self.without_busy is None else float(self.without_busy[n]),
            left_out=None if self.left_out is None else int(self.left_out[n]),
            sampled=sampled,
            helpful_tags=None if self.helpful_tags is None else int(self.helpful_tags[n]),
            not_helpful_tags=None if self.not_helpful_tags is None else int(self.not_helpful_tags[n]),
        )


def _join_columns(values: list[Any]) -> Any:
    if values[0] is None:
        return None
    if isinstance(values[0], dict):
        return {tag: np.concatenate([value[tag] for value in values]) for tag in values[0]}
    return np.concatenate(values, axis=-1)


def _convert_nan_to_none(value: object) -> object:
    return None if isinstance(value, float) and math.isnan(value) else value


# NaN has no place in JSON; a number that is not known is null there and None here.
MaybeNumber = Annotated[float | None, BeforeValidator(_convert_nan_to_none)]


_TEXT_BY_WISH = {
    "at least": "{measure} {value}, at least {line} needed",
    "at most": "{measure} {value}, at most {line} needed",
    "below": "{measure} {value}, below {line} needed",
}


NOTE_INTERCEPT = "note intercept"


class Distance(FrozenModel):
    """A measure against its line; `met` when value and line compare as `wish` says.

    gap: how far the value is above (positive) or below (negative) the line; None when one is not known.
    """

    measure: str
    value: MaybeNumber
    line: MaybeNumber
    wish: str
    met: bool
    gap: MaybeNumber

    def as_text(self, measure: str = "") -> str:
        """For instance: "note intercept 0.37, at least 0.40 needed"; `measure` is another name for it."""
        measure = measure or self.measure
        if self.value is None or self.line is None:
            return f"{measure} not known"
        value, line = in_figures(self.value, self.line), in_figures(self.line, self.line)
        return fill(_TEXT_BY_WISH[self.wish], measure=measure, value=value, line=line)

    @property
    def for_readers(self) -> str:
        """As the reasons have it, which call the note intercept its score."""
        return self.as_text("score" if self.measure == NOTE_INTERCEPT else "")


class RuleOutcome(FrozenModel):
    """What one rule said. `status` is what it set when it fired, None otherwise."""

    rule: RuleName
    fired: bool
    status: NoteStatus | None = None
    reason: str = ""
    distances: tuple[Distance, ...] = ()


class NotApplied(FrozenModel):
    """A rule that could not be asked, and what it lacks."""

    rule: RuleName
    missing: str


class StatusResult(FrozenModel):
    """A note's status with its story.

    status is what readers would see; internal_status the scorer's own. decided_by: the last rule that
    acted. blocked_by: the rules that keep the note from being shown.
    """

    note_id: int | str
    status: NoteStatus
    internal_status: NoteStatus
    decided_by: RuleName
    reason: str
    note_intercept: MaybeNumber
    note_factor: MaybeNumber
    ratings: int
    blocked_by: tuple[RuleOutcome, ...]
    outcomes: tuple[RuleOutcome, ...]
    not_applied: tuple[NotApplied, ...]
