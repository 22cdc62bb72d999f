"""What can be made again, kept in a SQLite file: vectors, answers of models, answers of search services."""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

_log = logging.getLogger(__name__)
_DAMAGE_CODES = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_LOCK_WAIT_SECONDS = 2.0  # making a few values anew is faster than a longer wait
_PAUSE_AFTER_FAILURE_SECONDS = (
    60.0  # after a failed use, so that a locked file or full disk costs the wait once a minute
)
_MAX_KEYS_PER_QUERY = 500


class DiskCache:
    """Values on disk by key: at most about `max_rows`; past that the tenth longest unused goes.

    Safe to share between threads. `what` it is, for the log.
    No method raises for the file's sake: a damaged file is deleted and made anew, one that is locked,
    full or cannot be opened is named in the log once and then done without. What was read counts as
    used from the next write on; the rows of other processes are counted when the bound is reached.
    """

    def __init__(self, path: Path, max_rows: int, what: str) -> None:
        self._path = path
        self._what = what
        self._max_rows = max_rows
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None
        self._rows = 0
        self._read: set[bytes] = set()
        self._resting_until = 0.0
        self._warned = False

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the values of those keys that are known."""
        found: dict[bytes, bytes] = {}

        def select(db: sqlite3.Connection) -> None:
            for begin in range(0, len(keys), _MAX_KEYS_PER_QUERY):
                chunk = keys[begin : begin + _MAX_KEYS_PER_QUERY]
                marks = ",".join("?" * len(chunk))
                for key, value in db.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", chunk):
                    found[bytes(key)] = bytes(value)

        with self._lock:
            self._attempt(select)
            self._read.update(found)
        return found

    def put(self, fresh: Mapping[bytes, bytes]) -> None:
        """Keep these values, and remove old ones when there are too many."""
        now = int(time.time())

        def write(db: sqlite3.Connection) -> None:
            db.execute("BEGIN IMMEDIATE")
            db.executemany("UPDATE vectors SET used = ? WHERE key = ?", [(now, key) for key in self._read])
            db.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", [(key, value, now) for key, value in fresh.items()]
            )
            rows = self._rows + len(fresh)
            if rows > self._max_rows:
                rows = self._remove_old_rows(db)
            db.execute("COMMIT")
            self._rows = rows
            self._read.clear()

        with self._lock:
            self._attempt(write)

    def _remove_old_rows(self, db: sqlite3.Connection) -> int:
        rows = _count_rows(db)
        if rows > self._max_rows:
            surplus = rows - int(self._max_rows * 0.9)
            db.execute("DELETE FROM vectors WHERE key IN (SELECT key FROM vectors ORDER BY used LIMIT ?)", (surplus,))
            rows -= surplus
        return rows

    def _attempt(self, work: Callable[[sqlite3.Connection], None]) -> None:
        if time.monotonic() < self._resting_until:
            return
        try:
            self._db = self._db or self._opened()
            work(self._db)
        except (sqlite3.Error, OSError) as error:
            self._roll_back()
            self._recover(error)
        except BaseException:
            self._roll_back()
            raise

    def _opened(self) -> sqlite3.Connection:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        db = sqlite3.connect(self._path, check_same_thread=False, isolation_level=None, timeout=_LOCK_WAIT_SECONDS)
        try:
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=NORMAL")
            db.execute(
                "CREATE TABLE IF NOT EXISTS vectors"
                " (key BLOB PRIMARY KEY, vector BLOB NOT NULL, used INTEGER NOT NULL) WITHOUT ROWID"
            )
            self._rows = _count_rows(db)
        except sqlite3.Error:
            db.close()
            raise
        return db

    def _roll_back(self) -> None:
        if self._db is not None and self._db.in_transaction:  # SQLite itself rolls back when a disk is full
            with suppress(sqlite3.Error):
                self._db.rollback()

    def _recover(self, error: sqlite3.Error | OSError) -> None:
        code = getattr(error, "sqlite_errorcode", None)  # errors of the sqlite3 module itself have none
        if code is None or code & 0xFF not in _DAMAGE_CODES:
            self._do_without(error)
            return
        _log.warning("the %s %s is damaged (%s): it is made anew", self._what, self._path.name, error)
        try:
            self._remove()
        except OSError as kept:
            self._do_without(kept)

    def _remove(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None
        self._read.clear()
        for suffix in ("", "-wal", "-shm"):
            self._path.with_name(f"{self._path.name}{suffix}").unlink(missing_ok=True)

    def _do_without(self, error: sqlite3.Error | OSError) -> None:
        if not self._warned:
            _log.warning(
                "the %s %s cannot be used (%s): the work is done without it", self._what, self._path.name, error
            )
            self._warned = True
        self._resting_until = time.monotonic() + _PAUSE_AFTER_FAILURE_SECONDS


def _count_rows(db: sqlite3.Connection) -> int:
    (rows,) = db.execute("SELECT count(*) FROM vectors").fetchone()
    return int(rows)
