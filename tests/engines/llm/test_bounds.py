"""Whatever a model's server does, an answer ends: in time, in bytes, at the address set, and when cancelled."""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from crowdnotes.engines.llm.discovery import find_servers
from crowdnotes.engines.metering import Meter, metered
from crowdnotes.errors import JobCancelled, ModelServerError
from crowdnotes.jobs import JobState
from crowdnotes.notes.gates import assess
from crowdnotes.settings import Settings
from crowdnotes.settings_sections import LlmSettings
from crowdnotes.workspace import open_workspace
from tests.engines.llm.made import BRIEF, NOTE, POST, begun_case, engine_for, engine_over, evidence
from tests.fakes import TODAY, FixedClock, HashingEmbedder
from tests.llm_server import Body, LLMServer, Say, honest, until_hung_up
from tests.shared import PATIENCE, HeldTime, cancelled, cancelled_after, until

Write = Callable[[BaseHTTPRequestHandler], None]
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"


def _dripping(first: bytes, drop: bytes) -> Write:
    """A byte after the other, for ever."""

    def write(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(first)
        while True:
            handler.wfile.write(drop)
            time.sleep(0.002)  # so that they come one by one, mostly

    return write


def _flooding(first: bytes, sent: list[int]) -> Write:
    """A megabyte after the other, for ever."""

    def write(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(HEAD + b"\r\n" + first)
        while True:
            handler.wfile.write(b"x" * 1_000_000)
            sent.append(1)

    return write


def _saying(say: Say, streamed: bool) -> Callable[[Body], Say]:
    """A server that says this, where not `streamed` only when it is asked for it in one piece."""
    no = Say("stream is not supported", status=400)
    return lambda body: no if body.get("stream") and not streamed else say


DRIPS = {
    "headers": _dripping(HEAD, b"x: y\r\n"),
    "one header": _dripping(HEAD + b"x: ", b"y"),
    "body": _dripping(HEAD + b"\r\n", b" "),
    "lines": _dripping(HEAD + b"\r\n", b"\n"),
    "events": _dripping(HEAD + b"\r\n", b'data: {"choices": []}\n\n'),
    "comments": _dripping(HEAD + b"\r\n", b": wait\n\n"),
}


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("drip", DRIPS.values(), ids=DRIPS)
def test_an_answer_that_drips_ends_at_the_total_time(drip: Write, streamed: bool, passing_time: HeldTime) -> None:
    with (
        engine_over(_saying(Say(by_hand=drip), streamed), total_seconds=2.5, max_retries=2) as (
            engine,
            server,
        ),
        pytest.raises(ModelServerError, match=r"took over 2\.5 s"),
    ):
        engine.plan(POST, 5, TODAY)
    assert len([body for body in server.requests if bool(body.get("stream")) is streamed]) == 1


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("first", [b"", b"data: {", b'{"choices": [{"message": {"content": "'], ids=range(3))
def test_an_answer_without_end_is_cut_off(first: bytes, streamed: bool) -> None:
    sent: list[int] = []
    with (
        engine_over(_saying(Say(by_hand=_flooding(first, sent)), streamed), max_answer_tokens=100) as (
            engine,
            server,
        ),
        pytest.raises(ModelServerError, match="sent too much"),
    ):
        engine.plan(POST, 5, TODAY)
    assert len([body for body in server.requests if bool(body.get("stream")) is streamed]) == 1
    assert len(sent) < 40


def test_a_packed_answer_is_not_unpacked() -> None:
    packed = Say(raw=gzip.compress(b" " * 5_000_000), headers={"content-encoding": "gzip"})
    with engine_over(lambda _: packed) as (engine, server), pytest.raises(ModelServerError, match="packed its answer"):
        engine.plan(POST, 5, TODAY)
    assert server.headers[0]["accept-encoding"] == "identity"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_a_redirect_to_another_address_is_not_followed(status: int, streamed: bool) -> None:
    with LLMServer(honest).running() as other:
        away = Say(raw=b"", status=status, headers={"location": f"{other.base_url}/chat/completions"})
        with (
            engine_over(_saying(away, streamed), api_key="sk-main-key-12345") as (engine, _),
            pytest.raises(ModelServerError, match=r"redirects to http://127\.0\.0\.1:\d+") as caught,
        ):
            engine.plan(POST, 5, TODAY)
        assert "CROWDNOTES_LLM_BASE_URL" in caught.value.next_step
        assert other.requests == []


def test_a_redirect_within_the_same_server_is_followed() -> None:
    answers = iter([Say(raw=b"", status=307, headers={"location": "/v1/here"})])
    with engine_over(lambda body: next(answers, Say(honest(body)))) as (engine, server):
        assert engine.plan(POST, 5, TODAY)
        assert len(server.requests) == 2


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    "say",
    [Say(by_hand=until_hung_up), Say(by_hand=DRIPS["headers"]), Say(by_hand=DRIPS["events"]), Say("no", status=429)],
    ids=["silent", "dripping headers", "dripping events", "pause before another try"],
)
def test_cancel_ends_a_waiting_call(say: Say, streamed: bool) -> None:
    say.headers, soon = {"retry-after": "30"}, cancelled_after(5)
    with (
        engine_over(_saying(say, streamed), max_retries=1) as (engine, server),
        metered(Meter(check=lambda: soon() if len(server.requests) == (1 if streamed else 2) else None)),
        pytest.raises(JobCancelled),
    ):
        engine.plan(POST, 5, TODAY)


def test_cancel_ends_calls_side_by_side_and_is_not_taken_for_a_verdict() -> None:
    with (
        engine_over(lambda _: Say(by_hand=until_hung_up)) as (engine, server),
        metered(Meter(check=lambda: cancelled() if len(server.requests) > 1 else None)),
        pytest.raises(JobCancelled),
    ):
        assess(engine, BRIEF, NOTE, [evidence()], FixedClock())


def test_a_cancelled_job_frees_its_case_though_the_server_never_answers(tmp_path: Path) -> None:
    with LLMServer(lambda _: Say(by_hand=until_hung_up)).running() as server:
        engine = engine_for(server.base_url, tmp_path)
        with open_workspace(Settings(data_dir=tmp_path), embedder=HashingEmbedder(), engine=engine) as workspace:
            cases = workspace.cases
            case_id = begun_case(cases)
            steps = workspace.stages.write_steps(case_id, before_inspection=True)
            job = workspace.runner.start(case_id, "write", steps)
            until(lambda: server.requests)
            workspace.runner.cancel(job.id)
            assert workspace.runner.wait(job.id, PATIENCE).state is JobState.CANCELLED
            again = workspace.runner.start(case_id, "write", steps)
            workspace.runner.cancel(again.id)
            workspace.runner.wait(again.id, PATIENCE)


@pytest.mark.parametrize(
    "reply",
    [
        Say(by_hand=DRIPS["headers"]),
        Say(by_hand=DRIPS["body"]),
        Say(by_hand=_flooding(b'{"data": [', [])),
        Say(raw=b"", status=302, headers={"location": "http://127.0.0.2:9/v1/models"}),
    ],
    ids=["dripping headers", "dripping body", "flooding", "redirecting"],
)
def test_a_list_of_models_keeps_the_same_bounds(reply: Say, passing_time: HeldTime) -> None:
    with LLMServer(honest).running() as server:
        server.models_reply = reply
        assert find_servers(LlmSettings(), [("Ollama", server.base_url)]) == []
