"""Search all providers side by side, and keep on disk what services answered within the last day.

A provider that fails is shown as failed, and the rest go on. An answer is found by a hash of all that shapes it, so
neither the searches nor where they came from can be read from the file. Libraries are not in it.
"""

from __future__ import annotations

import contextvars
import hashlib
import json
import logging
import re
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from types import MappingProxyType

from pydantic import BaseModel, TypeAdapter, ValidationError

from crowdnotes.domain import Hit, Post, ProviderOutcome, ProviderState, Query, SourceCategory
from crowdnotes.engines import Engine, SearchPlan
from crowdnotes.engines.local.health_terms import find_topics
from crowdnotes.errors import CrowdNotesError, SearchError
from crowdnotes.evidence.duplicates import merge
from crowdnotes.evidence.search.provider import OnlineProvider, SearchesTogether, SearchProvider
from crowdnotes.evidence.search.service import KEY_REFUSED_STATUSES, Check, Exchange
from crowdnotes.evidence.source_types import categorise
from crowdnotes.settings_sections import SearchSettings
from crowdnotes.storage.disk_cache import DiskCache
from crowdnotes.text.markdown import host
from crowdnotes.text.names import figures_in, names_in
from crowdnotes.text.note_rules import without_urls
from crowdnotes.text.plain_letters import plain_letters
from crowdnotes.text.tokens import words
from crowdnotes.text.urls import identities, trials_in
from crowdnotes.wording import plural

Asked = tuple[str, str, str, int, date | None, str | None]
"""The provider's name and address, the query, how many hits, until which day, and the language."""

_MAX_AGE_SECONDS = 86_400.0  # seconds
_MAX_CACHED_SEARCHES = 5_000  # of about ten hits each: some 50 megabytes
_HITS_ADAPTER = TypeAdapter(tuple[float, list[Hit]])


