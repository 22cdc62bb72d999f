"""What people made in one file, and back: the database (cases, images, people), the libraries, what was measured.

Caches, fetched models and the index of the public data are left out: they can be made again. The file is a ZIP archive
that `manifest.json` describes; it holds everything that people wrote, so only its owner may read it.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from pydantic import BaseModel, ValidationError
from sqlalchemy import URL, inspect, make_url, text
from sqlalchemy import Engine as Database

from crowdnotes import __version__
from crowdnotes.errors import ConfigurationError, InputError, StoreBusyError, StoreError, StoreFullError
from crowdnotes.settings import Settings
from crowdnotes.storage.database import (
    SQLITE_BUSY_CODES,
    connect,
    migrate,
    open_database,
    reading,
    require_known,
    schema_of,
    translated,
    writing,
)
from crowdnotes.storage.tables import metadata

_MANIFEST_NAME = "manifest.json"
_DATABASE_NAME = "database"
_DATA_FILE_PATTERN = re.compile(r"libraries/[A-Za-z0-9][A-Za-z0-9_-]{0,63}\.sqlite|self_tests\.json|utility\.json")
"""Paths in the data folder."""
_BUSY_WAIT_SECONDS = 10
_LEAVING_SECONDS = 3  # until PostgreSQL has forgotten a session that ended
_IS_FLAGGED_ENCRYPTED = 0x1
_COPIES_ON_DISK = 2  # what is unpacked, and the database that it becomes
_PAGES_PER_STEP = 4_096  # pages of SQLite copied at a time: what waits for the file gets its turn between


class Manifest(BaseModel):
    """What a backup says of itself."""

    form: Literal[1] = 1
    program: str = __version__
    backend: Literal["sqlite", "postgresql"]
    schema_version: str
    made_at: datetime
    left_out: tuple[str, ...] = ()  # libraries whose file is damaged


def make_backup(settings: Settings, file: Path, *, replace: bool = False) -> Manifest:
    """Write a backup while the app and workers go on. The file is there when it is whole.

    Raises InputError where the file is there (but with `replace`) or there is nothing to keep, ConfigurationError
    without pg_dump, StoreError, StoreFullError.
    """
    if file.exists() and not replace:
        raise InputError(f"{file} is there already.", "Name another file, or say --overwrite.")
    url = make_url(settings.resolved_database_url)
    if not _is_postgres(url) and not Path(url.database or "").is_file():
        raise InputError("There is nothing to back up yet: no database has been made.")
    with (
        _translate_os_errors(file),
        TemporaryDirectory(dir=file.absolute().parent, prefix=".crowdnotes-backup-") as made,
    ):
        folder = Path(made)
        copy = folder / _DATABASE_NAME
        if _is_postgres(url):
            schema = _read_schema_version(settings.resolved_database_url)
            _run_postgres_program("pg_dump", url, "--format=custom", "--no-owner", "--no-privileges", f"--file={copy}")
        else:
            _copy_database(Path(url.database or ""), copy)
            _check_file(copy)
            schema = _read_schema_version(_sqlite_url(copy))
        if not schema:
            raise InputError("There is nothing to back up yet: no database has been made.")
        backend: Literal["sqlite", "postgresql"] = "postgresql" if _is_postgres(url) else "sqlite"
        whole, left_out = folder / "whole.zip", list[str]()
        with ZipFile(whole, "w", ZIP_DEFLATED) as archive:
            archive.write(copy, _DATABASE_NAME)
            for name, path in _find_data_files(settings.data_dir):
                if path.suffix != ".sqlite":
                    archive.write(path, name)
                elif _copy_library(path, folder / "library"):
                    archive.write(folder / "library", name)
                else:
                    left_out.append(path.stem)
                (folder / "library").unlink(missing_ok=True)
            manifest = Manifest(
                backend=backend, schema_version=schema, made_at=datetime.now(UTC), left_out=tuple(left_out)
            )
            archive.writestr(_MANIFEST_NAME, manifest.model_dump_json())
        whole.chmod(0o600)
        whole.replace(file)
    return manifest


def _copy_library(path: Path, copy: Path) -> bool:
    """Return whether it is whole: no damaged library keeps the rest from being backed up."""
    try:
        _copy_database(path, copy)
        _check_file(copy)
    except (StoreBusyError, StoreFullError):
        raise
    except StoreError:
        return False
    return True


def restore_backup(settings: Settings, file: Path, *, replace: bool = False) -> Manifest:
    """Put back what `make_backup` wrote, brought to this version.

    The app and workers have to be stopped: StoreBusyError where one is not. All is read, checked and brought to this
    version before anything is changed; whatever fails, what was there is there as it was. With `replace` it takes the
    place of the database that is there, and of libraries of the same names. Raises InputError for another file or a
    damaged one, where something is there already, or where the settings name the other kind of database;
    ConfigurationError for a backup of a newer version, or without pg_restore; StoreError, StoreFullError.
    """
    data, url = settings.data_dir.absolute(), make_url(settings.resolved_database_url)
    with _translate_os_errors(data):
        settings.make_data_dir()
        with TemporaryDirectory(dir=data, prefix=".crowdnotes-restore-") as made:
            folder = Path(made)
            manifest, names = _unpack_backup(file, folder)
            if (manifest.backend == "postgresql") != _is_postgres(url):
                raise InputError(
                    f"The backup is of another kind of database ({manifest.backend}). Nothing was changed.",
                    "Set CROWDNOTES_DATABASE_URL to a database of that kind, or leave it out for SQLite.",
                )
            there = [name for name in names if (data / name).exists()]
            if (_has_tables(url) or there) and not replace:
                raise InputError(
                    "There is a database or a library already, and a restore would replace it. Nothing was changed.",
                    "Set another CROWDNOTES_DATA_DIR or CROWDNOTES_DATABASE_URL, or say --overwrite.",
                )
            if _is_postgres(url):
                with _files_in_place(data, folder, names):
                    _restore_postgres(url, folder / _DATABASE_NAME, file)
            else:
                _make_current(folder / _DATABASE_NAME, file)
                with _open_alone(Path(url.database or "")) as database, _files_in_place(data, folder, names):
                    _copy_into(folder / _DATABASE_NAME, database)
    return manifest


def _unpack_backup(file: Path, folder: Path) -> tuple[Manifest, list[str]]:
    """Return what the backup says of itself, and the names of the data files in the folder, without the database."""
    if not file.is_file():  # a pipe would be waited for
        raise InputError(f"There is no file {file}.")
    try:
        with ZipFile(file) as archive:
            found = [
                one
                for one in archive.infolist()
                if one.filename in {_MANIFEST_NAME, _DATABASE_NAME} or _DATA_FILE_PATTERN.fullmatch(one.filename)
            ]
            _check_entries(file, found, shutil.disk_usage(folder).free)
            manifest = Manifest.model_validate_json(archive.read(_MANIFEST_NAME))
            require_known(manifest.schema_version)
            for one in found:
                archive.extract(one, folder)  # its checksum is compared
    except (BadZipFile, KeyError, ValidationError, EOFError, ValueError, zlib.error) as error:
        raise _damaged(file) from error
    names = [one.filename for one in found if one.filename not in {_MANIFEST_NAME, _DATABASE_NAME}]
    for name in names:
        if name.endswith(".sqlite"):
            _check_file(folder / name, file)
    return manifest, names


def _check_entries(file: Path, found: Sequence[ZipInfo], free: int) -> None:
    """Refuse what `make_backup` does not write, and what does not fit on the disk."""
    names = [one.filename for one in found]
    if any(one.flag_bits & _IS_FLAGGED_ENCRYPTED for one in found):
        raise InputError(f"{file} is encrypted. Nothing was changed.", "Unpack it with its password, and zip it anew.")
    if any(one.compress_type not in {ZIP_STORED, ZIP_DEFLATED} for one in found):
        raise InputError(f"{file} is packed in another way than a backup is. Nothing was changed.", "Zip it anew.")
    if _DATABASE_NAME not in names:
        raise _damaged(file)
    if len(set(names)) < len(names):
        raise _damaged(file, "it holds one file twice")
    needed = _COPIES_ON_DISK * sum(one.file_size for one in found)
    if needed > free:
        raise StoreFullError(
            f"The backup needs {needed / 1e9:,.1f} GB on the disk, and {free / 1e9:,.1f} GB are free.",
            "Nothing was changed. Free some disk space, or set another CROWDNOTES_DATA_DIR.",
        )


def _damaged(file: Path, why: str = "") -> InputError:
    said = f": {why}" if why else ""
    return InputError(
        f"{file} is not a backup of CrowdNotes, or it is damaged{said}. Nothing was changed.", "Restore another backup."
    )


@contextmanager
def _files_in_place(data: Path, folder: Path, names: Sequence[str]) -> Iterator[None]:
    """Move unpacked files into the data folder; if anything then fails, what was there comes back."""
    moved: list[tuple[Path, Path]] = []
    try:
        for name in names:
            target, before = data / name, folder / "before" / name
            for one in (target, before):
                one.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if target.exists():
                target.replace(before)
            moved.append((target, before))
            (folder / name).replace(target)
        yield
    except BaseException:
        for target, before in reversed(moved):
            target.unlink(missing_ok=True)
            if before.exists():
                before.replace(target)
        raise


@contextmanager
def _open_alone(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the database file, kept from all others until the end. Raises StoreBusyError where another has it open."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    is_new = not path.exists()
    try:
        with translated(), closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as database:
            try:
                # SQLite refuses to leave the write-ahead log while anybody else has the file open, idle or not.
                database.execute("PRAGMA journal_mode = DELETE")
                database.execute("PRAGMA locking_mode = EXCLUSIVE")
                database.executescript("BEGIN EXCLUSIVE; COMMIT")  # the lock stays
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF in SQLITE_BUSY_CODES:
                    raise _is_open_elsewhere() from error
                raise
            yield database
    except BaseException:
        if is_new:
            path.unlink(missing_ok=True)
        raise


def _is_open_elsewhere() -> StoreBusyError:
    return StoreBusyError(
        "The app, a worker or a command has the database open. Nothing was changed.",
        "Stop them, then restore again.",
    )


def _copy_database(source: Path, target: Path) -> None:
    """SQLite's online copy into a file of its own, of one moment, while others read and write."""
    with translated(), closing(sqlite3.connect(target)) as new:
        _copy_into(source, new)
        new.execute("PRAGMA journal_mode = DELETE")  # one file; the database's is switched back when it is opened


