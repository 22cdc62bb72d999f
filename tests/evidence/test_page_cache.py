"""What is kept, for how long, and what becomes of a file that is damaged, full or shared."""

from __future__ import annotations

import gzip
import socket
import sqlite3
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_httpserver import HTTPServer

from crowdnotes.domain import FetchOutcome
from crowdnotes.evidence.fetching import Fetcher
from crowdnotes.evidence.page_cache import PageCache
from crowdnotes.settings import FetchSettings
from tests.evidence.cached import HOST, HTML, caching_fetcher, serve_page
from tests.evidence.conftest import Serve


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[PageCache]:
    cache = PageCache(tmp_path / "pages" / "pages.sqlite", 5, 1_000_000)
    yield cache
    cache.close()


def _http_date(ago: timedelta) -> str:
    return format_datetime(datetime.now(UTC) - ago, usegmt=True)


@pytest.mark.parametrize(
    "headers",
    [
        {"Cache-Control": "max-age=600"},
        {"Cache-Control": "public, s-maxage=600"},
        {"Expires": _http_date(timedelta(hours=-2))},
        {"Last-Modified": _http_date(timedelta(days=100))},
    ],
    ids=["max-age", "s-maxage", "Expires", "heuristic"],
)
def test_a_fresh_page_is_not_asked_for_again(headers: dict[str, str], httpserver: HTTPServer, cache: PageCache) -> None:
    seen = serve_page(httpserver, headers)
    first, second = (caching_fetcher(cache).fetch(httpserver.url_for("/page")) for _ in range(2))
    assert len(seen) == 1
    assert (second.outcome, second.body, second.content_type) == (FetchOutcome.READ, HTML.encode(), "text/html")
    assert (second.charset, second.status) == (first.charset, first.status)
    assert abs(second.fetched_at - first.fetched_at) < timedelta(seconds=5)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Cache-Control": "no-store"},
        {"Cache-Control": "private, max-age=600"},
        {"Cache-Control": "max-age=0"},
        {"Cache-Control": "max-age=600", "Vary": "*"},
        {"Expires": "0"},
    ],
    ids=["nothing", "no-store", "private", "max-age=0", "Vary: *", "Expires: 0"],
)
def test_a_page_that_may_not_be_reused_is_asked_for_again(
    headers: dict[str, str], httpserver: HTTPServer, cache: PageCache
) -> None:
    seen = serve_page(httpserver, headers)
    for _ in range(2):
        assert caching_fetcher(cache).fetch(httpserver.url_for("/page")).outcome is FetchOutcome.READ
    assert len(seen) == 2


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


def test_a_stale_page_is_confirmed_by_its_tag_and_not_sent_again(httpserver: HTTPServer, cache: PageCache) -> None:
    seen = serve_page(httpserver, {"Cache-Control": "no-cache", "ETag": '"v1"'})
    pages = [caching_fetcher(cache).fetch(httpserver.url_for("/page")) for _ in range(2)]
    assert [request.headers.get("If-None-Match") for request in seen] == [None, '"v1"']
    assert [page.body for page in pages] == [HTML.encode()] * 2


def test_a_page_that_varies_by_what_we_send_is_kept(httpserver: HTTPServer, cache: PageCache) -> None:
    seen = serve_page(httpserver, {"Cache-Control": "max-age=600", "Vary": "Accept-Encoding, User-Agent"})
    for _ in range(2):
        caching_fetcher(cache).fetch(httpserver.url_for("/page"))
    other = Fetcher(FetchSettings(user_agent="Another reader/2"), HOST, cache)
    other.fetch(httpserver.url_for("/page"))
    assert len(seen) == 2


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


def test_a_body_that_breaks_off_is_not_kept(serve: Serve, cache: PageCache) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nCache-Control: max-age=600\r\nContent-Length: 500\r\n\r\n"
    answers = iter([head + b"half", head + HTML.encode().ljust(500)])
    url = serve(lambda to: to.sendall(next(answers)))
    assert caching_fetcher(cache).fetch(url).outcome is FetchOutcome.UNREACHABLE
    assert HTML.encode() in caching_fetcher(cache).fetch(url).body


def test_an_endless_body_is_left_at_the_cap_and_not_kept(serve: Serve, cache: PageCache, tmp_path: Path) -> None:
    def endless(to: socket.socket) -> None:
        to.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nCache-Control: max-age=600\r\n\r\n")
        for _ in range(1000):
            to.sendall(b"x" * 65_536)

    assert caching_fetcher(cache).fetch(serve(endless)).outcome is FetchOutcome.TOO_LARGE
    with sqlite3.connect(tmp_path / "pages" / "pages.sqlite") as db:
        assert db.execute("SELECT count(*) FROM streams").fetchone() == (0,)
    db.close()


_DIRECTIVES = st.lists(
    st.sampled_from(
        ["no-store", "no-cache", "private", "public", "must-revalidate", "max-age=600", "max-age=0", "s-maxage=600"]
    ),
    max_size=4,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(directives=_DIRECTIVES, text=st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), max_size=30))
def test_any_cache_control_gives_the_page_and_no_store_is_always_obeyed(
    directives: list[str], text: str, httpserver: HTTPServer, cache: PageCache
) -> None:
    httpserver.clear()
    seen = serve_page(httpserver, {"Cache-Control": ", ".join([*directives, text.strip()])})
    url = httpserver.url_for(f"/page?{time.monotonic_ns()}")
    for _ in range(2):
        assert caching_fetcher(cache).fetch(url).body == HTML.encode()
    forbidden = {"no-store", "private", "no-cache"} & set(directives)
    assert len(seen) == 2 or not forbidden
