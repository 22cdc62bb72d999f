"""A backup holds what people made, and a restore gives it back whole or changes nothing."""

from __future__ import annotations

import importlib.util
import json
import os
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_LZMA, ZipFile

import pytest
from sqlalchemy import text

from crowdnotes.errors import ConfigurationError, InputError, StoreBusyError, StoreError, StoreFullError
from crowdnotes.settings import Settings
from crowdnotes.storage import backup
from crowdnotes.storage.backup import make_backup, restore_backup
from crowdnotes.storage.database import open_database, writing
from crowdnotes.workspace import open_workspace
from tests.cases.walk import draft_and_approve, small_workspace
from tests.command_line import crowdnotes
from tests.fakes import HashingEmbedder
from tests.shared import HeldTime


def _settings(folder: Path, url: str | None = None) -> Settings:
    return Settings(data_dir=folder / "data", database_url=url)


def test_a_case_and_a_library_come_back_from_one_file_that_only_its_owner_reads(tmp_path: Path) -> None:
    with small_workspace(tmp_path) as workspace:
        case = draft_and_approve(workspace, "kettle", "ann")
        ended = crowdnotes(tmp_path, "backup", "all.zip")  # the program is still open
    assert ended.returncode == 0, ended.stderr
    assert stat.S_IMODE((tmp_path / "all.zip").stat().st_mode) == 0o600
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert crowdnotes(elsewhere, "restore", "../all.zip").returncode == 0
    with open_workspace(_settings(elsewhere), embedder=HashingEmbedder()) as restored:
        assert restored.cases.get(case.id) == case
        assert [library.name for library in restored.libraries.list()] == ["topics"]


