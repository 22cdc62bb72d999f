"""What a simulated jury says of one exact note.

Sides are named neutrally: "side −" are raters with a factor below 0, "side +" those from 0 up.
Statuses and rules carry the public data's own names (`bridging.verdicts`).
"""

from __future__ import annotations

from pydantic import Field

from crowdnotes.domain.base import Noun, Span


class Interval(Noun):
    """Where the middle 90 % of repeated juries lie."""

    low: float
    high: float


class SideVotes(Noun):
    """How the jurors of one side rated; `side` is "−" or "+"."""

    side: str
    helpful: int = Field(ge=0)
    somewhat_helpful: int = Field(ge=0)
    not_helpful: int = Field(ge=0)

    @property
    def jurors(self) -> int:
        """All jurors of the side."""
        return self.helpful + self.somewhat_helpful + self.not_helpful

    @property
    def mean(self) -> float | None:
        """The mean rating in [0, 1], somewhat helpful as a half; None without jurors."""
        return (self.helpful + self.somewhat_helpful / 2) / self.jurors if self.jurors else None


class Influence(Noun):
    """What some words do: each side's chance of "helpful" with them minus without them, in [-1, 1].

    `span` is in the note. `whole_sentence` tells a sentence from a single word.
    """

    span: Span
    words: str
    on_negative: float
    on_positive: float
    whole_sentence: bool = False


class RuleWord(Noun):
    """A status rule's name and its sentence."""

    rule: str
    reason: str


class JuryQuality(Noun):
    """What the model behind the jury was measured to do, on notes newer than those it had learned from.

    None where the data that it learned from cannot tell. `note` is one sentence for the person who reads.
    """

    data: str
    notes: int
    polarising_auc: float | None
    camp_auc: float | None
    rating_auc: float | None
    expected_calibration_error: float | None
    note: str


class JuryVerdict(Noun):
    """A simulation: how seeded jurors rated one exact text, and what the algorithm makes of it.

    The intervals hold chance alone (other jurors, other ratings), not what the model does not know.
    helpful_line: the note intercept that CURRENTLY_RATED_HELPFUL takes. splits: the chance that the
    note divides the sides, where the model tells it. cautions: what makes this verdict weaker than usual.
    means_nothing: the text is so unlike all that the jury learned from that no sentence may rest on its numbers.
    """

    text_sha256: str
    post_sha256: str | None
    jurors: int = Field(ge=1)
    seed: int
    sampling: str
    note_intercept: float
    intercept_interval: Interval
    note_factor: float
    factor_interval: Interval
    helpful_line: float
    status: str
    decided_by: RuleWord
    blocked_by: tuple[RuleWord, ...]
    not_applied: tuple[str, ...]
    negative: SideVotes
    positive: SideVotes
    splits: float | None
    influences: tuple[Influence, ...]
    sentence: str
    cautions: tuple[str, ...]
    means_nothing: bool = False
    model: str
    quality: JuryQuality
