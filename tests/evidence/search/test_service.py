"""A service is asked at its pace, and one request ends in an answer or a label."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest_httpserver import HTTPServer
from sqlalchemy import Engine
from werkzeug import Request, Response

from crowdnotes.domain import ProviderState
from crowdnotes.errors import JobCancelled, SearchError
from crowdnotes.evidence import ssrf_guard
from crowdnotes.evidence.fetching import no_check
from crowdnotes.evidence.search import service as service_module
from crowdnotes.evidence.search.news import CurrentEvents
from crowdnotes.evidence.search.service import (
    COURTEOUS,
    WIKIMEDIA,
    Exchange,
    Pace,
    Pacer,
    Service,
    page_rate_limit,
    shared_pacer,
    user_agent,
    wikimedia_pacer,
)
from crowdnotes.evidence.search.wikimedia import Wikidata, Wikipedia
from crowdnotes.settings_sections import FetchSettings, SearchSettings
from crowdnotes.storage import rate_limits
from crowdnotes.storage.rate_limits import shared_rate_limiter
from tests.evidence.conftest import Behaviour, Serve
from tests.evidence.search.conftest import MakeService
from tests.shared import HeldTime, at_once, cancelled, cancelled_after


@settings(deadline=None)
@given(st.integers(1, 5), st.sampled_from([1.0, 1.1, 60.0]), st.lists(st.floats(0, 2), max_size=30))
def test_no_stretch_of_time_holds_more_requests_than_allowed(
    requests: int, seconds: float, pauses: list[float]
) -> None:
    clock = HeldTime(100.0)
    pacer = Pacer(Pace(requests, seconds, 1), clock.monotonic, clock.sleep)
    begun = []
    for pause in pauses:
        clock.now += pause
        with pacer.slot(no_check, 5.0):
            begun.append(clock.now)
    for first, last in zip(begun, begun[requests:], strict=False):
        assert last - first >= seconds - 1e-9


def _pass(pacer: Pacer, check: Callable[[], None] = no_check) -> None:
    with pacer.slot(check, 5.0):
        pass


def test_requests_within_the_pace_do_not_wait_and_a_pause_that_the_service_asks_for_holds_everyone() -> None:
    clock = HeldTime(100.0)
    pacer = Pacer(Pace(3, 1.0, 3), clock.monotonic, clock.sleep)
    for _ in range(3):
        _pass(pacer)
    assert clock.now == 100.0
    pacer.pause(2.0)
    with pacer.slot(no_check, 5.0):
        assert clock.now >= 102.0


def test_a_pause_longer_than_a_persons_patience_is_an_error_at_once() -> None:
    clock = HeldTime(100.0)
    pacer = Pacer(Pace(10, 1.0, 10), clock.monotonic, clock.sleep)
    pacer.pause(60.0)
    with pytest.raises(SearchError) as raised:
        _pass(pacer)
    assert raised.value.state is ProviderState.RATE_LIMITED
    assert clock.now == 100.0


def test_waiting_can_be_cancelled_and_leaves_the_turn_free() -> None:
    clock = HeldTime(100.0)
    pacer = Pacer(Pace(1, 1000.0, 1), clock.monotonic, clock.sleep)
    _pass(pacer)
    with pytest.raises(JobCancelled):
        _pass(pacer, cancelled)
    assert clock.now < 101.0


def test_no_more_are_under_way_than_allowed() -> None:
    pacer = Pacer(Pace(1000, 1.0, 2))
    under_way, most = 0, 0
    lock = threading.Lock()

    def ask(_: int) -> None:
        nonlocal under_way, most
        for _ in range(20):
            with pacer.slot(no_check, 5.0):
                with lock:
                    under_way += 1
                    most = max(most, under_way)
                with lock:
                    under_way -= 1

    at_once(ask, 6)
    assert most <= 2
    assert under_way == 0


def test_all_who_ask_a_service_share_its_pacer() -> None:
    pace = Pace(1, 1.0, 1)
    assert shared_pacer("https://a.example", pace) is shared_pacer("https://a.example", pace)
    assert shared_pacer("https://a.example", pace) is not shared_pacer("https://b.example", pace)


def test_all_services_and_pages_of_wikimedia_go_at_one_pace_within_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = (Wikipedia, Wikidata, CurrentEvents)
    assert {id(kind.make(SearchSettings()).service.pacer) for kind in kinds} == {id(wikimedia_pacer())}
    most_a_minute = WIKIMEDIA.requests * (60 // WIKIMEDIA.seconds + 1)
    assert most_a_minute <= 200
    turns: list[tuple[str, Pace]] = []

    def asked(site: str, pace: Pace) -> Pacer:
        turns.append((site, pace))
        return Pacer(pace)

    monkeypatch.setattr(service_module, "shared_pacer", asked)
    for host in ("de.wikipedia.org", "commons.wikimedia.org", "www.wikidata.org", "notwikipedia.org"):
        with page_rate_limit(f"https://{host}/wiki/Tea", no_check):
            pass
    assert turns == [("Wikimedia", WIKIMEDIA)] * 3 + [("notwikipedia.org", COURTEOUS)]


@pytest.mark.parametrize("said", [user_agent(None), user_agent("ann@example.org"), FetchSettings().user_agent])
def test_who_asks_names_a_contact_also_without_a_setting(said: str) -> None:
    assert "https://" in said
    assert said.startswith("CrowdNotes/")
    assert "mailto:ann@example.org" in said or "ann" not in said


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> HeldTime:
    """The clock of the database by which processes share a pace."""
    held = HeldTime()
    monkeypatch.setattr(rate_limits, "now_of", lambda _: datetime.fromtimestamp(held.now, UTC))
    return held


@pytest.fixture
def other(engine: Engine, held: HeldTime) -> Callable[[Pace], Pacer]:
    """The pacer of yet another process on that database."""

    def make(pace: Pace) -> Pacer:
        return Pacer(pace, sleep=held.sleep, book=shared_rate_limiter(engine, "https://a.example"))

    return make


OtherProcess = Callable[[Pace], Pacer]


def test_processes_on_one_database_share_the_pace_of_a_service(held: HeldTime, other: OtherProcess) -> None:
    pacers = [other(Pace(3, 1.0, 2)) for _ in range(3)]
    begun = []
    for number in range(7):
        with pacers[number % 3].slot(no_check, 5.0):
            begun.append(held.now)
    assert [last - first >= 1.0 for first, last in zip(begun, begun[3:], strict=False)] == [True] * 4
    assert begun[-1] - begun[0] < 3.0
    pacers[0].pause(60.0)
    with pytest.raises(SearchError, match="60 s"):
        _pass(pacers[1])


def test_no_more_are_under_way_than_allowed_whichever_process_they_are_of(
    engine: Engine, held: HeldTime, other: OtherProcess
) -> None:
    waited = list[float]()
    pace = Pace(100, 1.0, 2)
    with ExitStack() as first, other(pace).slot(no_check, 5.0):
        first.enter_context(other(pace).slot(no_check, 5.0))

        def end_the_first(seconds: float) -> None:
            waited.append(seconds)
            first.close()

        third = Pacer(pace, sleep=end_the_first, book=shared_rate_limiter(engine, "https://a.example"))
        with third.slot(no_check, 5.0):
            assert len(waited) == 1


def test_of_processes_that_ask_at_once_none_is_left_uncounted(engine: Engine, other: OtherProcess) -> None:
    def ask(_: int) -> None:
        for _ in range(3):
            _pass(other(Pace(1_000, 1.0, 100)))

    at_once(ask, 4)
    with shared_rate_limiter(engine, "https://a.example")() as (turns, _):
        assert (len(turns.begun), turns.under_way) == (12, {})


def test_a_process_that_was_killed_gives_its_turn_back(engine: Engine, held: HeldTime, other: OtherProcess) -> None:
    with shared_rate_limiter(engine, "https://a.example")() as (turns, now):
        turns.under_way["of the dead"] = now + 60.0
    began = held.now
    _pass(other(Pace(10, 1.0, 1)))
    assert 60.0 <= held.now - began < 61.0


def _silent(connection: socket.socket) -> None:
    connection.recv(1)


def _refused(service: Service) -> SearchError:
    with pytest.raises(SearchError) as raised:
        service.get("/search", {"q": "x"}, no_check)
    return raised.value


def test_parameters_and_headers_arrive_and_a_document_as_json(
    httpserver: HTTPServer, make_service: MakeService
) -> None:
    headers = {"X-Key": "k", "User-Agent": "CrowdNotes/test"}
    asked = httpserver.expect_oneshot_request("/search", query_string={"q": "a b&c", "n": "3"}, headers=headers)
    asked.respond_with_data(b"body")
    assert make_service(headers={"X-Key": "k"}).get("/search", {"q": "a b&c", "n": 3}, no_check) == b"body"
    httpserver.expect_oneshot_request("/search", method="POST", json={"query": "ä"}).respond_with_data(b"{}")
    assert make_service().post("/search", {"query": "ä"}, no_check) == b"{}"


@pytest.mark.parametrize(
    ("status", "headers"), [(500, {}), (502, {}), (503, {}), (504, {}), (429, {}), (429, {"Retry-After": "0"})]
)
def test_passing_trouble_is_tried_again(
    httpserver: HTTPServer, service: Service, status: int, headers: dict[str, str]
) -> None:
    httpserver.expect_ordered_request("/search").respond_with_data(status=status, headers=headers)
    httpserver.expect_ordered_request("/search").respond_with_data(b"here")
    assert service.get("/search", {}, no_check) == b"here"


@pytest.mark.parametrize(
    ("status", "state", "tries"),
    [
        (500, ProviderState.FAILED, 3),
        (504, ProviderState.TIMED_OUT, 3),
        (429, ProviderState.RATE_LIMITED, 3),
        (432, ProviderState.RATE_LIMITED, 1),
        (404, ProviderState.FAILED, 1),
        (301, ProviderState.FAILED, 1),
        (401, ProviderState.FAILED, 1),
    ],
)
def test_a_status_has_a_label(
    httpserver: HTTPServer, service: Service, status: int, state: ProviderState, tries: int
) -> None:
    httpserver.expect_request("/search").respond_with_data(status=status)
    error = _refused(service)
    assert error.state is state
    assert str(status) in error.message
    assert len(httpserver.log) == tries


@pytest.mark.parametrize("wait", ["120", "Fri, 01 Jan 2100 00:00:00 GMT"])
def test_a_long_retry_after_is_told_and_the_service_left_alone(
    httpserver: HTTPServer, service: Service, wait: str
) -> None:
    httpserver.expect_request("/search").respond_with_data(status=429, headers={"Retry-After": wait})
    assert _refused(service).state is ProviderState.RATE_LIMITED
    assert _refused(service).state is ProviderState.RATE_LIMITED
    assert len(httpserver.log) == 1


@pytest.mark.parametrize(
    ("wait", "told"),
    [
        ("90", "90 seconds"),
        ("600.5", "11 minutes"),
        ("50400", "14 hours"),
        ("259200", "3 days"),
        ("3600000", "42 days"),
    ],
)
def test_a_long_pause_is_told_in_the_unit_people_use(
    httpserver: HTTPServer, service: Service, wait: str, told: str
) -> None:
    httpserver.expect_request("/search").respond_with_data(status=429, headers={"Retry-After": wait})
    assert f"Search again in {told} " in _refused(service).message
    assert "Search again in 10 minutes" in _refused(service).message or told == "90 seconds"


def test_what_would_let_it_be_asked_more_often_is_in_the_sentence(httpserver: HTTPServer, service: Service) -> None:
    httpserver.expect_request("/search").respond_with_data(status=429, headers={"Retry-After": "30"})
    asked = replace(service, raise_limit="Set CROWDNOTES_SEARCH_CONTACT_EMAIL.")
    for _ in range(2):  # once by the service, once by ourselves
        assert _refused(asked).next_step == "Set CROWDNOTES_SEARCH_CONTACT_EMAIL."


def test_an_exchange_tells_where_and_what_came_back_and_no_key(
    httpserver: HTTPServer, make_service: MakeService
) -> None:
    heard: list[Exchange] = []
    httpserver.expect_request("/a1b2c3d4e5f6a7b8c9d0e1/search").respond_with_data(
        "<p>no\x1b[2J: s3cret, of you@b.org</p>", status=403, content_type="text/html"
    )
    service = make_service(
        httpserver.url_for("/a1b2c3d4e5f6a7b8c9d0e1").replace("localhost", "127.0.0.1"), {"X-Key": "s3cret"}
    )
    with pytest.raises(SearchError):
        replace(service, on_exchange=heard.append).get("/search", {"q": "my neighbour", "email": "you@b.org"}, no_check)
    (one,) = heard
    assert one.asked == "GET 127.0.0.1/…/search"
    assert one.status == 403
    assert one.answer.startswith("403, text/html")
    assert "no" in one.answer
    for hidden in ("s3cret", "you@b.org", "a1b2c3", "neighbour", "<p>"):
        assert hidden not in f"{one}"


def test_a_service_that_cannot_be_reached_gave_no_answer(make_service: MakeService) -> None:
    heard: list[Exchange] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(SearchError):
        replace(make_service(base_url=f"http://127.0.0.1:{port}"), on_exchange=heard.append).get("/x", {}, no_check)
    assert {(one.asked, one.answer, one.status) for one in heard} == {("GET 127.0.0.1/x", "no answer", None)}


def test_a_server_is_greeted_as_most_programs_greet_it() -> None:
    assert ssrf_guard._ssl_context().post_handshake_auth is True


def test_a_refused_key_is_named_as_the_likely_cause(httpserver: HTTPServer, make_service: MakeService) -> None:
    httpserver.expect_request("/search").respond_with_data(status=422)
    assert "key" in str(_refused(make_service(headers={"X-Key": "k"})))


def test_no_error_and_no_log_holds_the_key_or_the_query(
    httpserver: HTTPServer, make_service: MakeService, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    httpserver.expect_request("/search").respond_with_data("no: s3cret", status=403)
    service = make_service(headers={"X-Key": "s3cret"})
    with pytest.raises(SearchError) as raised:
        service.get("/search", {"api_key": "s3cret", "q": "my neighbour"}, no_check)
    logged = "\n".join(record.getMessage() for record in caplog.records if record.name != "werkzeug")  # the server's
    assert logged
    for text in (str(raised.value), repr(service), logged):
        assert "s3cret" not in text
        assert "neighbour" not in text


def test_a_server_that_is_not_there_cannot_be_reached_nor_an_address_that_is_none(make_service: MakeService) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    error = _refused(make_service(base_url=f"http://127.0.0.1:{port}"))
    assert error.state is ProviderState.FAILED
    assert error.message == "No connection from here."
    for base_url in ("gopher://a.org", "https://", "not an address", "http://a b"):
        assert _refused(make_service(base_url=base_url)).state is ProviderState.FAILED


def _drip(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    while True:
        connection.sendall(b"x")


def _breaking_off(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")


@pytest.mark.parametrize(
    ("behave", "seconds", "state", "says"),
    [
        (_silent, 0.4, ProviderState.TIMED_OUT, ""),
        (_drip, 0.4, ProviderState.TIMED_OUT, ""),
        (_breaking_off, 20.0, ProviderState.FAILED, "stopped in the middle"),
        (lambda to: to.sendall(b"\x00\xff nonsense\r\n\r\n"), 20.0, ProviderState.FAILED, ""),
    ],
    ids=["silent", "a body that drips", "a body that breaks off", "no HTTP at all"],
)
def test_a_server_that_does_not_answer_well_is_labelled(
    behave: Behaviour, seconds: float, state: ProviderState, says: str, serve: Serve, make_service: MakeService,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    if state is ProviderState.TIMED_OUT:
        monkeypatch.setattr(ssrf_guard, "time", HeldTime(step=0.1))
    error = _refused(make_service(base_url=serve(behave), request_seconds=seconds))
    assert error.state is state
    assert says in error.message


def test_an_endless_body_is_stopped(httpserver: HTTPServer, service: Service) -> None:
    def endless(_: Request) -> Response:
        return Response((b"x" * 65_536 for _ in range(1_000)), status=200)

    httpserver.expect_request("/search").respond_with_handler(endless)
    assert "too large" in _refused(service).message


def test_a_cancelled_job_ends_the_request(serve: Serve, make_service: MakeService) -> None:
    with pytest.raises(JobCancelled):
        make_service(base_url=serve(_silent), request_seconds=30.0).get("/search", {}, cancelled_after(4))
