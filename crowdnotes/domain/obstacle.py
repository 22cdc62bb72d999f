"""What stands between a case and approval, and the written reasons that passed some of it over."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from crowdnotes.domain.base import Noun


class ObstacleKind(StrEnum):
    """The rules of approval, in the order in which a case meets them."""

    DECIDED = "decided"
    NO_EVIDENCE = "no evidence"
    NO_NOTE = "no note"
    EVIDENCE_GONE = "evidence gone"
    UNOPENED = "unopened"
    UNJUDGED = "unjudged"
    FORM = "form"
    NOT_SCORED = "not scored"
    STALE = "stale"
    GATE_FAILED = "gate failed"
    GATE_NOT_RUN = "gate not run"
    LINK_UNINSPECTED = "link not inspected"
    LINK_UNANSWERED = "link not found to answer"
    NO_TAG = "no tag"


_OVERRIDDEN = {
    ObstacleKind.GATE_FAILED: "the {} gate did not pass",
    ObstacleKind.GATE_NOT_RUN: "the {} gate was not run",
    ObstacleKind.LINK_UNINSPECTED: "nobody inspected the link {}",
    ObstacleKind.LINK_UNANSWERED: "no answer was had from the link {}",
}
_ON_LINKS = frozenset({ObstacleKind.LINK_UNINSPECTED, ObstacleKind.LINK_UNANSWERED})


class ObstacleId(Noun):
    """Which rule refuses, and what about: a gate's name, an address, a passage's id, a fault of form."""

    kind: ObstacleKind
    subject: str = ""

    @property
    def is_overridable(self) -> bool:
        """Whether a person's written reason passes it over."""
        return self.kind in _OVERRIDDEN

    def although(self, address: Callable[[str], str] = str) -> str:
        """In words that follow "approved although", for one that is overridable; `address` writes a link."""
        subject = address(self.subject) if self.kind in _ON_LINKS else self.subject
        return _OVERRIDDEN[self.kind].format(subject)


class Obstacle(Noun):
    """One thing that approval waits for: a sentence, and what lifts it.

    `behind` is the gate that did not pass, so that this one was not run: a reason for that one covers both.
    """

    id: ObstacleId
    sentence: str
    lifts: str = ""
    behind: ObstacleId | None = None


class Override(Noun):
    """An obstacle that a person passed over, and the reason they wrote."""

    obstacle: ObstacleId
    reason: str
