"""Each call comes piece by piece and is told; models that think have time and room, and none talks for ever."""

from __future__ import annotations

import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler

import pytest

from crowdnotes.domain import Hit
from crowdnotes.engines.llm.calls import readable, refuse_repetition
from crowdnotes.engines.llm.engine import LLMEngine
from crowdnotes.engines.metering import Budget, Meter, metered
from crowdnotes.errors import AnswerCutError, AnswerUnreadableError, BudgetError, EngineError, ModelServerError
from tests.engines.llm.made import BRIEF, NOTE, PASSAGE, POST, engine_over, evidence, refusal_of
from tests.fakes import TODAY
from tests.llm_server import Body, Say, data_of, honest, until_hung_up
from tests.shared import HeldTime

HIT = Hit(provider="p", title="Drinks", url="https://a.example/1", snippet="About drinks.", query="q")
STEPS: dict[str, Callable[[LLMEngine], object]] = {
    "claims": lambda engine: engine.plan(POST, 3, TODAY),
    "queries": lambda engine: engine.queries(BRIEF, 3),
    "ranking": lambda engine: engine.rank(BRIEF, [HIT], [], 1),
    "settle": lambda engine: engine.settle(BRIEF, [evidence()], 3),
    "write": lambda engine: engine.write(BRIEF, [evidence()], 250, 1),
    "correctness": lambda engine: engine.correctness(NOTE, [evidence()], engine.support(NOTE, [evidence()])),
    "helpfulness": lambda engine: engine.helpfulness(POST, NOTE),
}
each_step = pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)


def _told(answer: Callable[[Body], Say | str], step: Callable[[LLMEngine], object], **settings: object) -> list[str]:
    told: list[str] = []
    meter = Meter(on_words=lambda _, words: told.append(words))
    with engine_over(answer, **settings) as (engine, _), metered(meter):
        step(engine)
    return told


@each_step
def test_what_a_model_says_is_told_while_it_says_it(step: Callable[[LLMEngine], object]) -> None:
    told = _told(honest, step)
    assert told
    assert all(words and "{" not in words for words in told)


def test_a_note_grows_as_it_is_told() -> None:
    sentence = {"text": NOTE, "passages": [{"id": "E1", "quote": NOTE}], "basis": "stated"}
    answer = {"reason": "", "decision": "note", "notes": [{"sentences": [sentence]}]}
    told = _told(lambda _: json.dumps(answer), STEPS["write"])
    growing = [words for words in told if NOTE.startswith(words)]
    assert len(growing) > 1
    assert growing[1].startswith(growing[0])


def test_of_calls_side_by_side_one_is_told_until_it_ends() -> None:
    told: list[str] = []
    meter = Meter(on_words=lambda step, words: told.append(f"{step}: {words}"))
    with meter.reporter("judging") as first, meter.reporter("judging") as second:
        first("a b")
        second("c d")
        first("a b e")
    with meter.reporter("writing") as third:
        third("f g")
    assert told == ["judging: a b", "judging: a b e", "writing: f g"]


@pytest.mark.parametrize(
    ("so_far", "shown"),
    [
        ('{"claims": [{"quote": "This drink makes', "This drink makes"),
        ('```json\n{"reason": "It bears on it.", "relevant": "ye', "It bears on it."),
        ('{"reason": "See https://evil.example/x of @someone', "See (link left out) of (name left out)"),
        ('<think>perhaps {"reason": "a b c', ""),
        ("Let me see what the", ""),
        ('{"pick": 3', ""),
    ],
)
def test_the_words_so_far_are_the_last_that_a_person_can_read(so_far: str, shown: str) -> None:
    assert readable(so_far) == shown


def test_whoever_is_told_can_stop_it() -> None:
    class Stopped(Exception):  # noqa: N818
        pass

    def stop(_: str, __: str) -> None:
        raise Stopped

    with engine_over(honest) as (engine, _), metered(Meter(on_words=stop)), pytest.raises(Stopped):
        engine.plan(POST, 3, TODAY)


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_thoughts_are_signs_of_life_and_are_never_read_as_the_answer(name: str, servers_time: HeldTime) -> None:
    thoughts = ["Perhaps ", '{"claims": []}', " hm"] * 4

    def answer(body: Body) -> Say:
        return Say(honest(body), thinks=thoughts, thinks_as=name, pause=0.8)

    with engine_over(answer, timeout_seconds=1.0) as (engine, server):
        assert engine.plan(POST, 3, TODAY)
        assert len(server.requests) == 1


