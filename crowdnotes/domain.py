"""The nouns of CrowdNotes, as frozen pydantic models.

One flow: Post → Queries → Hits → Sources → Passages = Evidence → (a person inspects) → Draft →
Assessment → Decision. Terms are the field's own (communitynotes.x.com/guide; CrowdNotes+ section 4).
Times are aware datetimes in UTC. Offsets are in Unicode code points, end exclusive.
"""

from __future__ import annotations

import hashlib
from datetime import date, datetime
from enum import StrEnum
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class Noun(BaseModel):
    """Frozen, and strict about names: an unknown field is an error, not a silent loss."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def text_sha256(text: str) -> str:
    """What an assessment or decision is bound to: the sha256 of the exact text, as hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Span(Noun):
    """text[start:end] of the text that the field's owner names."""

    start: int = Field(ge=0)
    end: int = Field(ge=0)

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.end < self.start:
            raise ValueError(f"span ends before it starts: {self.start}..{self.end}")
        return self


# --- what comes in ----------------------------------------------------------------------------


class Post(Noun):
    """The post on X that may need a note."""

    text: str
    url: str | None = None
    author: str | None = None
    posted_at: datetime | None = None
    language: str | None = None


class Claim(Noun):
    """A checkable statement and where it stands in the post."""

    text: str
    span: Span


class Mode(StrEnum):
    """Who brings the sources (CrowdNotes+ 4.1 and 4.2)."""

    AUGMENTATION = "augmentation"
    AUTOMATION = "automation"


class Query(Noun):
    """One search, and what it is meant to find that the others do not."""

    text: str
    purpose: str


# --- evidence ---------------------------------------------------------------------------------


class SourceCategory(StrEnum):
    """The seven kinds of source of CrowdNotes+ appendix B.1."""

    HEALTH_AUTHORITY = "health authority"
    RESEARCH = "research literature"
    NEWS = "news media"
    SOCIAL = "social media"
    HEALTH_PORTAL = "health portal"
    COMMERCIAL_ADVOCACY_NGO = "commercial, advocacy or NGO"
    OTHER = "other"


class FetchOutcome(StrEnum):
    """How reading a source ended. A page that was read but says nothing useful is still READ."""

    READ = "read"
    BLOCKED = "blocked"
    PAYWALLED = "behind a paywall"
    NOT_FOUND = "not found"
    TIMED_OUT = "timed out"
    UNREACHABLE = "unreachable"
    SERVER_ERROR = "server error"
    TOO_LARGE = "too large"
    WRONG_TYPE = "not a readable type"
    UNREADABLE = "unreadable"
    REFUSED = "refused as unsafe"
    TOO_LATE = "later than the cutoff"


class DateOrigin(StrEnum):
    """Where a source's date is from; a date without a stated origin is not shown."""

    PAGE = "the page"
    LIBRARY = "the library"
    PERSON = "the contributor"


class Hit(Noun):
    """A search result, before anything is read. Title and snippet are plain text.

    `notices` are marks that a reader must see: "preprint", "retracted" and the like. `also_found_by`
    are the other providers that gave the same page.
    """

    provider: str
    title: str
    snippet: str
    query: str
    url: str | None = None
    published: date | None = None
    library: str | None = None
    record: int | None = None
    score: float = 0.0
    doi: str | None = None
    notices: tuple[str, ...] = ()
    also_found_by: tuple[str, ...] = ()


class ProviderState(StrEnum):
    """How a search provider's part of a search ended; a failed search is not "nothing found"."""

    ANSWERED = "answered"
    FAILED = "failed"
    NOT_CONFIGURED = "not configured"
    RATE_LIMITED = "rate limited"
    TIMED_OUT = "timed out"
    CANCELLED = "cancelled"


class ProviderOutcome(Noun):
    """One provider's part of a search: how many distinct hits, how long, and a sentence for the user."""

    provider: str
    label: str
    state: ProviderState
    found: int = 0
    seconds: float = 0.0
    sentence: str = ""


class Source(Noun):
    """A page or record, read or not. Its text lies in the store under `text_sha256`."""

    id: str
    title: str
    url: str | None = None
    publisher: str | None = None
    published: date | None = None
    date_origin: DateOrigin | None = None
    category: SourceCategory = SourceCategory.OTHER
    outcome: FetchOutcome = FetchOutcome.READ
    outcome_detail: str = ""
    text_sha256: str | None = None
    characters: int = 0
    library: str | None = None
    record: int | None = None
    language: str | None = None
    read_at: datetime | None = None


class Passage(Noun):
    """The best window of a source for this post (CrowdNotes+ appendix D.2).

    `text` equals the source's text at `span`. `before` and `after` are what surrounds it, for
    reading in context. `marks` are the most relevant sentences, as offsets in `text`.
    `similarity` is a cosine in [-1, 1] to the post.
    """

    text: str
    span: Span
    similarity: float
    before: str = ""
    after: str = ""
    marks: tuple[Span, ...] = ()


class Verdict(StrEnum):
    """What the person who read a passage makes of it."""

    USE = "use"
    BACKGROUND = "background"
    REJECT = "reject"


