"""The nouns of long work: a step to do, how it is told to stop, and the record of how it went."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from crowdnotes.domain import Noun


class Progress(Protocol):
    """What a step is given, to say how far it is and to learn that it should stop."""

    def count(self, done: int, total: int, note: str = "") -> None:
        """`done` of `total` units, the present one in words; raises JobCancelled when it should stop."""
        ...

    def check(self) -> None:
        """Raises JobCancelled when the step should stop. Call it at least each second or so."""
        ...


@dataclass(frozen=True)
class Step:
    """One named piece of work, which saves what it makes before it returns.

    `run` does it and returns a summary of one line. `finished` returns that summary if the work is
    done already, so that a resumed job keeps it, else None.
    """

    name: str
    title: str
    run: Callable[[Progress], str]
    finished: Callable[[], str | None]


class JobState(StrEnum):
    """Where a job stands. INTERRUPTED: its program ended under it; start the same steps to resume."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"

    @property
    def under_way(self) -> bool:
        """Whether it may still change."""
        return self in {JobState.QUEUED, JobState.RUNNING}


class StepState(StrEnum):
    """Where a step stands. KEPT: it was done by an earlier job, so this one passed over it."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    KEPT = "kept"
    FAILED = "failed"
    CANCELLED = "cancelled"


class StepRecord(Noun):
    """How one step went; `done` of `total` units, `error` and `next_step` in words for the user."""

    name: str
    title: str
    state: StepState = StepState.WAITING
    done: int = 0
    total: int = 0
    note: str = ""
    summary: str = ""
    error: str = ""
    next_step: str = ""
    seconds: float = 0.0


class JobRecord(Noun):
    """How a job is going. `owner` is the process at work on it (see `liveness`)."""

    id: str
    case_id: str
    kind: str
    state: JobState
    steps: tuple[StepRecord, ...]
    started_at: datetime
    updated_at: datetime
    owner: str

    @property
    def current(self) -> StepRecord | None:
        """The step at work, or where it stopped; None before the first and after the last."""
        telling = {StepState.RUNNING, StepState.FAILED, StepState.CANCELLED}
        return next((step for step in self.steps if step.state in telling), None)
