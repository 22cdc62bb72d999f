"""One engine to a database, SQLite or PostgreSQL, and the two ways to use it: reading and writing."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, exc, make_url

from crowdnotes.errors import ConfigurationError, StoreBusyError, StoreFullError
from crowdnotes.storage.faults import translated

_logger = logging.getLogger(__name__)

_WAIT_SECONDS = 10  # for another's lock: longer than any of our transactions, shorter than a person's patience
_POSTGRES_DRIVER = "postgresql+psycopg"
_WRITES = "crowdnotes_writes"


def connect(url: str) -> Engine:
    """An engine for `url`, safe for many threads; the tables are made by `migrations.upgrade`.

    "sqlite:///<path>", or "postgresql://…" ("postgres://…" is accepted too; the driver is psycopg 3).
    Raises ConfigurationError for another URL, StoreFullError if SQLite's folder cannot be made, and
    StoreBusyError or StoreError if the file cannot be used. No message holds the URL's password.
    """
    parsed = _parse(url)
    if parsed.get_backend_name() == "sqlite":
        return _connect_sqlite(parsed)
    return _connect_postgres(parsed)


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A connection inside a transaction that only reads: one consistent moment of the database."""
    with translated(), engine.begin() as connection:
        yield connection


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A connection inside a transaction that writes; an exception inside undoes all of it.

    On SQLite the write lock is taken at the start (BEGIN IMMEDIATE), so what is read inside is the
    newest and cannot change before the commit. On PostgreSQL rows need SELECT … FOR UPDATE for that.
    """
    writer = engine.execution_options(**{_WRITES: True})
    with translated(), writer.begin() as connection:
        yield connection


def _parse(url: str) -> URL:
    try:
        parsed = make_url(url)
    except (exc.ArgumentError, ValueError):
        # `from None`: the cause may quote the URL, which may hold a password.
        raise ConfigurationError(
            "The database URL cannot be understood.",
            "Write CROWDNOTES_DATABASE_URL as postgresql://user:password@host:5432/database.",
        ) from None
    backend = parsed.drivername.split("+")[0]
    if backend in {"postgresql", "postgres"}:
        return parsed.set(drivername=_POSTGRES_DRIVER)
    if backend == "sqlite" and parsed.database and parsed.database != ":memory:":
        return parsed.set(drivername="sqlite")
    raise ConfigurationError(
        "The database URL names neither a PostgreSQL server nor an SQLite file.",
        "Write CROWDNOTES_DATABASE_URL as postgresql://user:password@host:5432/database, or leave it out.",
    )


def _connect_sqlite(url: URL) -> Engine:
    folder = Path(url.database or "").absolute().parent
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreFullError(f"The data folder cannot be made: {error.strerror}.") from error
    engine = create_engine(
        url,
        hide_parameters=True,
        pool_size=20,
        # The driver's own handling of transactions is off (None): `_begin` says BEGIN.
        connect_args={"timeout": _WAIT_SECONDS, "isolation_level": None, "check_same_thread": False},
    )

    @event.listens_for(engine, "connect")
    def _prepare(dbapi: Any, _record: object) -> None:
        dbapi.execute("PRAGMA foreign_keys = ON")
        dbapi.execute("PRAGMA synchronous = NORMAL")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        immediate = connection.get_execution_options().get(_WRITES, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")

    _keep_write_ahead_log(engine)
    return engine


def _keep_write_ahead_log(engine: Engine) -> None:
    """Switch the file to WAL, in which readers and a writer do not wait for each other; it stays so.

    SQLite does not wait for locks during the switch, so processes that start together must try again.
    """
    deadline = time.monotonic() + _WAIT_SECONDS
    while True:
        try:
            with translated():
                raw = engine.raw_connection()
                try:
                    mode = raw.cursor().execute("PRAGMA journal_mode = WAL").fetchone()[0]
                finally:
                    raw.close()
        except StoreBusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            if mode != "wal":
                _logger.warning("The database's file system has no write-ahead log; sessions may wait for each other.")
            return


def _connect_postgres(url: URL) -> Engine:
    engine = create_engine(
        url,
        hide_parameters=True,
        pool_size=10,
        max_overflow=20,
        pool_pre_ping=True,  # a server that was restarted costs a new connection, not an error
        connect_args={"connect_timeout": _WAIT_SECONDS},
    )

    @event.listens_for(engine, "connect")
    def _prepare(dbapi: Any, _record: object) -> None:
        dbapi.execute(f"SET lock_timeout = '{_WAIT_SECONDS}s'")
        dbapi.commit()

    return engine
