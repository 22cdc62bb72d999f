"""A request to a service ends in its body or in a label with a sentence; keys stand in neither."""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from crowdnotes.domain import ProviderState
from crowdnotes.errors import JobCancelled, SearchError
from crowdnotes.evidence.fetching import no_check
from crowdnotes.evidence.search.service import Pace, Pacer, Service
from tests.evidence.search.conftest import MakeService

Serve = Callable[[Callable[[socket.socket], None]], str]


def _silent(connection: socket.socket) -> None:
    connection.recv(1)


def _refused(service: Service) -> SearchError:
    with pytest.raises(SearchError) as raised:
        service.get("/search", {"q": "x"}, no_check)
    return raised.value


def test_parameters_and_headers_arrive(httpserver: HTTPServer, make_service: MakeService) -> None:
    httpserver.expect_oneshot_request(
        "/search", query_string={"q": "a b&c", "n": "3"}, headers={"X-Key": "k", "User-Agent": "CrowdNotes/test"}
    ).respond_with_data(b"body")
    assert make_service(headers={"X-Key": "k"}).get("/search", {"q": "a b&c", "n": 3}, no_check) == b"body"


def test_a_long_query_is_sent_whole_and_pauses_by_itself(httpserver: HTTPServer) -> None:
    httpserver.expect_ordered_request("/search").respond_with_data(status=503)
    httpserver.expect_ordered_request("/search", query_string={"q": "x" * 6_000}).respond_with_data(b"body")
    service = Service(httpserver.url_for(""), Pacer(Pace(10, 1.0, 1)), 5.0, "CrowdNotes/test")
    assert service.get("/search", {"q": "x" * 6_000}, no_check) == b"body"


def test_a_document_is_posted_as_json(httpserver: HTTPServer, service: Service) -> None:
    httpserver.expect_oneshot_request("/search", method="POST", json={"query": "ä"}).respond_with_data(b"{}")
    assert service.post("/search", {"query": "ä"}, no_check) == b"{}"


@pytest.mark.parametrize("status", [500, 502, 503, 504, 429])
def test_passing_trouble_is_tried_again(httpserver: HTTPServer, service: Service, status: int) -> None:
    httpserver.expect_ordered_request("/search").respond_with_data(status=status)
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


def test_a_short_retry_after_is_kept(httpserver: HTTPServer, service: Service) -> None:
    httpserver.expect_ordered_request("/search").respond_with_data(status=429, headers={"Retry-After": "0"})
    httpserver.expect_ordered_request("/search").respond_with_data(b"here")
    assert service.get("/search", {}, no_check) == b"here"


@pytest.mark.parametrize(
    "header", ["120", format_datetime(datetime.now(UTC) + timedelta(days=1))], ids=["seconds", "moment"]
)
def test_a_long_retry_after_is_told_and_the_service_left_alone(
    httpserver: HTTPServer, service: Service, header: str
) -> None:
    httpserver.expect_request("/search").respond_with_data(status=429, headers={"Retry-After": header})
    assert _refused(service).state is ProviderState.RATE_LIMITED
    assert _refused(service).state is ProviderState.RATE_LIMITED
    assert len(httpserver.log) == 1


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


def test_a_server_that_is_not_there_cannot_be_reached(make_service: MakeService) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    error = _refused(make_service(base_url=f"http://127.0.0.1:{port}"))
    assert error.state is ProviderState.FAILED
    assert "reached" in error.message


@pytest.mark.parametrize("base_url", ["gopher://a.org", "https://", "not an address", "http://a b"])
def test_an_address_that_is_none_is_named_as_a_setting(make_service: MakeService, base_url: str) -> None:
    error = _refused(make_service(base_url=base_url))
    assert error.state is ProviderState.FAILED


def test_a_silent_server_times_out(serve: Serve, make_service: MakeService) -> None:
    url = serve(_silent)
    assert _refused(make_service(base_url=url, request_seconds=0.4)).state is ProviderState.TIMED_OUT


def test_a_body_that_drips_times_out(serve: Serve, make_service: MakeService) -> None:
    def drip(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        for _ in range(100):
            connection.sendall(b"x")
            time.sleep(0.05)

    assert _refused(make_service(base_url=serve(drip), request_seconds=0.4)).state is ProviderState.TIMED_OUT


def test_a_body_that_breaks_off_is_labelled(serve: Serve, make_service: MakeService) -> None:
    url = serve(lambda connection: connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"))
    assert "broke off" in _refused(make_service(base_url=url)).message


def test_what_is_no_http_at_all_is_labelled(serve: Serve, make_service: MakeService) -> None:
    url = serve(lambda connection: connection.sendall(b"\x00\xff nonsense\r\n\r\n"))
    assert _refused(make_service(base_url=url)).state is ProviderState.FAILED


def test_an_endless_body_is_stopped(httpserver: HTTPServer, service: Service) -> None:
    def endless(_: Request) -> Response:
        return Response((b"x" * 65_536 for _ in range(1_000)), status=200)

    httpserver.expect_request("/search").respond_with_handler(endless)
    assert "larger" in _refused(service).message


def test_a_cancelled_job_ends_the_request(serve: Serve, make_service: MakeService) -> None:
    url = serve(_silent)
    looked = 0

    def cancelled() -> None:
        nonlocal looked
        looked += 1
        if looked > 4:
            raise JobCancelled("stop")

    with pytest.raises(JobCancelled):
        make_service(base_url=url, request_seconds=30.0).get("/search", {}, cancelled)
