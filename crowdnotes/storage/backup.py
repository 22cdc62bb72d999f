"""What people made in one file, and back: the database (cases, images, people), the libraries, what was measured.

Caches, fetched models and the index of the public data are left out: they can be made again. The file is a ZIP archive
with `manifest.json` first; it holds everything that people wrote, so only its owner may read it.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import time
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

from pydantic import BaseModel, ValidationError
from sqlalchemy import URL, inspect, make_url
from sqlalchemy import Engine as Database

from crowdnotes import __version__
from crowdnotes.errors import ConfigurationError, InputError, StoreBusyError, StoreError, StoreFullError
from crowdnotes.settings import Settings
from crowdnotes.storage.database import connect, open_database, require_known, schema_of, translated, writing

_MANIFEST_NAME = "manifest.json"
_DATABASE_NAME = "database"
_DATA_FILE_PATTERN = re.compile(r"libraries/[A-Za-z0-9][A-Za-z0-9_-]{0,63}\.sqlite|self_tests\.json|utility\.json")
"""Paths in the data folder."""
_BUSY_CODES = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_BUSY_WAIT_SECONDS = 10
_PAGES_PER_STEP = 4_096  # pages of SQLite copied at a time: what waits for the file gets its turn between


class Manifest(BaseModel):
    """What a backup says of itself."""

    form: Literal[1] = 1
    program: str = __version__
    backend: Literal["sqlite", "postgresql"]
    schema_version: str
    made_at: datetime


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
            schema = _read_schema_version(_sqlite_url(copy))
        if not schema:
            raise InputError("There is nothing to back up yet: no database has been made.")
        backend: Literal["sqlite", "postgresql"] = "postgresql" if _is_postgres(url) else "sqlite"
        manifest = Manifest(backend=backend, schema_version=schema, made_at=datetime.now(UTC))
        whole = folder / "whole.zip"
        with ZipFile(whole, "w", ZIP_DEFLATED) as archive:
            archive.writestr(_MANIFEST_NAME, manifest.model_dump_json())
            archive.write(copy, _DATABASE_NAME)
            for name, path in _find_data_files(settings.data_dir):
                if path.suffix == ".sqlite":
                    _copy_database(path, folder / "library")
                    path = folder / "library"  # noqa: PLW2901 - the copy in its place
                archive.write(path, name)
                (folder / "library").unlink(missing_ok=True)
        whole.chmod(0o600)
        whole.replace(file)
    return manifest


def restore_backup(settings: Settings, file: Path, *, replace: bool = False) -> Manifest:
    """Put back what `make_backup` wrote, and bring the database to this version.

    The app and workers have to be stopped. Everything is read and checked before anything is changed. With `replace` it
    takes the place of the database that is there, and of libraries of the same names. Raises InputError for another
    file, where something is there already, or where the settings name the other kind of database; ConfigurationError
    for a backup of a newer version, or without pg_restore; StoreError, StoreFullError.
    """
    data, url = settings.data_dir.absolute(), make_url(settings.resolved_database_url)
    with _translate_os_errors(data):
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        with TemporaryDirectory(dir=data, prefix=".crowdnotes-restore-") as made:
            folder = Path(made)
            manifest, names = _unpack_backup(file, folder)
            if (manifest.backend == "postgresql") != _is_postgres(url):
                raise InputError(
                    f"The backup is of another kind of database ({manifest.backend}). Nothing was changed.",
                    "Set CROWDNOTES_DATABASE_URL to a database of that kind, or leave it out for SQLite.",
                )
            there = [name for name in names if name != _DATABASE_NAME and (data / name).exists()]
            if (_has_tables(url) or there) and not replace:
                raise InputError(
                    "There is a database or a library already, and a restore would replace it. Nothing was changed.",
                    "Set another CROWDNOTES_DATA_DIR or CROWDNOTES_DATABASE_URL, or say --overwrite.",
                )
            if _is_postgres(url):
                _restore_postgres(url, folder / _DATABASE_NAME)
            else:
                _check_database(folder / _DATABASE_NAME)
                Path(url.database or "").parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                _copy_database(folder / _DATABASE_NAME, Path(url.database or ""))
            for name in names:
                if name != _DATABASE_NAME:
                    (data / name).parent.mkdir(mode=0o700, exist_ok=True)
                    (folder / name).replace(data / name)
    open_database(settings.resolved_database_url).dispose()
    return manifest


def _unpack_backup(file: Path, folder: Path) -> tuple[Manifest, list[str]]:
    try:
        with ZipFile(file) as archive:
            manifest = Manifest.model_validate_json(archive.read(_MANIFEST_NAME))
            require_known(manifest.schema_version)
            names = [
                name for name in archive.namelist() if name == _DATABASE_NAME or _DATA_FILE_PATTERN.fullmatch(name)
            ]
            for name in names:
                archive.extract(name, folder)  # its checksum is compared
    except FileNotFoundError:
        raise InputError(f"There is no file {file}.") from None
    except (BadZipFile, KeyError, ValidationError, EOFError, NotImplementedError, zlib.error) as error:
        raise InputError(f"{file} is not a backup of CrowdNotes, or it is damaged. Nothing was changed.") from error
    if _DATABASE_NAME not in names:
        raise InputError(f"{file} is not a backup of CrowdNotes, or it is damaged. Nothing was changed.")
    return manifest, names


def _copy_database(source: Path, target: Path) -> None:
    """SQLite's online copy, of one moment, while others read and write."""
    deadline = time.monotonic() + _BUSY_WAIT_SECONDS

    def heard(status: int, _left: int, _all: int) -> None:
        nonlocal deadline
        if status not in _BUSY_CODES:
            deadline = time.monotonic() + _BUSY_WAIT_SECONDS
        elif time.monotonic() > deadline:  # without this Python waits forever
            raise StoreBusyError("The database is locked by another program.")

    with translated(), closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(target)) as new:
        # In one step, where a program may be writing: SQLite begins anew when another process wrote between two.
        old.backup(
            new, pages=-1 if source.with_name(f"{source.name}-wal").exists() else _PAGES_PER_STEP, progress=heard
        )
        new.execute("PRAGMA journal_mode = DELETE")  # one file; the database's is switched back when it is opened


def _check_database(path: Path) -> None:
    with translated(), closing(sqlite3.connect(path)) as database:
        if database.execute("PRAGMA quick_check").fetchone()[0] != "ok":
            raise StoreError("The database file is damaged, or is not a CrowdNotes database.")
    require_known(_read_schema_version(_sqlite_url(path)))


def _restore_postgres(url: URL, dump: Path) -> None:
    """In place of the schema "public"; what was there is kept under another name until the new one is whole."""
    database = connect(url.render_as_string(hide_password=False))
    before = f"before_restore_{datetime.now(UTC):%Y%m%d%H%M%S}"
    try:
        _execute_all(database, f"ALTER SCHEMA public RENAME TO {before}", "CREATE SCHEMA public")
        try:
            words = ("--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges")
            _run_postgres_program("pg_restore", url, *words, "--schema=public", after=(str(dump),))
        except BaseException:
            _execute_all(database, "DROP SCHEMA public CASCADE", f"ALTER SCHEMA {before} RENAME TO public")
            raise
        _execute_all(database, f"DROP SCHEMA {before} CASCADE")
    finally:
        database.dispose()


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
