"""Links to the same page have one canonical address; links to different pages do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.domain import Hit
from crowdnotes.text.note_rules import find_urls
from crowdnotes.text.urls import canonical_url, doi_url, identities, linkable


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("http://www.WHO.int/news/item#top", "https://who.int/news/item"),
        ("https://who.int/news/item/?utm_source=x&fbclid=1", "https://who.int/news/item"),
        ("https://a.org/p?b=2&a=1&gclid=z", "https://a.org/p?a=1&b=2"),
        ("https://a.org:443/index.html", "https://a.org/"),
        ("https://a.org:8443/x", "https://a.org:8443/x"),
        ("https://en.m.wikipedia.org/wiki/Measles", "https://en.wikipedia.org/wiki/Measles"),
        ("doi:10.1000/XYZ", "https://doi.org/10.1000/xyz"),
        ("http://dx.doi.org/10.1000/xyz.", "https://doi.org/10.1000/xyz"),
        ("https://www.pnas.org/doi/full/10.1000/Xyz?needAccess=true", "https://doi.org/10.1000/xyz"),
        ("https://zenodo.org/doi/10.5281/zenodo.1", "https://doi.org/10.5281/zenodo.1"),
        ("https://papers.ssrn.com/article/10.2139/ssrn.7", "https://doi.org/10.2139/ssrn.7"),
        ("https://evil.example/doi/10.1056/nejmoa2034577", "https://evil.example/doi/10.1056/nejmoa2034577"),
        ("https://nejm.org.evil.example/doi/10.1056/x1", "https://nejm.org.evil.example/doi/10.1056/x1"),
        ("https://www.frontiersin.org/articles/10.3389/fmed.2020.1/full", "https://doi.org/10.3389/fmed.2020.1"),
        ("https://www.medrxiv.org/content/10.1101/2020.05.01.200v2.full", "https://doi.org/10.1101/2020.05.01.200"),
        ("https://www.ncbi.nlm.nih.gov/pubmed/123", "https://pubmed.ncbi.nlm.nih.gov/123/"),
        ("https://europepmc.org/article/MED/123", "https://pubmed.ncbi.nlm.nih.gov/123/"),
        ("https://www.ncbi.nlm.nih.gov/pmc/articles/PMC77/", "https://pmc.ncbi.nlm.nih.gov/articles/PMC77/"),
        ("https://europepmc.org/article/PMC/PMC77", "https://pmc.ncbi.nlm.nih.gov/articles/PMC77/"),
        ("CDC.gov/flu", "https://cdc.gov/flu"),
        ("https://a.org/p?ref=v2&msclkid=1", "https://a.org/p?ref=v2"),
        ("ftp://a.org/x", "ftp://a.org/x"),
        ("https://a.org/\ud800", "https://a.org/\ud800"),
        ("http://xn--a.com/", "https://xn--a.com/"),
        ("https://a.org:x/", "https://a.org:x/"),
        ("https://[::1", "https://[::1"),
    ],
)
def test_spellings_of_a_page_share_an_address(url: str, canonical: str) -> None:
    assert canonical_url(url) == canonical


def test_parameters_that_choose_the_page_are_kept() -> None:
    assert canonical_url("https://a.org/w?title=X&oldid=5") != canonical_url("https://a.org/w?title=X&oldid=6")


_WORD = st.text("abcxyz0189-_.", min_size=1, max_size=8)
_PATHS = st.lists(_WORD, max_size=4).map("/".join)
_QUERIES = st.dictionaries(st.sampled_from(["id", "q", "page"]), _WORD, max_size=3)


@given(_PATHS, _QUERIES)
def test_what_does_not_change_the_page_does_not_change_the_address(path: str, query: dict[str, str]) -> None:
    pairs = [f"{name}={value}" for name, value in query.items()]
    plain = canonical_url(f"https://a.org/{path}?{'&'.join(pairs)}")
    noisy = canonical_url(f"http://www.A.org:80/{path}?{'&'.join(['utm_medium=x', *reversed(pairs)])}#part")
    assert plain == noisy


_ANY = st.text(st.characters(codec=None), max_size=80)  # lone surrogates too


@given(st.one_of(_ANY, st.text(max_size=60).map(lambda tail: f"https://a.org/{tail}")))
def test_the_canonical_address_is_its_own(url: str) -> None:
    once = canonical_url(url)
    assert canonical_url(once) == once


@given(st.from_regex(r"10\.[0-9]{4,5}/[a-z0-9.()<>;_-]{1,12}[a-z0-9]", fullmatch=True))
def test_every_way_to_write_a_doi_is_one_address(doi: str) -> None:
    written = {canonical_url(form + doi.upper()) for form in ("doi:", "https://doi.org/", "http://dx.doi.org/")}
    assert written == {doi_url(doi)}


def test_a_hit_is_known_by_its_address_its_doi_and_its_record() -> None:
    bare = Hit(provider="p", title="t", snippet="", query="")
    known = {"url": "https://a.org/", "doi": "10.1000/X", "library": "l", "record": 3}
    assert identities(bare.replace(**known)) == {"https://a.org/", "https://doi.org/10.1000/x", "library:l:3"}
    assert identities(Hit(provider="p", title="t", snippet="s", query=""))


@pytest.mark.parametrize("ending", [".", "/", ".,;:/", "/pdf", "/full.", "/Abstract/"])
def test_what_follows_a_doi_is_taken_off_however_long_it_is(ending: str) -> None:
    assert doi_url("10.1000/xyz" + ending * 40_000) == "https://doi.org/10.1000/xyz"
    assert (doi_url("10.1000/" + "." * 200_000 + "x") or "").endswith("..x")  # dots inside are worked through


def test_an_address_longer_than_the_guard_lets_pass_comes_back_as_it_was() -> None:
    longest = "HTTPS://www.A.org/" + "a" * (4_096 - 18)
    assert canonical_url(longest).startswith("https://a.org/aaa")
    assert canonical_url(f" {longest}a ") == f"{longest}a"
    assert canonical_url("doi:10.1000/x" + "." * 5_000) == "doi:10.1000/x" + "." * 5_000


@pytest.mark.parametrize(
    ("url", "as_link"),
    [
        ("https://a.org/x?y=1#z", "https://a.org/x?y=1#z"),
        ("https://ja.wikipedia.org/wiki/新型", "https://ja.wikipedia.org/wiki/%E6%96%B0%E5%9E%8B"),
        ("https://日本.jp/a%20b?q=é", "https://日本.jp/a%20b?q=%C3%A9"),
        ("https://a.org/x_(y", "https://a.org/x_%28y"),
        ("https://a.org/x.", "https://a.org/x%2E"),
    ],
)
def test_an_address_is_written_so_that_x_links_to_the_whole_of_it(url: str, as_link: str) -> None:
    assert linkable(url) == as_link
    assert [found.url for found in find_urls(f"Words. {as_link} 見て")] == [as_link]
    assert canonical_url(as_link, papers=False) == canonical_url(url, papers=False)
