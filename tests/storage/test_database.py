from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Engine, insert, select, text

from crowdnotes.domain import text_sha256
from crowdnotes.errors import ConfigurationError
from crowdnotes.settings import Settings
from crowdnotes.storage.database import connect, open_database, reading, writing
from crowdnotes.storage.tables import source_texts


def _row(word: str) -> dict[str, object]:
    return {"sha256": text_sha256(word), "text": word.encode(), "stored_at": datetime(2026, 1, 1, tzinfo=UTC)}


def _fail_after_writing(engine: Engine) -> None:
    with writing(engine) as connection:
        connection.execute(insert(source_texts).values(_row("a")))
        raise RuntimeError


def _sqlite_file(tmp_path: Path) -> Path:
    return tmp_path / "data" / "crowdnotes.sqlite"


def test_what_a_failed_transaction_wrote_is_undone(engine: Engine) -> None:
    with pytest.raises(RuntimeError):
        _fail_after_writing(engine)
    with reading(engine) as connection:
        assert connection.execute(select(source_texts)).all() == []


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
        writer.execute(insert(source_texts).values(_row("a")))
        with reading(engine) as reader:
            assert reader.execute(select(source_texts)).all() == []
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
