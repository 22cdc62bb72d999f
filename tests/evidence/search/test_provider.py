"""What holds for every provider: queries as plain words, nonsense labelled, settings that switch it on."""

from __future__ import annotations

import json
import re
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_httpserver import HTTPServer

from crowdnotes.domain import ProviderState
from crowdnotes.errors import JobCancelled, SearchError
from crowdnotes.evidence.library import Libraries
from crowdnotes.evidence.search import ONLINE, default_providers, make_providers
from crowdnotes.evidence.search.papers import Crossref
from crowdnotes.evidence.search.provider import OnlineProvider, SearchProvider, all_then_any, plain_query, search_words
from crowdnotes.evidence.search.run import CHECK_QUERY
from crowdnotes.evidence.search.service import Service
from crowdnotes.settings import Settings
from crowdnotes.settings_sections import SearchSettings
from tests.evidence.search.conftest import ask
from tests.fakes import HashingEmbedder
from tests.shared import cancelled


def test_operators_and_fields_of_a_post_are_only_words() -> None:
    words = search_words('vaccines[au] OR "autism" AND (SRC:MED) NOT safe*')
    assert words == ["vaccines", "au", "autism", "src", "med", "safe"]


def test_any_of_the_words_is_asked_for_only_when_nothing_has_all_and_there_are_enough() -> None:
    asked: list[str] = []

    def nothing(words: str) -> list[str]:
        asked.append(words)
        return []

    assert all_then_any("zinc cures colds", nothing) == all_then_any("zinc colds", nothing) == []
    assert asked == ["zinc cures colds", "zinc OR cures OR colds", "zinc colds"]
    assert all_then_any("the of", nothing) == []
    assert all_then_any("zinc cures colds", lambda words: [words]) == ["zinc cures colds"]


def test_a_name_in_quotation_marks_is_first_asked_for_as_it_stands() -> None:
    asked: list[str] = []

    def nothing(words: str) -> list[str]:
        asked.append(words)
        return []

    all_then_any('"Bank of England" zinc', nothing)
    assert asked == ['"Bank of England" zinc', "bank england zinc", "bank OR england OR zinc"]
    assert all_then_any('"Jo Doe"', lambda words: [words]) == ['"Jo Doe"']


@given(st.text(max_size=200))
def test_search_words_hold_nothing_but_letters_and_digits(text: str) -> None:
    assert all(re.fullmatch(r"[^\s\"\[\]():*^~]+", word) for word in search_words(text))


@pytest.mark.parametrize(
    ("query", "plain"),
    [
        ("!g covid", "g covid"),
        (":de -site:who.int", "de site:who.int"),
        ('"exact" (phrase)', "exact phrase"),
        ("is it 3:1?", "is it 3:1?"),
        ('"Jo Doe" !zinc', '"Jo Doe" zinc'),
        ('"Jo -Doe (x)', "Jo Doe x"),
    ],
)
def test_marks_that_web_engines_obey_are_taken_away(query: str, plain: str) -> None:
    assert plain_query(query, 100) == plain


@given(st.text(max_size=300), st.integers(1, 60))
def test_a_plain_query_keeps_its_bounds(text: str, limit: int) -> None:
    assert len(plain_query(text, limit)) <= limit
    assert len(plain_query(text, 300, 5).split()) <= 5


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


@pytest.mark.parametrize("make", ONLINE)
@pytest.mark.parametrize("body", _BODIES.values(), ids=_BODIES.keys())
def test_an_answer_without_sense_is_labelled(
    httpserver: HTTPServer, service: Service, make: type[OnlineProvider], body: bytes
) -> None:
    for method in ("GET", "POST"):
        httpserver.expect_request(re.compile("/"), method=method).respond_with_data(body)
    with pytest.raises(SearchError) as raised:
        ask(make(service), CHECK_QUERY, limit=3)
    assert raised.value.state is ProviderState.FAILED
    assert raised.value.message.startswith(("It ", "Its "))


