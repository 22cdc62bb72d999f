"""The database: opened, migrated, read and written by many at once; its errors in words."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, Engine, Executable, insert, inspect, select, text, update

import crowdnotes
from crowdnotes import __version__
from crowdnotes.errors import ConfigurationError, StoreBusyError, StoreError, StoreFullError
from crowdnotes.settings import Settings
from crowdnotes.storage import database
from crowdnotes.storage.database import connect, migrate, open_database, reading, writing
from crowdnotes.storage.tables import metadata, programs, storable_text
from tests.shared import PATIENCE


def _row(word: str) -> dict[str, object]:
    return {"seq": 7, "version": word, "since": datetime(2026, 1, 1, tzinfo=UTC)}


def _kept(connection: Connection) -> list[str]:
    return list(connection.scalars(select(programs.c.version).where(programs.c.seq == 7)))


def _fail_after_writing(engine: Engine) -> None:
    with writing(engine) as connection:
        connection.execute(insert(programs).values(_row("a")))
        raise RuntimeError


def _sqlite_file(tmp_path: Path) -> Path:
    return tmp_path / "data" / "crowdnotes.sqlite"


def test_what_a_failed_transaction_wrote_is_undone(engine: Engine) -> None:
    with pytest.raises(RuntimeError):
        _fail_after_writing(engine)
    with reading(engine) as connection:
        assert _kept(connection) == []


def test_sqlite_is_set_up_for_many_readers_and_safe_writes(tmp_path: Path) -> None:
    engine = open_database(f"sqlite:///{_sqlite_file(tmp_path)}")
    with reading(engine) as connection:
        pragmas = {
            name: connection.execute(text(f"PRAGMA {name}")).scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    assert pragmas == {"journal_mode": "wal", "synchronous": 1, "foreign_keys": 1, "busy_timeout": 10_000}
    engine.dispose()


def test_a_reader_does_not_wait_for_a_writer(tmp_path: Path) -> None:
    engine = open_database(f"sqlite:///{_sqlite_file(tmp_path)}")
    with writing(engine) as writer:
        writer.execute(insert(programs).values(_row("a")))
        with reading(engine) as reader:
            assert _kept(reader) == []
    engine.dispose()


def test_the_data_folder_is_for_its_owner_only(tmp_path: Path) -> None:
    open_database(f"sqlite:///{_sqlite_file(tmp_path)}").dispose()
    assert (tmp_path / "data").stat().st_mode & 0o077 == 0


def test_a_data_folder_with_marks_of_urls_in_its_name_works(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "50%20 of #it? ü", database_url=None)
    open_database(settings.resolved_database_url).dispose()
    assert (settings.data_dir / "crowdnotes.sqlite").exists()


@pytest.mark.parametrize(
    "url",
    [
        "not a url with hunter2",
        "postgresql://me:hunter2@host:port/db",
        "mysql://me:hunter2@host/db",
        "sqlite://",
        "sqlite:///:memory:",
    ],
)
def test_a_url_that_cannot_be_used_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        connect(url)
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_a_server_that_refuses_gives_a_clear_sentence_without_the_password(scheme: str) -> None:
    with pytest.raises(ConfigurationError, match="cannot be reached") as caught:
        open_database(f"{scheme}://me:hunter2@127.0.0.1:1/db")
    chain = [str(caught.value), repr(caught.value.__cause__)]
    assert not [words for words in chain if "hunter2" in words]


@pytest.mark.postgres
def test_a_database_that_does_not_exist_is_a_matter_of_configuration(postgres_url: str) -> None:
    with pytest.raises(ConfigurationError, match="cannot be reached"):
        open_database(postgres_url.replace("/postgres?", "/nowhere?"))


def test_many_threads_may_open_the_same_new_database(database_url: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        for engine in pool.map(open_database, [database_url] * 8):
            engine.dispose()


def _is_ours(name: str | None, kind: str, _: object) -> bool:
    """Procrastinate's tables are not."""
    return kind != "table" or not (name or "").startswith("procrastinate_")


def test_the_migrations_make_exactly_the_tables_that_the_code_knows(engine: Engine) -> None:
    with reading(engine) as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "include_name": _is_ours})
        assert compare_metadata(context, metadata) == []


def test_a_database_that_is_up_to_date_is_left_alone(engine: Engine) -> None:
    with writing(engine) as connection:
        connection.execute(text("DROP TABLE contents"))
    migrate(engine)
    assert "contents" not in inspect(engine).get_table_names()


def test_the_database_says_which_programs_wrote_to_it_the_newest_last(engine: Engine) -> None:
    for version in ("0.2.0", "0.2.0", "0.3.0", "0.2.0"):
        migrate(engine, version)
    with reading(engine) as connection:
        written = connection.execute(select(programs).order_by(programs.c.seq)).all()
    assert [row.version for row in written] == [__version__, "0.2.0", "0.3.0", "0.2.0"]


