"""What is kept, for how long, and what becomes of a file that is damaged, full or shared."""

from __future__ import annotations

import gzip
import logging
import os
import socket
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from crowdnotes.domain import FetchOutcome
from crowdnotes.evidence.fetching import Fetcher, PageCache
from crowdnotes.settings_sections import FetchSettings
from tests.evidence.conftest import Serve
from tests.shared import HeldTime, at_once

HTML = "<html><body><p>Vaccines are tested.</p></body></html>"


HOST = ("127.0.0.1",)


def caching_fetcher(cache: PageCache | None, max_bytes: int = 1_000_000) -> Fetcher:
    return Fetcher(FetchSettings(max_bytes=max_bytes, total_seconds=20.0), HOST, cache)


def serve_page(
    httpserver: HTTPServer, headers: dict[str, str], status: int = 200, path: str = "/page"
) -> list[Request]:
    seen: list[Request] = []

    def answer(request: Request) -> Response:
        seen.append(request)
        if "ETag" in headers and request.headers.get("If-None-Match") == headers["ETag"]:
            return Response(status=304, headers=headers)
        return Response(HTML, status=status, content_type="text/html", headers=headers)

    httpserver.expect_request(path).respond_with_handler(answer)
    return seen


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[PageCache]:
    cache = PageCache(tmp_path / "pages" / "pages.sqlite", 5, 1_000_000)
    yield cache
    cache.close()


def _http_date(ago: timedelta) -> str:
    return format_datetime(datetime.now(UTC) - ago, usegmt=True)


