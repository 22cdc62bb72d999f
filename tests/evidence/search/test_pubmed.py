"""PubMed's two answers become hits: found by esearch, read by efetch."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import pytest
from pytest_httpserver import HTTPServer

from crowdnotes.domain import Hit, ProviderState
from crowdnotes.errors import SearchError
from crowdnotes.evidence.fetching import no_check
from crowdnotes.evidence.search.pubmed import PubMed
from crowdnotes.evidence.search.service import Service
from tests.evidence.search.conftest import ask

_ARTICLE = """<PubmedArticle><MedlineCitation><PMID Version="1">{pmid}</PMID><Article>
<Journal><JournalIssue><PubDate>{printed}</PubDate></JournalIssue></Journal>
<ArticleTitle>Fluoride and <i>teeth</i> &lt;1990&gt;.</ArticleTitle>
<Abstract><AbstractText Label="AIM">To see CO<sub>2</sub>.</AbstractText>
<AbstractText>No harm.</AbstractText></Abstract>
<PublicationTypeList><PublicationType UI="D016428">{kind}</PublicationType></PublicationTypeList>{online}
</Article>{relations}</MedlineCitation><PubmedData><History>
<PubMedPubDate PubStatus="pubmed"><Year>2019</Year><Month>3</Month><Day>8</Day></PubMedPubDate></History>
<ArticleIdList><ArticleId IdType="doi">10.1000/{pmid}</ArticleId></ArticleIdList>
<ReferenceList><Reference><ArticleIdList><ArticleId IdType="doi">10.9/other</ArticleId></ArticleIdList></Reference>
</ReferenceList></PubmedData></PubmedArticle>"""
_DOCTYPE = (
    '<?xml version="1.0"?><!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle" "https://dtd.example/p.dtd">'
)


def _article(pmid: str = "11", printed: str = "<Year>2019</Year><Month>Mar</Month>", **more: str) -> str:
    return _ARTICLE.format(
        **{"pmid": pmid, "printed": printed, "online": "", "kind": "Article", "relations": ""} | more
    )


def _serve(httpserver: HTTPServer, *articles: str, ids: Sequence[str] = ("11",)) -> None:
    httpserver.expect_request("/esearch.fcgi").respond_with_json({"esearchresult": {"count": "1", "idlist": ids}})
    answer = f"{_DOCTYPE}<PubmedArticleSet>{''.join(articles)}</PubmedArticleSet>"
    httpserver.expect_request("/efetch.fcgi").respond_with_data(answer, content_type="text/xml")


def _search(service: Service, until: date | None = None) -> list[Hit]:
    return ask(PubMed(service, {"tool": "crowdnotes", "email": "a@b.org"}), "fluoride teeth", until=until)


def test_an_article_becomes_a_hit_and_who_asks_and_the_cutoff_are_told(
    httpserver: HTTPServer, service: Service
) -> None:
    _serve(httpserver, _article())
    (hit,) = _search(service, date(2020, 6, 30))
    assert hit.title == "Fluoride and teeth <1990>."
    assert hit.snippet == "Aim: To see CO2. No harm."
    assert (hit.url, hit.doi) == ("https://pubmed.ncbi.nlm.nih.gov/11/", "10.1000/11")
    asked = httpserver.log[0][0].args
    assert (asked["datetype"], asked["mindate"], asked["maxdate"]) == ("pdat", "1800/01/01", "2020/06/30")
    assert (asked["db"], asked["retmode"], asked["sort"], asked["email"]) == ("pubmed", "json", "relevance", "a@b.org")


def test_all_queries_of_a_case_take_two_requests(httpserver: HTTPServer, service: Service) -> None:
    _serve(httpserver, _article())
    queries = ["chalk in water", "fluoride teeth"]
    hits = PubMed(service).search_together(queries, post="", limit=5, until=None, check=no_check)
    assert len(httpserver.log) == 2
    assert httpserver.log[0][0].args["term"] == "(chalk water) OR (fluoride teeth)"
    assert [hit.query for hit in hits] == ["fluoride teeth"]


def test_long_queries_stay_within_what_an_address_may_hold(httpserver: HTTPServer, service: Service) -> None:
    _serve(httpserver, ids=[])
    queries = [" ".join(f"word{number}x{query}" for number in range(60)) for query in range(12)]
    assert PubMed(service).search_together(queries, post="", limit=5, until=None, check=no_check) == []
    assert [len(request.args["term"]) < 2_000 for request, _ in httpserver.log] == [True, True]


_ONLINE = '<ArticleDate DateType="Electronic"><Year>2018</Year><Month>12</Month><Day>30</Day></ArticleDate>'


@pytest.mark.parametrize(
    ("printed", "online", "published"),
    [
        ("<Year>2019</Year><Month>Mar</Month>", "", date(2019, 3, 8)),
        ("<Year>2019</Year><Month>Mar</Month>", _ONLINE, date(2018, 12, 30)),
        ("<Year>2019</Year><Month>Mar</Month><Day>1</Day>", "", date(2019, 3, 1)),
        ("<MedlineDate>1998 Spring</MedlineDate>", "", None),
        ("<Year>nonsense</Year>", "", None),
    ],
)
def test_the_first_day_it_could_be_read_is_its_date(
    httpserver: HTTPServer, service: Service, printed: str, online: str, published: date | None
) -> None:
    _serve(httpserver, _article(printed=printed, online=online))
    assert _search(service)[0].published == published


def test_what_is_known_to_be_too_late_is_left_out(httpserver: HTTPServer, service: Service) -> None:
    late = _article("12", printed="<Year>2030</Year>")
    _serve(httpserver, _article("11"), late, ids=["12", "11"])
    assert [hit.doi for hit in _search(service, date(2020, 1, 1))] == ["10.1000/11"]


def test_retractions_are_marked_and_a_notice_is_not_called_retracted(httpserver: HTTPServer, service: Service) -> None:
    relation = '<CommentsCorrectionsList><CommentsCorrections RefType="{}"/></CommentsCorrectionsList>'
    retracted = _article("11", kind="Retracted Publication", relations=relation.format("RetractionIn"))
    _serve(httpserver, retracted, _article("12", relations=relation.format("RetractionOf")), ids=["11", "12"])
    assert [hit.notices for hit in _search(service)] == [("retracted",), ("a retraction notice",)]


_BOOK = """<PubmedBookArticle><BookDocument><PMID Version="1">21</PMID><ArticleIdList>
<ArticleId IdType="bookaccession">NBK9</ArticleId><ArticleId IdType="doi">10.1000/NBK9</ArticleId></ArticleIdList>
<Book><Publisher><PublisherName>Agency</PublisherName></Publisher><BookTitle>Reviews of fluoride</BookTitle>
<PubDate><Year>2010</Year><Month>11</Month><Day>5</Day></PubDate></Book>{title}
<Abstract><AbstractText>No harm to teeth.</AbstractText></Abstract></BookDocument>
<PubmedBookData><ArticleIdList><ArticleId IdType="pubmed">21</ArticleId></ArticleIdList></PubmedBookData>
</PubmedBookArticle>"""


@pytest.mark.parametrize(
    ("title", "read"),
    [("<ArticleTitle>A <i>chapter</i> on teeth</ArticleTitle>", "A chapter on teeth"), ("", "Reviews of fluoride")],
)
def test_a_book_or_a_chapter_of_one_comes_like_a_paper(
    httpserver: HTTPServer, service: Service, title: str, read: str
) -> None:
    _serve(httpserver, _article("11"), _BOOK.format(title=title), ids=["21", "11"])
    book, _ = _search(service, date(2020, 1, 1))
    assert (book.title, book.snippet, book.published) == (read, "No harm to teeth.", date(2010, 11, 5))
    assert (book.url, book.doi) == ("https://pubmed.ncbi.nlm.nih.gov/21/", "10.1000/nbk9")
    assert [hit.doi for hit in _search(service, date(2010, 1, 1))] == []


def test_what_pubmed_says_of_a_search_that_it_refuses_is_told(httpserver: HTTPServer, service: Service) -> None:
    httpserver.expect_request("/esearch.fcgi").respond_with_json({"esearchresult": {"ERROR": "Search Backend failed"}})
    with pytest.raises(SearchError, match="Search Backend failed"):
        _search(service)


def test_the_order_is_that_of_the_search_and_odd_ids_are_dropped(httpserver: HTTPServer, service: Service) -> None:
    _serve(httpserver, _article("11"), _article("12"), ids=["12", "x&db=y", "11", "99"])
    assert [hit.doi for hit in _search(service)] == ["10.1000/12", "10.1000/11"]
    assert httpserver.log[1][0].args["id"] == "12,11,99"


def test_a_rate_limit_inside_a_good_answer_is_seen(httpserver: HTTPServer, service: Service) -> None:
    httpserver.expect_request("/esearch.fcgi").respond_with_json({"error": "API rate limit exceeded", "count": "4"})
    with pytest.raises(SearchError) as raised:
        _search(service)
    assert raised.value.state is ProviderState.RATE_LIMITED


def test_powers_and_formulas_of_an_abstract_are_read(httpserver: HTTPServer, service: Service) -> None:
    formula = "<mml:math xmlns:mml='urn:m'><mml:mi>p</mml:mi><mml:mo>&lt;</mml:mo><mml:mn>0.05</mml:mn></mml:math>"
    article = _article().replace(
        "No harm.", f"In 10<sup>6</sup> of <i>n</i><sup>2</sup> and H<sub>2</sub>O, {formula}."
    )
    _serve(httpserver, article)
    (hit,) = _search(service)
    assert hit.snippet == "Aim: To see CO2. In 10^6 of n^2 and H2O, p < 0.05."
