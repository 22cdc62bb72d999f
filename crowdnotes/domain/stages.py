"""The stages that the program works through, and how each ended."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from crowdnotes.domain.assessment import GateStatus
from crowdnotes.domain.base import FrozenModel


class StageName(StrEnum):
    """The stages that the program works through; each is saved before the next starts."""

    QUERIES = "queries"
    SEARCH = "search"
    READ = "read"
    PASSAGES = "passages"
    SETTLE = "settle"
    DRAFT = "draft"
    REVISE = "revise"
    ASSESS = "assess"
    JURY = "jury"
    LINKS = "links"
    CANDIDATES = "candidates"
    FILTER = "filter"
    RANK = "rank"
    COMPARE = "compare"
    CREDIT = "credit"
    SUGGESTIONS = "suggestions"


class Outcome(StrEnum):
    """Whether the work was done. Work that failed raises: the record of its job says so, and nothing else is stored."""

    DONE = "done"
    NOT_RUN = "not run"
    NOT_NEEDED = "not needed"


GateVerdicts = tuple[tuple[str, GateStatus], ...]
"""Gates by name with what each found, in the order in which they were asked; a gate may come twice."""


class StageOutcome(FrozenModel):
    """How work ended. `summary` is one line for people, which the audit trail keeps; code reads the other fields.

    `reason` says why it was not run or not needed, or why it was done and gave nothing. `verdicts` are of scoring.
    """

    summary: str
    outcome: Outcome = Outcome.DONE
    reason: str = ""
    verdicts: GateVerdicts = ()

    @staticmethod
    def not_run(reason: str, instead: str = "") -> StageOutcome:
        """Return the outcome of work that could not be done; `instead` says what holds in its place."""
        so = f", so {instead}" if instead else ""
        return StageOutcome(summary=f"NOT RUN{so}: {reason}", outcome=Outcome.NOT_RUN, reason=reason)

    @staticmethod
    def not_needed(reason: str) -> StageOutcome:
        """Return the outcome of work for which there was no cause."""
        return StageOutcome(summary=reason, outcome=Outcome.NOT_NEEDED, reason=reason)


class StageRecord(StageOutcome):
    """A finished stage: when, how long, and how it ended.

    `job` is the job that did it, with " again" added where that job did it twice: a worker that takes the job over from
    a dead one knows by it what is finished.
    """

    name: StageName
    finished_at: datetime
    seconds: float
    engine: str
    job: str = ""
