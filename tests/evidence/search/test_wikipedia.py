"""Wikipedia in the post's language, and as it stood at the cutoff."""

from __future__ import annotations

from datetime import date

import pytest
from pytest_httpserver import HTTPServer

from crowdnotes.domain import ProviderState
from crowdnotes.errors import SearchError
from crowdnotes.evidence.fetching import no_check
from crowdnotes.evidence.search.service import Service
from crowdnotes.evidence.search.wikipedia import Wikipedia, opening
from tests.evidence.search.conftest import MakeService

_FOUND = {
    "batchcomplete": True,
    "query": {
        "searchinfo": {"totalhits": 2},
        "search": [
            {
                "ns": 0, "title": "MMR vaccine", "pageid": 1, "timestamp": "2026-01-02T03:04:05Z",
                "snippet": '<span class="searchmatch">MMR</span> is a vaccine &amp; safe',
            },
        ],
    },
}  # fmt: skip


def test_an_article_becomes_a_hit_of_the_posts_edition(httpserver: HTTPServer, make_service: MakeService) -> None:
    httpserver.expect_request("/de/api.php").respond_with_json(_FOUND)
    service = make_service(base_url=httpserver.url_for("/{language}").replace("%7B", "{").replace("%7D", "}"))
    (hit,) = Wikipedia(service).search("mmr vaccine", limit=5, until=None, language="de", check=no_check)
    assert (hit.url, hit.published) == ("https://de.wikipedia.org/wiki/MMR_vaccine", date(2026, 1, 2))
    assert hit.snippet == "MMR is a vaccine & safe"
    asked = httpserver.log[0][0].args
    assert (asked["list"], asked["srsearch"], asked["srlimit"], asked["formatversion"]) == (
        "search", "mmr vaccine", "5", "2"
    )  # fmt: skip


def test_a_language_that_is_no_code_never_reaches_the_address(httpserver: HTTPServer, service: Service) -> None:
    httpserver.expect_request("/api.php").respond_with_json(_FOUND)
    (hit,) = Wikipedia(service).search("mmr", limit=5, until=None, language="evil.org/", check=no_check)
    assert hit.url == "https://en.wikipedia.org/wiki/MMR_vaccine"


_WIKITEXT = "{{Infobox|a={{b}}}}'''MMR''' is a [[vaccine|shot]].<ref>x</ref>\n== History ==\nLater"


def test_with_a_cutoff_the_revision_of_that_day_is_the_hit(httpserver: HTTPServer, service: Service) -> None:
    revision = {
        "revid": 77, "timestamp": "2019-05-06T07:08:09Z",
        "slots": {"main": {"content": _WIKITEXT}},
    }  # fmt: skip
    httpserver.expect_request("/api.php", query_string={
        "action": "query", "format": "json", "formatversion": "2", "prop": "revisions", "titles": "MMR vaccine",
        "rvprop": "ids|timestamp|content", "rvslots": "main", "rvlimit": "1", "rvdir": "older",
        "rvstart": "2020-01-31T23:59:59Z",
    }).respond_with_json({"query": {"pages": [{"pageid": 1, "revisions": [revision]}]}})  # fmt: skip
    httpserver.expect_request("/api.php").respond_with_json(_FOUND)
    (hit,) = Wikipedia(service).search("mmr", limit=5, until=date(2020, 1, 31), language=None, check=no_check)
    assert hit.url == "https://en.wikipedia.org/w/index.php?title=MMR%20vaccine&oldid=77"
    assert (hit.snippet, hit.published) == ("MMR is a shot.", date(2019, 5, 6))


def test_an_article_younger_than_the_cutoff_is_left_out(httpserver: HTTPServer, service: Service) -> None:
    httpserver.expect_ordered_request("/api.php").respond_with_json(_FOUND)
    httpserver.expect_ordered_request("/api.php").respond_with_json({"query": {"pages": [{"pageid": 1, "title": "x"}]}})
    assert Wikipedia(service).search("mmr", limit=5, until=date(2003, 1, 1), language=None, check=no_check) == []


@pytest.mark.parametrize(
    ("code", "state"),
    [("ratelimited", ProviderState.RATE_LIMITED), ("internal_api_error", ProviderState.FAILED)],
)
def test_an_error_inside_a_good_answer_is_seen(
    httpserver: HTTPServer, service: Service, code: str, state: ProviderState
) -> None:
    httpserver.expect_request("/api.php").respond_with_json({"error": {"code": code, "info": "…"}})
    with pytest.raises(SearchError) as raised:
        Wikipedia(service).search("mmr", limit=5, until=None, language=None, check=no_check)
    assert raised.value.state is state


@pytest.mark.parametrize(
    ("wikitext", "words"),
    [
        ("{{a|{{b}}|c}}Text", "Text"),
        ("{|\n! head\n|}\nText", "Text"),
        ("[[File:x.jpg|thumb|A [[link]]]]\n'''Zinc''' [https://a.org is] [[metal]]", "Zinc is metal"),
        ("{{never closed", ""),
        ("}} Text", "Text"),
    ],
)
def test_the_opening_is_words_without_markup(wikitext: str, words: str) -> None:
    assert opening(wikitext) == words
