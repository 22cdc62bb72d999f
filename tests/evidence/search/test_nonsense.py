"""Whatever a service answers, its provider gives hits or a label, and never anything else."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_httpserver import HTTPServer

from crowdnotes.domain import ProviderState
from crowdnotes.errors import SearchError
from crowdnotes.evidence.fetching import no_check
from crowdnotes.evidence.search.brave import Brave
from crowdnotes.evidence.search.crossref import Crossref
from crowdnotes.evidence.search.europe_pmc import EuropePmc
from crowdnotes.evidence.search.google_fact_check import GoogleFactCheck
from crowdnotes.evidence.search.medlineplus import MedlinePlus
from crowdnotes.evidence.search.provider import SearchProvider
from crowdnotes.evidence.search.pubmed import PubMed
from crowdnotes.evidence.search.searxng import SearXng
from crowdnotes.evidence.search.service import Service
from crowdnotes.evidence.search.tavily import Tavily
from crowdnotes.evidence.search.wikipedia import Wikipedia

_MAKERS: list[Callable[[Service], SearchProvider]] = [
    Brave, Crossref, EuropePmc, GoogleFactCheck, MedlinePlus, PubMed, SearXng, Tavily, Wikipedia
]  # fmt: skip
_BODIES = {
    "empty": b"",
    "a web page": b"<!DOCTYPE html><html><body>Log in</body></html>",
    "truncated JSON": b'{"message": {"items": [{"DOI": "10.1',
    "truncated XML": b'<?xml version="1.0"?><nlmSearchResult><list><document',
    "another document": b"<rss><channel/></rss>",
    "a list": b"[1, 2, 3]",
    "a number": b"1e999",
    "deep": b"[" * 100_000,
    "binary": bytes(range(256)),
    "wrong encoding": '{"results": "é"}'.encode("latin-1"),
}


@pytest.mark.parametrize("make", _MAKERS)
@pytest.mark.parametrize("body", _BODIES.values(), ids=_BODIES.keys())
def test_an_answer_without_sense_is_labelled(
    httpserver: HTTPServer, service: Service, make: Callable[[Service], SearchProvider], body: bytes
) -> None:
    for method in ("GET", "POST"):
        for path in ("/search", "/web/search", "/works", "/query", "/claims:search", "/api.php", "/esearch.fcgi"):
            httpserver.expect_request(path, method=method).respond_with_data(body)
    with pytest.raises(SearchError) as raised:
        make(service).search("measles vaccine", limit=3, until=None, language=None, check=no_check)
    assert raised.value.state is ProviderState.FAILED
    assert raised.value.message.startswith("It ")


_LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=8), st.just("https://a.org/x"))
_NAMES = st.sampled_from(
    "message items DOI title issued date-parts updated-by resultList result hitCount query search claims claimReview "
    "web results url esearchresult idlist pubTypeList pubType type".split()
)
_VALUES = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_NAMES, inner, max_size=5)),
    max_leaves=20,
)


class _Scripted:
    """Stands in for `Service` and answers without a network."""

    base_url = "https://a.org"

    def __init__(self, body: bytes) -> None:
        self._body = body

    def get(self, *_: object) -> bytes:
        return self._body

    post = get


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(_NAMES, _VALUES, max_size=5))
def test_any_json_gives_hits_or_a_label(value: dict[str, Any]) -> None:
    stand_in: Any = _Scripted(json.dumps(value).encode())
    for make in (Brave, Crossref, EuropePmc, GoogleFactCheck, PubMed, SearXng, Tavily):
        provider: SearchProvider = make(stand_in)
        try:
            hits = provider.search("measles vaccine", limit=3, until=None, language=None, check=no_check)
        except SearchError:
            continue
        assert len(hits) <= 3
