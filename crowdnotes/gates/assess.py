"""One assessment: gates, principles, attribution and lint of one exact text over one set of passages."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime

from crowdnotes.domain import (
    Assessment,
    Evidence,
    GateStatus,
    Post,
    PrincipleName,
    PrincipleResult,
    SentenceSupport,
    basis_sha256,
    text_sha256,
)
from crowdnotes.engines import Engine, EngineStep
from crowdnotes.engines.metering import together
from crowdnotes.errors import EngineError
from crowdnotes.gates.hierarchy import not_run, run_gates
from crowdnotes.gates.quotes import unfound_quotes
from crowdnotes.text.lint import lint


def assess(
    engine: Engine, post: Post, note: str, evidence: Sequence[Evidence], clock: Callable[[], datetime]
) -> Assessment:
    """Judge `note` (with its URLs, as it would be posted) over `evidence`, and bind the result to both.

    What the engine could not do is NOT_RUN with its reason; the rest is still there. The principles do
    not wait for the gates: they run beside them.
    """
    begun = time.perf_counter()
    try:
        support: tuple[SentenceSupport, ...] = engine.support(note, evidence)
    except EngineError as error:
        support = ()
        gates = not_run(f"What carries each sentence could not be judged: {error.message}")
        principles = _principles(engine, post, note, support)
    else:
        gates, principles = together(
            lambda: run_gates(engine, post, note, evidence, support),
            lambda: _principles(engine, post, note, support),
        )
    made_by = engine.made_by(EngineStep.JUDGING)
    return Assessment(
        text_sha256=text_sha256(note),
        basis_sha256=basis_sha256(tuple(evidence)),
        gates=gates,
        principles=principles,
        sentences=support,
        lint=(*unfound_quotes(note, post, evidence), *lint(note)),
        engine=made_by.engine,
        prompt_version=made_by.prompt_version,
        assessed_at=clock(),
        seconds=time.perf_counter() - begun,
    )


def _principles(
    engine: Engine, post: Post, note: str, support: Sequence[SentenceSupport]
) -> tuple[PrincipleResult, ...]:
    try:
        return engine.principles(post, note, support)
    except EngineError as error:
        return tuple(
            PrincipleResult(principle=name, status=GateStatus.NOT_RUN, reason=f"Could not be checked: {error.message}")
            for name in PrincipleName
        )
