"""The whole: one note's making, from the post to the decision."""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum

from pydantic import Field

from crowdnotes.domain.base import Noun
from crowdnotes.domain.decisions import Classification, Decision
from crowdnotes.domain.evidence import Evidence, EvidenceSet, Source, basis_sha256
from crowdnotes.domain.judgement import Assessment, LinkCheck
from crowdnotes.domain.jury import JuryVerdict
from crowdnotes.domain.looks import Look
from crowdnotes.domain.notes import Draft
from crowdnotes.domain.posts import Claim, Mode, Post
from crowdnotes.domain.searching import Hit, ProviderOutcome, Query
from crowdnotes.domain.stages import Stage
from crowdnotes.domain.usage import Usage


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
    `candidates` are what the engine wrote; `revisions` the texts that an edit replaced, oldest first, for undo;
    `earlier_assessments` of other texts or passages, newest last; `jury` what simulated juries said of the
    draft and candidates, the draft's last; `usage` what each step asked of a language model; `link_checks` how
    the note's links answered when last asked; `earlier_evidence` are the sets of passages that were replaced or
    added to, oldest first; `looks` the second looks at the evidence; `decision_words` what a person has written
    towards the decision so far, by the field it stands in.
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
    reasons: dict[str, str] = Field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
    draft: Draft | None = None
    candidates: tuple[Draft, ...] = ()
    revisions: tuple[Draft, ...] = ()
    earlier_evidence: tuple[EvidenceSet, ...] = ()
    looks: tuple[Look, ...] = ()
    assessment: Assessment | None = None
    earlier_assessments: tuple[Assessment, ...] = ()
    link_checks: tuple[LinkCheck, ...] = ()
    jury: tuple[JuryVerdict, ...] = ()
    usage: dict[str, Usage] = Field(default_factory=dict)
    classification: Classification = Classification.MISLEADING
    tags: tuple[str, ...] = ()
    decision_words: dict[str, str] = Field(default_factory=dict)
    decision: Decision | None = None
    stages: tuple[Stage, ...] = ()
    events: tuple[Event, ...] = ()

    def evidence_by_id(self, evidence_id: str) -> Evidence | None:
        """The evidence with that id, or None."""
        return next((item for item in self.evidence if item.id == evidence_id), None)

    @property
    def next_evidence_number(self) -> int:
        """The number of the next passage: an id names one passage for ever, also those on record."""
        sets = (self.evidence, *(earlier.evidence for earlier in self.earlier_evidence))
        return 1 + max((int(item.id.removeprefix("E")) for items in sets for item in items), default=0)

    @property
    def used_evidence(self) -> tuple[Evidence, ...]:
        """What a person opened and chose to use."""
        return tuple(item for item in self.evidence if item.used)

    @property
    def used(self) -> Usage:
        """What the whole case asked of a language model so far."""
        return sum(self.usage.values(), Usage())

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
