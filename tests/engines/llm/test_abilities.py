"""A server is asked for less once it says what it cannot do, and it is not asked for that again."""

from __future__ import annotations

import pytest

from crowdnotes.engines.llm.abilities import Abilities, KnownAbilities, Shape
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


NO_SYSTEM_ROLE = [
    "System role not supported",  # Gemma's template, behind vLLM
    "Error rendering prompt with jinja template: System role not supported.",  # LM Studio
    "Conversation roles must alternate user/assistant/user/assistant/...",  # Mistral's first template
    "Only user and assistant roles are supported!",
    "Developer instruction is not enabled for models/gemma-3-27b-it",  # Google's own address
    "unknown role: system",
]


@pytest.mark.parametrize("complaint", NO_SYSTEM_ROLE)
@pytest.mark.parametrize("status", [400, 500])
def test_a_model_without_a_system_role_gets_the_prompt_and_the_data_in_one_message(complaint: str, status: int) -> None:
    seen: list[Body] = []

    def answer(body: Body) -> Say:
        seen.append(body)
        refused = any(message["role"] != "user" for message in body["messages"])
        return Say(complaint, status=status) if refused else Say(honest(body))

    with engine_over(answer) as (engine, _):
        assert engine.claims(POST)
        assert engine.relevance(POST, [evidence()]).status == "PASS"
    assert [len(body["messages"]) for body in seen] == [2, 1, 1]
    whole = seen[-1]["messages"][0]["content"]
    assert whole.index("You judge evidence") < whole.index("<<<DATA")
    assert seen[-1]["response_format"]["type"] == "json_schema"


def test_a_500_that_names_nothing_is_the_servers_own_fault() -> None:
    with engine_over(lambda _: Say("CUDA out of memory", status=500)) as (engine, server):
        with pytest.raises(ModelServerError, match="failed with status 500"):
            engine.claims(POST)
        assert len(server.requests) == 1


def test_a_server_that_knows_no_stream_options_still_streams() -> None:
    told: list[str] = []
    seen, answer = _picky(stream_options="Extra inputs are not permitted: stream_options")
    with engine_over(answer) as (engine, _):  # type: ignore[arg-type]
        engine.write(POST, [evidence()], 278, 1, lambda _, words: told.append(words))
    assert told
    assert [("stream" in body, "stream_options" in body) for body in seen] == [(True, True), (True, False)]


@pytest.mark.parametrize(
    "complaint",
    [
        "This model's maximum context length is 4096 tokens. However, you requested 6100 tokens in the messages.",
        "'max_tokens' is too large: 2000. This model's maximum context length is 2048 tokens.",
        "the request exceeds the available context size. try increasing the context size",
    ],
)
def test_a_question_that_is_too_long_for_the_model_is_named_and_not_tried_in_other_forms(complaint: str) -> None:
    with engine_over(lambda _: Say(complaint, status=400)) as (engine, server):
        with pytest.raises(ModelServerError, match="too long for the model small") as caught:
            engine.claims(POST)
        assert "Use fewer passages" in caught.value.next_step
        assert len(server.requests) == 1


def test_calls_side_by_side_do_not_make_each_other_forget() -> None:
    known = KnownAbilities()
    known.learn("here", "small", Abilities(probabilities=False, limit_name="max_completion_tokens"))
    known.learn("here", "small", Abilities(shape=Shape.JSON, system_role=False))
    both = Abilities(Shape.JSON, probabilities=False, limit_name="max_completion_tokens", system_role=False)
    assert known.get("here", "small") == both
    assert known.get("there", "small") == Abilities()


def test_a_complaint_about_nothing_known_costs_one_thing_at_a_time_and_then_ends() -> None:
    abilities: Abilities | None = Abilities()
    steps = 0
    while abilities is not None:
        abilities = abilities.without("Bad request.")
        steps += 1
    assert steps == 5
    with (
        engine_over(lambda _: Say("Bad request.", status=400)) as (engine, server),
        pytest.raises(ModelServerError, match=r"rejects the call \(Bad request\.\)"),
    ):
        engine.claims(POST)
    assert len(server.requests) == 5