class Review(Noun):
    """The person's inspection of one passage; empty until they open it."""

    opened_at: datetime | None = None
    opened_by: str | None = None
    verdict: Verdict | None = None
    reason: str = ""


class Evidence(Noun):
    """One chosen passage: "E1", why it was chosen, and what the person says of it."""

    id: str
    source: Source
    passage: Passage
    rank: int
    why: str
    review: Review = Review()

    @property
    def used(self) -> bool:
        """Whether a person opened this passage and chose to use it."""
        return self.review.opened_at is not None and self.review.verdict is Verdict.USE


# --- words ------------------------------------------------------------------------------------


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


# --- judgement --------------------------------------------------------------------------------


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
    """One gate's verdict. `score` is in [0, 1] on the engine's own scale; `threshold` is its line."""

    gate: GateName
    status: GateStatus
    reason: str
    score: float | None = None
    threshold: float | None = None
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
    """One principle check; `findings` point at the words it objects to."""

    principle: PrincipleName
    status: GateStatus
    reason: str
    findings: tuple[Finding, ...] = ()


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

    def gate(self, name: GateName) -> GateResult:
        """The result of one gate; every assessment has all three."""
        return next(result for result in self.gates if result.gate is name)


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


# --- the whole --------------------------------------------------------------------------------


class StageName(StrEnum):
    """The stages that the program works through; each is saved before the next starts."""

    QUERIES = "queries"
    SEARCH = "search"
    READ = "read"
    PASSAGES = "passages"
    DRAFT = "draft"
    ASSESS = "assess"


class Stage(Noun):
    """A finished stage: when, how long, and what came of it in one line."""

    name: StageName
    finished_at: datetime
    seconds: float
    summary: str
    engine: str


class Event(Noun):
    """A line of the audit trail."""

    at: datetime
    by: str
    kind: str
    detail: str = ""


class CaseStatus(StrEnum):
    """Where a case stands, derived from what it holds."""

    NEW = "new"
    AWAITING_INSPECTION = "awaiting inspection"
    DRAFTING = "drafting"
    AWAITING_DECISION = "awaiting decision"
    DECIDED = "decided"


class Case(Noun):
    """All of one note's making, from the post to the decision.

    `services` are the online providers to ask, `until` the day that evidence must not be later than,
    `outcomes` how each provider's search ended; `reasons` tell by source id why it was chosen;
    `candidates` are what the engine wrote; `revisions` the texts that an edit replaced, oldest first,
    for undo; `earlier_evidence` are the sets of passages that a new search replaced.
    """

    id: str
    created_at: datetime
    updated_at: datetime
    version: int = 0
    mode: Mode
    post: Post
    urls: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    until: date | None = None
    outcomes: tuple[ProviderOutcome, ...] = ()
    claims: tuple[Claim, ...] = ()
    queries: tuple[Query, ...] = ()
    hits: tuple[Hit, ...] = ()
    sources: tuple[Source, ...] = ()
    reasons: dict[str, str] = {}
    evidence: tuple[Evidence, ...] = ()
    draft: Draft | None = None
    candidates: tuple[Draft, ...] = ()
    revisions: tuple[Draft, ...] = ()
    earlier_evidence: tuple[tuple[Evidence, ...], ...] = ()
    assessment: Assessment | None = None
    classification: Classification = Classification.MISLEADING
    tags: tuple[str, ...] = ()
    decision: Decision | None = None
    stages: tuple[Stage, ...] = ()
    events: tuple[Event, ...] = ()

    def evidence_by_id(self, evidence_id: str) -> Evidence | None:
        """The evidence with that id, or None."""
        return next((item for item in self.evidence if item.id == evidence_id), None)

    @property
    def next_evidence_number(self) -> int:
        """The number of the next passage: an id names one passage for ever, also those on record."""
        sets = (self.evidence, *self.earlier_evidence)
        return 1 + max((int(item.id.removeprefix("E")) for items in sets for item in items), default=0)

    @property
    def used_evidence(self) -> tuple[Evidence, ...]:
        """What a person opened and chose to use."""
        return tuple(item for item in self.evidence if item.used)

    @property
    def basis_sha256(self) -> str:
        """Identity of the passages in use; see `Assessment.basis_sha256`."""
        return basis_sha256(self.used_evidence)

    @property
    def assessment_is_current(self) -> bool:
        """Whether the assessment judged this very text over these very passages."""
        return (
            self.draft is not None
            and self.assessment is not None
            and self.assessment.text_sha256 == self.draft.sha256
            and self.assessment.basis_sha256 == self.basis_sha256
        )

    @property
    def status(self) -> CaseStatus:
        """Derived, so that it can never disagree with what the case holds."""
        if self.decision is not None:
            return CaseStatus.DECIDED
        if not self.evidence:
            return CaseStatus.NEW
        if not self.used_evidence:
            return CaseStatus.AWAITING_INSPECTION
        return CaseStatus.AWAITING_DECISION if self.assessment_is_current else CaseStatus.DRAFTING


def basis_sha256(evidence: tuple[Evidence, ...]) -> str:
    """Identity of a set of passages: their ids and exact texts, in order."""
    return text_sha256("\x00".join(f"{item.id}\x01{item.passage.text}" for item in evidence))
