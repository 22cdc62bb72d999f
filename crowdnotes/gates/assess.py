"""The gates, in their order, and one assessment: gates, principles, attribution and lint of one exact text.

Relevance, then correctness, then helpfulness: a gate counts only after the one before it passed (CrowdNotes+ 4.3).
People reward fluency, so a well-written note must first be about the claim and true to its sources. They are asked
side by side, to save time; what is found behind a gate that did not pass is held back, and shown once it does. An
engine that fails at a gate leaves it NOT_RUN.

A new gate is a `Gate` in a file of its own, a line in `_ALL` and its name in `domain.GateName`: docs/extending.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial

from crowdnotes.domain import (
    BY_PERSON,
    Assessment,
    Evidence,
    Finding,
    GateName,
    GateResult,
    GateStatus,
    Post,
    PrincipleName,
    PrincipleResult,
    SentenceSupport,
    basis_sha256,
    text_sha256,
)
from crowdnotes.engines import Brief, Engine, EngineStep
from crowdnotes.engines.metering import as_done, together
from crowdnotes.errors import EngineError
from crowdnotes.gates.age import asking_age
from crowdnotes.gates.form import faults, form_warnings
from crowdnotes.notes.gate import Gate, Judged
from crowdnotes.text.note_rules import NOTE_LIMIT, truncate
from crowdnotes.wording import say


def _relevance(it: Judged) -> GateResult:
    if not it.brief.post.has_words:
        return GateResult.not_run(GateName.RELEVANCE, say("gates.words_unknown"))
    return it.engine.relevance(it.brief, it.evidence)


_RELEVANCE = Gate(
    name=GateName.RELEVANCE,
    question=say("gates.relevance"),
    lifts=say("gates.relevance_next"),  # it judges them, not the note
    judge=_relevance,
)
_CORRECTNESS = Gate(
    name=GateName.CORRECTNESS,
    question=say("gates.correctness"),
    lifts=say("gates.correctness_next"),
    judge=lambda it: it.engine.correctness(it.note, it.evidence, it.support),
)
_HELPFULNESS = Gate(
    name=GateName.HELPFULNESS,
    question=say("gates.helpfulness"),
    lifts=say("gates.helpfulness_next"),
    judge=lambda it: it.engine.helpfulness(it.brief.post, truncate(it.note, NOTE_LIMIT)),  # CrowdNotes+ E.3
)
_ALL = (
    _RELEVANCE,
    _CORRECTNESS,
    _HELPFULNESS,
)
GATES = {gate.name: gate for gate in sorted(_ALL, key=lambda gate: list(GateName).index(gate.name))}
"""By name, in the order in which they run: that of `GateName`."""


def assess(
    engine: Engine,
    brief: Brief,
    note: str,
    evidence: Sequence[Evidence],
    clock: Callable[[], datetime],
    heard: Callable[[Sequence[GateResult]], None] = lambda _: None,
) -> Assessment:
    """Judge `note` (with its URLs, as it would be posted) over `evidence`, and bind the result to both.

    What the engine could not do is NOT_RUN with its reason; the rest is still there. The principles do
    not wait for the gates: they run beside them. `heard` is told of the gates so far, as `run_gates` says.
    """
    begun = time.perf_counter()
    found: tuple[GateResult, ...]
    try:
        support: tuple[SentenceSupport, ...] = engine.support(note, evidence)
    except EngineError as error:
        support = ()
        reason = say("gates.no_support", why=error.message)
        found = tuple(GateResult.not_run(gate, reason) for gate in GATES)
        principles = _principles(engine, brief.post, note)
    else:
        found, principles = together(
            lambda: run_gates(engine, brief, note, evidence, support, heard),
            lambda: _principles(engine, brief.post, note),
        )
    correctness = next(result for result in found if result.gate is GateName.CORRECTNESS)
    gates, held = in_order([result.model_copy(update={"sentences": ()}) for result in found])
    made_by = engine.made_by(EngineStep.JUDGING)
    sentences = correctness.sentences or support
    if correctness.judge == BY_PERSON:
        sentences = asking_age(sentences, note, evidence, brief)
    return Assessment(
        text_sha256=text_sha256(note),
        basis_sha256=basis_sha256(tuple(evidence)),
        gates=gates,
        held=held,
        principles=with_sources(principles, correctness),
        sentences=sentences,
        lint=form_warnings(note, brief.post, evidence),
        engine=made_by.engine,
        prompt_version=made_by.prompt_version,
        assessed_at=clock(),
        seconds=time.perf_counter() - begun,
    )


def _with_faults(result: GateResult, found: Sequence[Finding]) -> GateResult:
    """A verdict that would pass, with what the program found wrong by itself."""
    waits_for_person = result.status is GateStatus.NOT_RUN and result.judge == BY_PERSON
    if not found or not (result.status is GateStatus.PASS or waits_for_person):
        return result
    update = {"status": GateStatus.FAIL, "reason": found[0].message, "findings": (*found, *result.findings)}
    return result.model_copy(update=update)


def run_gates(
    engine: Engine,
    brief: Brief,
    note: str,
    evidence: Sequence[Evidence],
    support: Sequence[SentenceSupport],
    heard: Callable[[Sequence[GateResult]], None] = lambda _: None,
) -> tuple[GateResult, ...]:
    """What each gate finds, side by side; NOT_RUN with the reason where the engine fails.

    Whenever one is ready, `heard` is told of those that count by then: all up to the first that is not ready or did
    not pass.
    """
    judged, ready = Judged(engine, brief, note, evidence, support), dict[GateName, GateResult]()
    names = list(GATES)
    for place, found in as_done([partial(GATES[name].judge, judged) for name in names], len(names)):
        name = names[place]
        failed = say("gates.not_judged", why=found.message) if isinstance(found, EngineError) else ""
        result = found if isinstance(found, GateResult) else GateResult.not_run(name, failed)
        ready[name] = _with_faults(result, faults(name, note, brief.post, evidence))
        heard(_that_count(ready))
    return tuple(ready[name] for name in names)


def _that_count(ready: Mapping[GateName, GateResult]) -> list[GateResult]:
    counting: list[GateResult] = []
    for name in GATES:
        if name not in ready or (counting and counting[-1].status is not GateStatus.PASS):
            break
        counting.append(ready[name])
    return counting


def in_order(found: Sequence[GateResult]) -> tuple[tuple[GateResult, ...], tuple[GateResult, ...]]:
    """The results with NOT_RUN behind the first that did not pass, and those that are held back for that."""
    gates: list[GateResult] = []
    stopped = ""
    for result in found:
        gates.append(GateResult.not_run(result.gate, say("gates.waits", gate=stopped)) if stopped else result)
        if not stopped and result.status is not GateStatus.PASS:
            stopped = result.gate.in_words
    return tuple(gates), tuple(result for result, shown in zip(found, gates, strict=True) if result is not shown)


def with_sources(principles: Sequence[PrincipleResult], correctness: GateResult) -> tuple[PrincipleResult, ...]:
    """The principles, with "sources support it" as the correctness gate found: nothing is asked twice."""
    same = PrincipleResult(
        principle=PrincipleName.SOURCES_SUPPORT,
        status=correctness.status,
        reason=correctness.reason,
        findings=correctness.findings if correctness.status is GateStatus.FAIL else (),
    )
    return tuple(same if result.principle is same.principle else result for result in principles)


def _principles(engine: Engine, post: Post, note: str) -> tuple[PrincipleResult, ...]:
    """Every principle, in order; one that the engine says nothing of is NOT_RUN."""
    said: dict[PrincipleName, PrincipleResult] = {}
    reason = say("gates.not_checked")
    try:
        said = {result.principle: result for result in engine.principles(post, note)}
    except EngineError as error:
        reason = say("gates.check_failed", why=error.message)
    return tuple(said.get(name) or PrincipleResult.not_run(name, reason) for name in PrincipleName)
