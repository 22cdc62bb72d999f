"""The index of the public data: one DuckDB file in the data folder, its tables, and how it is opened.

DuckDB rather than polars: the index is asked for one note of a million and for sums over all of them, and it grows by
a day's files. A file with transactions does all three, in bounded memory; lazy frames over Parquet would need a
manifest, a lock and a merge of ours.

Ids of people are stored as 64-bit hashes: the program lists nobody, so it needs no more.
Times are milliseconds since 1970 (UTC), NULL where the data's own cannot be right.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt

from crowdnotes.bridging.columns import HELPFUL_TAGS, NOT_HELPFUL_TAGS
from crowdnotes.errors import InputError

INDEX_VERSION = 4  # of the tables; an index of another version is refused
TAGS = (*HELPFUL_TAGS, *NOT_HELPFUL_TAGS)  # bit by bit in ratings.tags
_LOCK_WAIT_SECONDS = 4.0
_MEMORY_LIMIT = "800MB"  # of DuckDB's own; the rest goes to a temporary file next to the index
_CREATE_TABLES_SQL = f"""
CREATE TABLE form AS SELECT {INDEX_VERSION} AS form;
-- One row a file, as far as it was read: its marks identify it under any name (see loading.py).
CREATE TABLE loads (load INTEGER, kind VARCHAR, file VARCHAR, size BIGINT, head VARCHAR, tail VARCHAR, crc BIGINT);
CREATE TABLE notes (
    note BIGINT, author BIGINT, written BIGINT, post BIGINT, posted BIGINT, misleading BOOLEAN, language VARCHAR,
    topics UTINYINT, text VARCHAR, collaborative BOOLEAN
);
-- level: 0 not helpful, 1 somewhat, 2 helpful. sampled: X asked a person drawn at random; NULL where not known.
CREATE TABLE ratings (
    note BIGINT, rater BIGINT, rated BIGINT, level UTINYINT, tags INTEGER, load INTEGER, sampled BOOLEAN
);
CREATE TABLE history (
    note BIGINT, author BIGINT, written BIGINT, first_at BIGINT, first_status VARCHAR, latest_at BIGINT,
    latest_status VARCHAR, status VARCHAR, status_at BIGINT, locked_at BIGINT, locked_status VARCHAR,
    decided_by VARCHAR, foreseen_at BIGINT
);
CREATE TABLE people (rater BIGINT, state VARCHAR, modeling_group DOUBLE, changed_at BIGINT);
-- Made from notes and history as they were at that load (see posts.py): what every view counts.
CREATE TABLE posts (
    post BIGINT, posted BIGINT, first_note BIGINT, verdict BIGINT, language VARCHAR, topics UTINYINT, notes BIGINT,
    known BIGINT, never BIGINT, young BIGINT
);
CREATE TABLE posts_made (load INTEGER);
-- The last fit: its raters, and one row of what it says of itself, as JSON. usual: of the ratings with a complaint the
-- share that says "incorrect"; busy: among the busiest raters of the last weeks.
CREATE TABLE raters (rater BIGINT, intercept DOUBLE, factor DOUBLE, usual DOUBLE, busy BOOLEAN);
CREATE TABLE fits (said VARCHAR);
-- Every note with enough ratings as that fit scores it, NULL without enough known raters; status as readers see it.
CREATE TABLE scores (note BIGINT, intercept DOUBLE, factor DOUBLE, status VARCHAR, decided_by VARCHAR);
"""
Connection = duckdb.DuckDBPyConnection


def index_path(data_dir: Path) -> Path:
    """Return where the index lies if nobody says otherwise."""
    return data_dir / "crowd.duckdb"


@contextmanager
def reading(path: Path) -> Iterator[Connection]:
    """Open the index to read. Raises InputError where there is none, or it is none, or it is being written."""
    if not path.is_file():
        raise InputError("The public data is not indexed yet.", "Run `crowdnotes crowd index FOLDER` first.")
    with _open_connection(path, read_only=True) as connection:
        _check_form(connection, path)
        yield connection


@contextmanager
def writing(path: Path) -> Iterator[Connection]:
    """Open the index to write; made where there is none. Raises InputError as `reading` does."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path.parent} cannot be written ({error.strerror}).", "Choose another folder.") from error
    with _open_connection(path, read_only=False) as connection:
        if connection.execute("SELECT count(*) FROM duckdb_tables()").fetchone() == (0,):
            connection.execute(f"BEGIN; {_CREATE_TABLES_SQL} COMMIT;")
        _check_form(connection, path)
        connection.execute("ALTER TABLE people ADD COLUMN IF NOT EXISTS changed_at BIGINT")  # of an index from before
        yield connection