@pytest.mark.parametrize(
    ("headers", "asked"),
    [
        ({"Cache-Control": "max-age=600"}, 1),
        ({"Cache-Control": "public, s-maxage=600"}, 1),
        ({"Expires": _http_date(timedelta(hours=-2))}, 1),
        ({"Last-Modified": _http_date(timedelta(days=100))}, 1),
        ({}, 2),
        ({"Cache-Control": "no-store"}, 2),
        ({"Cache-Control": "private, max-age=600"}, 2),
        ({"Cache-Control": "max-age=0"}, 2),
        ({"Cache-Control": "max-age=600", "Vary": "*"}, 2),
        ({"Expires": "0"}, 2),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else None,
)
def test_a_page_is_asked_for_again_unless_it_is_fresh_and_may_be_reused(
    headers: dict[str, str], asked: int, httpserver: HTTPServer, cache: PageCache
) -> None:
    seen = serve_page(httpserver, headers)
    first, second = (caching_fetcher(cache).fetch(httpserver.url_for("/page")) for _ in range(2))
    assert len(seen) == asked
    assert (first.outcome, second.outcome) == (FetchOutcome.READ, FetchOutcome.READ)
    assert (second.body, second.content_type) == (HTML.encode(), "text/html")
    assert second.charset == first.charset
    assert abs(second.fetched_at - first.fetched_at) < timedelta(seconds=5)


@pytest.mark.parametrize(
    "head",
    [f"Date: {_http_date(timedelta(hours=1))}", "Age: 3000", "Age: 3000\r\nDate: soon"],
    ids=["an old date", "an age", "an age and no date"],
)
def test_time_spent_in_caches_on_the_way_counts(head: str, serve: Serve, cache: PageCache) -> None:
    asked: list[None] = []

    def answer(to: socket.socket) -> None:
        asked.append(None)
        start = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nCache-Control: max-age=600\r\n{head}\r\n"
        to.sendall(f"{start}Content-Length: {len(HTML)}\r\n\r\n{HTML}".encode())

    url = serve(answer)
    for _ in range(2):
        assert caching_fetcher(cache).fetch(url).outcome is FetchOutcome.READ
    assert len(asked) == 2


@pytest.mark.parametrize("status", [402, 403, 404, 410, 429, 500, 503])
def test_a_page_that_failed_is_tried_again_whatever_its_site_allows(
    status: int, httpserver: HTTPServer, cache: PageCache
) -> None:
    seen = serve_page(httpserver, {"Cache-Control": "max-age=600"}, status)
    for _ in range(2):
        assert caching_fetcher(cache).fetch(httpserver.url_for("/page")).outcome is not FetchOutcome.READ
    assert len(seen) == 2


def test_a_kept_redirect_still_meets_the_guard(httpserver: HTTPServer, cache: PageCache) -> None:
    secret = f"http://localhost:{httpserver.port}/secret"
    httpserver.expect_request("/secret").respond_with_data("secret", content_type="text/plain")
    moved = {"Cache-Control": "max-age=600", "Location": secret}
    httpserver.expect_request("/moved").respond_with_data("", status=301, headers=moved)
    allowed = Fetcher(FetchSettings(), (*HOST, "localhost"), cache)
    assert allowed.fetch(httpserver.url_for("/moved")).outcome is FetchOutcome.READ
    assert caching_fetcher(cache).fetch(httpserver.url_for("/moved")).outcome is FetchOutcome.REFUSED


def test_a_packed_page_from_the_cache_is_unpacked_under_todays_cap(httpserver: HTTPServer, cache: PageCache) -> None:
    packed = gzip.compress(b"x" * 500_000)
    headers = {"Cache-Control": "max-age=600", "Content-Encoding": "gzip"}
    httpserver.expect_request("/bomb").respond_with_data(packed, content_type="text/html", headers=headers)
    url = httpserver.url_for("/bomb")
    assert caching_fetcher(cache).fetch(url).outcome is FetchOutcome.READ
    assert caching_fetcher(cache, max_bytes=100_000).fetch(url).outcome is FetchOutcome.TOO_LARGE
    assert len(httpserver.log) == 1


def test_a_body_that_breaks_off_or_never_ends_is_not_kept(serve: Serve, cache: PageCache, tmp_path: Path) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nCache-Control: max-age=600\r\n"

    def endless(to: socket.socket) -> None:
        to.sendall(head + b"\r\n")
        for _ in range(1000):
            to.sendall(b"x" * 65_536)

    assert caching_fetcher(cache).fetch(serve(endless)).outcome is FetchOutcome.TOO_LARGE
    with closing(sqlite3.connect(tmp_path / "pages" / "pages.sqlite")) as db:
        assert db.execute("SELECT count(*) FROM streams").fetchone() == (0,)
    long = head + b"Content-Length: 500\r\n\r\n"
    answers = iter([long + b"half", long + HTML.encode().ljust(500)])
    url = serve(lambda to: to.sendall(next(answers)))
    assert caching_fetcher(cache).fetch(url).outcome is FetchOutcome.UNREACHABLE
    assert HTML.encode() in caching_fetcher(cache).fetch(url).body


def test_the_file_stays_below_its_bound_and_what_is_longest_unused_goes_first(
    httpserver: HTTPServer, cache: PageCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = HeldTime(time.time())
    monkeypatch.setattr("hishel._core._storages._sync_sqlite.time", held)
    body = os.urandom(600_000).hex().encode()[:900_000]
    headers = {"Cache-Control": "max-age=600"}
    httpserver.expect_request("/first").respond_with_data(body, content_type="text/plain", headers=headers)
    httpserver.expect_request("/other").respond_with_data(body, content_type="text/plain", headers=headers)
    fetcher = caching_fetcher(cache)
    fetcher.fetch(httpserver.url_for("/first"))
    held.now += 1.1  # what was used within a second is never cleared away
    for number in range(12):
        fetcher.fetch(httpserver.url_for(f"/other?{number}"))
    size = sum(file.stat().st_size for file in (tmp_path / "pages").glob("pages.sqlite"))
    assert size < 5_000_000 + 2 * 1_000_000
    asked = len(httpserver.log)
    fetcher.fetch(httpserver.url_for("/first"))
    assert len(httpserver.log) == asked + 1


def _warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    told = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert all(record.exc_info is None for record in told)
    return [record.getMessage() for record in told]


@pytest.mark.parametrize("begin", [0, 200, 9_000])
def test_a_damaged_file_costs_the_cache_and_not_the_page(
    begin: int, httpserver: HTTPServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    seen = serve_page(httpserver, {"Cache-Control": "max-age=600"})
    path, asked = tmp_path / "pages.sqlite", 0
    for attempt in range(5):
        asked = len(seen)
        with closing(PageCache(path, 5, 1_000_000)) as cache:
            assert caching_fetcher(cache).fetch(httpserver.url_for("/page")).body == HTML.encode()
        if attempt == 0:
            path.write_bytes((data := path.read_bytes())[:begin] + os.urandom(len(data) - begin))
    assert _warnings(caplog)
    assert len(seen) == asked  # the new file keeps pages again


def test_a_place_that_cannot_be_written_is_named_once_and_a_file_of_another_kind_is_done_without_too(
    httpserver: HTTPServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    seen = serve_page(httpserver, {"Cache-Control": "max-age=600"})
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with closing(sqlite3.connect(tmp_path / "other.sqlite")) as db, db:
        db.execute("CREATE TABLE entries (note TEXT)")
    for number, path in enumerate((tmp_path / "file" / "pages.sqlite", tmp_path / "other.sqlite"), 1):
        with closing(PageCache(path, 5, 1_000_000)) as cache:
            for _ in range(2):
                assert caching_fetcher(cache).fetch(httpserver.url_for("/page")).outcome is FetchOutcome.READ
        assert len(seen) == 2 * number
        assert number > 1 or len(_warnings(caplog)) == 1


def test_threads_and_two_openers_of_one_file_get_the_same_page(httpserver: HTTPServer, tmp_path: Path) -> None:
    serve_page(httpserver, {"Cache-Control": "max-age=600"})
    caches = [PageCache(tmp_path / "pages.sqlite", 5, 1_000_000) for _ in range(2)]
    bodies: list[bytes] = []

    def work(number: int) -> None:
        fetcher = caching_fetcher(caches[number % 2])
        bodies.extend(fetcher.fetch(httpserver.url_for("/page")).body for _ in range(5))

    at_once(work, 6)
    for cache in caches:
        cache.close()
    assert bodies == [HTML.encode()] * 30
