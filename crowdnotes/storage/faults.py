"""Database errors in the user's words; the one place that knows the drivers' error codes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from sqlalchemy import exc

from crowdnotes.errors import ConfigurationError, CrowdNotesError, StoreBusyError, StoreError, StoreFullError

_SQLITE_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
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
        raise _in_words(error.orig) from error
    except (sqlite3.Error, psycopg.Error) as error:  # from a raw connection
        raise _in_words(error) from error
    except exc.TimeoutError as error:
        raise StoreBusyError("The database is too busy: all its connections are in use.", "Try again soon.") from error
    except exc.SQLAlchemyError as error:
        raise StoreError(f"The database could not do what was asked ({type(error).__name__}).") from error


def _in_words(cause: BaseException | None) -> CrowdNotesError:
    if isinstance(cause, sqlite3.Error):
        return _sqlite_in_words(cause)
    if isinstance(cause, psycopg.Error):
        return _postgres_in_words(cause)
    return StoreError(f"The database could not do what was asked ({type(cause).__name__}).")


def _sqlite_in_words(cause: sqlite3.Error) -> CrowdNotesError:
    code = getattr(cause, "sqlite_errorcode", 0) & 0xFF  # the low byte is the kind, the rest its detail
    if code in _SQLITE_BUSY:
        return StoreBusyError("The database is locked by another program.")
    if code in _SQLITE_FULL:
        return StoreFullError("The database cannot be written: the disk is full, or the data folder is read-only.")
    if code in _SQLITE_DAMAGED:
        return StoreError(
            "The database file is damaged, or is not a CrowdNotes database.",
            "Move the file away to start afresh, or put back a copy of it.",
        )
    return StoreError(f"The database could not do what was asked ({type(cause).__name__}).")


def _postgres_in_words(cause: psycopg.Error) -> CrowdNotesError:
    state = cause.sqlstate
    if state in _PG_BUSY:
        return StoreBusyError("The database is busy with someone else's change.", "Try again in a moment.")
    if state in _PG_FULL:
        return StoreFullError("The database cannot be written: its disk is full, or it is read-only.")
    if isinstance(cause, psycopg.OperationalError) and (state is None or state.startswith(_PG_CANNOT_CONNECT)):
        return ConfigurationError(
            "The database server cannot be reached, or it refused the name or password.",
            "Check that it runs, and check CROWDNOTES_DATABASE_URL.",
        )
    return StoreError(f"The database could not do what was asked ({type(cause).__name__}).")
