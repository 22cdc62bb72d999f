"""Which providers there are follows from the settings; keys stay secret."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from crowdnotes.errors import JobCancelled
from crowdnotes.evidence.library import Libraries
from crowdnotes.evidence.search import SearchProvider, make_providers
from crowdnotes.evidence.search.crossref import Crossref
from crowdnotes.settings import SearchSettings, Settings
from crowdnotes.testing import HashingEmbedder

_KEYLESS = ["europe-pmc", "pubmed", "medlineplus", "wikipedia", "crossref"]
_KEYED = ["google-fact-check", "brave", "tavily", "searxng"]


@pytest.fixture
def libraries(tmp_path: Path) -> Libraries:
    return Libraries(tmp_path, HashingEmbedder())


def _by_name(libraries: Libraries, **search: object) -> dict[str, SearchProvider]:
    settings = Settings(search=SearchSettings.model_validate(search))
    return {provider.name: provider for provider in make_providers(settings, libraries, ["town"])}


def test_without_settings_five_providers_and_the_libraries_can_be_asked(libraries: Libraries) -> None:
    found = _by_name(libraries)
    assert [name for name, provider in found.items() if provider.needs is None] == [*_KEYLESS, "library:town"]
    for name in _KEYED:
        assert "CROWDNOTES_SEARCH_" in (found[name].needs or "")


def test_a_key_switches_a_provider_on(libraries: Libraries) -> None:
    keys = {"google_fact_check_key": "s3cret", "brave_key": "s3cret", "tavily_key": "s3cret", "ncbi_api_key": "s3cret"}
    found = _by_name(libraries, searxng_url="http://127.0.0.1:8888", **keys)
    assert all(provider.needs is None for provider in found.values())
    assert "s3cret" not in repr(list(found.values()))


def test_a_contact_address_opens_the_polite_pool(libraries: Libraries) -> None:
    assert _by_name(libraries)["crossref"].at_once == 1
    assert _by_name(libraries, contact_email="a@b.org")["crossref"].at_once == 3


def test_three_requests_a_second_are_let_through_to_crossref_with_a_contact_address_and_one_without(
    libraries: Libraries,
) -> None:
    def waits() -> None:
        raise JobCancelled("It had to wait.")

    def let_through(**settings: str) -> int:
        provider = _by_name(libraries, **settings, crossref_url=f"https://{len(settings)}.crossref.example")["crossref"]
        assert isinstance(provider, Crossref)
        with ExitStack() as slots:
            for number in range(10):
                try:
                    slots.enter_context(provider.service.pacer.slot(waits, 5.0))
                except JobCancelled:
                    return number
        raise AssertionError("there is no pace")

    assert let_through() == 1
    assert let_through(contact_email="a@b.org") == 3
