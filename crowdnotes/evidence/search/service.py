"""One request to a service: paced, bounded, tried again where that may help, and labelled when it fails.

Over the guarded transport of `ssrf_guard`: one deadline for the whole exchange, cancelled within a
quarter of a second, no redirects, no cookies, no proxies from the environment. No error and no log
holds addresses or keys. The limit of requests belongs to the service, so all that ask it in this
process share one pacer, and on PostgreSQL all processes do (`use_shared_rates`).
"""

from __future__ import annotations

import random
import re
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import httpx
from sqlalchemy import Engine

from crowdnotes import PROJECT_PAGE, __version__
from crowdnotes.domain import FetchOutcome, ProviderState
from crowdnotes.errors import FetchError, InputError, SearchError, StoreError
from crowdnotes.evidence.fetching import ACCEPT_ENCODING, read_capped
from crowdnotes.evidence.reading.plain_text import plain_line
from crowdnotes.evidence.ssrf_guard import CONNECTION_ERRORS, Deadline, GuardedTransport, cancellable_sleep, check_url
from crowdnotes.settings_sections import SearchSettings
from crowdnotes.storage.rate_limits import RateLimiter, SharedRates, local_rate_limiter, shared_rate_limiter
from crowdnotes.text.dates import parse_http_date
from crowdnotes.text.markdown import host
from crowdnotes.wording import duration, fill

Check = Callable[[], None]

_POLL_SECONDS = 0.25  # seconds that a cancelled job waits at most
_BUSY_POLL_SECONDS = 0.02  # seconds until one that waits for another request to end looks again
_MAX_PACERS = 2_000  # sites of pages, mostly
_ABANDONED_SECONDS = 120.0  # no request takes so long: its process was killed
_MAX_ANSWER_BYTES = 5_000_000  # twenty Crossref records with all their references stay far below
_CONNECT_SECONDS = 5.0
_DEFAULT_TRIES = 3
_FIRST_PAUSE_SECONDS = 0.3  # seconds; doubled at each try, and drawn at random below that
_MAX_PAUSE_SECONDS = 3.0  # a service that wants more is left alone, and the person is informed
_MAX_HOLD_SECONDS = 600.0  # and for so long at most: after that it may say so again
_TRANSIENT_STATUSES = frozenset({408, 500, 502, 503, 504})
_RATE_LIMITED_STATUSES = frozenset({429, 432, 433})  # 432 and 433 are Tavily's: the plan's limit is used up
_QUOTA_STATUS = 402
KEY_REFUSED_STATUSES = frozenset({400, 401, 403, 422})  # Google says 400 and Brave 422 to a wrong key


@dataclass(frozen=True, slots=True)
class Pace:
    """At most `requests` begin within any `seconds`, and at most `at_once` are under way.

    `gap_seconds` pass between the end of one request and the beginning of the next.
    """

    requests: int
    seconds: float
    at_once: int
    gap_seconds: float = 0.0


class Pacer:
    """Lets requests through at a pace. Safe to share between threads; between processes with a `book` of theirs."""

    def __init__(
        self,
        pace: Pace,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        book: SharedRates | None = None,
    ) -> None:
        self._pace = pace
        self._sleep = sleep
        self._busy = _BUSY_POLL_SECONDS if book is None else _POLL_SECONDS  # a database is asked less often
        self._book = book or local_rate_limiter(clock)

    @contextmanager
    def slot(self, check: Callable[[], None], patience: float) -> Iterator[None]:
        """Wait for a turn and hold it. `check` is called while waiting.

        Raises SearchError(RATE_LIMITED) when a pause has more than `patience` seconds left: one that the service asked
        for, or the gap of its pace.
        """
        token = uuid.uuid4().hex[:8]
        while (wait := self._enter(token, patience)) > 0:
            self._sleep(min(wait, _POLL_SECONDS))
            check()
        try:
            yield
        finally:
            with self._turns() as (turns, now):
                turns.under_way.pop(token, None)
                turns.held_until = max(turns.held_until, now + self._pace.gap_seconds)

    def pause(self, seconds: float) -> None:
        """Let nobody through for so long: the service asked for it."""
        with self._turns() as (turns, now):
            turns.held_until = max(turns.held_until, now + seconds)

    def _enter(self, token: str, patience: float) -> float:
        """0 when the turn is taken, else seconds to wait before asking again."""
        with self._turns() as (turns, now):
            held = turns.held_until - now
            if held > patience:
                again = duration(held)
                said = (
                    "Another search just used it. It allows one request every "
                    f"{duration(self._pace.gap_seconds)}: search again in {again}."
                    if held <= self._pace.gap_seconds
                    else f"It was asked too often. Search again in {again}."
                )
                raise SearchError(said, ProviderState.RATE_LIMITED)
            full = len(turns.begun) >= self._pace.requests
            wait = max(held, turns.begun[-self._pace.requests] + self._pace.seconds - now if full else 0.0)
            turns.under_way = {one: until for one, until in turns.under_way.items() if until > now}
            if len(turns.under_way) >= self._pace.at_once:
                return max(wait, self._busy)
            if wait <= 0:
                turns.begun = [*turns.begun, now][-self._pace.requests :]
                turns.under_way[token] = now + _ABANDONED_SECONDS
            return max(wait, 0.0)

    @contextmanager
    def _turns(self) -> Iterator[tuple[RateLimiter, float]]:
        try:
            with self._book() as book:
                yield book
        except StoreError as error:
            raise SearchError(error.message, ProviderState.FAILED, error.next_step) from error


