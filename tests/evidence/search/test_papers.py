"""Records of Crossref and Europe PMC become hits that carry what became of the paper."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from crowdnotes.domain import Hit
from crowdnotes.evidence.search.papers import Crossref, EuropePmc
from crowdnotes.evidence.search.service import Service
from tests.evidence.search.conftest import ask


def _item(**more: Any) -> dict[str, Any]:
    return {
        "DOI": "10.1016/S0140-6736(97)11096-0", "type": "journal-article", "title": ["Ileal-lymphoid hyperplasia"],
        "abstract": "<jats:title>Summary</jats:title><jats:p>We investigated &amp; saw.</jats:p>",
        "issued": {"date-parts": [[1998, 2, 28]]}, "created": {"date-time": "2002-07-25T13:35:52Z"},
    } | more  # fmt: skip


def _search(httpserver: HTTPServer, service: Service, item: Any, until: date | None = None) -> list[Hit]:
    answer = {"status": "ok", "message-type": "work-list", "message": {"total-results": 1, "items": [item]}}
    httpserver.expect_request("/works").respond_with_json(answer)
    return ask(Crossref(service, {"mailto": "a@b.org"}), "autism ileal", until=until)


def test_a_work_becomes_a_hit(httpserver: HTTPServer, service: Service) -> None:
    (hit,) = _search(httpserver, service, _item(), date(2020, 6, 30))
    assert hit.url == "https://doi.org/10.1016/S0140-6736(97)11096-0"
    assert (hit.snippet, hit.published) == ("Summary We investigated & saw.", date(1998, 2, 28))
    asked = httpserver.log[0][0].args
    assert asked["filter"] == "has-abstract:true,until-pub-date:2020-06-30"
    assert (asked["query.bibliographic"], asked["mailto"]) == ("autism ileal", "a@b.org")


@pytest.mark.parametrize(
    ("more", "notices"),
    [
        ({"updated-by": [{"DOI": "10.1/r", "type": "retraction", "label": "Retraction"}]}, ("retracted",)),
        ({"updated-by": [{"type": "correction"}, {"type": "new_edition"}]}, ("corrected since",)),
        ({"update-to": [{"DOI": "10.1/x", "type": "retraction"}]}, ("a retraction notice",)),
        ({"update-to": [{"DOI": "10.1/x", "type": "correction"}]}, ()),
        ({"type": "posted-content", "subtype": "preprint"}, ("preprint",)),
    ],
)
def test_what_became_of_it_is_marked(
    httpserver: HTTPServer, service: Service, more: dict[str, Any], notices: tuple[str, ...]
) -> None:
    assert _search(httpserver, service, _item(**more))[0].notices == notices


@pytest.mark.parametrize(
    ("parts", "created", "published"),
    [
        ([[2020]], "2020-04-05T00:00:00Z", date(2020, 4, 5)),
        ([[2020, 3]], "2020-04-05T00:00:00Z", None),
        ([[None]], "2020-04-05T00:00:00Z", None),
        ([], "", None),
        ([["x", 99]], "never", None),
    ],
)
def test_a_partial_date_is_not_guessed(
    httpserver: HTTPServer, service: Service, parts: Any, created: str, published: date | None
) -> None:
    item = _item(issued={"date-parts": parts}, created={"date-time": created})
    assert _search(httpserver, service, item)[0].published == published


def test_a_partial_date_after_the_cutoff_is_left_out(httpserver: HTTPServer, service: Service) -> None:
    assert _search(httpserver, service, _item(issued={"date-parts": [[2021]]}), date(2020, 6, 30)) == []


_PAPER = {
    "id": "1", "source": "MED", "pmid": "30831578", "pmcid": "PMC1", "doi": "10.7326/M18-2101",
    "title": "Measles, Mumps, Rubella Vaccination and <i>Autism</i>.",
    "abstractText": "<h4>Background</h4>The hypothesised link.",
    "firstPublicationDate": "2019-03-05",
    "pubTypeList": {"pubType": ["Journal Article"]},
}  # fmt: skip


def _answer(*records: Any) -> dict[str, Any]:
    return {"version": "6.9", "hitCount": len(records), "resultList": {"result": list(records)}}


def test_a_paper_becomes_a_hit_and_the_cutoff_is_put_to_the_service(httpserver: HTTPServer, service: Service) -> None:
    httpserver.expect_request("/search").respond_with_json(_answer(_PAPER))
    (hit,) = ask(EuropePmc(service), "MMR autism", until=date(2025, 6, 30))
    assert (hit.provider, hit.url) == ("europe-pmc", "https://pubmed.ncbi.nlm.nih.gov/30831578/")
    assert hit.title == "Measles, Mumps, Rubella Vaccination and Autism."
    assert hit.snippet == "Background The hypothesised link."
    assert (hit.published, hit.doi, hit.notices) == (date(2019, 3, 5), "10.7326/m18-2101", ())
    asked = httpserver.log[0][0].args
    assert asked["query"] == (
        "(mmr autism) AND (SRC:MED OR SRC:PMC OR SRC:PPR) AND FIRST_PDATE:[1800-01-01 TO 2025-06-30]"
    )
    assert (asked["format"], asked["resultType"], asked["pageSize"]) == ("json", "core", "5")


def test_preprints_and_retractions_are_marked(httpserver: HTTPServer, service: Service) -> None:
    preprint = {"id": "P", "source": "PPR", "doi": "10.1101/2020.1", "title": "A preprint"}
    retracted = _PAPER | {"commentCorrectionList": {"commentCorrection": [{"type": "Retraction in", "id": "9"}]}}
    httpserver.expect_request("/search").respond_with_json(_answer(preprint, retracted))
    first, second = ask(EuropePmc(service), "x")
    assert (first.url, first.notices) == ("https://doi.org/10.1101/2020.1", ("preprint",))
    assert second.notices == ("retracted",)


def test_a_query_without_words_asks_nothing(httpserver: HTTPServer, service: Service) -> None:
    assert ask(EuropePmc(service), "?!") == []
    assert httpserver.log == []
