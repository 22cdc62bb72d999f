"""How a case ends, and what X's form asks about the note."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from crowdnotes.domain.base import Noun


class Classification(StrEnum):
    """X's two kinds of note (column `classification` of the public data)."""

    MISLEADING = "MISINFORMED_OR_POTENTIALLY_MISLEADING"
    NOT_MISLEADING = "NOT_MISLEADING"


class DecisionKind(StrEnum):
    """How a case may end; abstaining is a result."""

    APPROVED = "approved"
    NOT_NEEDED = "not needed"
    INSUFFICIENT_EVIDENCE = "insufficient evidence"
    REJECTED = "rejected"


class Override(Noun):
    """A failed check that a person passed over, and the reason they wrote."""

    check: str
    reason: str


class Decision(Noun):
    """Who decided what, when, why, and on which exact text."""

    kind: DecisionKind
    by: str
    at: datetime
    reason: str = ""
    text_sha256: str | None = None
    overrides: tuple[Override, ...] = ()
