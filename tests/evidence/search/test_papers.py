"""Which paper a link or a hit is about."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.evidence.search.papers import Paper, paper_of


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
            "https://journals.plos.org/plosone/article?id=10.1371/journal.pone.0234567",
            Paper(doi="10.1371/journal.pone.0234567"),
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
            "https://web.archive.org/web/2021/https://www.nejm.org/doi/full/10.1056/NEJMoa2034577",
            Paper(doi="10.1056/nejmoa2034577"),
        ),
    ],
)
def test_an_address_names_its_paper(url: str, paper: Paper) -> None:
    assert paper_of(url) == paper


@pytest.mark.parametrize(
    "url",
    ["https://www.who.int/news", "https://www.nature.com/nature", "https://doi.org/", "http://[", "", "10.1 apples"],
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


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/10.1056/nejmoa2034577",
        "https://evil.example/doi/10.1056/nejmoa2034577",
        "https://evil.example/a?doi=10.1056/nejmoa2034577",
        "https://evil.example/a?id=10.1056/nejmoa2034577",
        "https://nejm.org.evil.example/doi/full/10.1056/nejmoa2034577",
    ],
)
def test_a_host_that_is_no_publisher_cannot_claim_a_paper_by_its_address(url: str) -> None:
    assert paper_of(url) is None