class SearchCache:
    """What services found lately, by what they were asked; drops what was unused longest. Safe for threads."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._store = DiskCache(path, _MAX_CACHED_SEARCHES, "search cache")

    def get(self, asked: Asked) -> list[Hit] | None:
        """Return what was found within the last day; None where it was not asked."""
        key = _hash_request(asked)
        kept = self._store.get([key]).get(key)
        try:
            at, hits = _HITS_ADAPTER.validate_json(kept or b"null")
        except ValidationError:  # nothing, or of another version of the program
            return None
        if not 0 <= self._clock() - at <= _MAX_AGE_SECONDS:
            return None
        return [hit.replace(query=asked[2]) for hit in hits]

    def put(self, asked: Asked, hits: list[Hit]) -> None:
        """Keep what was found now."""
        found = [hit.replace(query="") for hit in hits]
        self._store.put({_hash_request(asked): _HITS_ADAPTER.dump_json((self._clock(), found))})


def _hash_request(asked: Asked) -> bytes:
    return hashlib.sha256(json.dumps(asked, default=str).encode()).digest()


_log = logging.getLogger(__name__)
_POLL_SECONDS = 0.1  # seconds between two looks at whether the job was cancelled
_MAX_OTHER_WORDS = 4  # in a search that is about a name
# How many trial numbers, names and figures of a post get a search of their own.
_MAX_TRIAL_QUERIES, _MAX_NAME_QUERIES, _MAX_FIGURE_QUERIES = 1, 2, 1
_CANCEL_SECONDS = 2.0  # seconds for the providers to notice that the search was cancelled
# Every provider has something on at least one of these.
CHECK_QUERY = "measles vaccine ibuprofen World Health Organization"

_VARIABLE_PATTERN = re.compile(r"\bCROWDNOTES_[A-Z_]+")
_NOT_HERE_STATUSES = frozenset({404, 405, 410})

Report = Callable[[ProviderOutcome], None]


@dataclass(frozen=True, slots=True)
class _SearchRequest:
    """What all providers of one search are asked; see `search_all` for what each part means."""

    queries: Sequence[str]
    post: str
    limit: int
    until: date | None
    languages: Mapping[str, str | None]
    seconds: float
    patience: float
    cache: SearchCache | None
    by_name: Collection[str] = ()


class _SearchEnded(Exception):  # noqa: N818 - no error: the search was stopped, or enough was found
    pass


class _ProviderSearch:
    """One provider's part of one search, for `lanes` threads at once."""

    def __init__(self, provider: SearchProvider, request: _SearchRequest, stopping: threading.Event) -> None:
        self._provider = provider
        self._request = request
        self._stopping = stopping
        together = isinstance(provider, SearchesTogether)
        asked = (query for query in request.queries if not (together and query in request.by_name))
        self._asked = list(dict.fromkeys(asked))[: provider.most_queries]
        self._tasks = deque([self._asked] if together and self._asked else [[query] for query in self._asked])
        self._given = len(self._tasks)
        self.lanes = 0 if provider.needs else min(provider.at_once, self._given)
        self._found: dict[str, list[Hit]] = {}
        self._late = self._left_out = 0
        self._remembered = 0
        self._partial = ""
        self._why_not_asked = "There was nothing to search for."
        self._error: CrowdNotesError | None = None
        self._lock = threading.Lock()
        self._began = self._ended = time.monotonic()

    @property
    def rankings(self) -> list[list[Hit]]:
        """A ranking for each query that was answered, in the order of the queries."""
        return [self._found[query] for query in self._asked if query in self._found]

    def outcome(self) -> ProviderOutcome:
        """Return how it ended."""
        provider, hits = self._provider, [hit for ranking in self.rankings for hit in ranking]
        state, sentence = self._judged()
        return ProviderOutcome(
            provider=provider.name,
            label=provider.label,
            state=state,
            found=len({max(identities(hit)) for hit in hits}),
            seconds=round(self._ended - self._began, 3),
            sentence=sentence,
        )

    def _judged(self) -> tuple[ProviderState, str]:
        if self._provider.needs:
            return ProviderState.NOT_CONFIGURED, self._provider.needs
        if not self._given:
            return ProviderState.NOT_ASKED, self._why_not_asked
        answered = len(self._found)
        if self._stopping.is_set() and answered < self._given and self._error is None:
            return ProviderState.CANCELLED, "The search ended before it answered."
        late = f"{self._late} after {self._request.until} left out." if self._late else ""
        if self._left_out:
            left_out = plural(
                self._left_out,
                "{n} of an excluded site left out.",
                "{n} of excluded sites left out.",
            )
            late = f"{late} {left_out}".strip()
        late = f"{late} {self._partial}".strip()
        if self._error is None:
            busy = f"It was slow: only {answered} of {self._given} searches ran." if answered < self._given else ""
            again = f"{self._remembered} of {self._given} answers are from earlier today." if self._remembered else ""
            return ProviderState.ANSWERED, " ".join(filter(None, (late, busy, again)))
        if answered:
            part = f"Only {answered} of {self._given} searches ran, then: {self._error}"
            return ProviderState.ANSWERED, f"{late} {part}".strip()
        return getattr(self._error, "state", ProviderState.FAILED), str(self._error)

    def start_lane(self) -> Future[None]:
        """Begin on a thread of its own: a daemon, so that one that hangs never keeps the program from ending."""
        lane: Future[None] = Future()

        def run() -> None:
            try:
                self._run_lane()
            finally:
                lane.set_result(None)

        inside = contextvars.copy_context()  # so that what it logs says of which case it is
        threading.Thread(target=inside.run, args=(run,), daemon=True, name="crowdnotes-search").start()
        return lane

    def _run_lane(self) -> None:
        """Ask one task after the other until there is none, or the provider fails or is given up."""
        try:
            while (queries := self._next()) is not None:
                self._check()
                try:
                    self._keep(queries[0], self._search(queries))
                except SearchError as error:
                    if error.state is ProviderState.NOT_ASKED:
                        self._leave_out_query(error)
                    elif error.found:
                        self._keep(queries[0], list(error.found))
                        self._partial = error.message
                    elif error.of_query:
                        self._fail(error, goes_on=True)
                    else:
                        raise
        except _SearchEnded:
            pass
        except CrowdNotesError as error:
            self._fail(error)
        except Exception as error:  # noqa: BLE001 - a fault in one provider must not cost the others' hits
            # Without the exception's own words: they may hold an address, and that a key.
            places = "".join(traceback.format_tb(error.__traceback__))
            _log.error("provider %s broke: %s\n%s", self._provider.name, type(error).__name__, places)
            self._fail(SearchError("We cannot read its answer.", ProviderState.FAILED))
        self._ended = time.monotonic()

    def _next(self) -> list[str] | None:
        with self._lock:
            return self._tasks.popleft() if self._tasks else None

    def _search(self, queries: list[str]) -> list[Hit]:
        provider, limit, until = self._provider, self._request.limit, self._request.until
        if isinstance(provider, SearchesTogether):
            return provider.search_together(
                queries, post=self._request.post, limit=limit, until=until, check=self._check
            )
        language = self._request.languages.get(queries[0])
        cache = self._request.cache
        where = provider.service.base_url if isinstance(provider, OnlineProvider) else ""
        asked = (provider.name, where, queries[0], limit, until, language)
        if cache is not None and (known := cache.get(asked)) is not None:
            with self._lock:
                self._remembered += 1
            return known
        found = provider.search(queries[0], limit=limit, until=until, language=language, check=self._check)
        if cache is not None:
            cache.put(asked, found)
        return found

    def _keep(self, query: str, hits: list[Hit]) -> None:
        until = self._request.until
        in_time = [hit for hit in hits if until is None or hit.published is None or hit.published <= until]
        hosts = self._provider.leave_out if isinstance(self._provider, OnlineProvider) else ()
        kept = [hit for hit in in_time if not _is_on_hosts(hit, hosts)]
        with self._lock:
            self._found[query] = kept
            self._late += len(hits) - len(in_time)
            self._left_out += len(in_time) - len(kept)

    def _leave_out_query(self, error: SearchError) -> None:
        with self._lock:
            self._given -= 1
            self._why_not_asked = error.message

    def _fail(self, error: CrowdNotesError, *, goes_on: bool = False) -> None:
        """Keep the first error; what was not asked yet is not asked, unless the error is of one query alone."""
        with self._lock:
            self._error = self._error or error
            if not goes_on:
                self._tasks.clear()

    def _check(self) -> None:
        elapsed = time.monotonic() - self._began
        if self._stopping.is_set() or (elapsed > self._request.patience and self._found):
            raise _SearchEnded
        if elapsed > self._request.seconds:
            raise SearchError(
                f"It took over {self._request.seconds:g} seconds, so we went on without it.",
                ProviderState.TIMED_OUT,
            )


