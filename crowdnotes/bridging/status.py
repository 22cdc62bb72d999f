"""The nouns of a note's status: what the rules look at, what each said, and what came of it.

Status names are the public data's own (Community Notes guide, "Note status").
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

from pydantic import BeforeValidator

from crowdnotes.domain import Noun
from crowdnotes.text.markdown import in_figures
from crowdnotes.wording import name_of, say


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
        return NoteStatus.NEEDS_MORE_RATINGS if self in _INTERNAL else self

    @property
    def in_words(self) -> str:
        """As readers are told of it."""
        return say(_IN_WORDS[self.shown])


_INTERNAL = (NoteStatus.NEEDS_YOUR_HELP, NoteStatus.FIRM_REJECT)
_IN_WORDS = {
    NoteStatus.HELPFUL: "story.shown",
    NoteStatus.NOT_HELPFUL: "story.not_helpful",
    NoteStatus.NEEDS_MORE_RATINGS: "story.waiting",
}


class RuleName(StrEnum):
    """The rules in the order they run; a later one overwrites an earlier one."""

    INITIAL = "InitialNMR"
    GENERAL_HELPFUL = "GeneralCRH"
    GENERAL_NOT_HELPFUL = "GeneralCRNH"
    UPPER_BOUND = "UcbCRNH"
    RATIO = "RatioCRNH"
    NOT_MISLEADING = "NmCRNH"
    INERTIA = "GeneralCRHInertia"
    TAGS = "TagFilter"
    INCORRECT = "FilterIncorrect"
    LOW_DILIGENCE = "FilterLowDiligence"
    LARGE_FACTOR = "FilterLargeFactor"
    LOW_INTERCEPT = "RejectLowIntercept"
    MINORITY = "MinMinorityRaters"
    BALANCE = "RaterBalance"
    HIGH_VOLUME = "NoHighVolIntercept"
    CORRELATED = "NoCorrelatedIntercept"
    EXPLANATION = "InsufficientExplanation"

    @property
    def in_words(self) -> str:
        """What it asks of a note, in a few words."""
        return name_of("rule_names", self.value)


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
class NoteSignals:
    """Everything the rules may look at for one note; None is "not known", and its rule is not applied.

    ratings: all ratings of the note. tag_totals, tag_shares: weighted number and share of raters per
    not-helpful tag; tag_lines: the share above which a tag is unusual. explanations: raters per tag.
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
    helpful_tags: Mapping[str, int] | None = None
    not_helpful_tags: Mapping[str, int] | None = None


def _none_if_unknown(value: object) -> object:
    return None if isinstance(value, float) and math.isnan(value) else value


# NaN has no place in JSON; a number that is not known is null there and None here.
MaybeNumber = Annotated[float | None, BeforeValidator(_none_if_unknown)]


_NEEDED = {"at least": "rules.at_least", "at most": "rules.at_most", "below": "rules.below"}


class Distance(Noun):
    """A measure against its line; `met` when the value stands to the line as `wish` says.

    gap: how far above (positive) or below (negative) the line the value stands; None when one is not known.
    """

    measure: str
    value: MaybeNumber
    line: MaybeNumber
    wish: str
    met: bool
    gap: MaybeNumber

    def in_words(self) -> str:
        """For instance: "note intercept 0.37, at least 0.40 needed"."""
        if self.value is None or self.line is None:
            return say("rules.not_known", measure=self.measure)
        value, line = in_figures(self.value, self.line), in_figures(self.line, self.line)
        return say(_NEEDED[self.wish], measure=self.measure, value=value, line=line)


class RuleOutcome(Noun):
    """What one rule said. `status` is what it set when it fired, None otherwise."""

    rule: RuleName
    fired: bool
    status: NoteStatus | None = None
    reason: str = ""
    distances: tuple[Distance, ...] = ()


class NotApplied(Noun):
    """A rule that could not be asked, and what it lacks."""

    rule: RuleName
    missing: str


class StatusResult(Noun):
    """A note's status with its story.

    status is what readers would see; internal_status the scorer's own. decided_by: the last rule that
    acted. blocked_by: what stands between the note and being shown.
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
