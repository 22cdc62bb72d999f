"""One request to a service: paced, bounded, tried again where that may help, and labelled when it fails.

Over the guarded transport of `connecting`: one deadline for the whole exchange, cancelled within a
quarter of a second, no redirects, no cookies, no proxies from the environment. Addresses and keys
stand in no error and no log.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from ssl import SSLContext
from typing import Any

import httpcore
import httpx

from crowdnotes import __version__
from crowdnotes.domain import FetchOutcome, ProviderState
from crowdnotes.errors import FetchError, InputError, SearchError
from crowdnotes.evidence.connecting import Deadline, GuardedBackend, GuardedTransport
from crowdnotes.evidence.guard import check_url
from crowdnotes.evidence.pausing import wait_out
from crowdnotes.evidence.search.base import Check
from crowdnotes.evidence.search.pacing import Pacer
from crowdnotes.evidence.unpacking import ACCEPT_ENCODING, read_capped

_MAX_BYTES = 5_000_000  # twenty Crossref records with all their references stay far below
_CONNECT_SECONDS = 5.0
_TRIES = 3
_FIRST_PAUSE = 0.3  # seconds; doubled at each try, and drawn at random below that
_LONGEST_PAUSE = 3.0  # a service that wants more is left alone, and the person is told
_LONGEST_HOLD = 600.0  # and for so long at most: after that it may tell us again
_PASSING = frozenset({408, 500, 502, 503, 504})
_TOO_OFTEN = frozenset({429, 432, 433})  # 432 and 433 are Tavily's: the plan's limit is used up
_KEY_REFUSED = frozenset({400, 401, 403, 422})  # Google says 400 and Brave 422 to a wrong key


@dataclass(frozen=True, slots=True)
class Service:
    """One HTTP service. `headers` may hold a key; `keyed` says that it needs one."""

    base_url: str
    pacer: Pacer
    request_seconds: float
    user_agent: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    keyed: bool = False
    pause: Callable[[float], float] = field(default=lambda longest: random.uniform(longest / 2, longest))  # noqa: S311

    def get(self, path: str, params: Mapping[str, str | int], check: Check) -> bytes:
        """The body of a successful answer. Raises SearchError for any other, and whatever `check` raises."""
        return self._ask("GET", path, check, params={name: str(value) for name, value in params.items()})

    def post(self, path: str, document: Mapping[str, object], check: Check) -> bytes:
        """The same for a JSON document that is posted."""
        return self._ask("POST", path, check, json=document)

    def _ask(self, method: str, path: str, check: Check, **content: Any) -> bytes:
        for tried in range(1, _TRIES + 1):
            with self.pacer.slot(check, _LONGEST_PAUSE):
                answer = self._once(method, path, check, content)
            if isinstance(answer, bytes):
                return answer
            pause = self.pause(_FIRST_PAUSE * 2**tried) if answer.retry_after is None else answer.retry_after
            if answer.retry_after is not None:
                self.pacer.hold(min(pause, _LONGEST_HOLD))
            if not answer.passing or tried == _TRIES or pause > _LONGEST_PAUSE:
                raise answer.error
            wait_out(pause, check)
        raise AssertionError("unreachable")

    def _once(self, method: str, path: str, check: Check, content: Mapping[str, Any]) -> bytes | _Refusal:
        headers = {
            "User-Agent": self.user_agent,
            "Accept": "application/json, application/xml;q=0.9, text/xml;q=0.9",
            "Accept-Encoding": ACCEPT_ENCODING,
            "Connection": "close",
            **self.headers,
        }
        try:
            request = httpx.Request(method, f"{self.base_url.rstrip('/')}{path}", headers=headers, **content)
            # The address is a setting, so it may lie on a private network: a SearXNG server often does.
            netloc = request.url.netloc.decode("ascii")
            target = check_url(self.base_url, {netloc, request.url.host})
            backend = GuardedBackend({target.host}, _CONNECT_SECONDS, Deadline(self.request_seconds, check))
            with closing(GuardedTransport(backend, _ssl_context()).handle_request(request)) as response:
                if response.status_code >= 300:
                    return _refusal(response.status_code, response.headers, keyed=self.keyed)
                encoding = response.headers.get("Content-Encoding", "")
                return read_capped(response.iter_raw(), encoding, _MAX_BYTES)
        except FetchError as error:
            return _Refusal(_labelled(error), passing=error.outcome is FetchOutcome.UNREACHABLE)
        except (httpcore.NetworkError, httpcore.ProtocolError):
            return _Refusal(SearchError("It broke off in the middle of its answer.", ProviderState.FAILED), True)
        except (InputError, httpx.InvalidURL, UnicodeError):
            # From None: the address may hold a key.
            raise SearchError("Its address in the settings is not a valid one.", ProviderState.FAILED) from None


def user_agent(contact: str | None) -> str:
    """Who asks, with an e-mail address where one is set: several services serve those better."""
    told = f"; mailto:{contact}" if contact else ""
    return f"CrowdNotes/{__version__} (evidence search for Community Notes{told})"


@dataclass(frozen=True, slots=True)
class _Refusal:
    error: SearchError
    passing: bool
    retry_after: float | None = None


def _refusal(status: int, headers: httpx.Headers, *, keyed: bool) -> _Refusal:
    wait = _retry_after(headers.get("Retry-After", ""))
    if status in _TOO_OFTEN:
        said = f" for {wait:.0f} seconds" if wait else ""
        error = SearchError(f"It was asked too often and wants a pause{said} ({status}).", ProviderState.RATE_LIMITED)
        return _Refusal(error, status == 429, wait)
    if status in _PASSING:
        state = ProviderState.TIMED_OUT if status in (408, 504) else ProviderState.FAILED
        return _Refusal(SearchError(f"It has trouble of its own ({status}).", state), True, wait)
    if status < 400:
        return _Refusal(SearchError(f"It has moved to another address ({status}).", ProviderState.FAILED), False)
    if keyed and status in _KEY_REFUSED:
        error = SearchError(f"It refused the request ({status}).", ProviderState.FAILED, "Check its key.")
        return _Refusal(error, False)
    return _Refusal(SearchError(f"It refused the request ({status}).", ProviderState.FAILED), False)


def _retry_after(header: str) -> float | None:
    """Seconds from a Retry-After header, which gives seconds or a moment (RFC 9110 10.2.3)."""
    header = header.strip()
    if header.isascii() and header.isdigit():
        return float(header[:6])
    try:
        moment = parsedate_to_datetime(header)
    except (ValueError, IndexError, OverflowError):
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (aware - datetime.now(UTC)).total_seconds())


def _labelled(error: FetchError) -> SearchError:
    """The words of a failed exchange, for a service rather than a page."""
    if error.outcome is FetchOutcome.TIMED_OUT:
        return SearchError("It did not answer in time.", ProviderState.TIMED_OUT)
    if error.outcome is FetchOutcome.UNREACHABLE:
        return SearchError("It cannot be reached from here.", ProviderState.FAILED, "Check the connection.")
    if error.outcome is FetchOutcome.TOO_LARGE:
        return SearchError("Its answer is larger than any answer should be.", ProviderState.FAILED)
    return SearchError("Its answer is damaged.", ProviderState.FAILED)


@cache
def _ssl_context() -> SSLContext:
    return httpx.create_ssl_context(trust_env=False)