# In XML, or on more than an answer.
_WITH_OTHERS = ("medlineplus", "wikipedia", "current-events", "wikidata", "gdelt")
JSON_PROVIDERS = [kind for kind in ONLINE if kind.name not in _WITH_OTHERS]
_LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=8), st.just("https://a.org/x"))
_NAMES = st.sampled_from(
    "message items DOI title issued date-parts updated-by resultList result hitCount query search claims claimReview "
    "web results url esearchresult idlist pubTypeList pubType type studies protocolSection identificationModule "
    "nctId briefTitle error code".split()
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
    for make in JSON_PROVIDERS:
        provider: SearchProvider = make(stand_in)
        try:
            hits = ask(provider, CHECK_QUERY, limit=3)
        except SearchError:
            continue
        assert len(hits) <= 3


_KEYLESS = [
    *("tavily", "europe-pmc", "pubmed", "medlineplus", "wikipedia", "crossref"),
    *("clinical-trials", "openfda", "dailymed", "openalex", "who-outbreaks", "who-iris"),
    *("wikidata", "current-events", "gdelt"),
]
_KEYED = ["google-fact-check", "brave", "searxng"]


@pytest.fixture
def libraries(tmp_path: Path) -> Libraries:
    return Libraries(tmp_path, HashingEmbedder())


def _by_name(libraries: Libraries, **search: object) -> dict[str, SearchProvider]:
    settings = Settings(search=SearchSettings.model_validate(search))
    return {provider.name: provider for provider in make_providers(settings, libraries, ["town"])}


def test_without_settings_those_without_a_key_and_the_libraries_can_be_asked_and_keys_switch_on_the_rest(
    libraries: Libraries,
) -> None:
    found = _by_name(libraries)
    assert [name for name, provider in found.items() if provider.needs is None] == [*_KEYLESS, "library:town"]
    for name in _KEYED:
        assert "CROWDNOTES_SEARCH_" in (found[name].needs or "")
    keys = {"google_fact_check_key": "s3cret", "brave_key": "s3cret", "tavily_key": "s3cret", "ncbi_api_key": "s3cret"}
    found = _by_name(libraries, searxng_url="http://127.0.0.1:8888", **keys)
    assert all(provider.needs is None for provider in found.values())
    assert "s3cret" not in repr(list(found.values()))


@pytest.mark.parametrize(
    ("given", "web"),
    [
        ({}, ["tavily"]),
        ({"brave_key": "k"}, ["brave"]),
        ({"searxng_url": "http://127.0.0.1:8888"}, ["searxng"]),
        ({"brave_key": "k", "tavily_key": "k"}, ["brave", "tavily"]),
        ({"brave_key": "k", "services": ["tavily"]}, ["brave", "tavily"]),
        ({"services": ["pubmed"]}, []),
        ({"services": []}, []),
    ],
)
def test_tavily_without_a_key_is_ticked_only_where_no_other_web_search_is_set_up(
    given: dict[str, Any], web: list[str]
) -> None:
    chosen = default_providers(SearchSettings.model_validate(given))
    assert [name for name in chosen if name in ("brave", "tavily", "searxng")] == web
    assert ("pubmed" in chosen) == ("pubmed" in given.get("services", ["pubmed"]))


def test_a_contact_address_opens_crossrefs_polite_pool_three_requests_a_second_rather_than_one(
    libraries: Libraries,
) -> None:
    def let_through(**settings: str) -> int:
        provider = _by_name(libraries, **settings, crossref_url=f"https://{len(settings)}.crossref.example")["crossref"]
        assert isinstance(provider, Crossref)
        with ExitStack() as slots:
            for number in range(10):
                try:
                    slots.enter_context(provider.service.pacer.slot(cancelled, 5.0))
                except JobCancelled:
                    assert provider.at_once == number
                    return number
        raise AssertionError("there is no pace")

    assert let_through() == 1
    assert let_through(contact_email="a@b.org") == 3
