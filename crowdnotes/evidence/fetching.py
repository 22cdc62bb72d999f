"""Getting one page: from a link to its bytes, or to a label and a sentence that say why not.

Bounds are `FetchSettings`: redirects, bytes after unpacking, seconds for the whole exchange. No
cookies, no credentials, no proxies from the environment. Redirects are followed by hand, each
through the guard. What the cache answers is checked and bounded like what the site answers.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Collection, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol, TypeVar
from urllib.parse import urljoin

import httpx

from crowdnotes.domain import FetchOutcome
from crowdnotes.errors import FetchError, InputError
from crowdnotes.evidence.guard import BROKEN_OFF, Deadline, GuardedTransport, check_url
from crowdnotes.evidence.page_cache import PageCache, asked_at
from crowdnotes.evidence.reading.document import parse_content_type, settle_kind
from crowdnotes.settings import FetchSettings
from crowdnotes.text.urls import MAX_URL

T = TypeVar("T")

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_ACCEPT = "text/html,application/xhtml+xml,application/pdf;q=0.9,text/plain;q=0.8,text/markdown;q=0.8"
_LANGUAGE = "en;q=0.9,*;q=0.5"


@dataclass(frozen=True, slots=True)
class Page:
    """What came back for `requested_url`. `body` is unpacked, and empty unless `outcome` is READ.

    `url` is where the redirects ended. `fetched_at` is when the site said so, which for a page from the
    cache may be a day ago. `content_type` is one of `document.READABLE`, or "".
    `charset` is what the server said. `detail` is a sentence for the user when the outcome is not READ.
    """

    requested_url: str
    url: str
    outcome: FetchOutcome
    fetched_at: datetime
    content_type: str = ""
    charset: str | None = None
    body: bytes = field(default=b"", repr=False)
    detail: str = ""
    status: int | None = None


class PageFetcher(Protocol):
    """From a link to a page; never raises for what the web does."""

    def fetch(self, url: str, check: Callable[[], None] = ...) -> Page:
        """The page, or why it could not be had. `check` is called often; what it raises passes through."""
        ...


def no_check() -> None:
    """For a caller that cannot be cancelled."""


class Fetcher:
    """The real thing, over HTTP/1.1. Safe to share between threads."""

    def __init__(
        self, settings: FetchSettings, allowed_private_hosts: tuple[str, ...] = (), cache: PageCache | None = None
    ) -> None:
        self._settings = settings
        self._cache = cache
        self._allowed_hosts = frozenset(allowed_private_hosts)

    def fetch(self, url: str, check: Callable[[], None] = no_check) -> Page:
        """See `PageFetcher.fetch`. Takes `total_seconds` at most."""
        now = datetime.now(UTC)
        hops = [url.strip()]
        try:
            deadline = Deadline(self._settings.total_seconds, check)
            answer = follow(hops, self._take, self._settings, self._allowed_hosts, deadline, self._cache, _ACCEPT)
        except InputError as error:
            return Page(url, hops[-1], FetchOutcome.UNREACHABLE, now, detail=str(error))
        except FetchError as error:
            status = error.status if isinstance(error, _StatusError) else None
            return Page(url, hops[-1], error.outcome, now, detail=error.message, status=status)
        return Page(
            requested_url=url,
            url=hops[-1],
            outcome=FetchOutcome.READ,
            fetched_at=answer.asked_at,
            content_type=answer.kind,
            charset=answer.charset,
            body=answer.body,
            status=answer.status,
        )

    def _take(self, response: httpx.Response) -> _Answer:
        _refuse_status(response.status_code)
        declared = parse_content_type(response.headers.get("Content-Type"))
        declared.refuse_unreadable()
        length = response.headers.get("Content-Length", "")
        if re.fullmatch(r"\d{1,20}", length) and int(length) > self._settings.max_bytes:
            raise _too_large(self._settings.max_bytes)
        body = read_capped(response.iter_raw(), response.headers.get("Content-Encoding", ""), self._settings.max_bytes)
        return _Answer(settle_kind(declared, body), declared.charset, body, response.status_code, asked_at(response))


def follow(
    hops: list[str],
    take: Callable[[httpx.Response], T],
    settings: FetchSettings,
    allowed_hosts: Collection[str],
    deadline: Deadline,
    cache: PageCache | None = None,
    accept: str = "*/*",
) -> T:
    """What `take` makes of the answer at the end of the redirects; each hop goes through the guard.

    `hops` begins with the address and grows, so that a failure can name where it was. Raises FetchError, InputError
    for what is no web address, and whatever `take` and the deadline raise.
    """
    headers = {
        "User-Agent": settings.user_agent,
        "Accept": accept,
        "Accept-Encoding": ACCEPT_ENCODING,
        "Accept-Language": _LANGUAGE,
    }
    while len(hops) <= settings.max_redirects + 1:
        hops[-1] = url = check_url(hops[-1], allowed_hosts).url
        guarded = GuardedTransport(allowed_hosts, settings.connect_seconds, deadline)
        transport = cache.over(guarded) if cache is not None else guarded
        try:
            with closing(transport.handle_request(httpx.Request("GET", url, headers=headers))) as response:
                location = response.headers.get("Location")
                if response.status_code not in _REDIRECTS or not location:
                    return take(response)
        except BROKEN_OFF as error:
            raise FetchError("The site broke off before its answer was complete.", FetchOutcome.UNREACHABLE) from error
        except (httpx.InvalidURL, UnicodeError) as error:
            raise FetchError("The address is not a valid one.", FetchOutcome.UNREACHABLE) from error
        hops.append(_join(url, location))
    raise FetchError(f"The link redirects more than {settings.max_redirects} times.", FetchOutcome.UNREACHABLE)


@dataclass(frozen=True, slots=True)
class _Answer:
    kind: str
    charset: str | None
    body: bytes
    status: int
    asked_at: datetime


class _StatusError(FetchError):
    def __init__(self, message: str, outcome: FetchOutcome, status: int) -> None:
        super().__init__(message, outcome)
        self.status = status


def _join(base: str, location: str) -> str:
    try:
        address = urljoin(base, location) if len(location) <= MAX_URL else location
    except ValueError as error:
        raise FetchError("The site redirects to an invalid address.", FetchOutcome.UNREACHABLE) from error
    if len(address) > MAX_URL:
        raise FetchError(
            f"The site redirects to an address of {len(address):,} characters; at most {MAX_URL:,} can be read.",
            FetchOutcome.UNREACHABLE,
        )
    return address


def _refuse_status(status: int) -> None:
    """Raise for anything but success, in words."""
    if 200 <= status < 300:
        return
    outcome, message = FetchOutcome.SERVER_ERROR, "The site answered with an error"
    if status in (401, 403, 407, 429, 451, 999):
        outcome = FetchOutcome.BLOCKED
        message = {
            401: "The page is only for readers who log in",
            429: "The site asks to come back later",
            451: "The site may not show this page for legal reasons",
        }.get(status, "The site does not let programs read this page")
    elif status == 402:
        outcome, message = FetchOutcome.PAYWALLED, "The page is only for readers who pay"
    elif status in (404, 410):
        outcome, message = FetchOutcome.NOT_FOUND, "There is no page at this address"
    elif status == 408:
        outcome, message = FetchOutcome.TIMED_OUT, "The site gave up waiting"
    raise _StatusError(f"{message} ({status}).", outcome, status)


ACCEPT_ENCODING = "gzip, deflate"
_GZIP_OR_ZLIB = 47  # window bits: a header of either kind
_RAW_DEFLATE = -15  # some servers mean this by "deflate"
_EMPTY_MEMBERS = 1_000  # gzip members one after another, a known way to burn time


def read_capped(pieces: Iterable[bytes], encoding: str, max_bytes: int) -> bytes:
    """The whole body, unpacked. Stops reading as soon as it is clear that it is too large.

    Raises FetchError: TOO_LARGE past `max_bytes` packed or unpacked, WRONG_TYPE for an encoding that
    was not asked for, UNREADABLE for a damaged one.
    """
    encoding = encoding.strip().lower()
    if encoding in ("", "identity"):
        return b"".join(_counted(pieces, max_bytes))
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise FetchError(
            f"The site packs its page in a way that was not asked for ({encoding[:40]}).", FetchOutcome.WRONG_TYPE
        )
    unpacker = _Unpacker(max_bytes)
    for piece in _counted(pieces, max_bytes):
        unpacker.feed(piece)
    return unpacker.finish()


def _too_large(max_bytes: int) -> FetchError:
    return FetchError(f"The page is larger than {max_bytes / 1_000_000:g} MB.", FetchOutcome.TOO_LARGE)


def _counted(pieces: Iterable[bytes], max_bytes: int) -> Iterable[bytes]:
    total = 0
    for piece in pieces:
        total += len(piece)
        if total > max_bytes:
            raise _too_large(max_bytes)
        yield piece


class _Unpacker:
    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._out = bytearray()
        self._members = 0
        self._fed = False
        self._inner = zlib.decompressobj(_GZIP_OR_ZLIB)

    def feed(self, data: bytes) -> None:
        while data:
            if self._inner.eof:
                # A second gzip member; anything else after the end is padding, as browsers treat it.
                if not data.startswith(b"\x1f\x8b") or self._members >= _EMPTY_MEMBERS:
                    return
                self._members += 1
                self._inner = zlib.decompressobj(_GZIP_OR_ZLIB)
            data = self._step(data)

    def finish(self) -> bytes:
        if self._fed and not self._inner.eof:
            raise FetchError("The page broke off before its end.", FetchOutcome.UNREADABLE)
        return bytes(self._out)

    def _step(self, data: bytes) -> bytes:
        room = self._max_bytes - len(self._out) + 1
        try:
            piece = self._inner.decompress(data, room)
        except zlib.error as error:
            if self._fed:
                raise FetchError("The page's packing is damaged.", FetchOutcome.UNREADABLE) from error
            self._fed = True
            self._inner = zlib.decompressobj(_RAW_DEFLATE)
            return data
        self._fed = True
        self._out += piece
        if len(self._out) > self._max_bytes:
            raise _too_large(self._max_bytes)
        return self._inner.unused_data if self._inner.eof else self._inner.unconsumed_tail
