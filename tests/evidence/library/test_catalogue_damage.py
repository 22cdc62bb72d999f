"""What a stop, a crash or a damaged file does to libraries."""

import os
import sqlite3
import time
from pathlib import Path

import pytest

from crowdnotes.errors import JobCancelled, LibraryError
from crowdnotes.evidence.library import Libraries
from crowdnotes.evidence.library.index import IndexWriter


def test_a_cancelled_or_failed_add_leaves_what_was_there(
    libraries: Libraries, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = libraries.add(table, "health")

    def cancel(done: int, total: int) -> None:
        raise JobCancelled("Cancelled.")

    with pytest.raises(JobCancelled):
        libraries.add(table, "health", replace=True, progress=cancel)

    def full(self: IndexWriter, record: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(IndexWriter, "add", full)
    with pytest.raises(LibraryError, match="disk is full"):
        libraries.add(table, "health", replace=True)
    assert libraries.list() == [before]
    assert [file.name for file in (tmp_path / "libraries").iterdir()] == ["health.sqlite"]


def test_what_a_crash_left_behind_is_no_library_and_is_cleared_later(libraries: Libraries, table: Path) -> None:
    libraries.add(table, "one")
    directory = table.parent / "libraries"
    old, young = directory / ".x.0.building", directory / ".y.0.building"
    for file in (old, young):
        file.write_bytes(b"half")
    os.utime(old, (time.time() - 7200, time.time() - 7200))
    libraries.add(table, "two")
    assert [info.name for info in libraries.list()] == ["one", "two"]
    assert (old.exists(), young.exists()) == (False, True)


def test_a_file_that_is_no_library_is_explained(libraries: Libraries, tmp_path: Path) -> None:
    (tmp_path / "libraries").mkdir()
    (tmp_path / "libraries" / "bad.sqlite").write_bytes(b"not a database, but long enough to be looked at" * 50)
    with pytest.raises(LibraryError, match="“bad” cannot be read"):
        libraries.info("bad")
    libraries.remove("bad")
    assert libraries.list() == []


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM description",
        "DROP TABLE description",
        """UPDATE description SET json = '{"name": "old", "version": 0}'""",
        "UPDATE description SET json = 'not JSON'",
    ],
)
def test_a_damaged_library_is_named_and_hides_no_other(libraries: Libraries, table: Path, damage: str) -> None:
    good = libraries.add(table, "good")
    libraries.add(table, "old")
    _change(table.parent / "libraries" / "old.sqlite", damage)
    (table.parent / "libraries" / "not ours.sqlite").write_bytes(b"")
    assert libraries.list() == [good]
    assert libraries.broken() == ("old",)
    for ask in (lambda: libraries.info("old"), lambda: libraries.search("old", "measles")):
        with pytest.raises(LibraryError, match="“old” cannot be read"):
            ask()
    libraries.remove("old")
    assert libraries.broken() == ()


@pytest.mark.parametrize("damage", ["UPDATE records SET published = 'soon'", "UPDATE topics SET vector = x'00'"])
def test_damage_inside_a_library_is_a_sentence(libraries: Libraries, table: Path, damage: str) -> None:
    libraries.add(table, "health")
    _change(table.parent / "libraries" / "health.sqlite", damage)
    with pytest.raises(LibraryError, match="“health” cannot be read"):
        libraries.search("health", "measles")


def _change(file: Path, statement: str) -> None:
    db = sqlite3.connect(file)
    db.execute(statement)
    db.commit()
    db.close()
