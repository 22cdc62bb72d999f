"""A second look at the evidence: more like a passage, the other side, a link added, a passage swapped out."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from crowdnotes.domain.base import Noun
from crowdnotes.domain.evidence import Source
from crowdnotes.domain.searching import Aim, Hit, ProviderOutcome, Query
from crowdnotes.domain.stages import Stage


class LookKind(StrEnum):
    """What a person may ask for after the first gathering."""

    MORE_LIKE = "more like this"
    OTHER_SIDE = "the other side"
    LINK = "a link added"
    SWAP = "swapped out"


class Look(Noun):
    """One second look: what was asked for, how far it is, and what came of it.

    `aim` is what its passages are for. `about` is the passage's id (MORE_LIKE, SWAP) or the link (LINK).
    `libraries` and `services` are where it searches. `stages` are finished ones, so that a stopped look goes
    on where it was. `outcome` tells what came of it and `added` the passages; `finished_at` is None while it
    is under way or stopped.
    """

    id: str
    kind: LookKind
    asked_at: datetime
    by: str
    aim: Aim = Aim.JUDGE
    about: str = ""
    libraries: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    queries: tuple[Query, ...] = ()
    hits: tuple[Hit, ...] = ()
    outcomes: tuple[ProviderOutcome, ...] = ()
    sources: tuple[Source, ...] = ()
    reasons: dict[str, str] = Field(default_factory=dict)
    stages: tuple[Stage, ...] = ()
    outcome: str = ""
    added: tuple[str, ...] = ()
    finished_at: datetime | None = None

    @property
    def searches(self) -> bool:
        """Whether it asks libraries and services, rather than a link or what was found before."""
        return self.kind in {LookKind.MORE_LIKE, LookKind.OTHER_SIDE}
