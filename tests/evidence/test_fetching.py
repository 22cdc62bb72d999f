"""Fetching pages over loopback: labels, deadlines, caps, redirects through the guard, and sites that mean harm."""

from __future__ import annotations

import contextlib
import gzip
import itertools
import socket
import time
import zlib
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from crowdnotes.domain import FetchOutcome
from crowdnotes.errors import FetchError, JobCancelled
from crowdnotes.evidence.fetching import Fetcher, PageCache, read_capped
from crowdnotes.evidence.sources import SourceReader
from crowdnotes.settings_sections import FetchSettings
from tests.evidence.conftest import Behaviour, Serve
from tests.shared import HeldTime, cancelled_after

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"


def _of_length(length: bytes) -> bytes:
    return HEAD + b"Content-Length: " + length + b"\r\n\r\n" + b"x" * 500


HTML = "<html><body><p>Vaccines are tested.</p></body></html>"


def test_a_page_comes_back_with_its_bytes_type_and_charset(httpserver: HTTPServer, fetcher: Fetcher) -> None:
    httpserver.expect_request("/a").respond_with_data(HTML, content_type="text/html; charset=ISO-8859-1")
    page = fetcher.fetch(f" {httpserver.url_for('/a')}#part ")
    assert (page.outcome, page.detail) == (FetchOutcome.READ, "")
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
    assert (page.outcome, page.body) == (outcome, b"")
    assert str(status) in page.detail


