"""What the lists say of a case: its state, and its line."""

from __future__ import annotations

from datetime import datetime

from crowdnotes.domain.base import FrozenModel, LabelledEnum
from crowdnotes.domain.moderation import DeskState
from crowdnotes.domain.post import Mode
from crowdnotes.wording import plural


class DecisionKind(LabelledEnum):
    """How a case may end; abstaining is a result."""

    APPROVED = "approved"
    NOT_NEEDED = "not needed", "no note needed"
    INSUFFICIENT_EVIDENCE = "insufficient evidence", "not enough evidence"
    REJECTED = "rejected"


def describe_ending(kind: DecisionKind, overrides: int) -> str:
    """Return how a case ended, overrides included."""
    return kind.as_text + (plural(overrides, " with 1 exception", " with {n} exceptions") if overrides else "")


class CaseStatus(LabelledEnum):
    """How far a case is, derived from what it holds."""

    NEW = "new", "no sources yet"
    AWAITING_INSPECTION = "awaiting inspection", "sources to read"
    DRAFTING = "drafting", "note to write or score"
    AWAITING_DECISION = "awaiting decision", "scored, not decided"
    DECIDED = "decided"


CaseState = CaseStatus | DeskState | DecisionKind
"""What the lists call a case: how it ended, who of the moderators has it, or how far its author is."""

QUEUE_STATES = (DeskState.SUBMITTED, DeskState.IN_REVIEW, DeskState.RETURNED)
"""Of a case that the moderators have, or that they sent back."""

CASE_STATES: tuple[CaseState, ...] = (
    *(status for status in CaseStatus if status is not CaseStatus.DECIDED),
    *QUEUE_STATES,
    CaseStatus.DECIDED,
    *DecisionKind,
)
"""What cases can be filtered by: every state, and all that are decided."""


def find_state(status: CaseStatus, desk: DeskState, decision: DecisionKind | None) -> CaseState:
    """Return the state; with the moderators not the status, which gives away what they found of the sources."""
    return decision or (desk if desk in QUEUE_STATES else status)


class CaseSummary(FrozenModel):
    """A line of the list of cases. `overrides` counts those of its decision; see `Case.outcome_line`."""

    id: str
    version: int
    post_excerpt: str
    note_excerpt: str
    status: CaseStatus
    decision: DecisionKind | None
    overrides: int
    supernote: bool
    mode: Mode
    desk: DeskState
    outcome_line: str
    owner: str | None
    shared: bool
    created_at: datetime
    updated_at: datetime

    @property
    def state(self) -> CaseState:
        """See `CASE_STATES`."""
        return find_state(self.status, self.desk, self.decision)

    @property
    def outcome(self) -> str:
        """How it ended, overrides included, or its state."""
        if self.supernote and self.state is CaseStatus.NEW and not self.note_excerpt:  # no candidate is chosen yet
            return "supernote not chosen yet"
        return describe_ending(self.decision, self.overrides) if self.decision else self.state.as_text
