"""Whether the links of a note answer now. X's own evaluator asks for a 200 within a few tries, and so do we.

Every try goes through the guard, redirects too; nothing is cached, and nothing is read but the
answer's head. A fault of the connection, a 5xx or a 429 is tried again after a short pause.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial
from typing import Protocol

from crowdnotes.domain import FetchOutcome, LinkCheck, LinkState
from crowdnotes.errors import FetchError, InputError
from crowdnotes.evidence.fetching import follow, no_check
from crowdnotes.evidence.ssrf_guard import Deadline, cancellable_sleep
from crowdnotes.evidence.wayback import Wayback
from crowdnotes.settings_sections import FetchSettings

Check = Callable[[], None]

_MAX_CONCURRENT_LINKS = 8  # a note of 280 characters holds few links
_FIRST_PAUSE_SECONDS = 0.3  # seconds; doubled at each try, and drawn at random between half of it and all
_BLOCKED_STATUSES = frozenset({401, 402, 403, 407, 429, 451, 999})  # 999 is LinkedIn's refusal of programs
_DEAD_STATUSES = frozenset({404, 410})


class LinkAsker(Protocol):
    """Asks one link once. Implementations are safe to share between threads."""

    def status(self, url: str, seconds: float, check: Check) -> int:
        """Return the HTTP status where the redirects end, after `seconds` at most.

        Raises FetchError when none came (REFUSED by the guard, UNREACHABLE, TIMED_OUT), InputError for
        what is no web address, and whatever `check` raises.
        """
        ...


class HttpLinkAsker:
    """The real thing, over HTTP/1.1 and the guarded transport."""

    def __init__(self, settings: FetchSettings, allowed_private_hosts: tuple[str, ...] = ()) -> None:
        self._settings = settings
        self._allowed_hosts = frozenset(allowed_private_hosts)

    def status(self, url: str, seconds: float, check: Check) -> int:
        """See `LinkAsker.status`."""
        deadline = Deadline(seconds, check)
        # GET, because many sites answer HEAD otherwise than a reader's browser; the body stays unread.
        return follow([url], lambda response: response.status_code, self._settings, self._allowed_hosts, deadline)


@dataclass(frozen=True, slots=True)
class LinkLimits:
    """How often and for how long the links of a note are asked."""

    tries: int = 3  # X's evaluator too asks a few times before it calls a link dead
    request_seconds: float = 6.0  # for one try; a page that is slower loses its readers
    total_seconds: float = 15.0  # for all links of a note together, which are asked at once


@dataclass(frozen=True, slots=True)
class LinkChecker:
    """Asks several links side by side. `pause` draws a wait from the longest one, in seconds.

    `wayback`, if there is one, is asked for copies of pages that are gone.
    """

    link_asker: LinkAsker
    limits: LinkLimits
    clock: Callable[[], datetime]
    pause: Callable[[float], float] = lambda longest: random.uniform(longest / 2, longest)  # noqa: S311
    wayback: Wayback | None = None

    def check(self, urls: Sequence[str], check: Check = no_check, until: date | None = None) -> tuple[LinkCheck, ...]:
        """Return how each URL answers, in their order; "cdc.gov" without a scheme is asked by https.

        An archived copy of a dead page is not later than `until`. Takes `limits.total_seconds` at most.
        Never raises for what the web does, only what `check` does.
        """
        ends = time.monotonic() + self.limits.total_seconds
        with ThreadPoolExecutor(_MAX_CONCURRENT_LINKS, thread_name_prefix="crowdnotes-link") as pool:
            return tuple(pool.map(lambda url: self._check_one(url, ends, until, check), dict.fromkeys(urls)))

    def _check_one(self, url: str, ends: float, until: date | None, check: Check) -> LinkCheck:
        full = url if "://" in url else f"https://{url}"
        tried = 0
        while True:
            tried += 1
            found = self._try(url, full, tried, max(0.01, ends - time.monotonic()), check)
            wait = self.pause(_FIRST_PAUSE_SECONDS * 2 ** (tried - 1))
            if tried == self.limits.tries or not _is_worth_retrying(found) or time.monotonic() + wait >= ends:
                break
            cancellable_sleep(wait, check)
        left = ends - time.monotonic()
        if self.wayback is None or not found.is_gone or left <= 0:
            return found.replace(until=until)
        copy, archive_reply = self.wayback.ask(full, until, Deadline(left, check).check)
        sentence = f"{found.sentence} {archive_reply}".strip()
        archived = copy.url if copy else None
        return found.replace(until=until, sentence=sentence, archived_url=archived)

    def _try(self, url: str, full: str, tried: int, left: float, check: Check) -> LinkCheck:
        found = partial(LinkCheck, url=url, checked_at=self.clock(), tries=tried)
        try:
            status = self.link_asker.status(full, min(self.limits.request_seconds, left), check)
        except InputError as error:
            return found(state=LinkState.REFUSED, sentence=error.message)
        except FetchError as error:
            refused = error.outcome is FetchOutcome.REFUSED
            return found(state=LinkState.REFUSED if refused else LinkState.UNREACHABLE, sentence=error.message)
        state, sentence = _classify_status(status)
        return found(state=state, status=status, sentence=sentence)


def _classify_status(status: int) -> tuple[LinkState, str]:
    """Return what a status says of a link; only a 200 is live."""
    if status == 200:
        return LinkState.LIVE, ""
    if status in _DEAD_STATUSES:
        return LinkState.DEAD, "This page does not exist."
    if status in _BLOCKED_STATUSES:
        return LinkState.BLOCKED, "The site refuses programs. X's check may fail too."
    return LinkState.UNREACHABLE, ("The site has a fault." if status >= 500 else "The site sent no page.")


def _is_worth_retrying(found: LinkCheck) -> bool:
    """Return whether another try may go better."""
    if found.status is not None:
        return found.status == 429 or (found.status >= 500 and found.status not in _BLOCKED_STATUSES)
    return found.state is LinkState.UNREACHABLE
