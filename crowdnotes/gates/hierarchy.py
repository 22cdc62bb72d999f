"""Relevance, then correctness, then helpfulness: a gate runs only after the one before it passed.

CrowdNotes+ 4.3: people reward fluency, so a well-written note must first be about the claim and true
to its sources. An engine that fails at a gate leaves it NOT_RUN, and all behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from crowdnotes.domain import Evidence, GateName, GateResult, GateStatus, Post, SentenceSupport
from crowdnotes.engines import Engine
from crowdnotes.errors import EngineError
from crowdnotes.text.note_rules import NOTE_LIMIT, truncate

Judge = Callable[[], GateResult]


def run_gates(
    engine: Engine, post: Post, note: str, evidence: Sequence[Evidence], support: Sequence[SentenceSupport]
) -> tuple[GateResult, GateResult, GateResult]:
    """The three results in order; those not reached are NOT_RUN with the reason.

    Helpfulness is judged on the text cut to 280 characters (CrowdNotes+ appendix E.3).
    """
    judges: list[tuple[GateName, Judge]] = [
        (GateName.RELEVANCE, lambda: engine.relevance(post, evidence)),
        (GateName.CORRECTNESS, lambda: engine.correctness(note, evidence, support)),
        (GateName.HELPFULNESS, lambda: engine.helpfulness(post, truncate(note, NOTE_LIMIT))),
    ]
    results: list[GateResult] = []
    for gate, judge in judges:
        before = results[-1] if results else None
        if before is not None and before.status is not GateStatus.PASS:
            results.append(_not_run(gate, f"Waits for {_first_unpassed(results).gate.value} to pass."))
            continue
        try:
            results.append(judge())
        except EngineError as error:
            results.append(_not_run(gate, f"Could not be judged: {error.message}"))
    relevance, correctness, helpfulness = results
    return relevance, correctness, helpfulness


def not_run(reason: str) -> tuple[GateResult, GateResult, GateResult]:
    """All three NOT_RUN, for one reason."""
    relevance, correctness, helpfulness = (_not_run(gate, reason) for gate in GateName)
    return relevance, correctness, helpfulness


def _first_unpassed(results: Sequence[GateResult]) -> GateResult:
    return next(result for result in results if result.status is not GateStatus.PASS)


def _not_run(gate: GateName, reason: str) -> GateResult:
    return GateResult(gate=gate, status=GateStatus.NOT_RUN, reason=reason)
