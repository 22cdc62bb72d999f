"""What goes wrong in a database is said in a sentence of its own, and loses nothing."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Engine, Executable, insert, select, text

import crowdnotes
from crowdnotes.domain import text_sha256
from crowdnotes.errors import StoreBusyError, StoreError, StoreFullError
from crowdnotes.storage import database
from crowdnotes.storage.database import open_database, reading, writing
from crowdnotes.storage.tables import source_texts

_ROOT = Path(crowdnotes.__file__).parents[1]


def _row(word: str) -> dict[str, object]:
    return {"sha256": text_sha256(word), "text": word.encode(), "stored_at": datetime(2026, 1, 1, tzinfo=UTC)}


def _write(engine: Engine, *statements: Executable | str) -> None:
    with writing(engine) as connection:
        for statement in statements:
            connection.execute(text(statement) if isinstance(statement, str) else statement)


def _sqlite_file(tmp_path: Path) -> Path:
    return tmp_path / "data" / "crowdnotes.sqlite"


@pytest.mark.postgres
def test_a_lock_that_is_held_too_long_is_said_to_be_busy_on_postgresql(postgres_database_url: str) -> None:
    engine = open_database(postgres_database_url)
    with writing(engine) as holder:
        holder.execute(text("LOCK TABLE cases"))
        with pytest.raises(StoreBusyError):
            _write(engine, "SET LOCAL lock_timeout = '50ms'", "SELECT * FROM cases FOR UPDATE")
    engine.dispose()


def test_a_locked_file_is_said_to_be_busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_WAIT_SECONDS", 0.05)
    engine = open_database(f"sqlite:///{_sqlite_file(tmp_path)}")
    other_program = sqlite3.connect(_sqlite_file(tmp_path), isolation_level=None)
    other_program.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreBusyError, match="locked by another program"), writing(engine):
        pass
    other_program.execute("ROLLBACK")
    with writing(engine) as connection:
        connection.execute(insert(source_texts).values(_row("a")))
    other_program.close()
    engine.dispose()


def test_a_full_disk_is_said_to_be_full_and_loses_nothing(tmp_path: Path) -> None:
    engine = open_database(f"sqlite:///{_sqlite_file(tmp_path)}")
    with writing(engine) as connection:
        connection.execute(insert(source_texts).values(_row("kept")))
    with pytest.raises(StoreFullError, match="disk is full"):
        _write(engine, "PRAGMA max_page_count = 1", insert(source_texts).values(_row("x" * 100_000)))
    with reading(engine) as connection:
        assert connection.scalars(select(source_texts.c.text)).all() == [b"kept"]
    engine.dispose()


_FILL_THE_DISK = """
import resource, signal, sys
from crowdnotes.cases.store import SqlStore
from crowdnotes.errors import StoreFullError
from crowdnotes.storage.database import open_database
engine = open_database(sys.argv[1])
store = SqlStore(engine)
kept = store.put_text("kept")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
try:
    store.put_text("x" * 2_000_000)
except StoreFullError as error:
    print("full:", store.text(kept))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of the file size are Unix's")
def test_a_disk_that_fills_while_writing_loses_nothing(tmp_path: Path) -> None:
    url = f"sqlite:///{_sqlite_file(tmp_path)}"
    done = subprocess.run(
        [sys.executable, "-c", _FILL_THE_DISK, url], capture_output=True, text=True, cwd=_ROOT, timeout=60, check=False
    )
    assert done.stdout.strip() == "full: kept", done.stderr
    engine = open_database(url)
    with reading(engine) as connection:
        assert connection.scalars(select(source_texts.c.text)).all() == [b"kept"]
    engine.dispose()


def test_a_read_only_database_is_said_to_be_so(tmp_path: Path) -> None:
    engine = open_database(f"sqlite:///{_sqlite_file(tmp_path)}")
    with pytest.raises(StoreFullError, match="read-only"):
        _write(engine, "PRAGMA query_only = ON", insert(source_texts).values(_row("a")))
    engine.dispose()


def test_a_folder_that_cannot_be_made_or_written_is_said_to_be_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreFullError, match="folder cannot be made"):
        open_database(f"sqlite:///{tmp_path}/file/deeper/crowdnotes.sqlite")
    (tmp_path / "a-folder").mkdir()
    with pytest.raises(StoreFullError, match="cannot be written"):
        open_database(f"sqlite:///{tmp_path}/a-folder")


@pytest.fixture
def read_only_folder() -> Iterator[Path]:
    """A folder that this process may read but not write, also when root runs the tests."""
    folder = Path(tempfile.mkdtemp(prefix="crowdnotes-"))
    open_database(f"sqlite:///{folder}/crowdnotes.sqlite").dispose()
    (folder / "crowdnotes.sqlite").chmod(0o444)
    folder.chmod(0o555)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)  # nobody
    yield folder
    os.seteuid(user)
    shutil.rmtree(folder)


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are Unix's")
def test_a_folder_without_permission_to_write_is_said_to_be_so(read_only_folder: Path) -> None:
    with pytest.raises(StoreFullError, match="read-only"):
        open_database(f"sqlite:///{read_only_folder}/crowdnotes.sqlite")


def test_a_file_that_is_no_database_is_said_to_be_damaged(tmp_path: Path) -> None:
    _sqlite_file(tmp_path).parent.mkdir()
    _sqlite_file(tmp_path).write_bytes(b"this is no database at all " * 400)
    with pytest.raises(StoreError, match="damaged"):
        open_database(f"sqlite:///{_sqlite_file(tmp_path)}")


def test_a_file_with_damaged_pages_is_said_to_be_damaged(tmp_path: Path) -> None:
    engine = open_database(f"sqlite:///{_sqlite_file(tmp_path)}")
    with writing(engine) as connection:
        connection.execute(insert(source_texts).values(_row("x" * 50_000)))
    engine.dispose()
    content = bytearray(_sqlite_file(tmp_path).read_bytes())
    content[100:] = b"\xa5" * (len(content) - 100)
    _sqlite_file(tmp_path).write_bytes(content)
    with pytest.raises(StoreError, match="damaged"):
        open_database(f"sqlite:///{_sqlite_file(tmp_path)}")


def test_errors_and_logs_hold_no_text_of_a_post(engine: Engine) -> None:
    with writing(engine) as connection:
        connection.execute(insert(source_texts).values(_row("secret words")))
    with pytest.raises(StoreError) as caught, writing(engine) as connection:
        connection.execute(insert(source_texts).values(_row("secret words")))
    assert "secret words" not in str(caught.value)
    assert type(caught.value) is StoreError
