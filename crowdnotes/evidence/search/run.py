"""A search on all providers side by side: one that fails is shown as failed, and the rest go on."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType

from crowdnotes.domain import Hit, ProviderOutcome, SourceCategory
from crowdnotes.evidence.provenance import categorise
from crowdnotes.evidence.search.base import Check, SearchProvider
from crowdnotes.evidence.search.merging import merge
from crowdnotes.evidence.search.work import ProviderWork, Terms

_log = logging.getLogger(__name__)
_SLICE = 0.1  # seconds between two looks at whether the job was cancelled
_TRIAL = "measles vaccine"  # every provider that answers at all has something on it

Report = Callable[[ProviderOutcome], None]


@dataclass(frozen=True, slots=True)
class SearchReport:
    """What was found, merged and best first, and how each provider's part ended, in the order asked."""

    hits: tuple[Hit, ...]
    outcomes: tuple[ProviderOutcome, ...]


def search_all(
    providers: Sequence[SearchProvider],
    queries: Sequence[str],
    *,
    post: str = "",
    limit: int = 10,
    until: date | None = None,
    languages: Mapping[str, str | None] = MappingProxyType({}),
    provider_seconds: float = 20.0,
    patience_seconds: float = 5.0,
    check: Check = lambda: None,
    report: Report = lambda _: None,
    categories: Mapping[str, SourceCategory] = MappingProxyType({}),
) -> SearchReport:
    """Ask every provider that is configured, each at its own pace, for `limit` hits a query.

    Hits dated after `until` are left out here whatever the provider did; undated ones stay, with
    `published` None. A provider that is not done after `provider_seconds` keeps what it found; one that
    has answered something is asked nothing more after `patience_seconds`, so that many cases at once,
    which share its pace, do not wait for each other's last queries.
    `categories` are the user's own kinds of source by host: each hit gets its kind, see `provenance`.
    `languages` maps queries to ISO 639-1 codes, for services that have editions. `report` hears of each
    provider as it ends. `check` is called often from this thread; what it raises ends the search within a
    moment and passes through.
    """
    stopping = threading.Event()
    ended: queue.SimpleQueue[ProviderWork] = queue.SimpleQueue()
    terms = Terms(queries, post, limit, until, languages, provider_seconds, patience_seconds)
    works = [ProviderWork(provider, terms, stopping) for provider in providers]
    for work in works:
        work.start(ended)
    waiting = set(works)
    try:
        while waiting:
            check()
            try:
                work = ended.get(timeout=_SLICE)
            except queue.Empty:
                continue
            waiting.discard(work)
            report(work.outcome())
    except BaseException:
        stopping.set()
        for work in waiting:
            work.join()
            report(work.outcome())
        raise
    merged = merge([work.rankings for work in works])
    hits = tuple(hit.model_copy(update={"category": categorise(hit.url or "", categories)}) for hit in merged)
    return SearchReport(hits, tuple(work.outcome() for work in works))


def check_providers(
    providers: Sequence[SearchProvider],
    *,
    provider_seconds: float = 20.0,
    check: Check = lambda: None,
    report: Report = lambda _: None,
) -> tuple[ProviderOutcome, ...]:
    """Which providers answer from here, how fast, and what the others lack: one small search each."""
    found = search_all(providers, [_TRIAL], limit=1, provider_seconds=provider_seconds, check=check, report=report)
    return found.outcomes