def _copy_into(source: Path, target: sqlite3.Connection) -> None:
    """All of it or nothing, also where the process is killed. Raises StoreError and its kinds."""
    deadline = time.monotonic() + _BUSY_WAIT_SECONDS

    def on_progress(status: int, _left: int, _all: int) -> None:
        nonlocal deadline
        if status not in SQLITE_BUSY_CODES:
            deadline = time.monotonic() + _BUSY_WAIT_SECONDS
        elif time.monotonic() > deadline:  # without this Python waits forever
            raise StoreBusyError("The database is locked by another program.")

    # In one step, where a program may be writing: SQLite begins anew when another process wrote between two.
    pages = -1 if source.with_name(f"{source.name}-wal").exists() else _PAGES_PER_STEP
    with translated(), closing(sqlite3.connect(source)) as old:
        old.backup(target, pages=pages, progress=on_progress)


def _check_file(path: Path, backup: Path | None = None) -> None:
    """Refuse a damaged SQLite file, and one that does something by itself when it is written to.

    Raises InputError that names the `backup` it came from, StoreError without one.
    """
    why = ""
    try:
        with closing(sqlite3.connect(path)) as database:
            if database.execute("PRAGMA quick_check").fetchone()[0] != "ok":
                why = "its database is damaged"
            elif not database.execute("SELECT 1 FROM sqlite_master").fetchone():
                why = "its database is empty"
            elif (
                backup and database.execute("SELECT 1 FROM sqlite_master WHERE type IN ('trigger', 'view')").fetchone()
            ):
                why = "its database holds triggers or views, which a backup never does"
    except sqlite3.DatabaseError:
        why = "its database is damaged"
    if why and backup:
        raise _damaged(backup, why)
    if why:
        raise StoreError(f"The backup was not made: the program's own database file cannot be used, {why}.")


