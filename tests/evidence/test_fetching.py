from __future__ import annotations

import contextlib
import gzip
import socket
import time
import zlib

import pytest
from pytest_httpserver import HTTPServer

from crowdnotes.domain import FetchOutcome
from crowdnotes.errors import JobCancelled
from crowdnotes.evidence.fetching import Fetcher
from crowdnotes.settings import FetchSettings
from tests.evidence.conftest import Serve

HTML = "<html><body><p>Vaccines are tested.</p></body></html>"


def test_a_page_comes_back_with_its_bytes_type_and_charset(httpserver: HTTPServer, fetcher: Fetcher) -> None:
    httpserver.expect_request("/a").respond_with_data(HTML, content_type="text/html; charset=ISO-8859-1")
    page = fetcher.fetch(f" {httpserver.url_for('/a')}#part ")
    assert (page.outcome, page.status, page.detail) == (FetchOutcome.READ, 200, "")
    assert (page.content_type, page.charset, page.body) == ("text/html", "iso-8859-1", HTML.encode())
    assert page.url == httpserver.url_for("/a")
    assert page.fetched_at.tzinfo is not None


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (401, FetchOutcome.BLOCKED),
        (402, FetchOutcome.PAYWALLED),
        (403, FetchOutcome.BLOCKED),
        (404, FetchOutcome.NOT_FOUND),
        (408, FetchOutcome.TIMED_OUT),
        (410, FetchOutcome.NOT_FOUND),
        (418, FetchOutcome.SERVER_ERROR),
        (429, FetchOutcome.BLOCKED),
        (451, FetchOutcome.BLOCKED),
        (500, FetchOutcome.SERVER_ERROR),
        (503, FetchOutcome.SERVER_ERROR),
    ],
)
def test_each_refusal_of_the_site_has_its_own_label(
    status: int, outcome: FetchOutcome, httpserver: HTTPServer, fetcher: Fetcher
) -> None:
    httpserver.expect_request("/").respond_with_data(HTML, status=status, content_type="text/html")
    page = fetcher.fetch(httpserver.url_for("/"))
    assert (page.outcome, page.status, page.body) == (outcome, status, b"")
    assert str(status) in page.detail


def test_proxies_of_the_environment_are_not_used(
    httpserver: HTTPServer, fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    httpserver.expect_request("/").respond_with_data(HTML, content_type="text/html")
    assert fetcher.fetch(httpserver.url_for("/")).outcome is FetchOutcome.READ


def test_a_host_that_hangs_times_out(serve: Serve, hasty_fetcher: Fetcher) -> None:
    page = hasty_fetcher.fetch(serve(lambda _: time.sleep(1)))
    assert page.outcome is FetchOutcome.TIMED_OUT
    assert "0.5 seconds" in page.detail


def _drip(to: socket.socket, data: bytes, head: bytes = b"") -> None:
    to.sendall(head)
    for byte in data:
        to.sendall(bytes([byte]))
        time.sleep(0.05)


def test_a_body_that_drips_is_ended_by_the_total_deadline(serve: Serve, hasty_fetcher: Fetcher) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    page = hasty_fetcher.fetch(serve(lambda to: _drip(to, b"x" * 30, head)))
    assert page.outcome is FetchOutcome.TIMED_OUT


def test_a_head_that_drips_is_ended_by_the_total_deadline(serve: Serve, hasty_fetcher: Fetcher) -> None:
    page = hasty_fetcher.fetch(serve(lambda to: _drip(to, b"HTTP/1.1 200 OK\r\nX-Slow: " + b"x" * 30)))
    assert page.outcome is FetchOutcome.TIMED_OUT


def test_the_deadline_covers_all_redirects_together(serve: Serve, hasty_fetcher: Fetcher) -> None:
    def slow(to: socket.socket) -> None:
        time.sleep(0.2)
        to.sendall(b"HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n")

    assert hasty_fetcher.fetch(serve(slow)).outcome is FetchOutcome.TIMED_OUT


def test_a_cancelled_job_ends_the_wait_for_a_hanging_host(serve: Serve) -> None:
    asked = 0

    def check() -> None:
        nonlocal asked
        asked += 1
        if asked > 3:
            raise JobCancelled("Stopped.")

    patient = Fetcher(FetchSettings(total_seconds=60), ("127.0.0.1",))
    with pytest.raises(JobCancelled):
        patient.fetch(serve(lambda _: time.sleep(1)), check)


def test_an_endless_body_is_left_at_the_cap(serve: Serve, fetcher: Fetcher) -> None:
    sent = 0

    def endless(to: socket.socket) -> None:
        nonlocal sent
        to.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
        while sent < 200_000_000:
            to.sendall(b"x" * 65_536)
            sent += 65_536

    page = fetcher.fetch(serve(endless))
    assert page.outcome is FetchOutcome.TOO_LARGE
    assert page.body == b""
    assert sent < 50_000_000


def test_a_gigabyte_that_is_announced_is_not_begun(serve: Serve, fetcher: Fetcher) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000000000\r\n\r\n"
    page = fetcher.fetch(serve(lambda to: to.sendall(head)))
    assert page.outcome is FetchOutcome.TOO_LARGE
    assert "1 MB" in page.detail


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_a_zip_bomb_stops_at_the_cap(encoding: str, httpserver: HTTPServer, fetcher: Fetcher) -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31 if encoding == "gzip" else 15)
    bomb = b"".join(packer.compress(b"\x00" * 1_000_000) for _ in range(200)) + packer.flush()
    httpserver.expect_request("/").respond_with_data(
        bomb, content_type="text/html", headers={"Content-Encoding": encoding}
    )
    page = fetcher.fetch(httpserver.url_for("/"))
    assert page.outcome is FetchOutcome.TOO_LARGE


