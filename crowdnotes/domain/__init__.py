"""The nouns of CrowdNotes, as frozen pydantic models.

One flow: Post → Queries → Hits → Sources → Passages = Evidence → (a person inspects) → Draft →
Assessment → Decision. Terms are the field's own (communitynotes.x.com/guide; CrowdNotes+ section 4).
Times are aware datetimes in UTC. Offsets are in Unicode code points, end exclusive.
"""

from crowdnotes.domain.base import Noun, Span, text_sha256
from crowdnotes.domain.case import Case, CaseStatus, Event, Stage, StageName
from crowdnotes.domain.decisions import Classification, Decision, DecisionKind, Override
from crowdnotes.domain.evidence import (
    DateOrigin,
    Evidence,
    FetchOutcome,
    Passage,
    ReadAs,
    Review,
    Source,
    Verdict,
    basis_sha256,
)
from crowdnotes.domain.judgement import (
    Assessment,
    Finding,
    GateName,
    GateResult,
    GateStatus,
    LinkCheck,
    LinkState,
    LintLevel,
    LintWarning,
    PrincipleName,
    PrincipleResult,
)
from crowdnotes.domain.notes import Draft, SentenceSupport, Support
from crowdnotes.domain.posts import Claim, Image, Mode, Post
from crowdnotes.domain.searching import Hit, ProviderOutcome, ProviderState, Query, SourceCategory

__all__ = [
    "Assessment",
    "Case",
    "CaseStatus",
    "Claim",
    "Classification",
    "DateOrigin",
    "Decision",
    "DecisionKind",
    "Draft",
    "Event",
    "Evidence",
    "FetchOutcome",
    "Finding",
    "GateName",
    "GateResult",
    "GateStatus",
    "Hit",
    "Image",
    "LinkCheck",
    "LinkState",
    "LintLevel",
    "LintWarning",
    "Mode",
    "Noun",
    "Override",
    "Passage",
    "Post",
    "PrincipleName",
    "PrincipleResult",
    "ProviderOutcome",
    "ProviderState",
    "Query",
    "ReadAs",
    "Review",
    "SentenceSupport",
    "Source",
    "SourceCategory",
    "Span",
    "Stage",
    "StageName",
    "Support",
    "Verdict",
    "basis_sha256",
    "text_sha256",
]
