"""Libraries of one machine are there on the others that share its database, by the hash of their content."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Engine, update

from crowdnotes.errors import LibraryError
from crowdnotes.evidence.library import Libraries, SharedLibraries
from crowdnotes.storage.database import writing
from crowdnotes.storage.tables import library_parts
from tests.fakes import HashingEmbedder


def _machine(folder: Path, engine: Engine) -> Libraries:
    return Libraries(folder / "libraries", HashingEmbedder(), SharedLibraries(engine))


def test_a_library_that_is_added_replaced_and_removed_on_one_machine_is_so_on_another(
    tmp_path: Path, table: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crowdnotes.evidence.library.sharing._PART_BYTES", 10_000)
    app, worker = _machine(tmp_path / "app", engine), _machine(tmp_path / "worker", engine)
    info = app.add(table, "health")
    assert worker.list() == app.list() == [info]
    asked = "is there a vaccine against measles"
    assert worker.search("health", asked) == app.search("health", asked)
    with pytest.raises(LibraryError, match="already"):
        worker.add(table, "health")
    table = tmp_path / "tea.csv"
    table.write_text("title,text,url\nTea,Tea does not cure measles in anybody.,https://example.org/t\n")
    app.add(table, "health", replace=True)
    assert [hit.title for hit in worker.search("health", "measles")] == ["Tea"]
    kept = list((tmp_path / "worker" / "libraries" / "by-hash").iterdir())
    assert len(kept) == 1
    assert kept[0].stat().st_mode & 0o222 == 0
    worker.remove("health")
    assert app.list() == []
    with pytest.raises(LibraryError, match="neither on this machine"):
        app.search("health", asked)


def test_a_library_that_did_not_arrive_whole_or_lies_on_another_machine_alone_is_told(
    tmp_path: Path, table: Path, engine: Engine
) -> None:
    app, worker = _machine(tmp_path / "app", engine), _machine(tmp_path / "worker", engine)
    Libraries(tmp_path / "app" / "libraries", HashingEmbedder()).add(table, "old")
    assert [hit.library for hit in app.search("old", "measles", k=1)] == ["old"]
    with pytest.raises(LibraryError, match="“old” is neither on this machine"):
        worker.search("old", "measles")
    app.add(table, "health")
    with writing(engine) as connection:
        connection.execute(update(library_parts).values(content=b"damaged"))
    with pytest.raises(LibraryError, match="arrived incomplete"):
        worker.search("health", "measles")
    assert not list((tmp_path / "worker" / "libraries" / "by-hash").iterdir())