def test_a_packed_page_is_unpacked(httpserver: HTTPServer, fetcher: Fetcher) -> None:
    httpserver.expect_request("/").respond_with_data(
        gzip.compress(HTML.encode()), content_type="text/html", headers={"Content-Encoding": "GZIP"}
    )
    assert fetcher.fetch(httpserver.url_for("/")).body == HTML.encode()


@pytest.mark.parametrize("kind", ["video/mp4", "image/png", "application/json", "application/zip", "text/css"])
def test_a_type_that_cannot_be_read_is_refused_before_its_body(kind: str, serve: Serve, fetcher: Fetcher) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n".encode()
    page = fetcher.fetch(serve(lambda to: _drip(to, b"x" * 20, head)))
    assert page.outcome is FetchOutcome.WRONG_TYPE
    assert kind in page.detail


def test_a_server_that_breaks_off_is_unreachable(serve: Serve, fetcher: Fetcher) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 500\r\n\r\nshort"
    page = fetcher.fetch(serve(lambda to: to.sendall(head)))
    assert page.outcome is FetchOutcome.UNREACHABLE
    assert page.body == b""


def test_a_server_that_speaks_no_http_is_unreachable(serve: Serve, fetcher: Fetcher) -> None:
    page = fetcher.fetch(serve(lambda to: to.sendall(b"220 mail.example ESMTP\r\n")))
    assert page.outcome is FetchOutcome.UNREACHABLE


def test_a_closed_port_is_unreachable(fetcher: Fetcher) -> None:
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as closed:
        port = closed.getsockname()[1]
    page = fetcher.fetch(f"http://127.0.0.1:{port}/")
    assert page.outcome is FetchOutcome.UNREACHABLE
    assert str(port) in page.detail


def test_https_to_a_server_without_it_is_unreachable(httpserver: HTTPServer, fetcher: Fetcher) -> None:
    page = fetcher.fetch(f"https://127.0.0.1:{httpserver.port}/")
    assert page.outcome is FetchOutcome.UNREACHABLE
    assert "secure connection" in page.detail


@pytest.mark.parametrize(
    "url", ["", "hello", "cdc.gov", "http://", "http://a b.org/", "http://xn--a.com/", "http://a.org/\ud800"]
)
def test_a_malformed_url_is_a_page_with_a_clear_sentence(url: str, fetcher: Fetcher) -> None:
    page = fetcher.fetch(url)
    assert page.outcome in (FetchOutcome.UNREACHABLE, FetchOutcome.REFUSED)
    assert page.detail
    assert page.requested_url == url
