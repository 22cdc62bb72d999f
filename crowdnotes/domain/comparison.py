"""A blind comparison of notes: pairs, who sees which in what order, what was answered, and what that comes to.

As in the Supernotes paper, section 4.1 and appendix B.2: both notes are rated, by level and by five statements, and one
is chosen. The first note of a pair is the one that the win rate is of; readers see a left and a right one.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from crowdnotes.domain.base import FrozenModel, LabelledEnum, text_sha256

Side = Literal["left", "right"]
Choice = Literal["left", "right", "equal"]
Agreement = Annotated[int, Field(ge=1, le=5)]


class Level(LabelledEnum):
    """How helpful a note is; the words of Community Notes."""

    HELPFUL = "helpful"
    SOMEWHAT = "somewhat helpful"
    NOT = "not helpful"

    @property
    def worth(self) -> float:
        """The number of the Community Notes algorithm, in [0, 1]."""
        return {Level.HELPFUL: 1.0, Level.SOMEWHAT: 0.5, Level.NOT: 0.0}[self]


class Statement(LabelledEnum):
    """What readers agree with or not, from 1 (not at all) to 5 (fully); `words` as they read it."""

    SOURCES = "sources"
    CLARITY = "clarity"
    COVERAGE = "coverage"
    CONTEXT = "context"
    NEUTRALITY = "neutrality"

    @property
    def words(self) -> str:
        """A sentence about "it", the note."""
        return {
            Statement.SOURCES: "Its sources support what it says.",
            Statement.CLARITY: "It is clear and correct.",
            Statement.COVERAGE: "It answers each main claim of the post.",
            Statement.CONTEXT: "It adds context that matters.",
            Statement.NEUTRALITY: "It does not argue, guess or take sides.",
        }[self]


class NotePair(FrozenModel):
    """A post and two notes on it."""

    id: str
    post: str
    first: str
    second: str


class Rating(FrozenModel):
    """What a reader says of one note."""

    level: Level
    statements: dict[Statement, Agreement]

    @model_validator(mode="after")
    def _all_five(self) -> Self:
        if len(self.statements) != len(Statement):
            raise ValueError("each statement takes an answer")
        return self


class Answer(FrozenModel):
    """One answer of a participant on a pair: the newest. `first_at` is when they first answered.

    left, right: None where the comparison asks only which note helps more.
    """

    participant: str
    pair: str
    left: Rating | None = None
    right: Rating | None = None
    chosen: Choice
    first_is_left: bool
    first_at: datetime
    at: datetime

    @property
    def first(self) -> Rating | None:
        """Of the pair's first note."""
        return self.left if self.first_is_left else self.right

    @property
    def second(self) -> Rating | None:
        """Of the other."""
        return self.right if self.first_is_left else self.left

    @property
    def winner(self) -> Literal["first", "second", "equal"]:
        """Which note of the pair was chosen."""
        if self.chosen == "equal":
            return "equal"
        return "first" if (self.chosen == "left") == self.first_is_left else "second"


class Sheet(FrozenModel):
    """A pair as one participant sees it, without saying which note is the first."""

    pair: str
    post: str
    left: str
    right: str
    answer: Answer | None = None


class Comparison(FrozenModel):
    """Pairs that are compared under one link. `id` is in the link and cannot be guessed.

    `each` is how many pairs a participant sees. `short`: participants say only which note helps more.
    `sides_unknown`: the file had shuffled the notes of each pair, so nothing can be said of the first ones as a group.
    """

    id: str
    created_at: datetime
    title: str
    names: tuple[str, str]
    pairs: tuple[NotePair, ...]
    each: int
    short: bool = False
    sides_unknown: bool = False

    def seen_by(self, participant: str) -> list[NotePair]:
        """Return that person's pairs, in their order: as good as random, and the same each time."""
        return sorted(self.pairs, key=lambda pair: self._drawn("order", participant, pair.id))[: self.each]

    def first_is_left(self, participant: str, pair: str) -> bool:
        """Return whether the first note is on the left: as good as random, and the same each time."""
        return int(self._drawn("side", participant, pair)[:8], 16) % 2 == 0

    def _drawn(self, what: str, participant: str, pair: str) -> str:
        return text_sha256(f"{what} {self.id} {participant} {pair}")


class ComparisonSummary(FrozenModel):
    """One in the list: its size, and what has come in."""

    id: str
    created_at: datetime
    title: str
    pairs: int
    participants: int
    answers: int


class Figure(FrozenModel):
    """A number with its 95 % interval and what it is of; without a value, why it was NOT RUN.

    `how` says what the interval or the test rests on.
    """

    n: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    how: str = ""
    not_run: str = ""

    @property
    def as_text(self) -> str:
        """For example 0.75 (0.71 to 0.79), n 504."""
        if self.value is None:
            return f"NOT RUN: {self.not_run}"
        between = "" if self.low is None or self.high is None else f" ({self.low:.2f} to {self.high:.2f})"
        p = "" if self.p is None else ", p < 0.001" if self.p < 0.001 else f", p = {self.p:.3f}"
        value = round(self.value, 2) + 0.0  # no minus before a zero
        return f"{value:.2f}{between}{p}, n {self.n:,}"


class BothRated(FrozenModel):
    """A scale of both notes: the mean of each, and whether they differ (Wilcoxon, signed ranks)."""

    first: Figure
    second: Figure
    differ: Figure


class ComparisonResults(FrozenModel):
    """What the answers come to. `levels` counts ratings by level: of the first note, of the second.

    `too_few`: there are too few answers for a verdict. `wins` is the share that chose the first note, with half of
    those who found both alike: of all, of those who rated both alike, of those who rated both helpful. The models have
    a random intercept by participant and by post: `rated_model` is by how much the first note is rated higher,
    `chosen_model` by how much its share lies above one half.
    """

    names: tuple[str, str]
    answers: int
    participants: int
    pairs: int
    too_few: bool
    levels: dict[Level, tuple[int, int]]
    wins: dict[Literal["all answers", "both rated alike", "both rated helpful"], Figure]
    helpfulness: BothRated
    rated_model: Figure
    chosen_model: Figure
    statements: dict[Statement, BothRated]
    sentences: dict[Literal["verdict", "wins", "helpfulness", "statements"], str]

    @property
    def rows(self) -> list[tuple[str, Figure]]:
        """Every figure with its name."""
        first, second = self.names
        rows = [(f"{first} chosen, {of}", figure) for of, figure in self.wins.items()]
        helpfulness = "helpfulness"
        for what, both in ((helpfulness, self.helpfulness), *self.statements.items()):
            rows += [(f"{what}, {first}", both.first), (f"{what}, {second}", both.second)]
            rows.append((f"{what}, difference (Wilcoxon)", both.differ))
        rows.append((f"{helpfulness}, difference (mixed model)", self.rated_model))
        rows.append((f"{first} chosen, beyond one half (mixed model)", self.chosen_model))
        return rows