@pytest.mark.postgres
def test_a_postgresql_database_comes_back_also_over_another(
    tmp_path: Path, postgres_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = importlib.util.find_spec("pgserver")  # where the tests' server comes from: of its own version
    assert server is not None
    programs = Path(str(server.origin)).parent / "pginstall" / "bin"
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    settings = _settings(tmp_path, postgres_database_url)
    database = open_database(postgres_database_url)
    for number in (1, 2):  # what was restored can be backed up again
        with writing(database) as connection:
            connection.execute(text("DELETE FROM programs"))
            connection.execute(text("INSERT INTO programs VALUES (1, 'kept', '2026-01-01')"))
        make_backup(settings, tmp_path / f"{number}.zip")
        with writing(database) as connection:
            connection.execute(text("DELETE FROM programs"))
            connection.execute(text(f"CREATE TABLE later{number} (id int)"))
        with pytest.raises(InputError, match="already"):
            restore_backup(settings, tmp_path / f"{number}.zip")
        monkeypatch.setattr(backup, "time", HeldTime(step=60))
        with pytest.raises(StoreBusyError, match="Nothing was changed"):  # this test's own session
            restore_backup(settings, tmp_path / f"{number}.zip", replace=True)
        monkeypatch.undo()
        monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
        database.dispose()
        restore_backup(settings, tmp_path / f"{number}.zip", replace=True)
        with writing(database) as connection:
            assert connection.scalar(text("SELECT version FROM programs WHERE seq = 1")) == "kept"
            assert connection.scalar(text(f"SELECT to_regclass('later{number}')")) is None
    for statement, why in (
        ("CREATE TRIGGER odd BEFORE INSERT ON cases EXECUTE FUNCTION suppress_redundant_updates_trigger()", "triggers"),
        ("DROP TRIGGER odd ON cases; DROP TABLE presence", "presence"),
    ):
        with writing(database) as connection:
            connection.exec_driver_sql(statement)
        make_backup(settings, tmp_path / "odd.zip", replace=True)
        database.dispose()
        with pytest.raises(InputError, match=why):
            restore_backup(settings, tmp_path / "odd.zip", replace=True)
    with writing(database) as connection:  # as it was
        assert connection.scalar(text("SELECT version FROM programs WHERE seq = 1")) == "kept"
    database.dispose()


@pytest.mark.postgres
def test_without_the_programs_of_postgresql_it_says_so_and_keeps_the_database(
    tmp_path: Path, postgres_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = open_database(postgres_database_url)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigurationError, match="pg_dump"):
        make_backup(_settings(tmp_path, postgres_database_url), tmp_path / "all.zip")
    database.dispose()
    _write(tmp_path / "all.zip", backend="postgresql")
    with pytest.raises(ConfigurationError, match="pg_restore"):
        restore_backup(_settings(tmp_path, postgres_database_url), tmp_path / "all.zip", replace=True)
    with writing(database) as connection:
        assert connection.scalar(text("SELECT count(*) FROM programs")) == 1
    database.dispose()
    assert [path.name for path in tmp_path.iterdir() if path.name != "data"] == ["all.zip"]


def test_nothing_is_overwritten_without_being_told(tmp_path: Path) -> None:
    settings = _settings(tmp_path)
    file = tmp_path / "all.zip"
    with pytest.raises(InputError, match="nothing to back up"):
        make_backup(settings, file)
    open_database(settings.resolved_database_url).dispose()
    make_backup(settings, file)
    with pytest.raises(InputError, match="there already"):
        make_backup(settings, file)
    with pytest.raises(InputError, match="Nothing was changed"):
        restore_backup(settings, file)
    make_backup(settings, file, replace=True)
    restore_backup(settings, file, replace=True)


def test_while_the_program_is_open_nothing_is_restored(tmp_path: Path) -> None:
    settings, file = _settings(tmp_path), tmp_path / "all.zip"
    with small_workspace(tmp_path):  # its library is in the backup too
        make_backup(settings, file)
    _set_version(settings, "since the backup")
    (library,) = (settings.data_dir / "libraries").iterdir()
    library.write_bytes(b"since the backup")
    program = open_database(settings.resolved_database_url)  # idle, as an app that nobody looks at
    with pytest.raises(StoreBusyError, match="Nothing was changed"):
        restore_backup(settings, file, replace=True)
    program.dispose()
    assert _version(settings) == "since the backup"
    assert library.read_bytes() == b"since the backup"
    restore_backup(settings, file, replace=True)
    assert _version(settings) != "since the backup"
    assert library.read_bytes() != b"since the backup"


def test_a_restore_that_fails_in_the_middle_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings, file = _settings(tmp_path), tmp_path / "all.zip"
    with small_workspace(tmp_path):
        make_backup(settings, file)
    _set_version(settings, "since the backup")
    (library,) = (settings.data_dir / "libraries").iterdir()
    library.write_bytes(b"since the backup")

    def full(*_: object) -> None:
        raise StoreFullError("The disk is full.")

    monkeypatch.setattr(backup, "_copy_into", full)
    with pytest.raises(StoreFullError):
        restore_backup(settings, file, replace=True)
    assert _version(settings) == "since the backup"
    assert library.read_bytes() == b"since the backup"
    assert not list(settings.data_dir.glob(".crowdnotes-*"))


def test_a_damaged_library_is_left_out_of_the_backup_by_name(tmp_path: Path) -> None:
    settings, file = _settings(tmp_path), tmp_path / "all.zip"
    open_database(settings.resolved_database_url).dispose()
    (settings.data_dir / "libraries").mkdir()
    (settings.data_dir / "libraries" / "topics.sqlite").write_bytes(b"no library" * 1000)
    ended = crowdnotes(tmp_path, "backup", str(file))
    assert ended.returncode == 0
    assert "damaged library “topics”" in ended.stderr
    assert make_backup(settings, file, replace=True).left_out == ("topics",)
    restore_backup(_settings(tmp_path / "b"), file)


def test_a_damaged_database_is_not_backed_up_over_a_good_backup(tmp_path: Path) -> None:
    settings, file = _settings(tmp_path), tmp_path / "all.zip"
    open_database(settings.resolved_database_url).dispose()
    make_backup(settings, file)
    good = file.read_bytes()
    _damage(settings.data_dir / "crowdnotes.sqlite")
    with pytest.raises(StoreError):
        make_backup(settings, file, replace=True)
    assert file.read_bytes() == good


def _damage(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[8192:] = b"x" * len(content[8192:])
    file.write_bytes(content)


def _say(*statements: str) -> Callable[[Path], None]:
    def change(file: Path) -> None:
        with closing(sqlite3.connect(file)) as database:
            for statement in statements:
                database.execute(statement)
            database.commit()

    return change


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (_say("CREATE TRIGGER t AFTER INSERT ON cases BEGIN DELETE FROM cases; END"), "triggers"),
        (_say("ALTER TABLE cases RENAME TO old", "CREATE VIEW cases AS SELECT * FROM old"), "views"),
        (_say("DROP TABLE cases"), "table cases lacks"),
        (_say("ALTER TABLE cases DROP COLUMN post_excerpt"), "lacks post_excerpt"),
        (_say("DELETE FROM alembic_version"), "no tables of CrowdNotes"),
        (_say("UPDATE alembic_version SET version_num = '0001'"), "not those of CrowdNotes"),
        (_say("INSERT INTO alembic_version VALUES ('0001')"), "not those of CrowdNotes"),
        (_damage, "damaged"),
        (lambda file: file.write_bytes(b""), "empty"),
        (lambda file: file.write_bytes(b"no database" * 1000), "damaged"),
    ],
)
def test_a_backup_whose_database_is_not_whole_is_refused_whole(
    tmp_path: Path, change: Callable[[Path], None], why: str
) -> None:
    settings, file, odd = _settings(tmp_path), tmp_path / "all.zip", tmp_path / "odd.zip"
    open_database(settings.resolved_database_url).dispose()
    make_backup(settings, file)
    _set_version(settings, "since the backup")
    with ZipFile(file) as archive, ZipFile(odd, "w") as changed:
        archive.extract("database", tmp_path)
        change(tmp_path / "database")
        changed.writestr("manifest.json", archive.read("manifest.json"))
        changed.write(tmp_path / "database", "database")
    with pytest.raises(InputError, match=why):
        restore_backup(settings, odd, replace=True)
    assert _version(settings) == "since the backup"


