"""Pages that were fetched before, kept on disk as RFC 9111 allows, by hishel.

The cache stands between the fetcher and the guarded transport: what it does not answer itself goes out
through the guard, and what it does answer is unpacked under the same cap as any body. It is a shared
cache, because several people may use one app. Whatever happens to its file, pages are still fetched.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from pathlib import Path
from typing import cast

import httpx
from hishel import CacheOptions, Entry, SqliteStorage
from hishel.httpx import CacheTransport

_log = logging.getLogger(__name__)
_LONGEST_SECONDS = 86_400.0  # a person decides on what the page says now, whatever age its site allows
_IN_USE_SECONDS = 1.0  # entries looked at this recently are not cleared away; bodies are read at once
_LOCK_SECONDS = 5.0
_MEGABYTE = 1_000_000


class PageCache:
    """Fetched pages on disk: at most about `megabytes`, no body above `max_bytes`; those longest unused go first.

    Safe to share between threads, and its file between processes. No method raises for the file's sake:
    one that is damaged at the start is made anew, one that cannot be used is named in the log and done without.
    """

    def __init__(self, path: Path, megabytes: int, max_bytes: int) -> None:
        self._storage: _Storage | None = None
        try:
            try:
                connection = _connected(path)
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError):  # locked, full, or not to be opened
                    raise
                _log.warning("the page cache %s is damaged: it is made anew", path.name)
                for suffix in ("", "-wal", "-shm"):
                    path.with_name(f"{path.name}{suffix}").unlink(missing_ok=True)
                connection = _connected(path)
            storage = _Storage(connection, megabytes * _MEGABYTE, max_bytes)
            SqliteStorage.get_entries(storage, "")  # raises RuntimeError for a file with other tables
            self._storage = storage
        except (sqlite3.Error, OSError, RuntimeError) as error:
            _log.warning("the page cache %s cannot be used (%s): pages are fetched", path.name, error)

    def over(self, transport: httpx.BaseTransport) -> httpx.BaseTransport:
        """A transport that answers from the cache what it may, and asks `transport` for the rest."""
        if self._storage is None:
            return transport
        return CacheTransport(_Keepable(transport), storage=self._storage, rfc=CacheOptions(shared=True))

    def close(self) -> None:
        """Let go of the file."""
        if self._storage is not None:
            self._storage.close()


def _connected(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, timeout=_LOCK_SECONDS, check_same_thread=False, isolation_level=None)
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
    dated = _date(response.headers.get("Date", "")) or now
    return min(now, max(dated, now - timedelta(seconds=_LONGEST_SECONDS)))


class _Storage(SqliteStorage):
    """Gives whole bodies, so that damage found half-way is a page to fetch and not a page cut short."""

    def __init__(self, connection: sqlite3.Connection, max_size: int, max_bytes: int) -> None:
        super().__init__(
            connection=connection,
            default_ttl=_LONGEST_SECONDS,
            max_stream_size=max_bytes,
            max_size=max_size,
            soft_delete_ttl=_IN_USE_SECONDS,
        )

    def get_entries(self, key: str) -> list[Entry]:
        """See `BaseStorage.get_entries`."""
        try:
            return [_with_whole_body(entry) for entry in super().get_entries(key)]
        except (sqlite3.Error, RuntimeError) as error:  # RuntimeError: closed, or cleared away meanwhile
            _log.warning("the page cache could not be read: %s", error)
            return []


class _Keepable(httpx.BaseTransport):
    """Shows the cache what it may keep: a page that failed is asked for anew, and each answer has its date."""

    def __init__(self, transport: httpx.BaseTransport) -> None:
        self._transport = transport

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """See `httpx.BaseTransport`."""
        response = self._transport.handle_request(request)
        if response.status_code >= 400:
            response.headers["Cache-Control"] = "no-store"
        if _date(response.headers.get("Date", "")) is None:  # RFC 9110 6.6.1: the recipient adds it
            age = response.headers.get("Age", "").strip()
            old = int(age) if age.isascii() and age.isdigit() and len(age) < 9 else 0
            response.headers["Date"] = format_datetime(datetime.now(UTC) - timedelta(seconds=old), usegmt=True)
        return response


def _with_whole_body(entry: Entry) -> Entry:
    body = b"".join(cast("Iterator[bytes]", entry.response.stream))
    return replace(entry, response=replace(entry.response, stream=iter([body])))


def _date(header: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(header)
    except (ValueError, IndexError, OverflowError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _one_line(record: logging.LogRecord) -> bool:
    """Hishel tells each failed use of its file with a traceback: the line alone is enough."""
    record.exc_info = None
    return True


logging.getLogger(SqliteStorage.__module__).addFilter(_one_line)
