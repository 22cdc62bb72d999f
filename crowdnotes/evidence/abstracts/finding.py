"""One service after another, until one has the abstract; what each said stays to be told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from crowdnotes.errors import FetchError, SearchError
from crowdnotes.evidence.abstracts.base import Abstract, AbstractService
from crowdnotes.evidence.abstracts.crossref import CrossrefAbstracts
from crowdnotes.evidence.abstracts.europe_pmc import EuropePmcAbstracts
from crowdnotes.evidence.abstracts.paper import Paper
from crowdnotes.evidence.abstracts.pubmed import PubMedAbstracts
from crowdnotes.evidence.connecting import Deadline
from crowdnotes.evidence.search.base import Check, SearchProvider
from crowdnotes.evidence.search.crossref import Crossref
from crowdnotes.evidence.search.europe_pmc import EuropePmc
from crowdnotes.evidence.search.pubmed import PubMed

_SECONDS = 15.0  # for all services together: the page itself was waited for already


class AbstractFinder:
    """Safe to share between threads when its services are."""

    def __init__(self, services: Sequence[AbstractService]) -> None:
        self._services = tuple(services)

    def find(self, paper: Paper, check: Check) -> Abstract | str:
        """The first abstract that a service has, else a sentence that says what each answered.

        Raises nothing but what `check` raises.
        """
        deadline = Deadline(_SECONDS, check)
        said: list[str] = []
        for service in self._services:
            try:
                deadline.left()
                found = service.abstract(paper, lambda: _no_more_than(deadline))
            except SearchError as error:
                said.append(f"{service.label}: {error.message}")
            except FetchError:
                said.append(f"{service.label}: It did not answer in time.")
                break
            else:
                if found is not None:
                    return found
                said.append(f"{service.label} has none.")
        return " ".join(["Its abstract could not be had either.", *said]) if said else ""


def make_finder(providers: Iterable[SearchProvider]) -> AbstractFinder:
    """A finder over the services behind these providers, at the same addresses and pace."""
    services: list[AbstractService] = []
    for provider in providers:
        if isinstance(provider, EuropePmc):
            services.append(EuropePmcAbstracts(provider.service))
        elif isinstance(provider, PubMed):
            services.append(PubMedAbstracts(provider.service, provider.credentials))
        elif isinstance(provider, Crossref):
            services.append(CrossrefAbstracts(provider.service, provider.credentials))
    return AbstractFinder(services)


def _no_more_than(deadline: Deadline) -> None:
    deadline.left()