def test_a_database_of_a_newer_version_is_refused(engine: Engine) -> None:
    with writing(engine) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(ConfigurationError, match="newer version"):
        migrate(engine)


def test_a_migration_that_fails_leaves_nothing_half_made(database_url: str) -> None:
    engine = connect(database_url)
    with writing(engine) as connection:
        connection.execute(text("CREATE TABLE jobs (mine integer)"))
    with pytest.raises(Exception, match="could not do"):
        migrate(engine)
    assert inspect(engine).get_table_names() == ["jobs"]
    engine.dispose()


_OPEN = "import sys; from crowdnotes.storage.database import open_database; open_database(sys.argv[1]).dispose()"


@pytest.mark.deep
def test_processes_that_start_at_once_wait_for_each_other(database_url: str) -> None:
    root = Path(crowdnotes.__file__).parents[1]
    processes = [
        subprocess.Popen([sys.executable, "-c", _OPEN, database_url], cwd=root, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert [(process.communicate(timeout=PATIENCE)[1], process.returncode) for process in processes] == [("", 0)] * 2


def _write(engine: Engine, *statements: Executable | str) -> None:
    with writing(engine) as connection:
        for statement in statements:
            connection.execute(text(statement) if isinstance(statement, str) else statement)


@pytest.mark.postgres
def test_a_lock_that_is_held_too_long_is_said_to_be_busy_on_postgresql(postgres_database_url: str) -> None:
    engine = open_database(postgres_database_url)
    with writing(engine) as holder:
        holder.execute(text("LOCK TABLE cases"))
        with pytest.raises(StoreBusyError):
            _write(engine, "SET LOCAL lock_timeout = '50ms'", "SELECT * FROM cases FOR UPDATE")
    engine.dispose()


def test_a_locked_file_is_said_to_be_busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_LOCK_WAIT_SECONDS", 0.05)
    engine = open_database(f"sqlite:///{_sqlite_file(tmp_path)}")
    other_program = sqlite3.connect(_sqlite_file(tmp_path), isolation_level=None)
    other_program.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreBusyError, match="locked by another program"), writing(engine):
        pass
    other_program.execute("ROLLBACK")
    with writing(engine) as connection:
        connection.execute(insert(programs).values(_row("a")))
    other_program.close()
    engine.dispose()


def test_a_full_disk_is_said_to_be_full_and_loses_nothing(tmp_path: Path) -> None:
    engine = open_database(f"sqlite:///{_sqlite_file(tmp_path)}")
    with writing(engine) as connection:
        connection.execute(insert(programs).values(_row("kept")))
    with pytest.raises(StoreFullError, match="disk is full"):
        _write(engine, "PRAGMA max_page_count = 1", update(programs).values(version="x" * 100_000))
    with reading(engine) as connection:
        assert _kept(connection) == ["kept"]
    engine.dispose()


def test_a_read_only_database_is_said_to_be_so(tmp_path: Path) -> None:
    engine = open_database(f"sqlite:///{_sqlite_file(tmp_path)}")
    with pytest.raises(StoreFullError, match="read-only"):
        _write(engine, "PRAGMA query_only = ON", insert(programs).values(_row("a")))
    engine.dispose()


def test_a_folder_that_cannot_be_made_or_written_is_said_to_be_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreFullError, match="folder cannot be made"):
        open_database(f"sqlite:///{tmp_path}/file/deeper/crowdnotes.sqlite")
    (tmp_path / "a-folder").mkdir()
    with pytest.raises(StoreFullError, match="cannot be written"):
        open_database(f"sqlite:///{tmp_path}/a-folder")


def test_a_file_that_is_damaged_or_no_database_at_all_is_said_to_be_damaged(tmp_path: Path) -> None:
    engine = open_database(f"sqlite:///{_sqlite_file(tmp_path)}")
    with writing(engine) as connection:
        connection.execute(insert(programs).values(_row("x" * 50_000)))
    engine.dispose()
    content = _sqlite_file(tmp_path).read_bytes()
    for damaged in (content[:100] + b"\xa5" * (len(content) - 100), b"this is no database at all " * 400):
        _sqlite_file(tmp_path).write_bytes(damaged)
        with pytest.raises(StoreError, match="damaged"):
            open_database(f"sqlite:///{_sqlite_file(tmp_path)}")


def test_errors_and_logs_hold_no_text_of_a_post(engine: Engine) -> None:
    with writing(engine) as connection:
        connection.execute(insert(programs).values(_row("secret words")))
    with pytest.raises(StoreError) as caught, writing(engine) as connection:
        connection.execute(insert(programs).values(_row("secret words")))
    assert "secret words" not in str(caught.value)
    assert type(caught.value) is StoreError


def test_storable_text_changes_only_what_cannot_be_kept() -> None:
    assert storable_text("a\x00b\ud800c 😀\u200f") == "a\ufffdb\ufffdc 😀\u200f"