# Where no limit is published. Seconds of a pace are a tenth longer than the service's own: what leaves at even steps
# arrives at uneven ones.
COURTEOUS = Pace(10, 1.1, 6)
# Of all sites of Wikimedia together: 200 requests a minute from one address, for a client that names a contact, see
# https://www.mediawiki.org/wiki/Wikimedia_APIs/Rate_limits. Small steps, so that nobody waits for long.
WIKIMEDIA = Pace(18, 6.0, 3)
_WIKIMEDIA_SITES = (
    "wikipedia.org wikidata.org wikimedia.org mediawiki.org wiktionary.org wikisource.org wikibooks.org wikiquote.org "
    "wikivoyage.org wikiversity.org wikinews.org wikifunctions.org"
).split()
_shared_pacers: dict[tuple[str, Pace], Pacer] = {}
_rates_database: Engine | None = None
_pacers_lock = threading.Lock()


def use_shared_rates(database: Engine | None) -> None:
    """Let services that are opened from now on be asked at one pace by all processes on that database.

    None: by this process alone, without a word to any database.
    """
    global _rates_database  # noqa: PLW0603 - like the pacers: the limits are of the services, not of who asks
    with _pacers_lock:
        _rates_database = database
        _shared_pacers.clear()


def shared_pacer(service: str, pace: Pace) -> Pacer:
    """Return the one pacer of a service (by its address), see `use_shared_rates`."""
    with _pacers_lock:
        if len(_shared_pacers) >= _MAX_PACERS:
            _shared_pacers.clear()
        book = None if _rates_database is None else shared_rate_limiter(_rates_database, f"{service} {pace}")
        return _shared_pacers.setdefault((service, pace), Pacer(pace, book=book))


def wikimedia_pacer() -> Pacer:
    """Return the one pacer of all sites of Wikimedia."""
    return shared_pacer("Wikimedia", WIKIMEDIA)


