"""The cache's file: bounded, shared between openers, and done without when it is damaged."""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from crowdnotes.domain import FetchOutcome
from crowdnotes.evidence.page_cache import PageCache
from tests.evidence.cached import HTML, caching_fetcher, serve_page


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[PageCache]:
    cache = PageCache(tmp_path / "pages" / "pages.sqlite", 5, 1_000_000)
    yield cache
    cache.close()


def test_the_file_stays_below_its_bound_and_what_is_longest_unused_goes_first(
    httpserver: HTTPServer, cache: PageCache, tmp_path: Path
) -> None:
    body = os.urandom(600_000).hex().encode()[:900_000]
    headers = {"Cache-Control": "max-age=600"}
    httpserver.expect_request("/first").respond_with_data(body, content_type="text/plain", headers=headers)
    httpserver.expect_request("/other").respond_with_data(body, content_type="text/plain", headers=headers)
    fetcher = caching_fetcher(cache)
    fetcher.fetch(httpserver.url_for("/first"))
    time.sleep(1.1)  # what was used within a second is never cleared away
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


def _spoil(path: Path, begin: int) -> None:
    data = bytearray(path.read_bytes())
    data[begin:] = os.urandom(len(data) - begin)
    path.write_bytes(data)


@pytest.mark.parametrize("begin", [0, 200, 9_000])
def test_a_damaged_file_costs_the_cache_and_not_the_page(
    begin: int, httpserver: HTTPServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    seen = serve_page(httpserver, {"Cache-Control": "max-age=600"})
    path = tmp_path / "pages.sqlite"
    for attempt in range(4):
        cache = PageCache(path, 5, 1_000_000)
        assert caching_fetcher(cache).fetch(httpserver.url_for("/page")).body == HTML.encode()
        cache.close()
        if attempt == 0:
            _spoil(path, begin)
    assert _warnings(caplog)
    before = len(seen)
    last = PageCache(path, 5, 1_000_000)
    caching_fetcher(last).fetch(httpserver.url_for("/page"))
    last.close()
    assert len(seen) == before  # the new file keeps pages again


def test_a_place_that_cannot_be_written_is_named_once_and_done_without(
    httpserver: HTTPServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    seen = serve_page(httpserver, {"Cache-Control": "max-age=600"})
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    cache = PageCache(tmp_path / "file" / "pages.sqlite", 5, 1_000_000)
    for _ in range(2):
        assert caching_fetcher(cache).fetch(httpserver.url_for("/page")).outcome is FetchOutcome.READ
    assert len(seen) == 2
    assert len(_warnings(caplog)) == 1


def test_a_file_of_another_kind_is_done_without(httpserver: HTTPServer, tmp_path: Path) -> None:
    seen = serve_page(httpserver, {"Cache-Control": "max-age=600"})
    path = tmp_path / "pages.sqlite"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE entries (note TEXT)")
    db.close()
    cache = PageCache(path, 5, 1_000_000)
    for _ in range(2):
        assert caching_fetcher(cache).fetch(httpserver.url_for("/page")).outcome is FetchOutcome.READ
    cache.close()
    assert len(seen) == 2


def test_threads_and_two_openers_of_one_file_get_the_same_page(httpserver: HTTPServer, tmp_path: Path) -> None:
    serve_page(httpserver, {"Cache-Control": "max-age=600"})
    caches = [PageCache(tmp_path / "pages.sqlite", 5, 1_000_000) for _ in range(2)]
    bodies: list[bytes] = []

    def work(cache: PageCache) -> None:
        bodies.extend(caching_fetcher(cache).fetch(httpserver.url_for("/page")).body for _ in range(5))

    threads = [threading.Thread(target=work, args=(caches[number % 2],)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for cache in caches:
        cache.close()
    assert bodies == [HTML.encode()] * 30