def is_made_up(connection: Connection) -> bool:
    """Return whether the notes are those that `make_public_data` makes: all of them link to example.org."""
    some = "SELECT count(*) FROM (SELECT 1 FROM notes WHERE text {} '%https://example.org/%' LIMIT 1)"
    return bool(how_many(connection, some.format("LIKE"))) and not how_many(connection, some.format("NOT LIKE"))


def how_many(connection: Connection, question: str, *values: int) -> int:
    """Return the number that a question of counting answers."""
    row = connection.execute(question, list(values)).fetchone()
    return int(row[0]) if row else 0


def columns(
    connection: Connection, question: str, values: Sequence[object] | dict[str, object] = ()
) -> dict[str, npt.NDArray[Any]]:
    """Return the answer, column by column; the question leaves no NULL in numbers."""
    answer = connection.execute(question, values).fetchnumpy()
    return {name: np.asarray(column) for name, column in answer.items()}


@contextmanager
def _open_connection(path: Path, *, read_only: bool) -> Iterator[Connection]:
    config: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": _MEMORY_LIMIT,
        "threads": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1),
        "preserve_insertion_order": False,  # what needs an order asks for it, and loading needs less memory
        "autoinstall_known_extensions": False,  # nothing is downloaded
        "autoload_known_extensions": False,
    }
    connection = _connect_with_wait(path, config, read_only=read_only)
    try:
        yield connection
    except duckdb.InterruptException as error:
        raise KeyboardInterrupt from error
    except duckdb.IOException as error:
        raise InputError(f"The index cannot be read or written ({error}).", "Check the disk's free space.") from error
    except duckdb.OutOfMemoryException as error:
        raise InputError("This takes too much memory.", "Ask for less at once.") from error
    finally:
        connection.close()


def _connect_with_wait(
    path: Path, config: dict[str, str | bool | int | float | list[str]], *, read_only: bool
) -> Connection:
    """Wait a little for another process's lock: pages read for a moment only."""
    until = time.monotonic() + _LOCK_WAIT_SECONDS
    while True:
        try:
            return duckdb.connect(str(path), read_only=read_only, config=config)
        except (duckdb.IOException, duckdb.ConnectionException) as error:  # by another process, by this one
            if "lock" not in str(error) and "different configuration" not in str(error):
                raise InputError(
                    f"{path.name} is no index, or is damaged.", "Delete it, and index the folder again."
                ) from error
            if time.monotonic() > until:
                raise InputError("The index is in use elsewhere.", "Try again when that has finished.") from error
        time.sleep(_LOCK_WAIT_SECONDS / 20)


def _check_form(connection: Connection, path: Path) -> None:
    # Our index has only tables. A view or macro in a foreign file could read any file that this program may read.
    views, macros = "SELECT 1 FROM duckdb_views()", "SELECT 1 FROM duckdb_functions()"
    if connection.execute(f"{views} WHERE NOT internal UNION ALL {macros} WHERE NOT internal").fetchone():
        raise InputError(f"{path.name} is no index that this program made.", "Name another file.")
    try:
        found = connection.execute("SELECT form FROM form").fetchone()
    except duckdb.CatalogException as error:
        raise InputError(f"{path.name} is no index of public data.", "Name another file.") from error
    if found != (INDEX_VERSION,):
        raise InputError("The index was made by another version.", f"Delete {path.name} and index the folder again.")