def page_rate_limit(url: str, check: Check) -> AbstractContextManager[None]:
    """Return a turn at the site of a page, for all who read pages; see `Pacer.slot`."""
    site = host(url)
    is_wikimedia = any(f".{site}".endswith(f".{one}") for one in _WIKIMEDIA_SITES)
    pacer = wikimedia_pacer() if is_wikimedia else shared_pacer(site, COURTEOUS)
    return pacer.slot(check, _MAX_PAUSE_SECONDS)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request to a service and what came back, as an administrator may see it: no parameters and no key."""

    asked: str
    answer: str
    status: int | None = None


@dataclass(frozen=True, slots=True)
class Service:
    """One HTTP service. `headers` may hold a key; `keyed` says that it needs one.

    `quiet_seconds`: how long it is left alone after it said "too often" and not for how long; None tries again.
    `tries`: how often one request is made at most. `nothing_status`: what a service answers that found nothing;
    its body is given like any other. `raise_limit`: what to do so that it may be asked more often, as a sentence that
    names the setting. `on_exchange` gets each exchange.
    """

    base_url: str
    pacer: Pacer
    request_seconds: float
    user_agent: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    keyed: bool = False
    quiet_seconds: float | None = None
    tries: int = _DEFAULT_TRIES
    nothing_status: int | None = None
    raise_limit: str = ""
    on_exchange: Callable[[Exchange], None] | None = field(default=None, repr=False)
    pause: Callable[[float], float] = field(default=lambda longest: random.uniform(longest / 2, longest))  # noqa: S311

    def get(self, path: str, params: Mapping[str, str | int], check: Check) -> bytes:
        """Return the body of a successful answer. Raises SearchError for any other, and whatever `check` raises."""
        return self._ask("GET", path, check, params={name: str(value) for name, value in params.items()})

    def post(self, path: str, document: Mapping[str, object], check: Check) -> bytes:
        """Return the same for a JSON document that is posted."""
        return self._ask("POST", path, check, json=document)

    def too_often(self, message: str = "It was asked too often.") -> SearchError:
        """Return the error for a service that says so, with what to do about it."""
        return SearchError(message, ProviderState.RATE_LIMITED, self.raise_limit)

    def _ask(self, method: str, path: str, check: Check, **content: Any) -> bytes:
        for tried in range(1, self.tries + 1):
            try:
                with self.pacer.slot(check, _MAX_PAUSE_SECONDS):
                    answer = self._once(method, path, check, content)
            except SearchError as error:
                if error.state is ProviderState.RATE_LIMITED:
                    raise self.too_often(error.message) from error
                raise
            if isinstance(answer, bytes):
                return answer
            asked_for = answer.retry_after
            if asked_for is None and answer.error.state is ProviderState.RATE_LIMITED:
                asked_for = self.quiet_seconds
            pause = self.pause(_FIRST_PAUSE_SECONDS * 2**tried) if asked_for is None else asked_for
            if asked_for is not None:
                self.pacer.pause(min(pause, _MAX_HOLD_SECONDS))
            if not answer.passing or tried == self.tries or pause > _MAX_PAUSE_SECONDS:
                raise answer.error
            cancellable_sleep(pause, check)
        raise AssertionError("unreachable")

    def _once(self, method: str, path: str, check: Check, content: Mapping[str, Any]) -> bytes | _Refusal:
        headers = {
            "User-Agent": self.user_agent,
            "Accept": "application/json, application/xml;q=0.9, text/xml;q=0.9",
            "Accept-Encoding": ACCEPT_ENCODING,
            **self.headers,
        }
        exchange: Exchange | None = None
        try:
            request = httpx.Request(method, f"{self.base_url.rstrip('/')}{path}", headers=headers, **content)
            exchange = Exchange(f"{method} {request.url.host}{_hide_keys(request.url.path)}", "no answer")
            # The address is a setting, so it may lie on a private network: a SearXNG server often does.
            netloc = request.url.netloc.decode("ascii")
            target = check_url(self.base_url, {netloc, request.url.host})
            transport = GuardedTransport({target.host}, _CONNECT_SECONDS, Deadline(self.request_seconds, check))
            with closing(transport.handle_request(request)) as response:
                status, kind = response.status_code, response.headers.get("Content-Type", "of no stated type")
                exchange = replace(exchange, answer=f"{status}, {kind[:80]}", status=status)
                is_refusal = status >= 300 and status != self.nothing_status
                if is_refusal and self.on_exchange is None:
                    return self._refusal(status, response.headers)
                body = read_capped(response, _MAX_ANSWER_BYTES)
                exchange = replace(exchange, answer=f"{exchange.answer}, {len(body)} bytes")
                if not is_refusal:
                    return body
                if words := self._without_keys(plain_line(body[:_MAX_QUOTED_BYTES].decode(errors="replace")), content):
                    exchange = replace(exchange, answer=f"{exchange.answer}: “{words[:_MAX_QUOTED_CHARACTERS]}”")
                return self._refusal(status, response.headers)
        except FetchError as error:
            return _Refusal(_to_search_error(error), passing=error.outcome is FetchOutcome.UNREACHABLE)
        except CONNECTION_ERRORS:
            return _Refusal(SearchError("It stopped in the middle of its answer.", ProviderState.FAILED), True)
        except (InputError, httpx.InvalidURL, UnicodeError):
            # From None: the address may hold a key.
            raise SearchError("Its address in the settings is not valid.", ProviderState.FAILED) from None
        finally:
            if self.on_exchange is not None and exchange is not None:
                self.on_exchange(exchange)

    def _refusal(self, status: int, headers: httpx.Headers) -> _Refusal:
        return _build_refusal(status, headers, keyed=self.keyed, raise_limit=self.raise_limit)

    def _without_keys(self, words: str, content: Mapping[str, Any]) -> str:
        """Return what a service said, without the keys that it was sent: some repeat them."""
        sent = {**self.headers, **(content.get("params") or {})}
        keys = [key for name, value in sent.items() if _KEY_NAME_PATTERN.search(name) for key in value.split()]
        for key in sorted((key for key in keys if len(key) >= _MIN_KEY_CHARACTERS), key=len, reverse=True):
            words = words.replace(key, "…")
        return _hide_keys(words)


def open_service(
    search: SearchSettings,
    url: str,
    pace: Pace,
    key: Mapping[str, str] | None = None,
    *,
    quiet_seconds: float | None = None,
    raise_limit: str = "",
) -> Service:
    """Return the service at an address, asked at one pace by all callers. `key`: headers for one that needs a key.

    The others are as in `Service`.
    """
    return Service(
        base_url=url,
        pacer=shared_pacer(url, pace),
        request_seconds=search.request_seconds,
        user_agent=user_agent(search.contact_email),
        headers=key or {},
        keyed=key is not None,
        quiet_seconds=quiet_seconds,
        raise_limit=raise_limit,
    )


def contact(search: SearchSettings) -> dict[str, str]:
    """Return the parameters that name the asker to services of the National Library of Medicine."""
    return {"tool": "crowdnotes"} | ({"email": search.contact_email} if search.contact_email else {})


def user_agent(contact: str | None) -> str:
    """Return who asks, with a contact: Wikimedia lets a client without a contact through ten times a minute."""
    mail = f"; mailto:{contact}" if contact else ""
    return f"CrowdNotes/{__version__} ({PROJECT_PAGE}; evidence search for Community Notes{mail})"


# A part of an address, or a word, that mixes letters and digits at that length is more likely a key than anything else.
_LONG_WORD_PATTERN = re.compile(r"[\w-]{20,}")
_LETTER_PATTERN, _DIGIT_PATTERN = re.compile("[A-Za-z]"), re.compile(r"\d")
_KEY_NAME_PATTERN = re.compile(r"key|token|auth|secret|mail", re.IGNORECASE)
_MIN_KEY_CHARACTERS = 4
_MAX_QUOTED_BYTES = 4_000
_MAX_QUOTED_CHARACTERS = 200


def _hide_keys(text: str) -> str:
    def hide(word: re.Match[str]) -> str:
        return "…" if _LETTER_PATTERN.search(word[0]) and _DIGIT_PATTERN.search(word[0]) else word[0]

    return _LONG_WORD_PATTERN.sub(hide, text)


@dataclass(frozen=True, slots=True)
class _Refusal:
    error: SearchError
    passing: bool
    retry_after: float | None = None


def _build_refusal(status: int, headers: httpx.Headers, *, keyed: bool, raise_limit: str) -> _Refusal:
    wait = _parse_retry_after(headers.get("Retry-After", "").strip())
    if status in _RATE_LIMITED_STATUSES:
        said = (
            f"It was asked too often. Search again in {duration(wait)} ({status})."
            if wait
            else f"It was asked too often. Search again later ({status})."
        )
        error = SearchError(said, ProviderState.RATE_LIMITED, raise_limit, status=status)
        return _Refusal(error, status == 429, wait)
    if status in _TRANSIENT_STATUSES:
        state = ProviderState.TIMED_OUT if status in (408, 504) else ProviderState.FAILED
        return _Refusal(SearchError(f"It has a fault ({status}).", state, status=status), True, wait)
    words = (
        "It has moved to another address ({status})."
        if status < 400
        else "Its quota is used up ({status})."
        if status == _QUOTA_STATUS
        else "It refused the request ({status})."
    )
    is_key_refused = keyed and status in KEY_REFUSED_STATUSES
    next_step = "Check its key." if is_key_refused else raise_limit if status == _QUOTA_STATUS else ""
    return _Refusal(SearchError(fill(words, status=status), ProviderState.FAILED, next_step, status=status), False)


def _parse_retry_after(said: str) -> float | None:
    """Seconds from a Retry-After header, which gives seconds or a moment (RFC 9110, 10.2.3)."""
    if re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,9})?", said):
        return float(said)
    moment = parse_http_date(said)
    return None if moment is None else max(0.0, (moment - datetime.now(UTC)).total_seconds())


def _to_search_error(error: FetchError) -> SearchError:
    """Return the words of a failed exchange, for a service rather than a page."""
    if error.outcome is FetchOutcome.TIMED_OUT:
        return SearchError("No answer in time.", ProviderState.TIMED_OUT)
    if error.outcome is FetchOutcome.UNREACHABLE:
        return SearchError("No connection from here.", ProviderState.FAILED, "Check the connection.")
    if error.outcome is FetchOutcome.TOO_LARGE:
        return SearchError("Its answer is too large.", ProviderState.FAILED)
    return SearchError("Its answer is damaged.", ProviderState.FAILED)
