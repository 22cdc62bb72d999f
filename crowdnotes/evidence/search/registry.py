"""Which providers there are, at what pace each is asked, and what each still needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crowdnotes.evidence.library import Libraries
from crowdnotes.evidence.search.brave import Brave
from crowdnotes.evidence.search.crossref import Crossref
from crowdnotes.evidence.search.europe_pmc import EuropePmc
from crowdnotes.evidence.search.google_fact_check import GoogleFactCheck
from crowdnotes.evidence.search.local_library import LocalLibrary
from crowdnotes.evidence.search.medlineplus import MedlinePlus
from crowdnotes.evidence.search.provider import SearchProvider
from crowdnotes.evidence.search.pubmed import PubMed
from crowdnotes.evidence.search.searxng import SearXng
from crowdnotes.evidence.search.service import Pace, Service, shared_pacer, user_agent
from crowdnotes.evidence.search.tavily import Tavily
from crowdnotes.evidence.search.wikipedia import Wikipedia
from crowdnotes.settings import SearchSettings, Settings

_TOOL = "crowdnotes"
# Seconds are a tenth longer than the service's own: what leaves at even steps arrives at uneven ones.
_COURTEOUS = Pace(10, 1.1, 6)  # where no limit is published
_PUBMED = Pace(3, 1.1, 3)  # https://www.ncbi.nlm.nih.gov/books/NBK25497/
_PUBMED_WITH_KEY = Pace(10, 1.1, 5)
_MEDLINEPLUS = Pace(85, 66.0, 4)  # https://medlineplus.gov/about/developers/webservices/
_WIKIPEDIA = Pace(10, 1.1, 1)  # one after another: https://www.mediawiki.org/wiki/API:Etiquette
_CROSSREF = Pace(1, 1.1, 1)  # for lists, as its x-rate-limit headers say
_CROSSREF_POLITE = Pace(3, 1.1, 3)
_TAVILY = Pace(100, 66.0, 4)  # https://docs.tavily.com/documentation/rate-limits


def make_providers(settings: Settings, libraries: Libraries, names: Sequence[str] = ()) -> list[SearchProvider]:
    """Every online provider, whether it can be asked or not (`needs` tells), then the libraries named.

    The fact-checks come first: whether a claim was checked already is what a person wants to know first.
    Making them is cheap; the pace of each service is shared by all that are made in this process.
    """
    return [
        *_with_keys(settings.search),
        *_without_keys(settings.search),
        *(LocalLibrary(libraries, name) for name in names),
    ]


def _without_keys(search: SearchSettings) -> list[SearchProvider]:
    contact = search.contact_email
    who = {"tool": _TOOL} | ({"email": contact} if contact else {})
    key = search.ncbi_api_key
    return [
        EuropePmc(_service(search, search.europe_pmc_url, _COURTEOUS)),
        PubMed(
            _service(search, search.pubmed_url, _PUBMED_WITH_KEY if key else _PUBMED, {} if key else None),
            who | ({"api_key": key.get_secret_value()} if key else {}),
        ),
        MedlinePlus(_service(search, search.medlineplus_url, _MEDLINEPLUS), who),
        Wikipedia(_service(search, search.wikipedia_url, _WIKIPEDIA)),
        Crossref(
            _service(search, search.crossref_url, _CROSSREF_POLITE if contact else _CROSSREF),
            {"mailto": contact} if contact else {},
            at_once=3 if contact else 1,
            most_queries=4 if contact else 2,  # at its pace, more would hold up every case
        ),
    ]


def _with_keys(search: SearchSettings) -> list[SearchProvider]:
    google, brave, tavily = (
        key.get_secret_value() if key else ""
        for key in (search.google_fact_check_key, search.brave_key, search.tavily_key)
    )
    brave_pace = Pace(max(1, int(search.brave_per_second)), 1.1 / min(1.0, search.brave_per_second), 4)
    return [
        GoogleFactCheck(
            _service(search, search.google_fact_check_url, _COURTEOUS, {"X-Goog-Api-Key": google}),
            needs=None
            if google
            else _needs("GOOGLE_FACT_CHECK_KEY", "a key with the Fact Check Tools API switched on"),
        ),
        Brave(
            _service(search, search.brave_url, brave_pace, {"X-Subscription-Token": brave}),
            needs=None if brave else _needs("BRAVE_KEY", "a key of the Brave Search API"),
            at_once=min(4, max(1, int(search.brave_per_second))),
            most_queries=3 if search.brave_per_second < 2 else 8,
        ),
        Tavily(
            _service(search, search.tavily_url, _TAVILY, {"Authorization": f"Bearer {tavily}"}),
            needs=None if tavily else _needs("TAVILY_KEY", "a key of Tavily"),
        ),
        SearXng(
            _service(search, search.searxng_url or "", _COURTEOUS),
            needs=None if search.searxng_url else _needs("SEARXNG_URL", "the address of your SearXNG server"),
        ),
    ]


def _service(search: SearchSettings, url: str, pace: Pace, key_headers: Mapping[str, str] | None = None) -> Service:
    return Service(
        base_url=url,
        pacer=shared_pacer(url, pace),
        request_seconds=search.request_seconds,
        user_agent=user_agent(search.contact_email),
        headers=key_headers or {},
        keyed=key_headers is not None,
    )


def _needs(variable: str, what: str) -> str:
    return f"Set CROWDNOTES_SEARCH_{variable} to {what}."
