"""The nouns of CrowdNotes, as frozen pydantic models.

One flow: Post → Queries → Hits → Sources → Passages = Evidence → (a person inspects) → Draft →
Assessment → Decision. Terms are the field's own (communitynotes.x.com/guide; CrowdNotes+ section 4).
Times are aware datetimes in UTC. Offsets are in Unicode code points, end exclusive.
"""

from crowdnotes.domain.base import Kind, Noun, Span, text_sha256
from crowdnotes.domain.case import (
    Case,
    CaseStatus,
    CaseSummary,
    Decision,
    DecisionKind,
    Event,
    FollowUpKind,
    FollowUpSearch,
    Stage,
    StageName,
    Usage,
)
from crowdnotes.domain.comparison import (
    Answer,
    BothRated,
    Comparison,
    ComparisonResults,
    ComparisonSummary,
    Figure,
    Level,
    NotePair,
    Rating,
    Sheet,
    Side,
    Statement,
)
from crowdnotes.domain.edits import EditEffect, effect_of_edit
from crowdnotes.domain.evidence import (
    AFTER_CUTOFF,
    BY_HAND,
    UNDATED,
    WAYBACK,
    Aim,
    AnswerKind,
    ClaimMatch,
    DateOrigin,
    EarlierNote,
    Evidence,
    EvidenceSet,
    FactCheck,
    FetchOutcome,
    Hit,
    Passage,
    PassageAnswer,
    Points,
    ProviderOutcome,
    ProviderState,
    Query,
    ReadAs,
    Review,
    Settlement,
    Source,
    SourceCategory,
    Verdict,
    basis_sha256,
    first_shown,
)
from crowdnotes.domain.judgement import (
    BY_PERSON,
    Assessment,
    Finding,
    GateName,
    GateResult,
    GateStatus,
    Influence,
    Interval,
    JuryQuality,
    JuryVerdict,
    LinkCheck,
    LinkState,
    LintLevel,
    LintWarning,
    PrincipleName,
    PrincipleResult,
    RuleWord,
    SideVotes,
    gates_and_jury,
    in_100,
)
from crowdnotes.domain.note import Basis, Classification, Draft, Quotation, SentenceCheck, SentenceSupport, Support
from crowdnotes.domain.obstacle import (
    A_REASON,
    Obstacle,
    ObstacleId,
    ObstacleKind,
    Override,
    is_reason,
    missing_from,
    remaining,
)
from crowdnotes.domain.people import (
    ALLOWED,
    LOCAL_OWNER,
    PROGRAM,
    Act,
    Actor,
    Owned,
    Person,
    Role,
    Standing,
    Who,
    may,
    refusal,
    standing,
)
from crowdnotes.domain.post import MAX_IMAGE_BYTES, MAX_IMAGES, X_HOSTS, Claim, ClaimKind, Image, Mode, Post, time_of_id
from crowdnotes.domain.supernote import (
    Candidate,
    Credit,
    CrowdStatus,
    ExistingNote,
    FilterName,
    PostedNote,
    Ratings,
    Suggestion,
    SuggestionAnswer,
    SupernoteRound,
    SupernoteScore,
    SupernoteSentence,
    SupernoteWork,
)
from crowdnotes.domain.upgrade import DOCUMENT_VERSION, upgraded, version_of