def _is_on_hosts(hit: Hit, hosts: Sequence[str]) -> bool:
    where = f".{host(hit.url)}"
    return any(where.endswith(f".{one}") for one in hosts)


def plan_for(
    engine: Engine,
    post: Post,
    limit: int,
    today: date,
    places: Sequence[str] = (),
    *,
    diverse: bool = True,
    insisted: bool = False,
) -> SearchPlan:
    """Return the engine's claims and searches; without `diverse` the post's text is the only search.

    `places` are what will be searched, each with what it holds. `insisted`: a person wants a note, so that what is no
    claim to the engine is searched for as one.

    The latter is for studies: CrowdNotes+ Table 3 takes the diverse queries away. The number of a trial is searched
    for after the first search. Names and figures of the post and its claims come last and beyond the limit, in
    quotation marks, so that they take no place from a search that says what is asked.
    """
    plan = engine.plan(post, limit, today, places)
    plan = plan.as_insisted() if insisted and limit else plan
    text = plain_letters(post.whole_text.strip())
    if diverse or not text:
        if not plan.queries:
            return plan
        language = plan.queries[0].language
        trials = [Query(text=number, purpose="the trial", language=language) for number in trials_in(text)]
        queries = (*plan.queries[:1], *trials[:_MAX_TRIAL_QUERIES], *plan.queries[1:])
        queries = queries[: max(limit, len(plan.queries))]
        return replace(plan, queries=(*queries, *_build_named_queries(plan, text)))
    whole = Query(text=text, purpose="the post itself", language=post.language)
    return SearchPlan(plan.claims, (whole,), wanted=plan.wanted)


def _build_named_queries(plan: SearchPlan, text: str) -> list[Query]:
    """Return a search for each name and figure that no search has yet, in quotation marks, with the post's subject."""
    subject = next((topic.official for topic in find_topics(text)), "")
    # An address holds no names, and a name does not go on in the next text.
    said = ". ".join(without_urls(part) for part in (text, *(plain_letters(claim.in_full) for claim in plan.claims)))
    searched = [frozenset(words(query.text.lower())) for query in plan.queries]
    wanted = [*names_in(said)[:_MAX_NAME_QUERIES], *figures_in(said)[:_MAX_FIGURE_QUERIES]]
    return [
        Query(
            text=f'"{it}" {subject}'.strip(), purpose=f"{it}, by name", language=plan.queries[0].language, by_name=True
        )
        for it in wanted
        if not any(_is_about(asked, words(it.lower())) for asked in searched)
    ]


