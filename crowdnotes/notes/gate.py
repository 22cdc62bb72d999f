"""What a gate is: one question about a note, who judges it, and what helps a note to pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from crowdnotes.domain import Evidence, GateName, GateResult, SentenceSupport
from crowdnotes.engines import Brief, Engine


@dataclass(frozen=True, slots=True)
class Judged:
    """What is judged, and by which engine; `support` says which passage supports each sentence of the note."""

    engine: Engine
    brief: Brief
    note: str
    evidence: Sequence[Evidence]
    support: Sequence[SentenceSupport]


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate: the question it asks, as a person reads it, what helps a note to pass, and who judges."""

    name: GateName
    question: str
    lifts: str
    judge: Callable[[Judged], GateResult]
