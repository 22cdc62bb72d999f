"""A server is asked for less once it says what it cannot do, and it is not asked for that again."""

from __future__ import annotations

import pytest

from crowdnotes.engines.llm.abilities import Abilities, Shape
from crowdnotes.errors import ModelServerError
from tests.engines.llm.made import POST, engine_over, evidence
from tests.llm_server import Body, Say, honest


def _picky(*, schema: bool = True, json_mode: bool = True, **unknown: str) -> tuple[list[Body], object]:
    """A server that rejects some fields with 400, as real ones do."""
    seen: list[Body] = []

    def answer(body: Body) -> Say:
        seen.append(body)
        form = (body.get("response_format") or {}).get("type")
        if form == "json_schema" and not schema:
            return Say("'response_format.type' must be 'json_object' or 'text'; json_schema unsupported", status=400)
        if form == "json_object" and not json_mode:
            return Say("response_format json_object is not supported by this model", status=400)
        for name, complaint in unknown.items():
            if name in body:
                return Say(complaint, status=400)
        return Say(honest(body))

    return seen, answer


def test_without_json_schema_json_mode_is_used_and_remembered() -> None:
    seen, answer = _picky(schema=False)
    with engine_over(answer) as (engine, _):  # type: ignore[arg-type]
        engine.claims(POST)
        engine.queries(POST, [], 3)
    forms = [(body.get("response_format") or {}).get("type") for body in seen]
    assert forms == ["json_schema", "json_object", "json_object"]


def test_without_json_mode_words_alone_must_do() -> None:
    seen, answer = _picky(schema=False, json_mode=False)
    with engine_over(answer) as (engine, _):  # type: ignore[arg-type]
        assert engine.claims(POST)
        engine.queries(POST, [], 3)
    assert [(body.get("response_format") or {}).get("type") for body in seen] == [
        "json_schema",
        "json_object",
        None,
        None,
    ]


def test_a_model_that_takes_no_temperature_no_logprobs_and_another_limit_is_served() -> None:
    seen, answer = _picky(
        temperature="Unsupported value: 'temperature' does not support 0 with this model.",
        logprobs="logprobs are not supported with this model",
        max_tokens="Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
    )
    with engine_over(answer) as (engine, _):  # type: ignore[arg-type]
        assert engine.relevance(POST, [evidence()]).status == "PASS"
    assert seen[-1]["max_completion_tokens"]
    assert not {"temperature", "logprobs", "max_tokens"} & set(seen[-1])
    assert seen[-1]["response_format"]["type"] == "json_schema"


def test_several_fields_named_in_one_complaint_are_all_given_up_at_once() -> None:
    told = "Unsupported fields in the request: {'logprobs', 'response_format', 'top_logprobs'}"
    fewer = Abilities().without(told)
    assert fewer == Abilities(shape=Shape.WORDS, probabilities=False)


def test_a_complaint_about_nothing_known_costs_one_thing_at_a_time_and_then_ends() -> None:
    abilities: Abilities | None = Abilities()
    steps = 0
    while abilities is not None:
        abilities = abilities.without("Bad request.")
        steps += 1
    assert steps == 4
    with (
        engine_over(lambda _: Say("Bad request.", status=400)) as (engine, server),
        pytest.raises(ModelServerError, match=r"rejects the call \(Bad request\.\)"),
    ):
        engine.claims(POST)
    assert len(server.requests) == 4
