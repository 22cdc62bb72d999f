"""One engine to a database, SQLite or PostgreSQL: opened, brought to the newest schema, read and written.

Schema changes are one file each in `migrations/versions/`. A database error leaves here in the user's words.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import URL, Connection, Engine, Table, create_engine, event, exc, func, insert, make_url, select, text
from sqlalchemy.dialects import postgresql, sqlite

from crowdnotes import __version__
from crowdnotes.errors import (
    ConfigurationError,
    CrowdNotesError,
    DatabaseNotReadyError,
    StoreBusyError,
    StoreError,
    StoreFullError,
)
from crowdnotes.storage.tables import programs

_logger = logging.getLogger(__name__)

_LOCK_WAIT_SECONDS = 10  # for another's lock: longer than any of our transactions, shorter than a person's patience
_CLOCK_CHECK_SECONDS = 60.0
_POSTGRES_DRIVER = "postgresql+psycopg"
_WRITE_OPTION = "crowdnotes_writes"


def connect(url: str) -> Engine:
    """Return an engine for `url`, safe for many threads; the tables are made by `migrate`.

    "sqlite:///<path>", or "postgresql://…" ("postgres://…" is accepted too; the driver is psycopg 3).
    Raises ConfigurationError for another URL, StoreFullError if SQLite's folder cannot be made, and
    StoreBusyError or StoreError if the file cannot be used. No message holds the URL's password.
    """
    parsed = _parse_url(url)
    if parsed.get_backend_name() == "sqlite":
        return _connect_sqlite(parsed)
    return _connect_postgres(parsed)


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """Open a connection inside a transaction that only reads: one consistent moment of the database."""
    with translated(), engine.begin() as connection:
        yield connection


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """Open a connection inside a transaction that writes; an exception inside undoes all of it.

    On SQLite the write lock is taken at the start (BEGIN IMMEDIATE), so what is read inside is the
    newest and cannot change before the commit. On PostgreSQL rows need SELECT … FOR UPDATE for that.
    """
    writer = engine.execution_options(**{_WRITE_OPTION: True})
    with translated(), writer.begin() as connection:
        yield connection


def insert_into(connection: Connection, table: Table) -> sqlite.Insert | postgresql.Insert:
    """Return an insert that allows for a row that is already there: `on_conflict_do_nothing()`."""
    return postgresql.insert(table) if connection.dialect.name == "postgresql" else sqlite.insert(table)


def now_of(connection: Connection) -> datetime:
    """Return the database's clock, in UTC: one for all machines that work with it. On SQLite it is this machine's."""
    if connection.dialect.name == "postgresql":
        at: datetime = connection.scalar(text("SELECT clock_timestamp()"))
        return at.astimezone(UTC)
    return datetime.fromisoformat(connection.scalar(text("SELECT strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now')")))


def clock_of(engine: Engine) -> Callable[[], datetime]:
    """`now_of` without a query each time: how far this machine's clock is off is asked again each minute."""
    off, asked, asking = timedelta(), float("-inf"), threading.Lock()

    def now() -> datetime:
        nonlocal off, asked
        # The others go on with what was asked before: they may hold a connection each.
        if time.monotonic() - asked >= _CLOCK_CHECK_SECONDS and asking.acquire(blocking=False):
            try:
                with reading(engine) as connection:
                    off = now_of(connection) - datetime.now(UTC)
                asked = time.monotonic()
            finally:
                asking.release()
        return datetime.now(UTC) + off

    now()
    return now


def _parse_url(url: str) -> URL:
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
        connect_args={"timeout": _LOCK_WAIT_SECONDS, "isolation_level": None, "check_same_thread": False},
    )

    @event.listens_for(engine, "connect")
    def _prepare(dbapi: Any, _record: object) -> None:
        dbapi.execute("PRAGMA foreign_keys = ON")
        dbapi.execute("PRAGMA synchronous = NORMAL")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        immediate = connection.get_execution_options().get(_WRITE_OPTION, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")

    _switch_to_write_ahead_log(engine)
    return engine


def _switch_to_write_ahead_log(engine: Engine) -> None:
    """Switch the file to WAL, in which readers and a writer do not wait for each other; it stays so.

    SQLite does not wait for locks during the switch, so processes that start together must try again.
    """
    deadline = time.monotonic() + _LOCK_WAIT_SECONDS
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
        connect_args={"connect_timeout": _LOCK_WAIT_SECONDS},
    )

    @event.listens_for(engine, "connect")
    def _prepare(dbapi: Any, _record: object) -> None:
        dbapi.execute(f"SET lock_timeout = '{_LOCK_WAIT_SECONDS}s'")
        dbapi.commit()

    return engine


SQLITE_BUSY_CODES = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_SQLITE_FULL = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN}
_SQLITE_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}

# https://www.postgresql.org/docs/current/errcodes-appendix.html
_PG_BUSY = {"55P03", "40P01", "40001", "57014", "53300"}  # lock, deadlock, serialization, timeout, connections
_PG_FULL = {"53100", "25006"}  # disk full, read-only transaction
_PG_CANNOT_CONNECT = ("08", "28", "3D")  # connection, password, no such database


@contextmanager
def translated() -> Iterator[None]:
    """Turn a database error raised inside into a StoreError or ConfigurationError.

    The messages name neither the URL nor any value, so that no password and no text of a post
    can reach a log or the screen through them. Errors that are ours pass as they are.
    """
    try:
        yield
    except exc.DBAPIError as error:
        raise _to_crowdnotes_error(error.orig) from error
    except (sqlite3.Error, psycopg.Error) as error:  # from a raw connection
        raise _to_crowdnotes_error(error) from error
    except exc.TimeoutError as error:
        raise StoreBusyError("The database is too busy: all its connections are in use.", "Try again soon.") from error
    except exc.SQLAlchemyError as error:
        raise StoreError(f"The database could not do what was asked ({type(error).__name__}).") from error


