"""Whether the passages settle the claim: stated, inferred, or not; and what would settle it."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from crowdnotes.domain.base import Noun, Span, text_sha256
from crowdnotes.domain.evidence import Evidence


class AnswerKind(StrEnum):
    """How a passage answers the claim: outright, by a reader's own conclusion, or not at all."""

    STATED = "stated"
    INFERRED = "inferred"
    NONE = "background"


class Points(StrEnum):
    """Which way a passage points."""

    AGAINST = "against the claim"
    FOR = "for the claim"
    NEITHER = "neither way"


class PassageAnswer(Noun):
    """What one passage gives for the claim: `span` are the words of the passage that show it, as offsets in its text.

    `to_program`: words in it speak to a program instead of people, so it answers nothing.
    """

    evidence_id: str
    passage_sha256: str
    answer: AnswerKind
    points: Points = Points.NEITHER
    span: Span | None = None
    tells: str = ""
    to_program: bool = False


class Settlement(Noun):
    """What a model found in the passages for the claim, passage by passage, and what is missing to settle it.

    `post_to_program`: words in the post speak to a program instead of people.
    """

    passages: tuple[PassageAnswer, ...]
    missing: str = ""
    post_to_program: bool = False
    engine: str
    prompt_version: str | None = None

    def of(self, item: Evidence) -> PassageAnswer | None:
        """What was found of a passage as it is now; None when nobody has asked."""
        known = (found for found in self.passages if found.evidence_id == item.id)
        return next((found for found in known if found.passage_sha256 == text_sha256(item.passage.text)), None)

    def answers(self, evidence: Iterable[Evidence]) -> list[tuple[Evidence, PassageAnswer]]:
        """The passages that answer the claim, those that state it first."""
        found = [(item, answer) for item in evidence if (answer := self.of(item)) is not None]
        order = (AnswerKind.STATED, AnswerKind.INFERRED)
        return [pair for wanted in order for pair in found if pair[1].answer is wanted]

    def answer(self, evidence: Iterable[Evidence]) -> AnswerKind:
        """The best that these passages give."""
        best = self.answers(evidence)
        return best[0][1].answer if best else AnswerKind.NONE