def _make_current(path: Path, backup: Path) -> None:
    """Bring an unpacked database to the newest schema, as one file. Raises InputError where it lacks tables."""
    _check_file(path, backup)
    from alembic.util import CommandError

    url = _sqlite_url(path)
    if not _read_schema_version(url):
        raise _damaged(backup, "its database has no tables of CrowdNotes")
    try:
        database = open_database(url)
    except (StoreError, CommandError) as error:  # a migration did not find its tables, or two versions are named
        raise _damaged(backup, "its tables are not those of CrowdNotes") from error
    try:
        _require_all_tables(database, backup)
    finally:
        database.dispose()
    with translated(), closing(sqlite3.connect(path)) as file:
        file.execute("PRAGMA journal_mode = DELETE")


def _require_all_tables(database: Database, backup: Path) -> None:
    with translated():
        there = inspect(database)
        names = set(there.get_table_names())
        for table in metadata.sorted_tables:
            columns = {column["name"] for column in there.get_columns(table.name)} if table.name in names else set()
            if lacking := {column.name for column in table.columns} - columns:
                raise _damaged(backup, f"its table {table.name} lacks {', '.join(sorted(lacking)[:3])}")


def _restore_postgres(url: URL, dump: Path, backup: Path) -> None:
    """In place of the schema "public"; what was there is kept under another name until the new one is whole."""
    database = connect(url.render_as_string(hide_password=False))
    before = f"before_restore_{datetime.now(UTC):%Y%m%d%H%M%S}"
    try:
        _require_no_other_session(database)
        _execute_all(database, f"ALTER SCHEMA public RENAME TO {before}", "CREATE SCHEMA public")
        try:
            words = ("--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges")
            _run_postgres_program("pg_restore", url, *words, "--schema=public", after=(str(dump),))
            _make_postgres_current(database, backup)
        except BaseException:
            _execute_all(database, "DROP SCHEMA public CASCADE", f"ALTER SCHEMA {before} RENAME TO public")
            raise
        _execute_all(database, f"DROP SCHEMA {before} CASCADE")
    finally:
        database.dispose()


