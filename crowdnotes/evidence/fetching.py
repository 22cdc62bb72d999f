"""Fetch one page: its bytes, or a label and a sentence that say why it could not be had.

Bounds are `FetchSettings`: redirects, bytes after unpacking, seconds for the whole exchange. No cookies, no
credentials, no proxies from the environment. Redirects are followed by hand, each through the guard.
`PageCache` keeps pages on disk as RFC 9111 allows (by hishel), as a shared cache: several people may use one app.
It sits between the fetcher and the guarded transport; what it answers is bounded like what the site answers.
"""

from __future__ import annotations

import logging
import re
import sqlite3
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Protocol, TypeVar, cast
from urllib.parse import urljoin

import httpx
from hishel import CacheOptions, Entry, SqliteStorage
from hishel.httpx import CacheTransport

from crowdnotes.domain import FetchOutcome
from crowdnotes.errors import FetchError, InputError
from crowdnotes.evidence.reading.document import parse_content_type, settle_kind
from crowdnotes.evidence.ssrf_guard import CONNECTION_ERRORS, Deadline, GuardedTransport, check_url
from crowdnotes.settings_sections import FetchSettings
from crowdnotes.text.dates import parse_http_date
from crowdnotes.text.urls import MAX_URL
from crowdnotes.wording import fill

_log = logging.getLogger(__name__)
_MAX_CACHED_SECONDS = 86_400.0  # a person decides on what the page says now, whatever age its site allows
_IN_USE_SECONDS = 1.0  # entries looked at this recently are not cleared away; bodies are read at once
_LOCK_WAIT_SECONDS = 5.0
_MEGABYTE = 1_000_000


class PageCache:
    """Fetched pages on disk: at most about `megabytes`, no body above `max_bytes`; those longest unused go first.

    Safe to share between threads, and its file between processes. No method raises for the file's sake:
    one that is damaged at the start is made anew, one that cannot be used is named in the log and done without.
    """

    def __init__(self, path: Path, megabytes: int, max_bytes: int) -> None:
        self._storage: _WholeBodyStorage | None = None
        try:
            try:
                connection = _open_cache_file(path)
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError):  # locked, full, or not to be opened
                    raise
                _log.warning("the page cache %s is damaged: it is made anew", path.name)
                for suffix in ("", "-wal", "-shm"):
                    path.with_name(f"{path.name}{suffix}").unlink(missing_ok=True)
                connection = _open_cache_file(path)
            storage = _WholeBodyStorage(connection, megabytes * _MEGABYTE, max_bytes)
            SqliteStorage.get_entries(storage, "")  # raises RuntimeError for a file with other tables
            self._storage = storage
        except (sqlite3.Error, OSError, RuntimeError) as error:
            _log.warning("the page cache %s cannot be used (%s): pages are fetched", path.name, error)

    def over(self, transport: httpx.BaseTransport) -> httpx.BaseTransport:
        """Return a transport that answers from the cache what it may, and asks `transport` for the rest."""
        if self._storage is None:
            return transport
        return CacheTransport(_CacheableTransport(transport), storage=self._storage, rfc=CacheOptions(shared=True))

    def close(self) -> None:
        """Let go of the file."""
        if self._storage is not None:
            self._storage.close()


