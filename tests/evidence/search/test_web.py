"""The web search providers: Brave, Tavily and a SearXNG server of one's own."""

from __future__ import annotations

from datetime import date

import pytest
from pytest_httpserver import HTTPServer

from crowdnotes.errors import SearchError
from crowdnotes.evidence.fetching import no_check
from crowdnotes.evidence.search.brave import Brave
from crowdnotes.evidence.search.searxng import SearXng
from crowdnotes.evidence.search.service import Service
from crowdnotes.evidence.search.tavily import Tavily
from tests.evidence.search.conftest import MakeService

_UNTIL = date(2025, 6, 30)


def test_brave_is_asked_within_the_cutoff_and_its_markup_goes(
    httpserver: HTTPServer, make_service: MakeService
) -> None:
    result = {
        "title": "Is <strong>chalk</strong> safe?", "url": "https://a.org/chalk?utm_source=b", "age": "May 1, 2024",
        "description": "It&#x27;s <strong>harmless</strong>.", "page_age": "2024-05-01T12:00:00",
        "extra_snippets": ["Calcium."],
    }  # fmt: skip
    httpserver.expect_request("/web/search", headers={"X-Subscription-Token": "k"}).respond_with_json(
        {"type": "search", "web": {"type": "search", "results": [result]}}
    )
    provider = Brave(make_service(headers={"X-Subscription-Token": "k"}))
    (hit,) = provider.search("!g chalk", limit=50, until=_UNTIL, language="de", check=no_check)
    assert (hit.title, hit.snippet, hit.published) == ("Is chalk safe?", "It's harmless. Calcium.", date(2024, 5, 1))
    asked = httpserver.log[0][0].args
    assert (asked["q"], asked["count"], asked["freshness"]) == ("g chalk", "20", "1990-01-01to2025-06-30")


def test_brave_without_results_is_no_error(httpserver: HTTPServer, service: Service) -> None:
    httpserver.expect_request("/web/search").respond_with_json({"type": "search", "query": {}})
    assert Brave(service).search("x", limit=5, until=None, language=None, check=no_check) == []


def test_tavily_is_asked_within_the_cutoff(httpserver: HTTPServer, make_service: MakeService) -> None:
    results = [
        {"title": "Chalk", "url": "https://a.org/chalk", "content": "Harmless.", "score": 0.9},
        {"title": "News", "url": "https://n.org/", "content": "x", "published_date": "Tue, 06 May 2025 10:00:00 GMT"},
        {"title": "Inside", "url": "http://169.254.169.254/latest", "content": "x"},
    ]
    httpserver.expect_request(
        "/search",
        method="POST",
        headers={"Authorization": "Bearer k"},
        json={"query": "chalk", "search_depth": "basic", "max_results": 5, "end_date": "2025-06-30"},
    ).respond_with_json({"query": "chalk", "results": results})
    provider = Tavily(make_service(headers={"Authorization": "Bearer k"}))
    hits = provider.search("chalk", limit=5, until=_UNTIL, language=None, check=no_check)
    assert [(hit.title, hit.published) for hit in hits] == [("Chalk", None), ("News", date(2025, 5, 6))]


def test_searxng_keeps_the_cutoff_by_date_and_shows_the_undated(httpserver: HTTPServer, service: Service) -> None:
    results = [
        {"title": "Old", "url": "https://a.org/1", "content": "x", "publishedDate": "2024-01-01T00:00:00"},
        {"title": "New", "url": "https://a.org/2", "content": "x", "publishedDate": "2026-01-01T00:00:00"},
        {"title": "Undated", "url": "https://a.org/3", "content": "x", "publishedDate": None},
    ]
    httpserver.expect_request("/search").respond_with_json({"query": "x", "results": results})
    hits = SearXng(service).search("x", limit=5, until=_UNTIL, language="de", check=no_check)
    assert [hit.title for hit in hits] == ["Old", "Undated"]
    assert dict(httpserver.log[0][0].args) == {"q": "x", "format": "json", "language": "de"}


def test_a_searxng_without_json_is_told_what_to_change(httpserver: HTTPServer, service: Service) -> None:
    httpserver.expect_request("/search").respond_with_data("Forbidden", status=403)
    with pytest.raises(SearchError) as raised:
        SearXng(service).search("x", limit=5, until=None, language=None, check=no_check)
    assert "search.formats" in str(raised.value)
