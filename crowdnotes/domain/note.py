"""Drafts of the note, and which passage carries each of their sentences."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from crowdnotes.domain.base import Noun, Span, text_sha256


class Support(StrEnum):
    """How far the passages carry a sentence of the note."""

    SUPPORTED = "supported"
    PARTLY = "partly supported"
    UNSUPPORTED = "not supported"


class SentenceSupport(Noun):
    """Attribution of one sentence of a note: `span` in the note, `carrier` in the passage's text.

    `score` is in [0, 1]. `doubts` name what differs, in words a volunteer understands, and
    `doubted` the words of the note they are about, as offsets in the note.
    """

    span: Span
    support: Support
    score: float
    evidence_id: str | None = None
    carrier: Span | None = None
    doubts: tuple[str, ...] = ()
    doubted: tuple[Span, ...] = ()


class Draft(Noun):
    """A note's full text, URLs included, exactly as it would be posted."""

    text: str
    evidence_ids: tuple[str, ...] = ()
    sentences: tuple[SentenceSupport, ...] = ()
    engine: str
    prompt_version: str | None = None
    written_at: datetime
    seconds: float = 0.0

    @property
    def sha256(self) -> str:
        """The text's identity."""
        return text_sha256(self.text)
