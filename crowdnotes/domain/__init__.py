"""The nouns of CrowdNotes, as frozen pydantic models.

One flow: Post → Queries → Hits → Sources → Passages = Evidence → (a person inspects) → Draft →
Assessment → Decision. Terms are the field's own (communitynotes.x.com/guide; CrowdNotes+ section 4).
Times are aware datetimes in UTC. Offsets are in Unicode code points, end exclusive.
"""

from crowdnotes.domain.base import Noun, Span, text_sha256
from crowdnotes.domain.case import Case, CaseStatus, Event
from crowdnotes.domain.decisions import Classification, Decision, DecisionKind, Override
from crowdnotes.domain.evidence import (
    BY_HAND,
    DateOrigin,
    Evidence,
    EvidenceSet,
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
from crowdnotes.domain.jury import Influence, Interval, JuryQuality, JuryVerdict, RuleWord, SideVotes
from crowdnotes.domain.looks import Look, LookKind
from crowdnotes.domain.notes import Draft, SentenceSupport, Support
from crowdnotes.domain.posts import X_HOSTS, Claim, Image, Mode, Post
from crowdnotes.domain.searching import Aim, Hit, ProviderOutcome, ProviderState, Query, SourceCategory
from crowdnotes.domain.stages import Stage, StageName
from crowdnotes.domain.usage import Usage

__all__ = [
    "BY_HAND",
    "X_HOSTS",
    "Aim",
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
    "EvidenceSet",
    "FetchOutcome",
    "Finding",
    "GateName",
    "GateResult",
    "GateStatus",
    "Hit",
    "Image",
    "Influence",
    "Interval",
    "JuryQuality",
    "JuryVerdict",
    "LinkCheck",
    "LinkState",
    "LintLevel",
    "LintWarning",
    "Look",
    "LookKind",
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
    "RuleWord",
    "SentenceSupport",
    "SideVotes",
    "Source",
    "SourceCategory",
    "Span",
    "Stage",
    "StageName",
    "Support",
    "Usage",
    "Verdict",
    "basis_sha256",
    "text_sha256",
]