def _to_crowdnotes_error(cause: BaseException | None) -> CrowdNotesError:
    if isinstance(cause, sqlite3.Error):
        return _from_sqlite_error(cause)
    if isinstance(cause, psycopg.Error):
        return _from_postgres_error(cause)
    return StoreError(f"The database could not do what was asked ({type(cause).__name__}).")


def _from_sqlite_error(cause: sqlite3.Error) -> CrowdNotesError:
    code = getattr(cause, "sqlite_errorcode", 0) & 0xFF  # the low byte is the kind, the rest its detail
    if code in SQLITE_BUSY_CODES:
        return StoreBusyError("The database is locked by another program.")
    if code in _SQLITE_FULL:
        return StoreFullError("The database cannot be written: the disk is full, or the data folder is read-only.")
    if code in _SQLITE_DAMAGED:
        return StoreError(
            "The database file is damaged, or is not a CrowdNotes database.",
            "Move the file away to start afresh, or put back a copy of it.",
        )
    return StoreError(f"The database could not do what was asked ({type(cause).__name__}).")


def _from_postgres_error(cause: psycopg.Error) -> CrowdNotesError:
    state = cause.sqlstate
    if state in _PG_BUSY:
        return StoreBusyError("The database is busy with someone else's change.", "Try again in a moment.")
    if state in _PG_FULL:
        return StoreFullError("The database cannot be written: its disk is full, or it is read-only.")
    if isinstance(cause, psycopg.OperationalError) and (state is None or state.startswith(_PG_CANNOT_CONNECT)):
        return DatabaseNotReadyError(
            "The database server cannot be reached, or it refused the name or password.",
            "Check that it runs, and check CROWDNOTES_DATABASE_URL.",
        )
    return StoreError(f"The database could not do what was asked ({type(cause).__name__}).")


# Alembic keeps the migration under way in module globals, so two threads must take turns.
_MIGRATION_LOCK = threading.Lock()
_MIGRATION_LOCK_KEY = 0x63726F77646E  # any number that no other program on the server uses: "crowdn"


def migrate(engine: Engine, program: str = __version__) -> None:
    """Bring the database to the newest schema and note which program writes to it from now on.

    Does nothing, and locks nothing, if both are so already. Programs that start at the same time wait for each
    other. Raises ConfigurationError if a newer version of the program made the database, StoreError if it cannot be
    read or changed.
    """
    with reading(engine) as connection:
        if _is_newest(connection) and _read_last_program(connection) == program:
            return
    with _MIGRATION_LOCK, writing(engine) as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK_KEY})
        if not _is_newest(connection):
            config = alembic_config()
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
        if _read_last_program(connection) != program:
            count = connection.scalar(select(func.count()).select_from(programs)) or 0
            connection.execute(insert(programs).values(seq=count + 1, version=program, since=datetime.now(UTC)))


def alembic_config() -> Config:
    """Alembic's configuration by the package's own path, so that no alembic.ini is needed."""
    config = Config()
    # A "%" in the path would be read as a placeholder.
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    return config


@cache
def _schemas() -> tuple[frozenset[str], frozenset[str]]:
    """Return all versions of the schema that this program knows, and the newest."""
    scripts = ScriptDirectory.from_config(alembic_config())
    return frozenset(revision.revision for revision in scripts.walk_revisions()), frozenset(scripts.get_heads())


def _is_newest(connection: Connection) -> bool:
    known, newest = _schemas()
    current = set(MigrationContext.configure(connection).get_current_heads())
    _require_known(current, known)
    return current == newest


def _require_known(current: set[str], known: frozenset[str]) -> None:
    if current - known:
        raise ConfigurationError(
            "The database was made by a newer version of CrowdNotes.",
            "Update CrowdNotes, or set another CROWDNOTES_DATA_DIR or CROWDNOTES_DATABASE_URL.",
        )


def schema_of(engine: Engine) -> str:
    """Return the version of the schema that the database has, as in "0012"; "" without tables."""
    with reading(engine) as connection:
        return " ".join(sorted(MigrationContext.configure(connection).get_current_heads()))


def require_known(schema: str) -> None:
    """Raise ConfigurationError for what `schema_of` said of a newer program's database."""
    _require_known(set(schema.split()), _schemas()[0])


def require_newest(engine: Engine) -> None:
    """Raise ConfigurationError unless the database has the very schema of this program, which changes nothing.

    DatabaseNotReadyError is the kind for one without tables, and for a server that does not answer.
    """
    with reading(engine) as connection:
        if not MigrationContext.configure(connection).get_current_heads():
            raise DatabaseNotReadyError(
                "The database has no tables yet.", "Start the app once: it makes them and brings them up to date."
            )
        if not _is_newest(connection):
            raise ConfigurationError(
                "The database is not of this version of CrowdNotes yet.",
                "Start the app of this version once: it brings the database up to date.",
            )


def _read_last_program(connection: Connection) -> str | None:
    return connection.scalar(select(programs.c.version).order_by(programs.c.seq.desc()).limit(1))


def open_database(url: str) -> Engine:
    """Connect to `url`, bring its tables up to date; raises what `connect` and `migrate` raise."""
    engine = connect(url)
    try:
        migrate(engine)
    except BaseException:
        engine.dispose()
        raise
    return engine