def _is_about(asked: frozenset[str], name: Sequence[str]) -> bool:
    return asked.issuperset(name) and len(asked) <= len(name) + _MAX_OTHER_WORDS


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
    cache: SearchCache | None = None,
    by_name: Collection[str] = (),
) -> SearchReport:
    """Ask every provider that is configured, each at its own pace, for `limit` hits a query.

    Hits dated after `until` are left out here whatever the provider did; undated ones stay, with
    `published` None. A provider that is not done after `provider_seconds` keeps what it found; one that
    has answered something is asked nothing more after `patience_seconds`, so that many cases at once,
    which share its pace, do not wait for each other's last queries.
    `categories` are the user's own kinds of source by host: each hit gets its kind, see `source_types`.
    What `cache` remembers of a service is not asked again. Libraries are not asked the queries that go `by_name`.
    `languages` maps queries to ISO 639-1 codes, for services that have editions. `report` is called for each
    provider as it ends. `check` is called often from this thread; what it raises ends the search and passes
    through: within a moment, or two seconds when a provider does not look up from its work.
    """
    stopping = threading.Event()
    # Search services know no "Unicode fonts".
    asked = [plain_letters(query) for query in queries]
    spoken = {plain_letters(query): language for query, language in languages.items()}
    named = [plain_letters(query) for query in by_name]
    post = plain_letters(post)
    request = _SearchRequest(asked, post, limit, until, spoken, provider_seconds, patience_seconds, cache, named)
    works = [_ProviderSearch(provider, request, stopping) for provider in providers]
    waiting = {work: [work.start_lane() for _ in range(work.lanes)] for work in works}
    try:
        while waiting:
            check()
            busy = [lane for of_one in waiting.values() for lane in of_one if not lane.done()]
            wait(busy, _POLL_SECONDS, FIRST_COMPLETED)
            for work in [work for work, of_one in waiting.items() if all(lane.done() for lane in of_one)]:
                del waiting[work]
                report(work.outcome())
    except BaseException:
        stopping.set()
        wait([lane for of_one in waiting.values() for lane in of_one], _CANCEL_SECONDS)
        for work in waiting:
            report(work.outcome())
        raise
    merged = merge([work.rankings for work in works])
    hits = tuple(hit.replace(category=categorise(hit.url or "", categories)) for hit in merged)
    return SearchReport(hits, tuple(work.outcome() for work in works))


class ServiceCheck(ProviderOutcome):
    """How the check of one service went: what it was asked, what came back, and the setting that would help."""

    exchanges: tuple[Exchange, ...] = ()
    setting: str = ""


def check_providers(
    providers: Sequence[SearchProvider],
    *,
    provider_seconds: float = 20.0,
    check: Check = lambda: None,
    report: Callable[[ServiceCheck], None] = lambda _: None,
) -> tuple[ServiceCheck, ...]:
    """Check which providers answer from here, how fast, and what the others lack: one small search each."""
    exchanges_of: dict[str, list[Exchange]] = {provider.name: [] for provider in providers}
    recorded = {
        provider.name: _record_exchanges(provider, exchanges_of[provider.name].append) for provider in providers
    }

    def judge(outcome: ProviderOutcome) -> ServiceCheck:
        provider, exchanges = recorded[outcome.provider], exchanges_of[outcome.provider]
        setting = ""
        if isinstance(provider, OnlineProvider):
            keyed, options = provider.service.keyed, provider.options
            setting = setting_that_helps(outcome, exchanges, options, provider_seconds, keyed=keyed)
        return ServiceCheck(**dict(outcome), exchanges=tuple(exchanges), setting=setting)

    found = search_all(
        list(recorded.values()),
        [CHECK_QUERY],
        limit=1,
        provider_seconds=provider_seconds,
        check=check,
        report=lambda outcome: report(judge(outcome)),
    )
    return tuple(judge(outcome) for outcome in found.outcomes)


def _record_exchanges(provider: SearchProvider, on_exchange: Callable[[Exchange], None]) -> SearchProvider:
    if not isinstance(provider, OnlineProvider):
        return provider
    return replace(provider, service=replace(provider.service, on_exchange=on_exchange))


def setting_that_helps(
    outcome: ProviderOutcome,
    exchanges: Sequence[Exchange],
    options: type[BaseModel],
    provider_seconds: float,
    *,
    keyed: bool,
) -> str:
    """Return the variable to look at, with what it is; "" where it answered or no setting would help.

    `keyed`: it was asked with a key.
    """
    if outcome.state is ProviderState.ANSWERED:
        return ""
    last = exchanges[-1] if exchanges else None
    own = [f"CROWDNOTES_SEARCH_{name.upper()}" for name in options.model_fields]
    named = _VARIABLE_PATTERN.search(outcome.sentence)
    if named is not None:
        variable = named[0]
    elif outcome.state is ProviderState.TIMED_OUT:
        which = "PROVIDER" if outcome.seconds >= provider_seconds else "REQUEST"
        variable = f"CROWDNOTES_SEARCH_{which}_SECONDS"
    elif keyed and last is not None and last.status in KEY_REFUSED_STATUSES:
        variable = next((name for name in own if name.endswith("_KEY")), "")
    elif outcome.state is ProviderState.FAILED and (last is None or _is_elsewhere(last)):
        variable = next((name for name in own if name.endswith("_URL")), "")
    else:
        variable = ""
    fields = {**SearchSettings.model_fields, **options.model_fields}
    field = fields.get(variable.removeprefix("CROWDNOTES_SEARCH_").lower())
    return f"{variable}: {field.description}" if field is not None else variable


def _is_elsewhere(exchange: Exchange) -> bool:
    """Return whether nothing, or another service, answers at that address."""
    status = exchange.status
    if status is None or 300 <= status < 400 or status in _NOT_HERE_STATUSES:
        return True
    return status < 300 and "html" in exchange.answer.partition(":")[0]