def _open_cache_file(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    connection = sqlite3.connect(path, timeout=_LOCK_WAIT_SECONDS, check_same_thread=False, isolation_level=None)
    try:
        if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise sqlite3.DatabaseError("damaged")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def asked_at(response: httpx.Response) -> datetime:
    """When what a response says was true: now, or when the page was put into the cache and not confirmed since."""
    now = datetime.now(UTC)
    status = response.extensions.get("caching")
    if status is None or not status["from_cache"] or status["revalidated"]:
        return now
    dated = parse_http_date(response.headers.get("Date", "")) or now
    return min(now, max(dated, now - timedelta(seconds=_MAX_CACHED_SECONDS)))


class _WholeBodyStorage(SqliteStorage):
    """Gives whole bodies, so that damage found half-way is a page to fetch and not a page cut short."""

    def __init__(self, connection: sqlite3.Connection, max_size: int, max_bytes: int) -> None:
        super().__init__(
            connection=connection,
            default_ttl=_MAX_CACHED_SECONDS,
            max_stream_size=max_bytes,
            max_size=max_size,
            soft_delete_ttl=_IN_USE_SECONDS,
        )

    def get_entries(self, key: str) -> list[Entry]:
        """See `BaseStorage.get_entries`."""
        try:
            return [_read_whole_body(entry) for entry in super().get_entries(key)]
        except (sqlite3.Error, RuntimeError) as error:  # RuntimeError: closed, or cleared away meanwhile
            _log.warning("the page cache could not be read: %s", error)
            return []


class _CacheableTransport(httpx.BaseTransport):
    """Shows the cache what it may keep: a page that failed is asked for anew, and each answer has its date."""

    def __init__(self, transport: httpx.BaseTransport) -> None:
        self._transport = transport

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """See `httpx.BaseTransport`."""
        response = self._transport.handle_request(request)
        if response.status_code >= 400:
            response.headers["Cache-Control"] = "no-store"
        if parse_http_date(response.headers.get("Date", "")) is None:  # RFC 9110 6.6.1: the recipient adds it
            age = response.headers.get("Age", "").strip()
            old = int(age) if age.isascii() and age.isdigit() and len(age) < 9 else 0
            response.headers["Date"] = format_datetime(datetime.now(UTC) - timedelta(seconds=old), usegmt=True)
        return response


def _read_whole_body(entry: Entry) -> Entry:
    body = b"".join(cast("Iterator[bytes]", entry.response.stream))
    return replace(entry, response=replace(entry.response, stream=iter([body])))


def _drop_traceback(record: logging.LogRecord) -> bool:
    """Drop the traceback that hishel logs with each failed use of its file: the line is enough."""
    record.exc_info = None
    return True


logging.getLogger(SqliteStorage.__module__).addFilter(_drop_traceback)


T = TypeVar("T")

_REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})
_ACCEPT_HEADER = "text/html,application/xhtml+xml,application/pdf;q=0.9,text/plain;q=0.8,text/markdown;q=0.8"
_ACCEPT_LANGUAGE_HEADER = "en;q=0.9,*;q=0.5"


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


class PageFetcher(Protocol):
    """From a link to a page; never raises for what the web does."""

    def fetch(self, url: str, check: Callable[[], None] = ...) -> Page:
        """Return the page, or why it could not be had. `check` is called often; what it raises passes through."""
        ...


def no_check() -> None:
    """For a caller that cannot be cancelled."""


class Fetcher:
    """The real thing, over HTTP/1.1. Safe to share between threads."""

    def __init__(
        self,
        settings: FetchSettings,
        allowed_private_hosts: tuple[str, ...] = (),
        cache: PageCache | None = None,
        turn: Callable[[str, Callable[[], None]], AbstractContextManager[None]] = lambda *_: nullcontext(),
    ) -> None:
        """`turn` waits until the site of an address may be asked, see `search.service.page_rate_limit`."""
        self._settings = settings
        self._turn = turn
        self._cache = cache
        self._allowed_hosts = frozenset(allowed_private_hosts)

    def fetch(self, url: str, check: Callable[[], None] = no_check) -> Page:
        """See `PageFetcher.fetch`. Takes `total_seconds` at most."""
        hops = [url.strip()]

        def take(response: httpx.Response) -> Page:
            _refuse_status(response.status_code)
            declared = parse_content_type(response.headers.get("Content-Type"))
            declared.refuse_unreadable()
            body = read_capped(response, self._settings.max_bytes)
            kind = settle_kind(declared, body)
            return Page(url, hops[-1], FetchOutcome.READ, asked_at(response), kind, declared.charset, body)

        outcome = FetchOutcome.UNREACHABLE
        try:
            with self._turn(hops[0], check):
                deadline = Deadline(self._settings.total_seconds, check)
                return follow(hops, take, self._settings, self._allowed_hosts, deadline, self._cache, _ACCEPT_HEADER)
        except InputError as error:
            detail = str(error)
        except FetchError as error:
            outcome, detail = error.outcome, error.message
        return Page(url, hops[-1], outcome, datetime.now(UTC), detail=detail)


def follow(
    hops: list[str],
    take: Callable[[httpx.Response], T],
    settings: FetchSettings,
    allowed_hosts: Collection[str],
    deadline: Deadline,
    cache: PageCache | None = None,
    accept: str = "*/*",
) -> T:
    """Return what `take` makes of the answer at the end of the redirects; each hop goes through the guard.

    `hops` begins with the address and grows, so that a failure can name where it was. Raises FetchError, InputError
    for what is no web address, and whatever `take` and the deadline raise.
    """
    headers = {
        "User-Agent": settings.user_agent,
        "Accept": accept,
        "Accept-Encoding": ACCEPT_ENCODING,
        "Accept-Language": _ACCEPT_LANGUAGE_HEADER,
    }
    while len(hops) <= settings.max_redirects + 1:
        hops[-1] = url = check_url(hops[-1], allowed_hosts).url
        guarded = GuardedTransport(allowed_hosts, settings.connect_seconds, deadline)
        transport = cache.over(guarded) if cache is not None else guarded
        try:
            with closing(transport.handle_request(httpx.Request("GET", url, headers=headers))) as response:
                location = response.headers.get("Location")
                if response.status_code not in _REDIRECT_STATUSES or not location:
                    return take(response)
        except CONNECTION_ERRORS as error:
            raise FetchError("The site stopped in the middle of its answer.", FetchOutcome.UNREACHABLE) from error
        except (httpx.InvalidURL, UnicodeError) as error:
            raise FetchError("The address is not valid.", FetchOutcome.UNREACHABLE) from error
        hops.append(_join_redirect(url, location))
    raise FetchError(f"The link redirects more than {settings.max_redirects} times.", FetchOutcome.UNREACHABLE)