def test_silence_in_the_middle_ends_in_a_sentence_about_time(passing_time: HeldTime) -> None:
    def stops(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
        handler.wfile.write(b'data: {"choices": [{"index": 0, "delta": {"content": "{"}}]}\n\n')
        until_hung_up(handler)

    _, server = refusal_of(lambda _: Say(by_hand=stops), "in time", timeout_seconds=0.3)
    assert len(server.requests) == 1


def test_an_answer_that_was_cut_gets_twice_the_room_and_the_next_question_begins_there() -> None:
    def answer(body: Body) -> Say:
        return Say(honest(body), finish="stop" if body["max_tokens"] >= 8_000 else "length")

    with engine_over(answer) as (engine, server):
        assert engine.plan(POST, 3, TODAY)
        assert engine.rank(BRIEF, [HIT], [], 1).picks
        assert [body["max_tokens"] for body in server.requests] == [2_000, 4_000, 8_000, 8_000]


def test_room_ends_at_the_bound_at_the_budget_and_where_the_server_gives_no_more() -> None:
    cut = Say('{"claims": [{"quote": "This dri', finish="length")
    error, server = refusal_of(lambda _: cut, "cut at 6000 tokens", AnswerCutError, max_answer_tokens=6_000)
    assert [body["max_tokens"] for body in server.requests] == [2_000, 4_000, 6_000]
    assert "MAX_ANSWER_TOKENS" in error.next_step
    full = Say("This model's maximum context length is 4096 tokens", status=400)
    answer: Callable[[Body], Say] = lambda body: cut if body["max_tokens"] <= 2_000 else full  # noqa: E731
    refusal_of(answer, "ended at 2000 tokens, its server's limit", AnswerCutError)
    with engine_over(lambda _: cut) as (engine, server), metered(Meter(Budget(tokens=4_500))):
        with pytest.raises(BudgetError, match="4,500 tokens"):
            engine.plan(POST, 3, TODAY)
        assert len(server.requests) == 1


def test_a_short_context_leaves_less_room_for_the_answer() -> None:
    told = "'max_tokens' is too large: {}. This model's maximum context length is 2048 tokens."

    def answer(body: Body) -> Say:
        room = body["max_tokens"]
        return Say(told.format(room), status=400) if room > 600 else Say(honest(body))

    with engine_over(answer) as (engine, server):
        assert engine.plan(POST, 3, TODAY)
        assert [body["max_tokens"] for body in server.requests] == [2_000, 1_000, 500]


def test_a_question_too_long_is_asked_in_fewer_words_where_there_are_some() -> None:
    full = Say("the request exceeds the available context size", status=400)

    def answer(body: Body) -> Say:
        return full if len(data_of(body)["passage E1"]) > 1_000 else Say(honest(body))

    long = evidence(f"{PASSAGE} {'Other things are said of other drinks. ' * 200}")
    with engine_over(answer) as (engine, _):
        found = engine.settle(BRIEF, [long], 3)
        assert found.settlement.stated([long])
    refusal_of(lambda _: full, "too long")  # the post is short already


@pytest.mark.parametrize("unit", ["again ", "\n", "I am not sure. Let me think of it once more. ", "  "])
@pytest.mark.parametrize("place", ["answer", "thoughts"])
def test_the_same_text_for_ever_is_cut_off_and_named_and_asked_for_once_more(unit: str, place: str) -> None:
    def circles(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
        name = "content" if place == "answer" else "reasoning_content"
        piece = json.dumps({"choices": [{"index": 0, "delta": {name: unit * 20}}]})
        while True:
            handler.wfile.write(f"data: {piece}\n\n".encode())

    said = iter([Say(by_hand=circles)])
    with engine_over(lambda body: next(said, Say(honest(body)))) as (engine, server):
        assert engine.plan(POST, 3, TODAY)
        assert "again and again" in server.requests[1]["messages"][-1]["content"]
        assert engine.usage.output_tokens > 400
    refusal_of(lambda _: Say(by_hand=circles), "again and again", AnswerUnreadableError)


def test_a_long_list_is_no_circle() -> None:
    refuse_repetition(json.dumps([{"sentence": n, "quote": "the same words"} for n in range(200)]))


@each_step
def test_a_server_that_drops_in_the_middle_is_named_and_asked_again_it_serves(
    step: Callable[[LLMEngine], object],
) -> None:
    def drops(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{")

    down = [True]

    def answer(body: Body) -> Say:
        if not down[0]:
            return Say(honest(body))
        return Say(honest(body), breaks_after=1) if body.get("stream") else Say(by_hand=drops)

    with engine_over(answer) as (engine, _):
        with pytest.raises(ModelServerError, match=r"or it stopped|stopped in the middle"):
            step(engine)
        down[0] = False
        step(engine)


def test_a_server_that_never_streams_is_asked_for_whole_answers_from_then_on() -> None:
    whole: Callable[[Body], Say] = lambda body: Say(honest(body), streams=False)  # noqa: E731
    refused = Say("stream is not supported", status=400)
    for answer, asked in (
        (whole, [True, False]),
        (lambda body: refused if body.get("stream") else whole(body), [True, False, False]),
    ):
        with engine_over(answer) as (engine, server):
            assert engine.plan(POST, 3, TODAY)
            engine.rank(BRIEF, [HIT], [], 1)
            assert [bool(body.get("stream")) for body in server.requests] == asked


def test_a_model_that_cannot_stream_may_be_silent_for_as_long_as_an_answer_may_take(servers_time: HeldTime) -> None:
    with engine_over(lambda body: Say(honest(body), streams=False, wait=0.4), timeout_seconds=1.0) as (engine, server):
        assert engine.plan(POST, 3, TODAY)
        server.answer = lambda body: Say(honest(body), wait=0.9)
        assert engine.plan(POST, 3, TODAY)


def test_each_step_thinks_as_long_as_is_set_and_models_that_do_not_think_are_not_told() -> None:
    with engine_over(honest, effort={"queries": "low", "judging": "high"}) as (engine, server):
        engine.plan(POST, 3, TODAY)
        engine.write(BRIEF, [evidence()], 250, 1)
        engine.helpfulness(POST, NOTE)
        assert [body.get("reasoning_effort") for body in server.requests] == ["low", None, "high"]
    for complaint in ('"small" does not support thinking', "Unrecognized request argument supplied: reasoning_effort"):

        def answer(body: Body, complaint: str = complaint) -> Say:
            return Say(complaint, status=400) if "reasoning_effort" in body else Say(honest(body))

        with engine_over(answer) as (engine, server):
            engine.plan(POST, 3, TODAY)
            engine.helpfulness(POST, NOTE)
            assert ["reasoning_effort" in body for body in server.requests] == [True, False, False]
            assert server.requests[-1]["response_format"]["type"] == "json_schema"


def test_a_wrong_effort_is_refused() -> None:
    with pytest.raises((EngineError, ValueError), match="high"), engine_over(honest, effort={"judging": "very"}):
        pass