@pytest.mark.parametrize("packing", [ZIP_LZMA, ZIP_BZIP2, ZIP_DEFLATED])
def test_a_backup_that_is_encrypted_or_packed_otherwise_is_refused(tmp_path: Path, packing: int) -> None:
    settings, file, odd = _settings(tmp_path), tmp_path / "all.zip", tmp_path / "odd.zip"
    open_database(settings.resolved_database_url).dispose()
    make_backup(settings, file)
    with ZipFile(file) as archive, ZipFile(odd, "w", packing) as changed:
        for name in archive.namelist():
            changed.writestr(name, archive.read(name))
    if packing == ZIP_DEFLATED:
        content = odd.read_bytes()
        for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # the flag "encrypted" of both headers
            at = content.index(mark) + place
            content = content[:at] + bytes([content[at] | 1]) + content[at + 1 :]
        odd.write_bytes(content)
    with pytest.raises(InputError, match="Nothing was changed"):
        restore_backup(settings, odd, replace=True)


def _set_version(settings: Settings, version: str) -> None:
    database = open_database(settings.resolved_database_url)
    with writing(database) as connection:
        connection.execute(text("UPDATE programs SET version = :version"), {"version": version})
    database.dispose()


def _version(settings: Settings) -> str:
    with closing(sqlite3.connect(settings.data_dir / "crowdnotes.sqlite")) as database:
        return str(database.execute("SELECT version FROM programs ORDER BY seq LIMIT 1").fetchone()[0])