def test_proxies_of_the_environment_are_not_used(
    httpserver: HTTPServer, fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    httpserver.expect_request("/").respond_with_data(HTML, content_type="text/html")
    assert fetcher.fetch(httpserver.url_for("/")).outcome is FetchOutcome.READ


def _redirect(to: socket.socket) -> None:
    to.sendall(b"HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n")


@pytest.mark.parametrize(
    "behave",
    [
        lambda to: to.recv(1),
        lambda to: _drip(to, b"x", HEAD + b"\r\n"),
        lambda to: _drip(to, b"x", b"HTTP/1.1 200 OK\r\nX-Slow: "),
        _redirect,
    ],
    ids=["hangs", "drips its body", "drips its head", "redirects, each in time"],
)
def test_the_deadline_covers_all_of_a_fetch(behave: Behaviour, serve: Serve, hasty_fetcher: Fetcher) -> None:
    page = hasty_fetcher.fetch(serve(behave))
    assert page.outcome is FetchOutcome.TIMED_OUT
    assert "0.5 seconds" in page.detail


def _drip(to: socket.socket, data: bytes, head: bytes = b"") -> None:
    """The head, then the data byte by byte, over and over until the other side hangs up."""
    to.sendall(head)
    for byte in itertools.cycle(data):
        to.sendall(bytes([byte]))
        time.sleep(0.002)  # so that the bytes come one by one, mostly


def test_a_cancelled_job_ends_the_wait_for_a_hanging_host(serve: Serve) -> None:
    patient = Fetcher(FetchSettings(total_seconds=60), ("127.0.0.1",))
    with pytest.raises(JobCancelled):
        patient.fetch(serve(lambda to: to.recv(1)), cancelled_after(3))


@pytest.mark.parametrize("kind", ["video/mp4", "image/png", "application/json", "application/zip", "text/css"])
def test_a_type_that_cannot_be_read_is_refused_before_its_body(kind: str, serve: Serve, fetcher: Fetcher) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n".encode()
    page = fetcher.fetch(serve(lambda to: _drip(to, b"x" * 20, head)))
    assert page.outcome is FetchOutcome.WRONG_TYPE
    assert kind in page.detail


def test_a_closed_port_and_https_to_a_server_without_it_are_unreachable(
    httpserver: HTTPServer, fetcher: Fetcher
) -> None:
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as closed:
        port = closed.getsockname()[1]
    for url, words in (
        (f"http://127.0.0.1:{port}/", str(port)),
        (f"https://127.0.0.1:{httpserver.port}/", "secure connection"),
    ):
        page = fetcher.fetch(url)
        assert page.outcome is FetchOutcome.UNREACHABLE
        assert words in page.detail


def _chain(httpserver: HTTPServer, hops: int) -> str:
    for hop in range(hops):
        httpserver.expect_request(f"/{hop}").respond_with_data("", status=302, headers={"Location": f"/{hop + 1}"})
    httpserver.expect_request(f"/{hops}").respond_with_data(HTML, content_type="text/html")
    return httpserver.url_for("/0")


def test_five_redirects_are_followed_and_six_or_a_loop_are_not(httpserver: HTTPServer, fetcher: Fetcher) -> None:
    page = fetcher.fetch(_chain(httpserver, 5))
    assert page.outcome is FetchOutcome.READ
    assert (page.requested_url, page.url) == (httpserver.url_for("/0"), httpserver.url_for("/5"))
    httpserver.clear()
    page = fetcher.fetch(_chain(httpserver, 6))
    assert page.outcome is FetchOutcome.UNREACHABLE
    assert "more than 5 times" in page.detail
    httpserver.clear()
    httpserver.expect_request("/").respond_with_data("", status=301, headers={"Location": "/"})
    assert fetcher.fetch(httpserver.url_for("/")).outcome is FetchOutcome.UNREACHABLE
    assert len(httpserver.log) == 6


@pytest.mark.parametrize(
    "location",
    [
        "http://localhost:{port}/secret",
        "http://2130706433:{port}/secret",
        "http://[::ffff:127.0.0.1]:{port}/secret",
        "http://user:password@127.0.0.1:{port}/secret",
        "//localhost:{port}/secret",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "http://169.254.169.254/latest/meta-data/",
    ],
)
def test_a_private_address_is_refused_at_each_redirect(location: str, httpserver: HTTPServer, fetcher: Fetcher) -> None:
    httpserver.expect_request("/secret").respond_with_data("secret", content_type="text/plain")
    httpserver.expect_request("/0").respond_with_data("", status=307, headers={"Location": "/1"})
    target = location.format(port=httpserver.port)
    httpserver.expect_request("/1").respond_with_data("", status=308, headers={"Location": target})
    page = fetcher.fetch(httpserver.url_for("/0"))
    assert page.outcome is FetchOutcome.REFUSED
    assert not any(request.path == "/secret" for request, _ in httpserver.log)


@pytest.mark.parametrize("location", [b"http://[", b"http://\xff\xfe", b"http://a:b:c/", b"http://exa mple.org/"])
def test_a_redirect_to_nonsense_is_a_labelled_failure(location: bytes, serve: Serve, fetcher: Fetcher) -> None:
    answer = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + location + b"\r\n\r\n"
    page = fetcher.fetch(serve(lambda to: to.sendall(answer)))
    assert page.outcome in (FetchOutcome.UNREACHABLE, FetchOutcome.REFUSED)
    assert page.detail


@pytest.mark.parametrize("location", ["/" + "." * 4_096, "?" + "a" * 4_090])
def test_a_redirect_to_an_endless_address_is_not_followed(
    location: str, httpserver: HTTPServer, fetcher: Fetcher
) -> None:
    httpserver.expect_request("/0").respond_with_data("", status=302, headers={"Location": location})
    page = fetcher.fetch(httpserver.url_for("/0"))
    assert page.outcome is FetchOutcome.UNREACHABLE
    assert "limit 4,096" in page.detail
    assert page.url == httpserver.url_for("/0")


def test_no_cookie_or_credential_reaches_the_next_hop(httpserver: HTTPServer, fetcher: Fetcher) -> None:
    httpserver.expect_request("/0").respond_with_data(
        "", status=302, headers={"Location": "/1", "Set-Cookie": "session=1; Path=/"}
    )
    seen: list[Request] = []

    def record(request: Request) -> Response:
        seen.append(request)
        return Response(HTML, content_type="text/html")

    httpserver.expect_request("/1").respond_with_handler(record)
    assert fetcher.fetch(httpserver.url_for("/0")).outcome is FetchOutcome.READ
    assert not {"Cookie", "Authorization", "Referer"} & set(dict(seen[0].headers))
    assert seen[0].headers["Host"] == f"127.0.0.1:{httpserver.port}"
    assert seen[0].headers["Accept-Encoding"] == "gzip"


WORDS = "<p>Prüfungen von Vakzinen dauern Jahre, und jede Phase wird öffentlich beschrieben und geprüft.</p>" * 2


def _bomb(size: int, bits: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, bits)
    return b"".join(packer.compress(b"\x00" * 1_000_000) for _ in range(size)) + packer.flush()


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip"])
def test_a_bomb_stops_at_the_cap(encoding: str, serve: Serve, fetcher: Fetcher) -> None:
    packed = _bomb(100, 31)
    head = HEAD + f"Content-Encoding: {encoding}\r\nContent-Length: {len(packed)}\r\n\r\n".encode()
    page = fetcher.fetch(serve(lambda to: to.sendall(head + packed)))
    assert (page.outcome, page.body) == (FetchOutcome.TOO_LARGE, b"")


def test_a_bomb_in_a_bomb_is_unpacked_once_and_is_no_page(serve: Serve, fetcher: Fetcher) -> None:
    packed = gzip.compress(_bomb(100, 31))
    head = HEAD.replace(b"text/html; charset=utf-8", b"application/octet-stream") + b"Content-Encoding: gzip\r\n\r\n"
    page = fetcher.fetch(serve(lambda to: to.sendall(head + packed)))
    assert page.outcome is FetchOutcome.WRONG_TYPE


@pytest.mark.parametrize(
    "encoding", ["br", "zstd", "deflate", "gzip, gzip", "deflate, gzip", "compress", "gzip;q=1", "\u0130dentity"]
)
def test_a_packing_that_was_not_asked_for_is_not_unpacked(encoding: str, serve: Serve, fetcher: Fetcher) -> None:
    head = HEAD + f"Content-Encoding: {encoding}\r\n\r\n".encode()
    page = fetcher.fetch(serve(lambda to: to.sendall(head + gzip.compress(_bomb(10, 31)))))
    assert page.outcome is FetchOutcome.WRONG_TYPE
    assert "unknown way" in page.detail


class _ForEver:
    """A server that sends until the other side hangs up, or 100 MB are gone; and what it has sent."""

    def __init__(self, piece: bytes, first: bytes) -> None:
        self._piece, self._first, self.sent = piece, first, 0

    def __call__(self, to: socket.socket) -> None:
        to.sendall(self._first)
        while self.sent < 100_000_000:
            to.sendall(self._piece)
            self.sent += len(self._piece)


@pytest.mark.parametrize(
    ("piece", "first", "outcome"),
    [
        (b"x" * 65_536, HEAD + b"\r\n", FetchOutcome.TOO_LARGE),
        (b"10000\r\n" + b"x" * 65_536 + b"\r\n", HEAD + b"Transfer-Encoding: chunked\r\n\r\n", FetchOutcome.TOO_LARGE),
        (b"X-Filler: " + b"a" * 1_000 + b"\r\n", b"HTTP/1.1 200 OK\r\n", FetchOutcome.UNREACHABLE),
        (b"a" * 65_536, b"HTTP/1.1 200 OK\r\nX-Long: ", FetchOutcome.UNREACHABLE),
        (b"a" * 65_536, b"HTTP/1.1 200 ", FetchOutcome.UNREACHABLE),
        (b"HTTP/1.1 100 Continue\r\n\r\n" * 100, b"", FetchOutcome.TIMED_OUT),
        (b";a=b" * 16_384, HEAD + b"Transfer-Encoding: chunked\r\n\r\n1", FetchOutcome.UNREACHABLE),
    ],
    ids=["body", "chunks", "headers", "one header", "reason", "informational answers", "chunk extension"],
)
def test_what_never_ends_is_left(
    piece: bytes, first: bytes, outcome: FetchOutcome, serve: Serve, passing_time: HeldTime
) -> None:
    endless = _ForEver(piece, first)
    page = Fetcher(FetchSettings(total_seconds=2.0, max_bytes=1_000_000), ("127.0.0.1",)).fetch(serve(endless))
    assert page.outcome in (outcome, FetchOutcome.TIMED_OUT)
    assert page.body == b""
    assert endless.sent < 100_000_000


@pytest.mark.parametrize(
    "first",
    [b"", b"HTTP/1.1 200 OK\r\n", HEAD + b"\r\n", HEAD + b"Transfer-Encoding: chunked\r\n\r\n"],
    ids=["status line", "headers", "body", "chunks"],
)
@pytest.mark.parametrize("is_cached", [False, True])
def test_a_site_that_answers_byte_by_byte_meets_the_deadline(
    first: bytes, is_cached: bool, serve: Serve, tmp_path: Path, passing_time: HeldTime
) -> None:
    rest = b"1\r\nx\r\n" if b"chunked" in first else b"HTTP"
    with contextlib.closing(PageCache(tmp_path / "pages.sqlite", 5, 1_000_000)) as cache:
        fetcher = Fetcher(FetchSettings(total_seconds=0.4), ("127.0.0.1",), cache if is_cached else None)
        page = fetcher.fetch(serve(lambda to: _drip(to, rest, first)))
    assert page.outcome in (FetchOutcome.TIMED_OUT, FetchOutcome.UNREACHABLE)


@pytest.mark.parametrize(
    ("answer", "outcome", "words"),
    [
        *(
            (_of_length(length), FetchOutcome.UNREACHABLE, "")
            for length in (b"100000", b"-1", b"ten", b"5, 6", b"9" * 23)
        ),
        (_of_length(b"2000000"), FetchOutcome.TOO_LARGE, "1 MB"),
        (HEAD + b"Content-Length: 1000000000\r\n\r\n", FetchOutcome.TOO_LARGE, "1 MB"),
        (b"220 mail.example ESMTP\r\n", FetchOutcome.UNREACHABLE, ""),
    ],
)
def test_an_answer_that_lies_breaks_off_or_is_no_http_gives_no_page(
    answer: bytes, outcome: FetchOutcome, words: str, serve: Serve, fetcher: Fetcher
) -> None:
    page = fetcher.fetch(serve(lambda to: to.sendall(answer)))
    assert (page.outcome, page.body) == (outcome, b"")
    assert words in page.detail


@pytest.mark.parametrize(
    "head",
    [
        b"<meta http-equiv=refresh content='0;url=http://127.0.0.1:%d/secret'>",
        b"<script>location='http://127.0.0.1:%d/secret'</script>",
        b"<base href='http://127.0.0.1:%d/secret'>",
        b"<iframe src='http://127.0.0.1:%d/secret'></iframe>",
        b"<link rel=stylesheet href='http://127.0.0.1:%d/secret'>",
        b"<!DOCTYPE html SYSTEM 'http://127.0.0.1:%d/secret'>",
        b"<?xml version='1.0'?><!DOCTYPE a [<!ENTITY x SYSTEM 'http://127.0.0.1:%d/secret'>]><p>&x;</p>",
    ],
    ids=["meta refresh", "script", "base", "iframe", "style sheet", "doctype", "entity"],
)
@pytest.mark.parametrize("kind", ["text/html", "application/xhtml+xml"])
def test_nothing_that_a_page_names_is_fetched(head: bytes, kind: str, httpserver: HTTPServer, fetcher: Fetcher) -> None:
    httpserver.expect_request("/secret").respond_with_data("secret words of the house")
    httpserver.expect_request("/page").respond_with_data(head % httpserver.port + WORDS.encode(), content_type=kind)
    source, text = SourceReader(fetcher).read(httpserver.url_for("/page"), "S1")
    assert [request.path for request, _ in httpserver.log] == ["/page"]
    assert "secret words" not in (text or "")
    assert source.url


def _pieces(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def _unpacked(data: bytes, size: int, encoding: str, most: int) -> bytes:
    response = httpx.Response(200, headers={"Content-Encoding": encoding}, content=iter(_pieces(data, size)))
    return read_capped(response, most)


@given(st.binary(max_size=5_000), st.integers(2, 500), st.sampled_from(["", "identity", "gzip", "x-gzip"]))
def test_what_was_packed_comes_back_however_it_was_cut(data: bytes, size: int, encoding: str) -> None:
    packed = gzip.compress(data) if "gzip" in encoding else data
    assert _unpacked(packed, size, encoding, 10_000) == data


@given(st.binary(max_size=2_000), st.sampled_from(["gzip", "identity"]))
def test_any_bytes_give_a_body_within_the_cap_or_a_labelled_error(data: bytes, encoding: str) -> None:
    try:
        assert len(_unpacked(data, 100, encoding, 1_000)) <= 1_000
    except FetchError as error:
        assert error.outcome in (FetchOutcome.UNREADABLE, FetchOutcome.TOO_LARGE)


def test_a_body_at_the_cap_passes_and_one_byte_more_or_half_a_packing_does_not() -> None:
    assert len(_unpacked(gzip.compress(b"x" * 100) + b"\x00 padding", 50, "gzip", 100)) == 100
    for packed, encoding in ((gzip.compress(b"x" * 101), "gzip"), (b"x" * 101, "")):
        with pytest.raises(FetchError) as failed:
            _unpacked(packed, 50, encoding, 100)
        assert failed.value.outcome is FetchOutcome.TOO_LARGE
    with pytest.raises(FetchError, match="arrived without its end"):
        _unpacked(gzip.compress(b"hello" * 100)[:-12], 50, "gzip", 1_000)
