"""The shape that every comparison of note and passage returns."""

from __future__ import annotations

from dataclasses import dataclass

from crowdnotes.domain import Span


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference: `span` in the note's sentence, `message` for a person.

    `factor` in (0, 1] multiplies the sentence's support; `serious` ones alone keep it from
    counting as supported.
    """

    kind: str
    message: str
    span: Span
    factor: float
    serious: bool = True
