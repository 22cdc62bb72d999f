"""Libraries are added, searched and removed, and a stop, a crash or damage harms no other."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowdnotes.errors import InputError, JobCancelled, LibraryError
from crowdnotes.evidence.library import Libraries
from crowdnotes.evidence.library.index import IndexWriter
from crowdnotes.evidence.search import describe_place
from crowdnotes.evidence.search.local_library import LocalLibrary
from tests.evidence.library.conftest import ROWS
from tests.fakes import HashingEmbedder
from tests.shared import cancelled


def test_adding_counts_records_duplicates_and_skipped_rows_and_its_progress_ends_at_its_total(
    libraries: Libraries, table: Path
) -> None:
    heard: list[tuple[int, int]] = []
    info = libraries.add(table, "health", progress=lambda done, total: heard.append((done, total)))
    assert (info.records, info.duplicates, info.skipped) == (4, 1, 1)
    assert info.skipped_names == ("row 4: no text",)
    assert info.columns is not None
    assert info.columns.text == "answer"
    assert libraries.list() == [info]
    assert str(table.parent) not in info.model_dump_json()
    assert heard == sorted(heard)
    assert heard[-1][0] == heard[-1][1]


def test_a_hit_names_its_library_record_link_and_date_and_a_document_is_read_by_its_place(
    libraries: Libraries, table: Path
) -> None:
    libraries.add(table, "health")
    hit = libraries.search("health", "is there a vaccine against measles")[0]
    assert (hit.provider, hit.library, hit.record) == ("library:health", "health", 1)
    assert (hit.title, hit.url, str(hit.published)) == ("What is measles?", "https://example.org/1", "2020-02-03")
    assert "vaccine" in hit.snippet
    document = libraries.document("health", 5)
    assert (document.title, document.text, document.publisher) == ("What causes flu?", ROWS[5][1], "NIH")
    with pytest.raises(LibraryError, match="no record 99"):
        libraries.document("health", 99)


def test_a_library_says_of_which_sites_its_records_are_before_anything_was_found(
    libraries: Libraries, table: Path
) -> None:
    libraries.add(table, "health")
    assert [*libraries.sites("health")] == ["example.org"]
    library = LocalLibrary(libraries, "health")
    assert describe_place(library) == "Library health: a fixed collection, searched by meaning; pages of example.org"
    assert LocalLibrary(libraries, "gone").sites() == {}


def test_of_a_library_s_sites_those_of_different_organisations_are_named_first_and_what_kind_they_are(
    libraries: Libraries, tmp_path: Path
) -> None:
    sites = ["ghr.nlm.nih.gov"] * 90 + ["niddk.nih.gov"] * 20 + ["cancer.gov"] * 8 + ["cdc.gov"]
    rows = [(f"Question {number}", f"Answer {number} of many.") for number in range(len(sites))]
    file = tmp_path / "many.parquet"
    urls = [f"https://{site}/{number}" for number, site in enumerate(sites)]
    pd.DataFrame(rows, columns=["question", "answer"]).assign(url=urls).to_parquet(file)
    libraries.add(file, "many")
    assert describe_place(LocalLibrary(libraries, "many")).endswith(
        "health authority pages of ghr.nlm.nih.gov, cancer.gov, cdc.gov, niddk.nih.gov"
    )


def test_several_queries_are_merged_each_hit_says_which_found_it_and_one_without_words_is_refused(
    libraries: Libraries, table: Path
) -> None:
    libraries.add(table, "health")
    hits = libraries.search_many("health", ["measles vaccine", "!!!", "blood glucose"], 10, post="measles and diabetes")
    assert {hit.record for hit in hits} >= {1, 2}
    assert next(hit for hit in hits if hit.record == 2).query == "blood glucose"
    assert len({hit.record for hit in hits}) == len(hits)
    assert libraries.search_many("health", ["?"], 10) == []
    with pytest.raises(InputError, match="What should we search for"):
        libraries.search("health", "?!")


def test_near_copies_are_one_hit(libraries: Libraries, tmp_path: Path) -> None:
    body = " ".join(f"measles fact{i}" for i in range(60))
    file = tmp_path / "t.csv"
    file.write_text(f"title,text\none,{body} end\ntwo,{body} stop\nthree,measles spreads through the air quickly\n")
    assert libraries.add(file, "m").duplicates == 0
    assert len(libraries.search("m", "measles")) == 2


@pytest.mark.parametrize("name", ["", "../up", "a/b", "a\\b", ".hidden", "a b", "x" * 65, "é", "-a", "a\n", "a\x00"])
def test_a_name_that_could_be_a_path_is_refused(libraries: Libraries, table: Path, name: str) -> None:
    with pytest.raises(LibraryError, match="Use letters a to z"):
        libraries.add(table, name)
    with pytest.raises(LibraryError, match="Use letters a to z"):
        libraries.search(name, "flu")


def test_a_name_in_use_is_refused_unless_it_is_to_be_replaced(libraries: Libraries, table: Path) -> None:
    first = libraries.add(table, "health")
    with pytest.raises(LibraryError, match="already exists"):
        libraries.add(table, "health")
    second = libraries.add(table, "health", text_column="question", replace=True)
    assert libraries.list() == [second]
    assert first.columns != second.columns
    assert libraries.search("health", "measles")[0].snippet == "What is measles?"


def test_a_removed_library_is_gone(libraries: Libraries, table: Path) -> None:
    libraries.add(table, "health")
    libraries.remove("health")
    assert libraries.list() == []
    for ask in (lambda: libraries.search("health", "flu"), lambda: libraries.remove("health")):
        with pytest.raises(LibraryError, match="no library"):
            ask()


def test_what_cannot_be_a_library_is_explained(libraries: Libraries, tmp_path: Path) -> None:
    (tmp_path / "t.xlsx").write_text("x")
    (tmp_path / "t.csv").write_text("title,text\na,\nb,\n")
    for file, column, says in (
        ("t.xlsx", None, r"t\.xlsx is not a table"),
        ("gone.csv", None, r"nothing at gone\.csv"),
        (".", "text", "have no columns"),
        ("t.csv", "text", "no readable text"),
    ):
        with pytest.raises(LibraryError, match=says):
            libraries.add(tmp_path / file, "a", text_column=column)
    assert libraries.list() == []


def test_an_address_that_is_none_of_the_web_is_left_out_also_of_libraries_made_before(
    libraries: Libraries, table: Path
) -> None:
    libraries.add(table, "health")
    _change(table.parent / "libraries" / "health.sqlite", "UPDATE records SET url = 'javascript:alert(1)'")
    assert libraries.document("health", 1).url is None
    assert libraries.search("health", "measles")[0].url is None


def test_a_record_without_a_title_is_named_by_its_beginning_or_its_number(libraries: Libraries, tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    rows = [{"text": "Measles spreads through the air. " * 9}, {"text": "\u200b\u200b"}]
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    libraries.add(file, "m", text_column="text")
    title = libraries.search("m", "measles")[0].title
    assert title.startswith("Measles spreads through the air.")
    assert len(title) <= 80
    assert [libraries.document("m", number).title for number in (0, 1)] == [title, "Record 1"]


def _change(file: Path, statement: str) -> None:
    db = sqlite3.connect(file)
    db.execute(statement)
    db.commit()
    db.close()


def test_a_library_of_another_model_is_searched_by_words(
    libraries: Libraries, table: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    libraries.add(table, "health")

    class Other(HashingEmbedder):
        name = "another"

    assert Libraries(tmp_path / "libraries", Other()).search("health", "measles")[0].record == 1
    assert "another embedding model" in caplog.text


@given(st.lists(st.text(), min_size=1, max_size=8))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_record_numbers_and_texts_survive(libraries: Libraries, tmp_path: Path, texts: list[str]) -> None:
    file = tmp_path / "any.parquet"
    texts = [f"{i} {text}" for i, text in enumerate(texts)]
    pd.DataFrame({"text": [t.replace("\ud800", "") for t in texts]}).to_parquet(file)
    libraries.add(file, "any", text_column="text", replace=True)
    for record, text in enumerate(texts):
        assert libraries.document("any", record).text == text.strip().replace("\x00", "")


def test_a_cancelled_or_failed_add_leaves_what_was_there(
    libraries: Libraries, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: IndexWriter, record: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    before = libraries.add(table, "health")
    with pytest.raises(JobCancelled):
        libraries.add(table, "health", replace=True, progress=lambda done, total: cancelled())
    monkeypatch.setattr(IndexWriter, "add", full)
    with pytest.raises(LibraryError, match="disk is full"):
        libraries.add(table, "health", replace=True)
    assert libraries.list() == [before]
    assert [file.name for file in (tmp_path / "libraries").iterdir()] == ["health.sqlite"]


def test_what_killed_builds_left_an_hour_ago_is_removed(libraries: Libraries, table: Path, tmp_path: Path) -> None:
    folder = tmp_path / "libraries"
    old, at_work = folder / ".building-old", folder / ".building-new"
    for left in (old, at_work):
        left.mkdir(parents=True)
        (left / "health").touch()
    (folder / ".health.0a1b.building").touch()
    before = time.time() - 4_000
    for path in (old / "health", old, at_work, folder / ".health.0a1b.building"):
        os.utime(path, (before, before))
    libraries.add(table, "health")
    assert sorted(file.name for file in folder.iterdir()) == [".building-new", "health.sqlite"]


def test_a_file_that_is_no_library_is_explained(libraries: Libraries, tmp_path: Path) -> None:
    (tmp_path / "libraries").mkdir()
    (tmp_path / "libraries" / "bad.sqlite").write_bytes(b"not a database, but long enough to be looked at" * 50)
    with pytest.raises(LibraryError, match="read or write the library “bad”"):
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
        with pytest.raises(LibraryError, match="read or write the library “old”"):
            ask()
    libraries.remove("old")
    assert libraries.broken() == ()


@pytest.mark.parametrize("damage", ["UPDATE records SET published = 'soon'", "UPDATE topics SET vector = x'00'"])
def test_damage_inside_a_library_is_a_sentence(libraries: Libraries, table: Path, damage: str) -> None:
    libraries.add(table, "health")
    _change(table.parent / "libraries" / "health.sqlite", damage)
    with pytest.raises(LibraryError, match="read or write the library “health”"):
        libraries.search("health", "measles")