def test_a_newer_a_damaged_and_another_file_are_refused(tmp_path: Path) -> None:
    settings, file = _settings(tmp_path), tmp_path / "all.zip"
    with pytest.raises(InputError, match="no file"):
        restore_backup(settings, file)
    _write(file, schema_version="9999")
    with pytest.raises(ConfigurationError, match="newer version"):
        restore_backup(settings, file)
    _write(file, backend="postgresql")
    with pytest.raises(InputError, match="another kind"):
        restore_backup(settings, file)
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(InputError, match="damaged"):
        restore_backup(settings, file)
    assert not (settings.data_dir / "crowdnotes.sqlite").exists()


def test_only_files_of_a_backup_are_unpacked(tmp_path: Path) -> None:
    settings, file = _settings(tmp_path), tmp_path / "all.zip"
    open_database(settings.resolved_database_url).dispose()
    make_backup(settings, file)
    with ZipFile(file, "a") as archive:
        archive.writestr("../outside.txt", "x")
        archive.writestr("libraries/../../outside.sqlite", "x")
    restore_backup(_settings(tmp_path / "b"), file)
    assert not list(tmp_path.rglob("outside*"))


def _write(file: Path, **changed: str) -> None:
    manifest = {"backend": "sqlite", "schema_version": "", "made_at": "2026-01-01T00:00:00Z"} | changed
    with ZipFile(file, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        archive.writestr("database", "x" * 100)


def test_the_doctor_says_what_is_fine_and_what_to_do(tmp_path: Path) -> None:
    fine = crowdnotes(tmp_path, "doctor")
    assert fine.returncode == 0, fine.stdout
    assert fine.stdout.count("fine ") == 8
    faulty = crowdnotes(
        tmp_path,
        "doctor",
        "--json",
        CROWDNOTES_DATABASE_URL="postgresql://ann:secret@127.0.0.1:1/none",
        CROWDNOTES_LLM_BASE_URL="http://127.0.0.1:1/v1",
        CROWDNOTES_LLM_MODEL="none",
    )
    assert faulty.returncode == 1
    assert [one["name"] for one in json.loads(faulty.stdout) if not one["fine"]] == ["database", "engine"]
    assert "secret" not in faulty.stdout


@pytest.mark.parametrize(
    ("setting", "fault"),
    [
        ({"CROWDNOTES_SEARCH_SERVICES": "[]"}, None),
        ({"CROWDNOTES_SEARCH_SERVICES": '["pubmed"]'}, None),
        ({"CROWDNOTES_SEARCH_SERVICES": '["pubmed", "wikinews"]'}, "search services"),
        ({"CROWDNOTES_SEARCH_SERVICES": '["brave"]'}, "search services"),
        ({"CROWDNOTES_SEARCH_READING_SERVICES": '["jina-reader"]'}, None),
        ({"CROWDNOTES_SEARCH_READING_SERVICES": '["jina"]'}, "search services"),
        ({"CROWDNOTES_SIGN_IN_DEMO": "true"}, None),
        ({"CROWDNOTES_SIGN_IN_USER_HEADER": "X-User"}, None),
        ({"CROWDNOTES_ARCHIVE_ASK": "false", "CROWDNOTES_FETCH_CACHE_MB": "0"}, None),
        ({"CROWDNOTES_WORKERS": "0"}, "database"),
    ],
)
def test_the_doctor_calls_no_documented_value_a_fault(
    tmp_path: Path, setting: dict[str, str], fault: str | None
) -> None:
    ended = crowdnotes(tmp_path, "doctor", "--json", **setting)
    assert [one["name"] for one in json.loads(ended.stdout) if not one["fine"]] == ([fault] if fault else [])
    assert ended.returncode == (1 if fault else 0)


def test_a_database_that_the_app_has_yet_to_fill_is_no_fault(tmp_path: Path, database_url: str) -> None:
    ended = crowdnotes(tmp_path, "doctor", "--json", CROWDNOTES_DATABASE_URL=database_url)
    (database,) = [one for one in json.loads(ended.stdout) if one["name"] == "database"]
    assert database["fine"], database
    assert "at the first start" in database["says"]
