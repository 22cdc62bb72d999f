"""Sites that want a program to fetch for ever, run out of memory, look elsewhere, or misread."""

from __future__ import annotations

import gzip
import itertools
import socket
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from crowdnotes.domain import FetchOutcome
from crowdnotes.evidence.fetching import Fetcher
from crowdnotes.evidence.page_cache import PageCache
from crowdnotes.evidence.sources import SourceReader
from crowdnotes.settings import FetchSettings
from tests.evidence.conftest import Serve

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"
WORDS = "<p>Prüfungen von Vakzinen dauern Jahre, und jede Phase wird öffentlich beschrieben und geprüft.</p>" * 2


def _bomb(size: int, bits: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, bits)
    return b"".join(packer.compress(b"\x00" * 1_000_000) for _ in range(size)) + packer.flush()


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", "deflate"])
def test_a_bomb_stops_at_the_cap(encoding: str, serve: Serve, fetcher: Fetcher) -> None:
    packed = _bomb(100, 15 if encoding == "deflate" else 31)
    head = HEAD + f"Content-Encoding: {encoding}\r\nContent-Length: {len(packed)}\r\n\r\n".encode()
    page = fetcher.fetch(serve(lambda to: to.sendall(head + packed)))
    assert (page.outcome, page.body) == (FetchOutcome.TOO_LARGE, b"")


def test_a_bomb_in_a_bomb_is_unpacked_once_and_is_no_page(serve: Serve, fetcher: Fetcher) -> None:
    packed = gzip.compress(_bomb(100, 31))
    head = HEAD.replace(b"text/html; charset=utf-8", b"application/octet-stream") + b"Content-Encoding: gzip\r\n\r\n"
    page = fetcher.fetch(serve(lambda to: to.sendall(head + packed)))
    assert page.outcome is FetchOutcome.WRONG_TYPE


@pytest.mark.parametrize(
    "encoding", ["br", "zstd", "gzip, gzip", "deflate, gzip", "compress", "gzip;q=1", "\u0130dentity"]
)
def test_a_packing_that_was_not_asked_for_is_not_unpacked(encoding: str, serve: Serve, fetcher: Fetcher) -> None:
    head = HEAD + f"Content-Encoding: {encoding}\r\n\r\n".encode()
    page = fetcher.fetch(serve(lambda to: to.sendall(head + gzip.compress(_bomb(10, 31)))))
    assert page.outcome is FetchOutcome.WRONG_TYPE
    assert "not asked for" in page.detail


def _send_for_ever(piece: bytes, first: bytes = b"") -> tuple[Callable[[socket.socket], None], list[int]]:
    """A server that sends until the other side hangs up, or 100 MB are gone; and what it has sent."""
    sent = [0]

    def behave(to: socket.socket) -> None:
        to.sendall(first)
        while sent[0] < 100_000_000:
            to.sendall(piece)
            sent[0] += len(piece)

    return behave, sent


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
def test_what_never_ends_is_left(piece: bytes, first: bytes, outcome: FetchOutcome, serve: Serve) -> None:
    behave, sent = _send_for_ever(piece, first)
    page = Fetcher(FetchSettings(total_seconds=3.0, max_bytes=1_000_000), ("127.0.0.1",)).fetch(serve(behave))
    assert page.outcome in (outcome, FetchOutcome.TIMED_OUT)
    assert page.body == b""
    assert sent[0] < 100_000_000


@pytest.mark.parametrize(
    "first",
    [b"", b"HTTP/1.1 200 OK\r\n", HEAD + b"\r\n", HEAD + b"Transfer-Encoding: chunked\r\n\r\n"],
    ids=["status line", "headers", "body", "chunks"],
)
@pytest.mark.parametrize("is_cached", [False, True])
def test_a_site_that_answers_byte_by_byte_meets_the_deadline(
    first: bytes, is_cached: bool, serve: Serve, tmp_path: Path
) -> None:
    def drip(to: socket.socket) -> None:
        to.sendall(first)
        for byte in itertools.islice(itertools.cycle(b"1\r\nx\r\n" if b"chunked" in first else b"HTTP"), 60):
            to.sendall(bytes([byte]))
            time.sleep(0.05)

    cache = PageCache(tmp_path / "pages.sqlite", 5, 1_000_000) if is_cached else None
    page = Fetcher(FetchSettings(total_seconds=0.4), ("127.0.0.1",), cache).fetch(serve(drip))
    if cache is not None:
        cache.close()
    assert page.outcome in (FetchOutcome.TIMED_OUT, FetchOutcome.UNREACHABLE)


@pytest.mark.parametrize(
    ("length", "outcome"),
    [
        (b"100000", FetchOutcome.UNREACHABLE),
        (b"-1", FetchOutcome.UNREACHABLE),
        (b"ten", FetchOutcome.UNREACHABLE),
        (b"5, 6", FetchOutcome.UNREACHABLE),
        (b"99999999999999999999999", FetchOutcome.UNREACHABLE),
        (b"2000000", FetchOutcome.TOO_LARGE),
    ],
)
def test_a_length_that_lies_gives_no_page(length: bytes, outcome: FetchOutcome, serve: Serve, fetcher: Fetcher) -> None:
    page = fetcher.fetch(serve(lambda to: to.sendall(HEAD + b"Content-Length: " + length + b"\r\n\r\n" + b"x" * 500)))
    assert (page.outcome, page.body) == (outcome, b"")


def test_what_is_sent_past_the_length_is_not_read(serve: Serve, fetcher: Fetcher) -> None:
    page = fetcher.fetch(serve(lambda to: to.sendall(HEAD + b"Content-Length: 5\r\n\r\nshort, and then more")))
    assert page.body == b"short"


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


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (WORDS.encode("cp1252"), "text/html; charset=utf-8"),
        (WORDS.encode(), "text/html; charset=iso-8859-1"),
        (WORDS.encode(), "text/html"),
        (WORDS.encode("cp1252"), "text/html"),
        (b"<meta charset=utf-8>" + WORDS.encode("cp1252"), "text/html; charset=windows-1252"),
        (b"<meta charset=shift_jis>" + WORDS.encode(), "text/html; charset=koi8-r"),
        (WORDS.encode("utf-16"), "text/html; charset=utf-8"),
        (b"\xef\xbb\xbf" + WORDS.encode(), "text/html; charset=utf-16"),
        (WORDS.encode(), "text/html; charset=no-such-charset"),
        (WORDS.encode(), "text/html; charset=zip"),
        (WORDS.encode(), 'text/html; charset="utf-8"; charset=ascii'),
    ],
)
def test_a_wrong_missing_or_contradicting_charset_still_gives_the_words(
    body: bytes, kind: str, httpserver: HTTPServer, fetcher: Fetcher
) -> None:
    httpserver.expect_request("/page").respond_with_data(body, content_type=kind)
    _, text = SourceReader(fetcher).read(httpserver.url_for("/page"), "S1")
    assert text is not None
    assert "Prüfungen von Vakzinen" in text


def test_utf_7_is_never_decoded(httpserver: HTTPServer, fetcher: Fetcher) -> None:
    body = b"+ADw-script+AD4-alert(1)+ADw-/script+AD4- " + WORDS.encode("ascii", "xmlcharrefreplace")
    httpserver.expect_request("/page").respond_with_data(body, content_type="text/html; charset=utf-7")
    _, text = SourceReader(fetcher).read(httpserver.url_for("/page"), "S1")
    assert text is not None
    assert "<script>" not in text
