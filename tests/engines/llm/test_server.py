"""The model's server: what may go wrong with it, what it learns to do without, and keys that stay out of sight."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler

import pytest

from crowdnotes.domain import Hit, Post
from crowdnotes.engines.llm.capabilities import Abilities, KnownAbilities, Shape, read_complaint
from crowdnotes.errors import (
    AnswerCutError,
    AnswerEmptyError,
    AnswerUnreadableError,
    EngineError,
    ModelRefusedError,
    ModelServerError,
)
from tests.engines.llm.made import BRIEF, NOTE, PASSAGE, POST, engine_over, evidence, refusal_of
from tests.fakes import TODAY
from tests.llm_server import Body, Say, data_of, honest, until_hung_up
from tests.shared import HeldTime

KEY = "sk-test-0123456789abcdef"


CONTEXT = "This model's maximum context length is"
TOO_LONG, FEWER = "too long for the AI small", "Use fewer sources"


def test_what_may_pass_is_tried_again_as_often_as_set_and_then_named() -> None:
    answers = iter([Say("slow down", status=429, headers={"retry-after": "0.05"})])
    with engine_over(lambda body: next(answers, Say(honest(body))), max_retries=1) as (engine, server):
        assert engine.plan(POST, 5, TODAY)
        assert len(server.requests) == 2
    down = Say("kaputt", status=500, headers={"retry-after-ms": "10"})
    _, server = refusal_of(lambda _: down, "status 500", max_retries=2)
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("status", "complaint", "words", "next_step"),
    [
        (401, "no", "refuses the key", ""),
        (403, "no", "does not allow this", ""),
        (404, "no", "does not know the model", ""),
        (413, "no", "too long", ""),
        (429, "no", "takes no more calls", ""),
        (503, "no", "status 503", ""),
        (500, "CUDA out of memory", "failed with status 500", ""),  # it names nothing: the server's own fault
        (400, f"{CONTEXT} 4096 tokens. However, you requested 6100 tokens in the messages.", TOO_LONG, FEWER),
        (400, "the request exceeds the available context size. try increasing the context size", TOO_LONG, FEWER),
    ],
)
def test_each_refusal_of_the_server_has_its_sentence_and_next_step_and_is_not_tried_in_other_forms(
    status: int, complaint: str, words: str, next_step: str
) -> None:
    error, server = refusal_of(lambda _: Say(complaint, status=status), words)
    assert error.next_step
    assert next_step in error.next_step
    assert len(server.requests) == 1


def test_a_key_that_the_server_repeats_is_in_no_error() -> None:
    told = f"Incorrect API key provided: {KEY}. Also Bearer {KEY} and sk-other-key-123456."
    error, server = refusal_of(lambda _: Say(told, status=401), api_key=KEY)
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    chain: BaseException | None = error
    while chain is not None:
        assert KEY not in f"{chain!r} {chain}"
        assert "sk-other-key-123456" not in str(chain)
        chain = chain.__cause__


def test_a_first_byte_that_never_comes_ends_in_a_sentence_about_time(passing_time: HeldTime) -> None:
    refusal_of(lambda _: Say(by_hand=until_hung_up), "in time", first_word_seconds=2.0)


def test_a_first_byte_may_take_longer_than_the_silence_between_two(servers_time: HeldTime) -> None:
    with engine_over(lambda body: Say(honest(body), wait=0.6), timeout_seconds=0.3) as (engine, _):
        assert engine.plan(POST, 5, TODAY)


def test_a_server_that_is_not_there_is_named() -> None:
    with engine_over(honest) as (engine, _):
        engine_gone = engine
    with pytest.raises(ModelServerError, match="cannot reach the AI server"):
        engine_gone.plan(POST, 5, TODAY)


def test_a_stream_that_breaks_is_asked_for_once_more_in_one_piece() -> None:
    def answer(body: Body) -> Say:
        return Say(honest(body), breaks_after=2 if body.get("stream") else None)

    with engine_over(answer) as (engine, server):
        assert engine.plan(POST, 5, TODAY).claims
        assert [bool(body.get("stream")) for body in server.requests] == [True, False]


@pytest.mark.parametrize(
    ("say", "error"),
    [
        (Say("", finish="stop"), AnswerEmptyError),
        (Say("   \n "), AnswerEmptyError),
        (Say("<think>so many thoughts</think>"), AnswerEmptyError),
        (Say('{"claims": [{"quote": "This dri', finish="length"), AnswerCutError),
        (Say('{"claims": [{"quote": "This dri'), AnswerUnreadableError),
        (Say("I would rather talk about football."), AnswerUnreadableError),
        (Say('{"claims": "perhaps"}'), AnswerUnreadableError),
        (Say('{"claims": [{"quote": 3}]} {"claims": 3}'), AnswerUnreadableError),
        (Say("", refusal="I cannot help with that."), ModelRefusedError),
        (Say("", finish="content_filter"), ModelRefusedError),
        (Say("I'm sorry, but I can't help with that request."), ModelRefusedError),
        (Say("I cannot comment on a named person's medical claims."), ModelRefusedError),
        (Say(raw=b'{"object": "chat.completion", "choices": []}'), ModelServerError),
        (Say(raw=b"<html>gateway</html>"), ModelServerError),
        (Say(raw=b'{"choices": [{"index": 0, "finish_reason": "stop"}]}'), ModelServerError),
        (Say(raw=b'{"id": "c", "object": "chat.comp'), ModelServerError),
    ],
    ids=range(16),
)
def test_each_useless_answer_is_an_error_of_its_own_kind(say: Say, error: type[EngineError]) -> None:
    refused, _ = refusal_of(lambda _: say, kind=error)
    assert type(refused) is error
    assert refused.message.endswith(".")
    assert refused.next_step


@pytest.mark.parametrize("system_role", [True, False])
def test_a_model_is_told_what_was_wrong_with_its_answer(system_role: bool) -> None:
    answers = iter(["<think>hm</think>Sure! <<<END x>>> {"])

    def answer(body: Body) -> Say | str:
        refused = not system_role and body["messages"][0]["role"] == "system"
        return Say("System role not supported", status=400) if refused else next(answers, honest(body))

    with engine_over(answer) as (engine, server):
        assert engine.plan(POST, 5, TODAY)
    first, second = (body["messages"] for body in server.requests[-2:])
    assert [message["role"] for message in second[len(first) :]] == ["assistant", "user"]
    assert second[-2]["content"].startswith("Sure!")
    assert "<<<" not in second[-2]["content"]
    assert "there is no JSON in it" in second[-1]["content"]


def test_a_model_is_told_when_the_program_found_a_fault_in_what_it_said() -> None:
    hit = Hit(provider="p", title="Drinks", url="https://a.example/1", snippet="About drinks.", query="q")
    answers = iter(['{"picks": [{"number": 7, "tells": ""}], "rest": ""}'])
    with engine_over(lambda body: next(answers, honest(body))) as (engine, server):
        assert engine.rank(BRIEF, [hit], [], 1).picks[0].index == 0
    assert "not offered" in server.requests[1]["messages"][-1]["content"]


def test_an_unreadable_answer_is_asked_for_once_more_a_refusal_is_not_and_one_beside_an_answer_is_none() -> None:
    answers = iter(["Sure! Here you go."])
    with engine_over(lambda body: next(answers, honest(body))) as (engine, server):
        assert engine.plan(POST, 5, TODAY)
        assert len(server.requests) == 2
    _, server = refusal_of(lambda _: "I'm sorry, but I can't help with that.", kind=ModelRefusedError)
    assert len(server.requests) == 1
    with engine_over(lambda body: f"I'm sorry for the wait. {honest(body)}") as (engine, _):
        assert engine.plan(POST, 5, TODAY)


def test_missing_usage_is_estimated_and_said_to_be() -> None:
    with engine_over(lambda body: Say(honest(body), usage=None)) as (engine, _):
        engine.plan(POST, 5, TODAY)
        assert engine.usage.estimated
        assert engine.usage.tokens > 100
        assert "about" in engine.usage.as_text()


def test_thoughts_fences_and_chatter_around_the_answer_do_no_harm() -> None:
    said = "This drink makes children ill"
    answer = json.dumps({"claims": [{"quote": said, "claim": said}]})
    for words in (f"<think>hm {{}}</think>{answer}", f"Here:\n```json\n{answer}\n```\nDone.", f"My answer: {answer}"):
        with engine_over(lambda _, words=words: words) as (engine, _):  # type: ignore[misc]
            assert engine.plan(Post(text=POST.text), 5, TODAY).claims[0].text == "This drink makes children ill"


class _Picky:
    """A server that rejects some fields with 400, as real ones do, and keeps what it was asked."""

    def __init__(self, *, schema: bool = True, json_mode: bool = True, **unknown: str) -> None:
        self.seen: list[Body] = []
        self._complaints = unknown
        no_schema = "'response_format.type' must be 'json_object' or 'text'; json_schema unsupported"
        no_json = "response_format json_object is not supported by this model"
        self._forms = ({} if schema else {"json_schema": no_schema}) | ({} if json_mode else {"json_object": no_json})

    def __call__(self, body: Body) -> Say:
        self.seen.append(body)
        complaints = [self._forms.get(self.forms[-1] or "")] + [self._complaints.get(name) for name in body]
        return next((Say(complaint, status=400) for complaint in complaints if complaint), Say(honest(body)))

    @property
    def forms(self) -> list[str | None]:
        return [(body.get("response_format") or {}).get("type") for body in self.seen]


def test_without_json_schema_json_mode_is_used_without_it_words_alone_must_do_and_both_are_remembered() -> None:
    for json_mode, forms in (
        (True, ["json_schema", "json_object", "json_object"]),
        (False, ["json_schema", "json_object", None, None]),
    ):
        picky = _Picky(schema=False, json_mode=json_mode)
        with engine_over(picky) as (engine, _):
            assert engine.plan(POST, 5, TODAY)
            engine.queries(BRIEF, 3)
        assert picky.forms == forms


def test_a_model_that_takes_no_temperature_no_logprobs_and_another_limit_is_served() -> None:
    picky = _Picky(
        temperature="Unsupported value: 'temperature' does not support 0 with this model.",
        logprobs="logprobs are not supported with this model",
        max_tokens="Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
    )
    with engine_over(picky) as (engine, _):
        assert engine.relevance(BRIEF, [evidence()]).status == "PASS"
    assert picky.seen[-1]["max_completion_tokens"]
    assert not {"temperature", "logprobs", "max_tokens"} & set(picky.seen[-1])
    assert picky.forms[-1] == "json_schema"


def test_several_fields_named_in_one_complaint_are_all_given_up_at_once() -> None:
    told = "Unsupported fields in the request: {'logprobs', 'response_format', 'top_logprobs'}"
    fewer = Abilities().without_named(read_complaint(told), {"logprobs", "response_format", "temperature"})
    assert fewer == Abilities(shape=Shape.WORDS, probabilities=False)
    assert Abilities().without_named(read_complaint(told), {"temperature"}) is None


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
        assert engine.plan(POST, 5, TODAY)
        assert engine.relevance(BRIEF, [evidence()]).status == "PASS"
    assert [len(body["messages"]) for body in seen] == [2, 1, 1]
    whole = seen[-1]["messages"][0]["content"]
    assert whole.index("You judge evidence") < whole.index("<<<DATA")
    assert seen[-1]["response_format"]["type"] == "json_schema"


def test_a_server_that_knows_no_stream_options_still_streams() -> None:
    picky = _Picky(stream_options="Extra inputs are not permitted: stream_options")
    with engine_over(picky) as (engine, _):
        engine.plan(POST, 5, TODAY)
    assert [("stream" in body, "stream_options" in body) for body in picky.seen] == [(True, True), (True, False)]


def test_calls_side_by_side_do_not_make_each_other_forget() -> None:
    known = KnownAbilities()
    known.learn("here", "small", Abilities(probabilities=False, limit_name="max_completion_tokens"))
    known.learn("here", "small", Abilities(shape=Shape.JSON, system_role=False))
    both = Abilities(Shape.JSON, probabilities=False, limit_name="max_completion_tokens", system_role=False)
    assert known.get("here", "small") == both
    assert known.get("there", "small") == Abilities()


def test_a_complaint_that_names_nothing_costs_one_more_call_and_then_ends() -> None:
    _, server = refusal_of(lambda _: Say("Bad request.", status=400), r"rejects the call \(Bad request\.\)")
    assert [bool(body.get("response_format")) for body in server.requests] == [True, False]
    picky = lambda body: Say("Bad request.", status=400) if "response_format" in body else Say(honest(body))  # noqa: E731
    with engine_over(picky) as (engine, server):
        assert engine.plan(POST, 5, TODAY)
        assert engine.queries(BRIEF, 3)
        assert len(server.requests) == 3  # what it did not take is remembered


def test_what_a_server_has_taken_before_is_not_given_up_for_a_complaint_that_names_nothing() -> None:
    with engine_over(honest) as (engine, server):
        assert engine.plan(POST, 5, TODAY)
        server.answer = lambda _: Say("Bad request.", status=400)
        with pytest.raises(ModelServerError, match="rejects the call"):
            engine.queries(BRIEF, 3)
        assert len(server.requests) == 2
        server.answer = honest
        assert engine.queries(BRIEF, 3)
        assert server.requests[-1]["response_format"]["type"] == "json_schema"


def _error(**body: object) -> bytes:
    return json.dumps({"error": body}).encode()


_RAW = {"raw": '{"error": {"message": "Your organization must be verified to stream this model.", "param": "stream"}}'}
# (what is given up, status, body), as OpenAI, Azure, Google, LiteLLM, OpenRouter, FastAPI, Ollama and llama.cpp answer.
REFUSED_FIELDS = [
    ("logprobs", 403, _error(message="You are not allowed to request logprobs from this model.")),
    ("logprobs", 400, _error(message="Logprobs is not enabled for models/gemini-2.5-pro", status="INVALID_ARGUMENT")),
    ("logprobs", 404, _error(message="No endpoints found that can handle the requested parameters.", code=404)),
    ("logprobs", 500, b'{"detail": "litellm.UnsupportedParamsError: does not support parameters: [\'logprobs\']"}'),
    ("logprobs", 422, b'{"detail": [{"loc": ["body", "top_logprobs"], "msg": "Extra inputs are not permitted"}]}'),
    ("logprobs", 200, _error(message="Unsupported value", param="logprobs", code="unsupported_value")),
    ("logprobs", 200, b'{"object": "error", "message": "Unknown name logprobs", "code": 400}'),
    ("temperature", 400, _error(message="`temperature` is deprecated for this model.")),
    ("temperature", 403, _error(message="Unsupported value", param="temperature", code="unsupported_value")),
    ("response_format", 400, b'[{"error": {"code": 400, "message": "Unknown name \\"response_format\\""}}]'),
    ("response_format", 500, _error(message="The model produced output that does not match the peg-native format")),
    ("response_format", 400, _error(message="Failed to generate JSON.", code="json_validate_failed")),
    ("stream", 400, _error(message="Provider returned error", code=400, metadata=_RAW)),
    ("stream", 403, _error(message="Streaming is not allowed for this key.")),
]


@pytest.mark.parametrize(("field", "status", "body"), REFUSED_FIELDS, ids=range(len(REFUSED_FIELDS)))
def test_a_field_that_is_refused_with_any_status_is_done_without(field: str, status: int, body: bytes) -> None:
    def answer(asked: Body) -> Say:
        return Say(raw=body, status=status) if asked.get(field) is not None else Say(honest(asked))

    with engine_over(answer, max_retries=2) as (engine, server):
        assert engine.helpfulness(POST, NOTE).status == "PASS"
        assert len(server.requests) == 2
        engine.principles(POST, f"{NOTE} So it says.")
        assert field not in server.requests[-1]
        assert server.requests[-1]["max_tokens"]


FULL = [
    (400, _error(message="This model's maximum prompt length is 131072 but the request contains 537812 tokens.")),
    (400, _error(message="Trying to keep the first 9000 tokens when context the overflows.")),
    (400, _error(message="Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)")),
    (400, _error(message="input length and `max_tokens` exceed context limit: 178959 + 2000 > 160000")),
    (400, _error(message="Input is too long for requested model.")),
    (400, _error(message="Your input is larger than this model takes, in our own words.", code="bad")),
    (400, b""),
    (403, _error(message="prompt is too long: 903884 tokens > 200000 maximum")),
    (404, _error(message="Provider returned error", metadata={"raw": "The input token count exceeds the maximum"})),
    (413, _error(message="Request too large for model on tokens per minute (TPM): Limit 6000, Requested 9000")),
    (422, b'{"error": "Input validation error: `inputs` must have less than 1024 tokens. Given: 1168"}'),
    (429, _error(message="Request too large. The input or output tokens must be reduced. Rate limit: 30000")),
    (500, _error(message="Context size has been exceeded.", type="server_error")),
    (503, _error(message="litellm.ContextWindowExceededError: prompt too large")),
    (200, _error(message="Range of input length should be [1, 30720]")),
    (200, b'{"object": "error", "message": "maximum context length is 8192 tokens", "code": 400}'),
]


@pytest.mark.parametrize(("status", "body"), FULL, ids=range(len(FULL)))
def test_a_full_context_in_any_words_leads_to_a_shorter_question_at_once(status: int, body: bytes) -> None:
    long = evidence(f"{PASSAGE} {'Other things are said of other drinks. ' * 200}")

    def answer(asked: Body) -> Say:
        is_full = len(data_of(asked)["passage E1"]) > 1_000
        return Say(raw=body, status=status) if is_full else Say(honest(asked))

    with engine_over(answer, max_retries=2) as (engine, server):
        assert engine.settle(BRIEF, [long], 3).settlement.stated([long])
        refused = sum(len(data_of(asked)["passage E1"]) > 1_000 for asked in server.requests)
        assert refused == 1
        server.answer = lambda _: Say(raw=body, status=status)
        server.requests.clear()
        with pytest.raises(ModelServerError):
            engine.settle(BRIEF, [long], 2)
        assert len(server.requests) <= 2


def test_a_limit_that_the_server_tells_is_kept_at_once_and_the_question_stays_whole() -> None:
    for told in (
        "max_tokens is too large: 2000. This model supports at most 900 completion tokens.",
        "This model's maximum context length is 4096 tokens. However, you requested 5196 tokens "
        "(3196 in the messages, 2000 in the completion).",
    ):

        def answer(asked: Body, told: str = told) -> Say:
            return Say(told, status=400) if asked["max_tokens"] > 900 else Say(honest(asked))

        long = evidence(f"{PASSAGE} {'Other things are said of other drinks. ' * 200}")
        with engine_over(answer) as (engine, server):
            assert engine.settle(BRIEF, [long], 3)
            assert [asked["max_tokens"] for asked in server.requests] == [2_000, 900]
            assert len(data_of(server.requests[-1])["passage E1"]) > 1_000


def _streaming(piece: bytes) -> Say:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: "

    def write(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(head + piece + b"\n\ndata: [DONE]\n\n")

    return Say(by_hand=write)


def _in_place(place: str, asked: Body) -> Body:
    said = honest(asked)
    function = {"name": "json", "arguments": said}
    places: dict[str, Body] = {
        "parts": {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm {"}]}, {"text": said}]},
        "one part": {"content": {"type": "text", "text": said}},
        "read already": {"content": json.loads(said)},
        "reasoning_content": {"content": None, "reasoning_content": said},
        "reasoning": {"content": "", "reasoning": f"```json\n{said}\n```"},
        "tool": {"content": None, "tool_calls": [{"index": 0, "id": "t", "function": function}]},
        "function": {"content": None, "function_call": function},
    }
    return places[place]


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize(
    "place", ["parts", "one part", "read already", "reasoning_content", "reasoning", "tool", "function"]
)
def test_an_answer_is_found_wherever_servers_put_it(place: str, streamed: bool) -> None:
    def answer(asked: Body) -> Say:
        if not streamed and asked.get("stream"):
            return Say("stream is not supported", status=400)
        finish = "tool_calls" if place == "tool" else "stop"
        name = "delta" if streamed else "message"
        whole = json.dumps({"choices": [{"index": 0, "finish_reason": finish, name: _in_place(place, asked)}]})
        return _streaming(whole.encode()) if streamed else Say(raw=whole.encode())

    with engine_over(answer) as (engine, server):
        assert engine.plan(POST, 5, TODAY).claims
        assert len(server.requests) == (1 if streamed else 2)


def test_a_thought_with_a_draft_in_it_is_no_answer_and_nothing_under_a_schema_leads_to_words_alone() -> None:
    def answer(asked: Body) -> Say:
        draft = f"Perhaps {honest(asked)}, or not."
        return Say("", thinks=[draft]) if asked.get("response_format") else Say(honest(asked))

    with engine_over(answer) as (engine, server):
        assert engine.plan(POST, 5, TODAY)
        assert engine.queries(BRIEF, 3)
        assert [bool(asked.get("response_format")) for asked in server.requests] == [True, False, False]


def test_nothing_from_a_server_that_took_the_schema_before_leads_to_fewer_words_and_is_not_remembered() -> None:
    long = evidence(f"{PASSAGE} {'Other things are said of other drinks. ' * 200}")

    def answer(asked: Body) -> Say:
        return Say("") if len(data_of(asked).get("passage E1", "")) > 1_000 else Say(honest(asked))

    with engine_over(answer) as (engine, server):
        assert engine.plan(POST, 5, TODAY)
        assert engine.settle(BRIEF, [long], 3).settlement.stated([long])
        assert engine.queries(BRIEF, 3)
        assert server.requests[-1]["response_format"]["type"] == "json_schema"


@pytest.mark.parametrize(
    ("status", "told", "words"),
    [
        (403, "The API key is not authorised.", "refuses this key (The API key"),
        (403, "Country, region, or territory is off limits", "does not allow this (Country, region"),
        (402, "Insufficient credits", "wants payment first (Insufficient credits)"),
        (200, "Upstream went away", "gave no answer (Upstream went away)"),
        (400, "This model takes no images", "rejects the call (This model takes no images)"),
    ],
)
def test_the_servers_own_words_stand_in_the_sentence(status: int, told: str, words: str) -> None:
    error, _ = refusal_of(lambda _: Say(raw=_error(message=told), status=status))
    assert words in error.message


@pytest.mark.parametrize(
    "junk",
    [b"null", b"5", b"[]", b'"x"', b"[" * 100_000, b'{"choices": 5}', b'{"choices": [5]}', b'{"choices": [{}]}'],
    ids=range(8),
)
@pytest.mark.parametrize("streamed", [True, False])
def test_junk_in_the_place_of_an_answer_ends_in_a_sentence(junk: bytes, streamed: bool) -> None:
    def answer(asked: Body) -> Say:
        return _streaming(junk) if streamed and asked.get("stream") else Say(raw=junk)

    error, _ = refusal_of(answer, kind=EngineError)
    assert error.message.endswith(".")


def test_numbers_that_are_no_probabilities_are_passed_over() -> None:
    def answer(asked: Body) -> Say:
        tokens = [{"token": 5, "logprob": 10**400, "top_logprobs": 7}, 3, {"top_logprobs": [{"logprob": "x"}]}]
        message = {"role": "assistant", "content": honest(asked)}
        choice = {"index": 0, "finish_reason": "stop", "message": message, "logprobs": {"content": tokens}}
        return Say(raw=json.dumps({"choices": [choice], "usage": [1]}).encode())

    with engine_over(answer) as (engine, _):
        assert engine.helpfulness(POST, NOTE).status == "PASS"
