"""Europe PMC's answers become hits with dates, marks and links that can be read."""

from __future__ import annotations

from datetime import date
from typing import Any

from pytest_httpserver import HTTPServer

from crowdnotes.evidence.fetching import no_check
from crowdnotes.evidence.search.europe_pmc import EuropePmc
from crowdnotes.evidence.search.service import Service

_PAPER = {
    "id": "1", "source": "MED", "pmid": "30831578", "pmcid": "PMC1", "doi": "10.7326/M18-2101",
    "title": "Measles, Mumps, Rubella Vaccination and <i>Autism</i>.",
    "abstractText": "<h4>Background</h4>The hypothesised link.",
    "firstPublicationDate": "2019-03-05",
    "pubTypeList": {"pubType": ["Journal Article"]},
}  # fmt: skip


def _answer(*records: Any) -> dict[str, Any]:
    return {"version": "6.9", "hitCount": len(records), "resultList": {"result": list(records)}}


def test_a_paper_becomes_a_hit(httpserver: HTTPServer, service: Service) -> None:
    httpserver.expect_request("/search").respond_with_json(_answer(_PAPER))
    (hit,) = EuropePmc(service).search("MMR autism", limit=5, until=None, language=None, check=no_check)
    assert (hit.provider, hit.url) == ("europe-pmc", "https://pubmed.ncbi.nlm.nih.gov/30831578/")
    assert hit.title == "Measles, Mumps, Rubella Vaccination and Autism."
    assert hit.snippet == "Background The hypothesised link."
    assert (hit.published, hit.doi, hit.notices) == (date(2019, 3, 5), "10.7326/m18-2101", ())


def test_the_cutoff_is_put_to_the_service(httpserver: HTTPServer, service: Service) -> None:
    httpserver.expect_request("/search").respond_with_json(_answer(_PAPER))
    EuropePmc(service).search("MMR autism", limit=5, until=date(2025, 6, 30), language=None, check=no_check)
    asked = httpserver.log[0][0].args
    assert asked["query"] == (
        "(mmr autism) AND (SRC:MED OR SRC:PMC OR SRC:PPR) AND FIRST_PDATE:[1800-01-01 TO 2025-06-30]"
    )
    assert (asked["format"], asked["resultType"], asked["pageSize"]) == ("json", "core", "5")


def test_preprints_and_retractions_are_marked(httpserver: HTTPServer, service: Service) -> None:
    preprint = {"id": "P", "source": "PPR", "doi": "10.1101/2020.1", "title": "A preprint"}
    retracted = _PAPER | {"commentCorrectionList": {"commentCorrection": [{"type": "Retraction in", "id": "9"}]}}
    httpserver.expect_request("/search").respond_with_json(_answer(preprint, retracted))
    first, second = EuropePmc(service).search("x", limit=5, until=None, language=None, check=no_check)
    assert (first.url, first.notices) == ("https://doi.org/10.1101/2020.1", ("preprint",))
    assert second.notices == ("retracted",)


def test_a_query_that_nothing_holds_whole_is_loosened(httpserver: HTTPServer, service: Service) -> None:
    httpserver.expect_ordered_request("/search").respond_with_json({"hitCount": 0, "resultList": {"result": []}})
    httpserver.expect_ordered_request("/search").respond_with_json(_answer(_PAPER))
    hits = EuropePmc(service).search("chalk water town", limit=5, until=None, language=None, check=no_check)
    assert len(hits) == 1
    assert httpserver.log[1][0].args["query"].startswith("(chalk OR water OR town) AND")


def test_records_without_sense_are_passed_over(httpserver: HTTPServer, service: Service) -> None:
    strange: list[Any] = [None, "x", {}, {"title": ["t"], "pmid": 7, "pubTypeList": "x", "firstPublicationDate": 5}]
    httpserver.expect_request("/search").respond_with_json(_answer(*strange, _PAPER))
    hits = EuropePmc(service).search("x", limit=9, until=None, language=None, check=no_check)
    assert [hit.published for hit in hits] == [None, date(2019, 3, 5)]


def test_a_query_without_words_asks_nothing(httpserver: HTTPServer, service: Service) -> None:
    assert EuropePmc(service).search("?!", limit=5, until=None, language=None, check=no_check) == []
    assert httpserver.log == []
