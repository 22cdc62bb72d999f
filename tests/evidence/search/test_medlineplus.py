"""MedlinePlus topics become undated hits in plain words."""

from __future__ import annotations

from datetime import date

from pytest_httpserver import HTTPServer

from crowdnotes.evidence.fetching import no_check
from crowdnotes.evidence.search.medlineplus import MedlinePlus
from crowdnotes.evidence.search.service import Service

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
    (hit,) = MedlinePlus(service).search("measles", limit=5, until=date(2020, 1, 1), language="en", check=no_check)
    assert (hit.title, hit.url, hit.published) == ("Measles", "https://medlineplus.gov/measles.html", None)
    assert hit.snippet == "Measles is an infectious disease. Fever"
    assert httpserver.log[0][0].args["db"] == "healthTopics"


def test_spanish_posts_get_the_spanish_topics(httpserver: HTTPServer, service: Service) -> None:
    httpserver.expect_request("/query").respond_with_data(_TOPIC)
    MedlinePlus(service).search("sarampión", limit=5, until=None, language="es", check=no_check)
    assert httpserver.log[0][0].args["db"] == "healthTopicsSpanish"


def test_what_it_does_not_speak_is_not_asked(httpserver: HTTPServer, service: Service) -> None:
    assert MedlinePlus(service).search("rougeole", limit=5, until=None, language="fr", check=no_check) == []
    assert httpserver.log == []


def test_a_query_without_a_topic_is_loosened_once(httpserver: HTTPServer, service: Service) -> None:
    httpserver.expect_request("/query").respond_with_data(_NONE)
    assert MedlinePlus(service).search("chalk water", limit=5, until=None, language=None, check=no_check) == []
    assert [request.args["term"] for request, _ in httpserver.log] == ["chalk water", "chalk OR water"]


def test_an_entity_bomb_is_not_expanded(httpserver: HTTPServer, service: Service) -> None:
    bomb = '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>' + _TOPIC.partition("?>")[
        2
    ].replace("cut …", "&b;").replace("FullSummary", "other")
    httpserver.expect_request("/query").respond_with_data(bomb)
    (hit,) = MedlinePlus(service).search("measles", limit=5, until=None, language=None, check=no_check)
    assert "aaaa" not in hit.snippet
