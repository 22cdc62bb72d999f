"""Which providers there are. A new one is a file of its own and one line here."""

from __future__ import annotations

from collections.abc import Sequence

from crowdnotes.evidence.library import Libraries
from crowdnotes.evidence.search.brave import Brave
from crowdnotes.evidence.search.crossref import Crossref
from crowdnotes.evidence.search.europe_pmc import EuropePmc
from crowdnotes.evidence.search.google_fact_check import GoogleFactCheck
from crowdnotes.evidence.search.local_library import LocalLibrary
from crowdnotes.evidence.search.medlineplus import MedlinePlus
from crowdnotes.evidence.search.provider import OnlineProvider, SearchProvider
from crowdnotes.evidence.search.pubmed import PubMed
from crowdnotes.evidence.search.searxng import SearXng
from crowdnotes.evidence.search.tavily import Tavily
from crowdnotes.evidence.search.wikipedia import Wikipedia
from crowdnotes.settings import SearchSettings, Settings

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
)


def make_providers(settings: Settings, libraries: Libraries, names: Sequence[str] = ()) -> list[SearchProvider]:
    """Every online provider, whether it can be asked or not (`needs` tells), then the libraries named.

    Making them is cheap; the pace of each service is shared by all that are made in this process.
    """
    online = [kind.make(settings.search) for kind in ONLINE]
    return [*online, *(LocalLibrary(libraries, name) for name in names)]


def chosen_at_first(search: SearchSettings) -> list[str]:
    """The online providers that can be asked and that the setting names, and those that somebody set up."""
    wanted = search.services
    return [
        kind.name
        for kind in ONLINE
        if kind.make(search).needs is None and (not kind.free or wanted is None or kind.name in wanted)
    ]
