"""Which paper a link is about, and its abstract from Europe PMC, PubMed and Crossref, on loopback as documented."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_httpserver import HTTPServer

from crowdnotes.errors import JobCancelled
from crowdnotes.evidence.fetching import no_check
from crowdnotes.evidence.search.papers import Abstract, AbstractFinder, Crossref, EuropePmc, Paper, paper_of
from crowdnotes.evidence.search.pubmed import PubMed
from tests.evidence.search.conftest import MakeService
from tests.shared import cancelled


@pytest.mark.parametrize(
    ("url", "paper"),
    [
        ("https://doi.org/10.1056/NEJMoa2034577", Paper(doi="10.1056/nejmoa2034577")),
        ("http://dx.doi.org/10.1016/S0140-6736(20)31180-6", Paper(doi="10.1016/s0140-6736(20)31180-6")),
        ("https://www.nejm.org/doi/full/10.1056/NEJMoa2034577", Paper(doi="10.1056/nejmoa2034577")),
        ("https://www.science.org/doi/10.1126/science.abc1234?cookieSet=1", Paper(doi="10.1126/science.abc1234")),
        ("https://onlinelibrary.wiley.com/doi/abs/10.1002/jmv.26123", Paper(doi="10.1002/jmv.26123")),
        ("https://link.springer.com/article/10.1007/s00134-020-06027-2", Paper(doi="10.1007/s00134-020-06027-2")),
        (
            "https://journals.plos.org/plosone/article?id=10.1371/journal.pone.02345",
            Paper(doi="10.1371/journal.pone.02345"),
        ),
        ("https://www.nature.com/articles/s41586-020-2012-7", Paper(doi="10.1038/s41586-020-2012-7")),
        ("https://www.nature.com/articles/d41586-020-00502-w", Paper(doi="10.1038/d41586-020-00502-w")),
        (
            "https://www.thelancet.com/journals/lancet/article/PIIS0140-6736(20)31180-6/fulltext",
            Paper(doi="10.1016/s0140-6736(20)31180-6"),
        ),
        ("https://www.biorxiv.org/content/10.1101/2020.05.01.123456v2.full", Paper(doi="10.1101/2020.05.01.123456")),
        ("https://pubmed.ncbi.nlm.nih.gov/31978945/", Paper(pmid="31978945")),
        ("https://www.ncbi.nlm.nih.gov/pubmed/31978945", Paper(pmid="31978945")),
        ("https://europepmc.org/article/MED/31978945", Paper(pmid="31978945")),
        ("https://www.ncbi.nlm.nih.gov/pmc/articles/PMC7092803/", Paper(pmcid="PMC7092803")),
        ("https://pmc.ncbi.nlm.nih.gov/articles/PMC7092803/", Paper(pmcid="PMC7092803")),
        (
            "https://web.archive.org/web/2021/https://www.nejm.org/doi/10.1056/NEJMoa2034577",
            Paper(doi="10.1056/nejmoa2034577"),
        ),
    ],
)
def test_an_address_names_its_paper(url: str, paper: Paper) -> None:
    assert paper_of(url) == paper


@pytest.mark.parametrize(
    "url",
    [
        "https://www.who.int/news",
        "https://www.nature.com/nature",
        "https://doi.org/",
        "http://[",
        "",
        "10.1 apples",
        # a host that is no publisher cannot claim a paper by its address
        "https://evil.example/10.1056/nejmoa2034577",
        "https://evil.example/doi/10.1056/nejmoa2034577",
        "https://evil.example/a?doi=10.1056/nejmoa2034577",
        "https://evil.example/a?id=10.1056/nejmoa2034577",
        "https://nejm.org.evil.example/doi/full/10.1056/nejmoa2034577",
    ],
)
def test_another_address_names_none(url: str) -> None:
    assert paper_of(url) is None


def test_what_the_search_said_comes_before_the_address() -> None:
    url = "https://news.example.org/a"
    assert paper_of(url, "https://doi.org/10.1000/ABC", "12") == Paper(doi="10.1000/abc", pmid="12")
    assert paper_of(url, "no doi", "no id") is None
    assert paper_of(None, "10.1000/abc") == Paper(doi="10.1000/abc")


@given(st.text() | st.from_regex(r"https://(doi\.org|a\.org/doi)/10\.\d{4}/\S{0,20}", fullmatch=True), st.text())
def test_any_text_is_a_paper_or_none(url: str, doi: str) -> None:
    paper = paper_of(url, doi)
    assert paper is None or paper != Paper()


TEXT = "Two doses gave 95% protection against Covid-19 in 43,448 persons of 16 years or older, over two months."
PAPER = Paper(doi="10.1056/nejmoa2034577")


@pytest.fixture
def finder(httpserver: HTTPServer, make_service: MakeService) -> AbstractFinder:
    epmc, eutils, crossref = (make_service(httpserver.url_for(path)) for path in ("/epmc", "/eutils", "/crossref"))
    return AbstractFinder([EuropePmc(epmc), PubMed(eutils, {"tool": "crowdnotes"}), Crossref(crossref)])


def _europe_pmc(httpserver: HTTPServer, *records: dict[str, object], query: str | None = None) -> None:
    answer = {"version": "6.9", "hitCount": len(records), "resultList": {"result": list(records)}}
    asked = {"query": query, "format": "json", "resultType": "core", "pageSize": "5"} if query else None
    httpserver.expect_request("/epmc/search", query_string=asked).respond_with_json(answer)


RECORD: dict[str, object] = {
    "id": "33301246",
    "source": "MED",
    "pmid": "33301246",
    "doi": "10.1056/NEJMoa2034577",
    "title": "Safety and Efficacy of the <i>BNT162b2</i> Vaccine.",
    "abstractText": f"<h4>Results</h4>{TEXT}",
    "firstPublicationDate": "2020-12-10",
    "pubTypeList": {"pubType": ["Randomized Controlled Trial", "Journal Article"]},
}

ARTICLE = f"""<?xml version="1.0"?><PubmedArticleSet><PubmedArticle><MedlineCitation><PMID Version="1">33301246</PMID>
<Article><ArticleTitle>Safety and Efficacy.</ArticleTitle><Abstract>
<AbstractText Label="RESULTS">{TEXT}</AbstractText><AbstractText Label="CONCLUSIONS">It works &lt; 1.</AbstractText>
</Abstract><PublicationTypeList><PublicationType>Journal Article</PublicationType></PublicationTypeList>
<ArticleDate DateType="Electronic"><Year>2020</Year><Month>12</Month><Day>10</Day></ArticleDate></Article>
<CommentsCorrectionsList><CommentsCorrections RefType="RetractionIn"/></CommentsCorrectionsList></MedlineCitation>
<PubmedData><ArticleIdList><ArticleId IdType="doi">10.1056/NEJMoa2034577</ArticleId></ArticleIdList></PubmedData>
</PubmedArticle></PubmedArticleSet>"""


def _pubmed(httpserver: HTTPServer, ids: list[str], article: str = ARTICLE) -> None:
    httpserver.expect_request("/eutils/esearch.fcgi").respond_with_json({"esearchresult": {"idlist": ids}})
    httpserver.expect_request("/eutils/efetch.fcgi").respond_with_data(article, content_type="text/xml")


def _crossref(httpserver: HTTPServer, *items: dict[str, object]) -> None:
    asked = {"filter": f"doi:{PAPER.doi}", "rows": "1"}
    answer = {"status": "ok", "message": {"items": list(items)}}
    httpserver.expect_request("/crossref/works", query_string=asked).respond_with_json(answer)


def _found(finder: AbstractFinder, paper: Paper = PAPER) -> Abstract:
    found = finder.find(paper, no_check)
    assert isinstance(found, Abstract), found
    return found


@pytest.mark.parametrize(
    ("paper", "query"),
    [
        (PAPER, 'DOI:"10.1056/nejmoa2034577"'),
        (Paper(pmid="33301246"), "EXT_ID:33301246 AND SRC:MED"),
        (Paper(doi="10.1/other", pmid="33301246"), "EXT_ID:33301246 AND SRC:MED"),
    ],
)
def test_europe_pmc_is_asked_first_and_by_the_exact_id(
    paper: Paper, query: str, httpserver: HTTPServer, finder: AbstractFinder
) -> None:
    _europe_pmc(httpserver, RECORD, query=query)
    found = _found(finder, paper)
    assert found.text == f"Results {TEXT}"
    assert (found.service, found.title) == ("Europe PMC", "Safety and Efficacy of the BNT162b2 Vaccine.")
    assert (found.published, found.pmid) == (date(2020, 12, 10), "33301246")
    assert len(httpserver.log) == 1


def test_the_record_of_another_paper_is_not_taken(httpserver: HTTPServer, finder: AbstractFinder) -> None:
    _europe_pmc(httpserver, RECORD | {"doi": "10.1056/other"})
    _pubmed(httpserver, [])
    _crossref(httpserver, {"DOI": "10.1056/other", "abstract": TEXT})
    said = finder.find(PAPER, no_check)
    assert isinstance(said, str)
    assert [name in said for name in ("Europe PMC has none", "PubMed has none", "Crossref has none")] == [True] * 3


def test_pubmed_finds_the_record_by_doi_and_gives_its_labelled_parts(
    httpserver: HTTPServer, finder: AbstractFinder
) -> None:
    _europe_pmc(httpserver, RECORD | {"abstractText": "No abstract available"})
    _pubmed(httpserver, ["33301246"])
    found = _found(finder)
    assert found.text == f"Results: {TEXT} Conclusions: It works < 1."
    assert (found.service, found.published, found.notices) == ("PubMed", date(2020, 12, 10), ("retracted",))
    terms = [request.args.get("term") for request, _ in httpserver.log if "esearch" in request.path]
    assert terms == ["10.1056/nejmoa2034577[doi]"]


@pytest.mark.parametrize("ids", [["1", "2"], ["33301247"]], ids=["two papers", "another paper"])
def test_a_doi_that_does_not_lead_to_one_record_is_not_guessed(
    ids: list[str], httpserver: HTTPServer, finder: AbstractFinder
) -> None:
    _europe_pmc(httpserver)
    _pubmed(httpserver, ids)
    _crossref(httpserver)
    assert isinstance(finder.find(PAPER, no_check), str)


def test_crossref_comes_last_with_its_jats_markup_taken_off(httpserver: HTTPServer, finder: AbstractFinder) -> None:
    _europe_pmc(httpserver)
    _pubmed(httpserver, [])
    item: dict[str, object] = {
        "DOI": "10.1056/NEJMoa2034577",
        "title": ["Safety"],
        "abstract": f"<jats:title>Results</jats:title><jats:p>{TEXT}</jats:p>",
        "issued": {"date-parts": [[2020, 12, 31]]},
        "updated-by": [{"type": "retraction"}],
    }
    _crossref(httpserver, item)
    found = _found(finder)
    assert found.text == f"Results {TEXT}"
    assert (found.service, found.published, found.notices) == ("Crossref", date(2020, 12, 31), ("retracted",))


def test_a_service_that_fails_is_named_and_the_next_is_asked(httpserver: HTTPServer, finder: AbstractFinder) -> None:
    httpserver.expect_request("/epmc/search").respond_with_data("<html>maintenance</html>", content_type="text/html")
    httpserver.expect_request("/eutils/esearch.fcgi").respond_with_data("", status=500)
    _crossref(httpserver, {"DOI": "10.1056/NEJMoa2034577", "abstract": TEXT})
    assert _found(finder).service == "Crossref"
    httpserver.expect_request("/epmc/search").respond_with_data("busy", status=429)
    said = finder.find(Paper(pmid="7"), no_check)
    assert isinstance(said, str)
    assert "Europe PMC: It " in said
    assert "PubMed: It " in said


def test_a_cancelled_job_passes_through_and_without_services_nothing_is_said(finder: AbstractFinder) -> None:
    with pytest.raises(JobCancelled):
        finder.find(PAPER, cancelled)
    assert AbstractFinder([]).find(PAPER, no_check) == ""


def test_a_month_alone_is_no_day_and_says_when_it_begins(httpserver: HTTPServer, finder: AbstractFinder) -> None:
    _europe_pmc(httpserver)
    _pubmed(httpserver, [])
    _crossref(httpserver, {"DOI": PAPER.doi, "abstract": TEXT, "issued": {"date-parts": [[2025, 6]]}})
    found = _found(finder)
    assert (found.service, found.published, found.not_before) == ("Crossref", None, date(2025, 6, 1))
    httpserver.clear()
    _europe_pmc(httpserver)
    _pubmed(httpserver, ["33301246"], ARTICLE.replace("<Day>10</Day>", ""))
    found = _found(finder)
    assert (found.service, found.published, found.not_before) == ("PubMed", None, date(2020, 12, 1))
