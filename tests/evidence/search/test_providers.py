"""The web, fact-checks, MedlinePlus, Wikipedia and the local library as providers."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from crowdnotes.domain import ProviderState
from crowdnotes.errors import SearchError
from crowdnotes.evidence.fetching import no_check
from crowdnotes.evidence.library import Libraries
from crowdnotes.evidence.search.google_fact_check import GoogleFactCheck
from crowdnotes.evidence.search.local_library import LocalLibrary
from crowdnotes.evidence.search.medlineplus import MedlinePlus
from crowdnotes.evidence.search.news import CurrentEvents
from crowdnotes.evidence.search.provider import OnlineProvider
from crowdnotes.evidence.search.run import search_all
from crowdnotes.evidence.search.service import COURTEOUS, Pacer, Service
from crowdnotes.evidence.search.web import Brave, SearXng, Tavily
from crowdnotes.evidence.search.wikimedia import Wikipedia, opening
from crowdnotes.settings_sections import SearchSettings
from tests.evidence.search.conftest import MakeService, ask
from tests.fakes import HashingEmbedder

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
    (hit,) = ask(provider, "!g chalk", limit=50, until=_UNTIL, language="de")
    assert (hit.title, hit.snippet, hit.published) == ("Is chalk safe?", "It's harmless. Calcium.", date(2024, 5, 1))
    asked = httpserver.log[0][0].args
    assert (asked["q"], asked["count"], asked["freshness"]) == ("g chalk", "20", "1990-01-01to2025-06-30")


@pytest.mark.parametrize(
    ("make", "path", "answer"),
    [(Brave, "/web/search", {"type": "search", "query": {}}), (GoogleFactCheck, "/claims:search", {})],
)
def test_an_answer_without_results_is_no_error(
    make: type[OnlineProvider], path: str, answer: dict[str, object], httpserver: HTTPServer, service: Service
) -> None:
    httpserver.expect_request(path).respond_with_json(answer)
    assert ask(make(service), "x") == []


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
        json={
            "query": "chalk",
            "search_depth": "basic",
            "max_results": 5,
            "exclude_domains": ["bad.org"],
            "end_date": "2025-06-30",
        },
    ).respond_with_json({"query": "chalk", "results": results})
    provider = Tavily(make_service(headers={"Authorization": "Bearer k"}), leave_out=("bad.org",))
    hits = ask(provider, "chalk", until=_UNTIL)
    assert [(hit.title, hit.published) for hit in hits] == [("Chalk", None), ("News", date(2025, 5, 6))]


def test_tavily_without_a_key_says_so_in_a_header_and_once_refused_is_left_alone(httpserver: HTTPServer) -> None:
    keyless = {"X-Tavily-Access-Mode": "keyless"}
    httpserver.expect_oneshot_request("/search", method="POST", headers=keyless).respond_with_json(
        {"results": [{"title": "Chalk", "url": "https://a.org/chalk", "content": "Harmless.", "score": 0.9}]}
    )
    httpserver.expect_request("/search").respond_with_json({"error": "too many"}, status=429)
    provider = Tavily.make(SearchSettings.model_validate({"tavily_url": httpserver.url_for("")}))
    assert provider.needs is None
    assert [hit.title for hit in ask(provider, "chalk")] == ["Chalk"]
    assert "Authorization" not in httpserver.log[0][0].headers
    for _ in range(3):
        with pytest.raises(SearchError, match="CROWDNOTES_SEARCH_TAVILY_KEY") as raised:
            ask(provider, "chalk")
        assert raised.value.state is ProviderState.RATE_LIMITED
    assert len(httpserver.log) == 2


def test_searxng_keeps_the_cutoff_by_date_and_shows_the_undated(httpserver: HTTPServer, service: Service) -> None:
    results = [
        {"title": "Old", "url": "https://a.org/1", "content": "x", "publishedDate": "2024-01-01T00:00:00"},
        {"title": "New", "url": "https://a.org/2", "content": "x", "publishedDate": "2026-01-01T00:00:00"},
        {"title": "Undated", "url": "https://a.org/3", "content": "x", "publishedDate": None},
    ]
    httpserver.expect_request("/search").respond_with_json({"query": "x", "results": results})
    hits = ask(SearXng(service), "x", until=_UNTIL, language="de")
    assert [hit.title for hit in hits] == ["Old", "Undated"]
    assert dict(httpserver.log[0][0].args) == {"q": "x", "format": "json", "language": "de"}


@pytest.mark.parametrize(("status", "body"), [(403, "Forbidden"), (200, "<!DOCTYPE html><html>3 results</html>")])
def test_a_searxng_without_json_is_told_what_to_change(
    httpserver: HTTPServer, service: Service, status: int, body: str
) -> None:
    httpserver.expect_request("/search").respond_with_data(body, status=status)
    with pytest.raises(SearchError) as raised:
        ask(SearXng(service), "x")
    assert "search.formats" in str(raised.value)


@pytest.mark.parametrize(
    "silent",
    [
        [["brave", "Suspended: too many requests"], ["duckduckgo", "CAPTCHA"]],
        [["brave", "timeout"]],
        ["brave"],
        [["brave", None]],
    ],
)
def test_a_searxng_whose_engines_did_not_answer_has_failed(
    httpserver: HTTPServer, service: Service, silent: list[Any]
) -> None:
    httpserver.expect_request("/search").respond_with_json({"results": [], "unresponsive_engines": silent})
    with pytest.raises(SearchError, match="brave") as raised:
        ask(SearXng(service), "x")
    assert raised.value.state is ProviderState.FAILED
    httpserver.clear()
    page = {"title": "There", "url": "https://a.org/1", "content": "x"}
    httpserver.expect_request("/search").respond_with_json({"results": [page], "unresponsive_engines": silent})
    assert [hit.title for hit in ask(SearXng(service), "x")] == ["There"]
    httpserver.clear()
    httpserver.expect_request("/search").respond_with_json({"results": [], "unresponsive_engines": []})
    assert ask(SearXng(service), "x") == []


def _review(day: str) -> dict[str, Any]:
    return {
        "publisher": {"name": "Full Fact", "site": "fullfact.org"}, "url": f"https://fullfact.org/{day or 'x'}",
        "title": "MMR does not cause autism", "reviewDate": day, "textualRating": "False", "languageCode": "en",
    }  # fmt: skip


def test_a_review_becomes_a_hit_and_the_key_stays_out_of_the_address(
    httpserver: HTTPServer, make_service: MakeService
) -> None:
    claim = {"text": "MMR causes autism", "claimant": "A post", "claimReview": [_review("2024-05-06T00:00:00Z")]}
    httpserver.expect_request("/claims:search", headers={"X-Goog-Api-Key": "k"}).respond_with_json({"claims": [claim]})
    provider = GoogleFactCheck(make_service(headers={"X-Goog-Api-Key": "k"}))
    (hit,) = ask(provider, "MMR autism", language="de")
    assert hit.snippet == "The claim “MMR causes autism”, said by A post. Full Fact rates it: False."
    assert (hit.title, hit.published, hit.rating) == ("MMR does not cause autism", date(2024, 5, 6), "False")
    assert dict(httpserver.log[0][0].args) == {"query": "MMR autism", "pageSize": "5"}


def test_reviews_after_the_cutoff_are_left_out_and_undated_ones_stay(
    httpserver: HTTPServer, make_service: MakeService
) -> None:
    reviews = [_review("2024-05-06T00:00:00Z"), _review("2026-01-01T00:00:00Z"), _review("")]
    httpserver.expect_request("/claims:search").respond_with_json({"claims": [{"text": "x", "claimReview": reviews}]})
    provider = GoogleFactCheck(make_service())
    hits = ask(provider, "x", until=date(2025, 1, 1))
    assert [hit.published for hit in hits] == [date(2024, 5, 6), None]


_TOPIC = """<?xml version="1.0" encoding="UTF-8"?><nlmSearchResult><term>measles</term><count>1</count>
<list num="1" start="0" per="5"><document rank="0" url="https://medlineplus.gov/measles.html">
<content name="title">&lt;span class="qt0"&gt;Measles&lt;/span&gt;</content>
<content name="organizationName">National Library of Medicine</content>
<content name="FullSummary">&lt;p&gt;Measles is an infectious disease.&lt;/p&gt;
&lt;ul&gt;&lt;li&gt;Fever&lt;/li&gt;&lt;/ul&gt;</content>
<content name="snippet">cut …</content></document></list></nlmSearchResult>"""
_NONE = '<nlmSearchResult><count>0</count><list num="0" start="0" per="5"/></nlmSearchResult>'


def test_a_topic_becomes_an_undated_hit(httpserver: HTTPServer, service: Service) -> None:
    httpserver.expect_request("/query").respond_with_data(_TOPIC, content_type="text/xml")
    (hit,) = ask(MedlinePlus(service), "measles", until=date(2020, 1, 1), language="en")
    assert (hit.title, hit.url, hit.published) == ("Measles", "https://medlineplus.gov/measles.html", None)
    assert hit.snippet == "Measles is an infectious disease. Fever"
    assert httpserver.log[0][0].args["db"] == "healthTopics"


def test_spanish_posts_get_the_spanish_topics_and_other_languages_none(
    httpserver: HTTPServer, service: Service
) -> None:
    httpserver.expect_request("/query").respond_with_data(_TOPIC)
    ask(MedlinePlus(service), "sarampión", language="es")
    with pytest.raises(SearchError, match="no articles in the language"):
        ask(MedlinePlus(service), "rougeole", language="fr")
    assert [request.args["db"] for request, _ in httpserver.log] == ["healthTopicsSpanish"]


def test_an_entity_bomb_is_not_expanded(httpserver: HTTPServer, service: Service) -> None:
    entities = '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>'
    topic = _TOPIC.partition("?>")[2].replace("cut …", "&b;").replace("FullSummary", "other")
    httpserver.expect_request("/query").respond_with_data(entities + topic)
    (hit,) = ask(MedlinePlus(service), "measles")
    assert "aaaa" not in hit.snippet


_TABLE = """title,text,url,date
Fluoride,Fluoride in drinking water prevents tooth decay in children.,https://a.org/1,2020-01-01
Chalk,The water holds no chalk but dissolved calcium.,https://a.org/2,2026-01-01
"""


@pytest.fixture
def libraries(tmp_path: Path) -> Libraries:
    (tmp_path / "t.csv").write_text(_TABLE, encoding="utf-8")
    found = Libraries(tmp_path / "libraries", HashingEmbedder())
    found.add(tmp_path / "t.csv", "town")
    return found


def test_hits_of_a_library_name_it_and_their_record_and_keep_to_the_cutoff(libraries: Libraries) -> None:
    provider = LocalLibrary(libraries, "town")
    hits = provider.search_together(["chalk water", "fluoride"], post="chalk!", limit=5, until=None, check=no_check)
    assert {(hit.provider, hit.record) for hit in hits} == {("library:town", 0), ("library:town", 1)}
    assert [hit.title for hit in ask(provider, "water", until=date(2021, 1, 1))] == ["Fluoride"]


def test_every_query_is_sent_to_a_library_and_each_may_bring_its_hits(libraries: Libraries) -> None:
    asked = [*("fluoride", "fluoride and teeth", "fluoride for children", "is fluoride safe"), "calcium"]
    found = search_all([LocalLibrary(libraries, "town")], asked, limit=1)
    assert {hit.title for hit in found.hits} == {"Fluoride", "Chalk"}


def test_a_library_that_is_gone_is_a_failed_provider(libraries: Libraries) -> None:
    with pytest.raises(SearchError) as raised:
        ask(LocalLibrary(libraries, "none"), "x")
    assert raised.value.state is ProviderState.FAILED


_ARTICLE = {
    "ns": 0, "title": "MMR vaccine", "pageid": 1, "timestamp": "2026-01-02T03:04:05Z",
    "snippet": '<span class="searchmatch">MMR</span> is a vaccine &amp; safe',
}  # fmt: skip
_FOUND = {"batchcomplete": True, "query": {"searchinfo": {"totalhits": 2}, "search": [_ARTICLE]}}


def test_an_article_becomes_a_hit_of_the_posts_edition(httpserver: HTTPServer, make_service: MakeService) -> None:
    httpserver.expect_request("/de/api.php").respond_with_json(_FOUND)
    service = make_service(base_url=httpserver.url_for("/{language}").replace("%7B", "{").replace("%7D", "}"))
    (hit,) = ask(Wikipedia(service), "mmr vaccine", language="de")
    assert (hit.url, hit.published) == ("https://de.wikipedia.org/wiki/MMR_vaccine", date(2026, 1, 2))
    assert hit.snippet == "MMR is a vaccine & safe"
    asked = dict(httpserver.log[0][0].args)
    assert asked.items() >= {"list": "search", "srsearch": "mmr vaccine", "srlimit": "5", "formatversion": "2"}.items()


def test_a_language_that_is_no_code_never_reaches_the_address(httpserver: HTTPServer, service: Service) -> None:
    httpserver.expect_request("/api.php").respond_with_json(_FOUND)
    (hit,) = ask(Wikipedia(service), "mmr", language="evil.org/")
    assert hit.url == "https://en.wikipedia.org/wiki/MMR_vaccine"


_WIKITEXT = "{{Infobox|a={{b}}}}'''MMR''' is a [[vaccine|shot]].<ref>x</ref>\n== History ==\nLater"


def test_with_a_cutoff_the_revision_of_that_day_is_the_hit(httpserver: HTTPServer, service: Service) -> None:
    revision = {"revid": 77, "timestamp": "2019-05-06T07:08:09Z", "slots": {"main": {"content": _WIKITEXT}}}
    httpserver.expect_request("/api.php", query_string={
        "action": "query", "format": "json", "formatversion": "2", "prop": "revisions", "titles": "MMR vaccine",
        "rvprop": "ids|timestamp|content", "rvslots": "main", "rvlimit": "1", "rvdir": "older",
        "rvstart": "2020-01-31T23:59:59Z",
    }).respond_with_json({"query": {"pages": [{"pageid": 1, "revisions": [revision]}]}})  # fmt: skip
    httpserver.expect_request("/api.php").respond_with_json(_FOUND)
    (hit,) = ask(Wikipedia(service), "mmr", until=date(2020, 1, 31))
    assert hit.url == "https://en.wikipedia.org/w/index.php?title=MMR%20vaccine&oldid=77"
    assert (hit.snippet, hit.published) == ("MMR is a shot.", date(2019, 5, 6))


def test_an_article_younger_than_the_cutoff_is_left_out(httpserver: HTTPServer, service: Service) -> None:
    httpserver.expect_ordered_request("/api.php").respond_with_json(_FOUND)
    httpserver.expect_ordered_request("/api.php").respond_with_json({"query": {"pages": [{"pageid": 1, "title": "x"}]}})
    assert ask(Wikipedia(service), "mmr", until=date(2003, 1, 1)) == []


def test_no_search_of_wikipedia_is_longer_than_it_takes(httpserver: HTTPServer, service: Service) -> None:
    httpserver.expect_request("/api.php").respond_with_json({"query": {"search": [], "pages": []}})
    words = [f"{chr(97 + number)}{'ü' * 30}{chr(110 + number)}" for number in range(12)]
    for query in (" ".join(words), f'"{" ".join(words)}" tea', " ".join(words).replace("ü", "x" * 12)):
        ask(Wikipedia(service), query)
        ask(CurrentEvents(service), query)
    asked = [request.args["srsearch"] for request, _ in httpserver.log if "srsearch" in request.args]
    assert 250 < max(map(len, asked)) <= 300
    assert all(not search.endswith(("OR", " ")) for search in asked)


def test_what_wikipedia_says_of_a_search_that_it_refuses_is_told(httpserver: HTTPServer, service: Service) -> None:
    info = "Search request is longer than the maximum allowed length. (399 > 300)"
    httpserver.expect_request("/api.php").respond_with_json({"error": {"code": "srsearch-text-disabled", "info": info}})
    with pytest.raises(SearchError, match="longer than the maximum"):
        ask(Wikipedia(service), "mmr")


@pytest.mark.parametrize("contact", [None, "ann@example.org"])
def test_wikipedia_that_is_asked_too_often_names_the_setting_that_helps(
    httpserver: HTTPServer, contact: str | None
) -> None:
    httpserver.expect_request("/api.php").respond_with_data("Too many", status=429, headers={"Retry-After": "25"})
    given = {"wikipedia_url": httpserver.url_for(""), "contact_email": contact}
    provider = Wikipedia.make(SearchSettings.model_validate(given))
    alone = replace(provider, service=replace(provider.service, pacer=Pacer(COURTEOUS)))
    with pytest.raises(SearchError) as raised:
        ask(alone, "mmr")
    assert ("CROWDNOTES_SEARCH_CONTACT_EMAIL" in str(raised.value)) is (contact is None)
    assert "https://" in httpserver.log[0][0].headers["User-Agent"]


@pytest.mark.parametrize(
    ("code", "state"),
    [("ratelimited", ProviderState.RATE_LIMITED), ("internal_api_error", ProviderState.FAILED)],
)
def test_an_error_inside_a_good_answer_is_seen(
    httpserver: HTTPServer, service: Service, code: str, state: ProviderState
) -> None:
    httpserver.expect_request("/api.php").respond_with_json({"error": {"code": code, "info": "…"}})
    with pytest.raises(SearchError) as raised:
        ask(Wikipedia(service), "mmr")
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