def _make_postgres_current(database: Database, backup: Path) -> None:
    if not schema_of(database):
        raise _damaged(backup, "its database has no tables of CrowdNotes")
    with reading(database) as connection:
        foreign = connection.scalar(text(_FOREIGN_TRIGGERS_SQL))
    if foreign:
        raise _damaged(backup, "its database holds triggers that CrowdNotes does not have")
    migrate(database)
    _require_all_tables(database, backup)


# Procrastinate's queue has triggers of its own.
_FOREIGN_TRIGGERS_SQL = (
    "SELECT count(*) FROM information_schema.triggers "
    "WHERE trigger_schema = 'public' AND trigger_name NOT LIKE 'procrastinate%'"
)
_OTHER_SESSIONS_SQL = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND usename = current_user "
    "AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
)


def _require_no_other_session(database: Database) -> None:
    """Raise StoreBusyError while another program of this user is connected; one that has just left is waited for."""
    deadline = time.monotonic() + _LEAVING_SECONDS
    while True:
        with reading(database) as connection:
            if not connection.scalar(text(_OTHER_SESSIONS_SQL)):
                return
        if time.monotonic() > deadline:
            raise _is_open_elsewhere()
        time.sleep(0.1)


def _execute_all(database: Database, *statements: str) -> None:
    with writing(database) as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def _run_postgres_program(program: str, url: URL, *words: str, after: tuple[str, ...] = ()) -> None:
    """Run a program of PostgreSQL; the password is not among its words, where other users would see it."""
    found = shutil.which(program)
    if found is None:
        raise ConfigurationError(
            f"{program} is needed for PostgreSQL, and is not on the PATH.",
            "Install the client programs of PostgreSQL, of the server's version or newer.",
        )
    address = url.set(drivername="postgresql", password=None).render_as_string(hide_password=False)
    secret = {"PGPASSWORD": str(url.password)} if url.password else {}
    ended = subprocess.run(  # noqa: S603 - the program's own words
        [found, *words, f"--dbname={address}", *after],
        env=os.environ | secret,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if ended.returncode:
        why = next((line for line in ended.stderr.splitlines() if "error:" in line), ended.stderr.strip()[:300])
        raise StoreError(f"{program} could not do it: {why}")


def _find_data_files(data: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted((*data.glob("libraries/*.sqlite"), *data.glob("*.json"))):
        name = path.relative_to(data).as_posix()
        if _DATA_FILE_PATTERN.fullmatch(name):
            yield name, path


def _read_schema_version(url: str) -> str:
    database = connect(url)
    try:
        return schema_of(database)
    finally:
        database.dispose()


def _has_tables(url: URL) -> bool:
    if not _is_postgres(url) and not Path(url.database or "").is_file():
        return False
    database = connect(url.render_as_string(hide_password=False))
    try:
        with translated():
            return bool(inspect(database).get_table_names())
    finally:
        database.dispose()


def _sqlite_url(path: Path) -> str:
    return URL.create("sqlite", database=str(path)).render_as_string()


def _is_postgres(url: URL) -> bool:
    return not url.drivername.startswith("sqlite")


@contextmanager
def _translate_os_errors(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreFullError(f"{place} cannot be read or written: {error.strerror or error}.") from error