def _join_redirect(base: str, location: str) -> str:
    try:
        address = urljoin(base, location) if len(location) <= MAX_URL else location
    except ValueError as error:
        raise FetchError("The site redirects to an invalid address.", FetchOutcome.UNREACHABLE) from error
    if len(address) > MAX_URL:
        raise FetchError(
            f"The site redirects to an address that is too long ({len(address):,} characters, limit {MAX_URL:,}).",
            FetchOutcome.UNREACHABLE,
        )
    return address


_NO_PROGRAMS_SENTENCE = "The site does not let programs read it ({status})."
_REFUSAL_BY_STATUS = {
    401: (FetchOutcome.BLOCKED, "Only readers who log in can see the page ({status})."),
    402: (FetchOutcome.PAYWALLED, "Only paying readers can see the page ({status})."),
    403: (FetchOutcome.BLOCKED, _NO_PROGRAMS_SENTENCE),
    404: (FetchOutcome.NOT_FOUND, "This page does not exist ({status})."),
    407: (FetchOutcome.BLOCKED, _NO_PROGRAMS_SENTENCE),
    408: (FetchOutcome.TIMED_OUT, "The site stopped waiting ({status})."),
    410: (FetchOutcome.NOT_FOUND, "This page does not exist ({status})."),
    429: (FetchOutcome.BLOCKED, "The site is busy. Try later ({status})."),
    451: (FetchOutcome.BLOCKED, "The site may not show it for legal reasons ({status})."),
    999: (FetchOutcome.BLOCKED, _NO_PROGRAMS_SENTENCE),
}


def _refuse_status(status: int) -> None:
    """Raise an error with a sentence for anything but success."""
    if not 200 <= status < 300:
        outcome, words = _REFUSAL_BY_STATUS.get(status, (FetchOutcome.SERVER_ERROR, "The site has a fault ({status})."))
        raise FetchError(fill(words, status=status), outcome)


ACCEPT_ENCODING = "gzip"
_GZIP_WINDOW_BITS = 31  # window bits of zlib for data with gzip's header


def read_capped(response: httpx.Response, max_bytes: int) -> bytes:
    """Return the whole body, unpacked. Stops reading as soon as it is clear that it is too large.

    Raises FetchError: TOO_LARGE past `max_bytes` packed or unpacked, WRONG_TYPE for an encoding that
    was not asked for, UNREADABLE for a damaged one.
    """
    length = response.headers.get("Content-Length", "")
    if re.fullmatch(r"\d{1,20}", length) and int(length) > max_bytes:
        raise _build_too_large_error(max_bytes)
    encoding = response.headers.get("Content-Encoding", "").strip().lower()
    pieces = _limit_bytes(response.iter_raw(), max_bytes)
    if encoding in ("", "identity"):
        return b"".join(pieces)
    if encoding not in ("gzip", "x-gzip"):
        raise FetchError(f"The site packs its page in an unknown way ({encoding[:40]}).", FetchOutcome.WRONG_TYPE)
    return _unpack_gzip(pieces, max_bytes)


def _build_too_large_error(max_bytes: int) -> FetchError:
    return FetchError(f"The page is over {max_bytes / 1_000_000:g} MB.", FetchOutcome.TOO_LARGE)


def _limit_bytes(pieces: Iterable[bytes], max_bytes: int) -> Iterator[bytes]:
    total = 0
    for piece in pieces:
        total += len(piece)
        if total > max_bytes:
            raise _build_too_large_error(max_bytes)
        yield piece


def _unpack_gzip(pieces: Iterable[bytes], max_bytes: int) -> bytes:
    """Return what gzip packed; what follows its end is padding, as browsers treat it."""
    unpacker, out = zlib.decompressobj(_GZIP_WINDOW_BITS), bytearray()
    packed = False
    for piece in pieces:
        packed = True
        try:
            out += b"" if unpacker.eof else unpacker.decompress(piece, max_bytes - len(out) + 1)
        except zlib.error as error:
            raise FetchError("The page arrived damaged.", FetchOutcome.UNREADABLE) from error
        if len(out) > max_bytes:
            raise _build_too_large_error(max_bytes)
    if packed and not unpacker.eof:
        raise FetchError("The page arrived without its end.", FetchOutcome.UNREADABLE)
    return bytes(out)
