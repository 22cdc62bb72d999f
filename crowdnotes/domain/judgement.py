"""What is judged, always of one exact text: gates, principles, form."""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum
from math import prod
from typing import Self

from pydantic import Field, model_validator

from crowdnotes.domain.base import Noun, Span
from crowdnotes.domain.notes import SentenceSupport


class GateName(StrEnum):
    """The three stages of CrowdNotes+ 4.3, in order."""

    RELEVANCE = "relevance"
    CORRECTNESS = "correctness"
    HELPFULNESS = "helpfulness"


class GateStatus(StrEnum):
    """NOT_RUN is neither a pass nor a fail: the gate gave no verdict, and `reason` says why."""

    PASS = "PASS"
    FAIL = "FAIL"
    NOT_RUN = "NOT_RUN"


class Finding(Noun):
    """A detail of a verdict: about one passage or some words of the note."""

    message: str
    evidence_id: str | None = None
    span: Span | None = None
    ok: bool = False


class GateResult(Noun):
    """One gate's verdict. `score` is in [0, 1] on the engine's own scale; `threshold` is its line.

    `probability` is the judge's own, in [0, 1], that the gate passes; None when it gives none.
    """

    gate: GateName
    status: GateStatus
    reason: str
    score: float | None = None
    threshold: float | None = None
    probability: float | None = Field(None, ge=0, le=1)
    findings: tuple[Finding, ...] = ()


class PrincipleName(StrEnum):
    """Supernotes 2.2 and the tags that raters use."""

    NEUTRAL = "neutral language"
    NO_SPECULATION = "no opinion or speculation"
    ADDRESSES_CLAIM = "directly addresses the claim"
    SOURCES_SUPPORT = "sources support it"
    CONTEXT = "important context"
    READABLE = "easy to understand"


class PrincipleResult(Noun):
    """One principle check; `findings` point at the words it objects to, `rewrite` is a note without them, or "".

    Of a principle that is kept the findings are remarks, which a person may weigh otherwise than the judge.
    `probability` is the judge's own, in [0, 1], that the principle is kept; None when it gives none.
    """

    principle: PrincipleName
    status: GateStatus
    reason: str
    findings: tuple[Finding, ...] = ()
    rewrite: str = ""
    probability: float | None = Field(None, ge=0, le=1)


class LintLevel(StrEnum):
    """BLOCKS stops approval; WARNS does not."""

    BLOCKS = "blocks"
    WARNS = "warns"


class LintWarning(Noun):
    """Something about the note's form that X, or a reader, would stumble over."""

    code: str
    message: str
    level: LintLevel
    span: Span | None = None


class LinkState(StrEnum):
    """How a cited link answered. X's own evaluator asks for a 200 within a few tries."""

    LIVE = "live"
    BLOCKED = "blocked"
    DEAD = "dead"
    UNREACHABLE = "unreachable"
    REFUSED = "refused as unsafe"


class LinkCheck(Noun):
    """One cited link, asked just now: `status` is the last HTTP status, None when none came.

    `archived_url` is a copy of a page that is gone, as far as an archive knows one that is not later than `until`.
    """

    url: str
    state: LinkState
    checked_at: datetime
    tries: int = Field(ge=1)
    status: int | None = None
    sentence: str = ""
    archived_url: str | None = None
    until: date | None = None

    @property
    def is_gone(self) -> bool:
        """Whether the page cannot be had, so that an archive's copy stands for it."""
        return self.state in {LinkState.DEAD, LinkState.UNREACHABLE}


class Assessment(Noun):
    """The judgement of one exact text over one exact set of passages.

    `basis_sha256` is of the passages in use: tick another and the judgement is as stale as after
    an edit of the text.
    """

    text_sha256: str
    basis_sha256: str
    gates: tuple[GateResult, ...]
    principles: tuple[PrincipleResult, ...]
    sentences: tuple[SentenceSupport, ...]
    lint: tuple[LintWarning, ...]
    engine: str
    prompt_version: str | None = None
    assessed_at: datetime
    seconds: float = 0.0

    @model_validator(mode="after")
    def _all_gates(self) -> Self:
        if [result.gate for result in self.gates] != list(GateName):
            raise ValueError("an assessment has all three gates, in order")
        return self

    @property
    def probability(self) -> float | None:
        """That the note passes all three (CrowdNotes+ 4.3, equation 1); None while one of them has none."""
        parts = [result.probability for result in self.gates]
        known = [part for part in parts if part is not None]
        return prod(known) if len(known) == len(parts) else None

    def gate(self, name: GateName) -> GateResult:
        """The result of one gate; every assessment has all three."""
        return next(result for result in self.gates if result.gate is name)
