"""Search providers, one file each; a search asks them side by side and merges what they find.

They are listed here: a new one is a file of its own and one line in `ONLINE`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from crowdnotes.domain import SourceCategory
from crowdnotes.evidence.library import Libraries
from crowdnotes.evidence.search.clinical_trials import ClinicalTrials
from crowdnotes.evidence.search.google_fact_check import GoogleFactCheck
from crowdnotes.evidence.search.local_library import LocalLibrary
from crowdnotes.evidence.search.medicines import DailyMed, OpenFda
from crowdnotes.evidence.search.medlineplus import MedlinePlus
from crowdnotes.evidence.search.news import CurrentEvents, Gdelt
from crowdnotes.evidence.search.papers import Crossref, EuropePmc, OpenAlex
from crowdnotes.evidence.search.provider import OnlineProvider, SearchesTogether, SearchProvider
from crowdnotes.evidence.search.pubmed import PubMed
from crowdnotes.evidence.search.run import CHECK_QUERY, SearchReport, ServiceCheck, check_providers, search_all
from crowdnotes.evidence.search.web import Brave, SearXng, Tavily
from crowdnotes.evidence.search.when_to_ask import is_register, relevant_providers
from crowdnotes.evidence.search.who import WhoIris, WhoOutbreaks
from crowdnotes.evidence.search.wikimedia import Wikidata, Wikipedia
from crowdnotes.evidence.source_types import categorise
from crowdnotes.settings import Settings
from crowdnotes.settings_sections import SearchSettings

__all__ = [
    "CHECK_QUERY",
    "ONLINE",
    "OnlineProvider",
    "SearchProvider",
    "SearchReport",
    "SearchesTogether",
    "ServiceCheck",
    "check_providers",
    "default_providers",
    "describe_place",
    "gives_entries",
    "is_register",
    "make_online",
    "make_providers",
    "relevant_providers",
    "search_all",
]

# The fact-checks come first: whether a claim was checked already is what a person wants to know first.
ONLINE: tuple[type[OnlineProvider], ...] = (
    GoogleFactCheck,
    Brave,
    Tavily,
    SearXng,
    EuropePmc,
    PubMed,
    MedlinePlus,
    Wikipedia,
    Crossref,
    ClinicalTrials,
    OpenFda,
    DailyMed,
    OpenAlex,
    WhoOutbreaks,
    WhoIris,
    Wikidata,
    CurrentEvents,
    Gdelt,
)
_MAX_SITES_NAMED = 8  # of a library: enough to show what its pages can answer
_ENTRY_PROVIDERS = frozenset(kind.name for kind in ONLINE if kind.gives_entries)


def gives_entries(name: str) -> bool:
    """Return whether what the provider of that name finds is read as it gives it, and not from a page."""
    return name in _ENTRY_PROVIDERS


def describe_place(provider: SearchProvider) -> str:
    """As in "PubMed: papers of medicine, with abstracts"; of a library the kinds and sites of its pages."""
    if not isinstance(provider, LocalLibrary):
        return f"{provider.label}: {provider.brings}" if isinstance(provider, OnlineProvider) else provider.label
    sites = _sort_different_first(provider.sites())[:_MAX_SITES_NAMED]
    categories = dict.fromkeys(categorise(f"https://{site}/") for site in sites)
    kinds = ", ".join(category.value for category in categories if category is not SourceCategory.OTHER)
    such_as = f"; {f'{kinds} pages' if kinds else 'pages'} of {', '.join(sites)}" if sites else ""
    return f"{provider.label}: a fixed collection, searched by meaning{such_as}"


def _sort_different_first(sites: Counter[str]) -> list[str]:
    """Return the most frequent site of each organisation, then the second of each, and so on.

    One organisation may have most of the records on several hosts. Hosts with the same last two labels count as one's.
    """
    named: Counter[str] = Counter()
    turns: dict[str, int] = {}
    for site, _ in sites.most_common():
        ending = ".".join(site.split(".")[-2:])
        turns[site] = named[ending]
        named[ending] += 1
    return sorted(turns, key=turns.__getitem__)


def make_providers(settings: Settings, libraries: Libraries, names: Sequence[str] = ()) -> list[SearchProvider]:
    """Every online provider, whether it can be asked or not (see `needs`), then the libraries named.

    Making them is cheap; the pace of each service is shared by all that are made in this process.
    """
    return [*make_online(settings.search), *(LocalLibrary(libraries, name) for name in names)]


def make_online(search: SearchSettings) -> list[OnlineProvider]:
    """See `make_providers`, without the libraries."""
    return [replace(kind.make(search), leave_out=search.leave_out) for kind in ONLINE]


def default_providers(search: SearchSettings) -> list[str]:
    """Return the online providers that can be asked and that the setting names, and those that a person set up.

    Without the setting all that need no setting up; of those that search the web, only where none was set up.
    """
    ready = [provider for provider in make_online(search) if provider.needs is None]
    web = any(provider.searches_web and not provider.is_fallback for provider in ready)
    return [provider.name for provider in ready if _is_default(provider, search.services, web=web)]


def _is_default(provider: OnlineProvider, wanted: Sequence[str] | None, *, web: bool) -> bool:
    if wanted is not None and provider.name in wanted:
        return True
    if provider.is_fallback:
        return wanted is None and not web
    is_set_up = not provider.free or provider.searches_web
    return is_set_up or wanted is None
