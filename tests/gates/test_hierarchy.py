"""The gates run in order, and none passes that did not run."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from crowdnotes.domain import Assessment, Evidence, GateName, GateStatus, Post, SentenceSupport, text_sha256
from crowdnotes.errors import EngineError
from crowdnotes.gates import assess
from crowdnotes.testing import ScriptedEngine, make_evidence

POST = Post(text="This drink makes you ill!")
NOTE = "The review found no link. https://health.example.org/review"
ORDER = [GateName.RELEVANCE, GateName.CORRECTNESS, GateName.HELPFULNESS]


def _statuses(engine: ScriptedEngine) -> list[GateStatus]:
    judged = assess(engine, POST, NOTE, [make_evidence(1)], lambda: datetime(2026, 1, 1, tzinfo=UTC))
    return [judged.gate(name).status for name in ORDER]


def test_all_three_run_in_order_when_each_passes() -> None:
    engine = ScriptedEngine()
    assert _statuses(engine) == [GateStatus.PASS] * 3
    assert engine.judged == ORDER


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_nothing_runs_behind_a_failed_gate(failing: int) -> None:
    engine = ScriptedEngine()
    engine.fails_at = ORDER[failing]
    expected = [GateStatus.PASS] * failing + [GateStatus.FAIL] + [GateStatus.NOT_RUN] * (2 - failing)
    assert _statuses(engine) == expected
    assert engine.judged == ORDER[: failing + 1]


@pytest.mark.parametrize("breaking", [0, 1, 2])
def test_a_judge_that_breaks_leaves_its_gate_and_all_behind_it_not_run(breaking: int) -> None:
    engine = ScriptedEngine()
    engine.breaks_at = ORDER[breaking]
    assert _statuses(engine) == [GateStatus.PASS] * breaking + [GateStatus.NOT_RUN] * (3 - breaking)


def test_when_sentences_cannot_be_attributed_nothing_is_passed_and_lint_is_still_there() -> None:
    class Broken(ScriptedEngine):
        def support(self, note: str, evidence: Sequence[Evidence]) -> tuple[SentenceSupport, ...]:
            raise EngineError("The engine did not answer.")

    judged = assess(Broken(), POST, "No link", [make_evidence(1)], lambda: datetime(2026, 1, 1, tzinfo=UTC))
    assert {gate.status for gate in judged.gates} == {GateStatus.NOT_RUN}
    assert [warning.code for warning in judged.lint] == ["no-url"]


def test_an_assessment_has_one_result_of_each_gate() -> None:
    judged = assess(ScriptedEngine(), POST, NOTE, [make_evidence(1)], lambda: datetime(2026, 1, 1, tzinfo=UTC))
    with pytest.raises(ValidationError, match="one result of each gate"):
        Assessment.model_validate(judged.model_dump() | {"gates": [*judged.gates, judged.gates[0]]})


def test_an_assessment_is_bound_to_its_text_and_carries_lint() -> None:
    judged = assess(ScriptedEngine(), POST, "No link", [make_evidence(1)], lambda: datetime(2026, 1, 1, tzinfo=UTC))
    assert judged.text_sha256 == text_sha256("No link")
    assert [warning.code for warning in judged.lint] == ["no-url"]
