"""How sure a judge is: by the tokens at its verdict, or by votes."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from crowdnotes.domain import Assessment, GateStatus
from crowdnotes.gates import assess
from crowdnotes.testing import FixedClock
from tests.engines.llm.made import NOTE, POST, engine_over, evidence
from tests.llm_server import Body, Say, form_of, honest, honest_answer


def _relevance(verdict: str, quote: str = "found no link between the drink") -> str:
    return json.dumps({"quote": quote, "reason": "It weighs the claim.", "relevant": verdict})


def _tokens(before: str, options: Mapping[str, float], after: str = '"}') -> list[tuple[str, Mapping[str, float]]]:
    said = max(options, key=lambda name: options[name])
    return [(before, {before: 1.0}), (said, options), (after, {after: 1.0})]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"yes": 0.8, "no": 0.2}, 0.8),
        ({"yes": 0.6, "Yes": 0.1, "no": 0.1, " NO": 0.1, "may": 0.1}, 7 / 9),
        ({"y": 0.3, "n": 0.7}, 0.3),
        ({"maybe": 0.9, "yes": 0.1}, None),
    ],
)
def test_the_probability_comes_from_the_tokens_at_the_verdict(
    options: dict[str, float], expected: float | None
) -> None:
    before = '{"objections": [], "reason": "\\"helpful\\": \\"yes\\" is what it wants", "helpful": "'
    verdict = "yes" if options.get("yes", options.get("y", 0)) >= 0.5 else "no"
    text = f'{before}{verdict}"}}'
    chosen = next(name for name in options if verdict.startswith(name.strip().lower()) or name == "maybe")
    tokens = [(before, {before: 1.0}), (chosen, options), ('"}', {'"}': 1.0})]
    with engine_over(lambda _: Say(text, tokens=tokens)) as (engine, server):
        result = engine.helpfulness(POST, NOTE)
        assert server.requests[0]["logprobs"] is True
    assert result.probability == (None if expected is None else pytest.approx(expected))
    assert result.threshold == (None if expected is None else 0.5)


def test_without_token_probabilities_votes_give_the_share_and_the_majority_decides() -> None:
    verdicts = iter(["yes", "no", "no"])
    with engine_over(lambda _: _relevance(next(verdicts)), votes=3) as (engine, server):
        result = engine.relevance(POST, [evidence()])
        assert [body["temperature"] for body in server.requests] == [0.0, 0.7, 0.7]
    assert result.status is GateStatus.FAIL
    assert result.probability == pytest.approx(1 / 3)


def test_a_tie_of_votes_because_one_was_lost_does_not_pass() -> None:
    answers = iter([_relevance("yes"), _relevance("no")])
    with engine_over(lambda _: next(answers, Say("no", status=500)), votes=3) as (engine, _):
        result = engine.relevance(POST, [evidence()])
    assert result.status is GateStatus.FAIL
    assert result.probability == 0.5


def test_without_votes_and_token_probabilities_there_is_none() -> None:
    with engine_over(lambda _: _relevance("yes")) as (engine, server):
        assert engine.relevance(POST, [evidence()]).probability is None
        assert len(server.requests) == 1


def _assessed(answer: object, note: str = NOTE) -> Assessment:
    with engine_over(answer) as (engine, _):  # type: ignore[arg-type]
        return assess(engine, POST, note, [evidence()], FixedClock())


def test_the_product_of_the_three_probabilities_is_that_of_the_whole() -> None:
    def answer(body: Body) -> Say:
        told = honest_answer(body)
        field = form_of(body)
        if field not in ("relevant", "faithful", "helpful"):
            return Say(json.dumps(told))
        text = json.dumps(told)
        before = text[: text.rindex("yes")]
        return Say(text, tokens=_tokens(before, {"yes": 0.9, "no": 0.1}))

    assessment = _assessed(answer)
    assert [gate.probability for gate in assessment.gates] == [pytest.approx(0.9)] * 3
    assert assessment.probability == pytest.approx(0.729)
    assert _assessed(honest).probability is None
