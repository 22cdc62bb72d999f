"""Tables and folders as records, and what is wrong with those that cannot be read."""

import json
import os
import re
import socket
import tracemalloc
from contextlib import suppress
from datetime import date
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crowdnotes.errors import LibraryError
from crowdnotes.evidence.library import Libraries
from crowdnotes.evidence.library.importing import open_folder, open_table
from crowdnotes.evidence.library.index import Columns, Record
from tests.fakes import HashingEmbedder

TEXT = "Influenza vaccines lower the risk of severe illness."


def _write(folder: Path, name: str, content: str | bytes) -> Path:
    file = folder / name
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def _read(file: Path, **named: str) -> tuple[Columns, list[Record]]:
    table = open_table(file, named)
    records = list(table.read())
    assert len(records) == table.total
    assert table.columns is not None
    return table.columns, records


def test_parquet_columns_are_guessed_from_names_and_content(tmp_path: Path) -> None:
    file = tmp_path / "t.parquet"
    pd.DataFrame(
        {
            "id": [1, 2],
            "source": ["CDC", "NIH"],
            "link": ["https://cdc.gov/a", "https://nih.gov/b"],
            "published": ["2020-05-01", "2021-06-02"],
            "question": ["What is flu?", "What is cold?"],
            "answer": [TEXT, TEXT + " Again."],
        }
    ).to_parquet(file)
    columns, records = _read(file)
    assert columns == Columns(text="answer", title="question", url="link", date="published", publisher="source")
    assert records[1].record == 1
    assert records[1].title == "What is cold?"
    assert records[1].published == date(2021, 6, 2)
    assert records[1].publisher == "NIH"


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_csv_delimiter_and_encoding_are_found_out(tmp_path: Path, delimiter: str, encoding: str) -> None:
    body = f"title{delimiter}text\n" + f"Grippe à l'été{delimiter}Le vaccin réduit le risque de maladie sévère.\n" * 5
    columns, records = _read(_write(tmp_path, "t.csv", body.encode(encoding)))
    assert columns.text == "text"
    assert records[0].title == "Grippe à l'été"
    assert records[4].record == 4


def test_western_letters_are_not_taken_for_those_of_the_east(tmp_path: Path) -> None:
    body = "title,text\n" + "Gripe,Un niño enfermó la mañana de su cumpleaños.\n" * 5
    _, records = _read(_write(tmp_path, "t.csv", body.encode("cp1252")))
    assert records[0].text == "Un niño enfermó la mañana de su cumpleaños."


def test_a_quoted_line_break_is_part_of_its_field_and_a_row_without_text_keeps_its_place(tmp_path: Path) -> None:
    _, records = _read(_write(tmp_path, "t.csv", f'title,text\na,"{TEXT}\nSecond line."\nb,\nc,"{TEXT}"\n'))
    assert [(record.record, record.problem) for record in records] == [(0, ""), (1, "no text"), (2, "")]
    assert "Second line." in records[0].text


def test_jsonl_rows_may_differ_in_their_fields(tmp_path: Path) -> None:
    rows = [{"text": TEXT}, {"text": TEXT, "headline": "H", "date": "12 March 2020"}]
    columns, records = _read(_write(tmp_path, "t.jsonl", "\n".join(map(json.dumps, rows)) + "\n\n"))
    assert columns.title == "headline"
    assert records[0].title == ""
    assert records[1].published == date(2020, 3, 12)


def test_named_columns_win_over_guesses(tmp_path: Path) -> None:
    file = _write(tmp_path, "t.csv", f"question,summary,body\nshort,brief words,{TEXT}\n")
    columns, records = _read(file, text="summary", title="body")
    assert (columns.text, columns.title) == ("summary", "body")
    assert records[0].text == "brief words"


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("t.csv", "", "no rows"),
        ("t.csv", "title,text\n", "no rows"),
        ("t.csv", "title,text\na,b,c\n", "line 2 has 3 fields"),
        ("t.csv", 'title,text\na,"never closed\n', "line 2 ends inside a quotation"),
        ("t.csv", 'title,text\na,"closed" early\n', "line 2 goes on after a closing quotation mark"),
        ("t.csv", "text,text\na,b\n", "same name"),
        ("t.csv", "a,b\n1,2\n", "has no text column"),
        ("t.csv", "url\nhttps://example.org/a-long-enough-address\n", "has no text column"),
        ("t.jsonl", "", "no rows"),
        ("t.jsonl", '{"text": "x"}\n{broken\n', "read t.jsonl as jsonl: line 2 is not a whole record"),
        ("t.jsonl", '{\n "text": "x"\n}\n', "line 1 is not a whole record; each line must be one record"),
        ("t.jsonl", "[1, 2]\n", "line 1 is not a record of names and values"),
        ("t.jsonl", b'{"text": "\xff\xfe"}\n', "UTF-8"),
        ("t.parquet", "not parquet", "as parquet: it is damaged, incomplete or of another kind"),
        ("t.parquet", "", "as parquet"),
    ],
)
def test_a_broken_table_is_explained(tmp_path: Path, name: str, content: str | bytes, says: str) -> None:
    with pytest.raises(LibraryError, match=says) as caught:
        _read(_write(tmp_path, name, content))
    assert caught.value.next_step
    assert not re.search(r"Expecting|column \d|char \d|delimiter|magic|unexpected", str(caught.value))  # parser talk
    assert str(tmp_path) not in str(caught.value)


def test_a_truncated_parquet_and_a_named_column_that_is_not_there_are_explained(tmp_path: Path) -> None:
    file = tmp_path / "t.parquet"
    pd.DataFrame({"text": [TEXT] * 500}).to_parquet(file)
    file.write_bytes(file.read_bytes()[:-200])
    with pytest.raises(LibraryError, match="as parquet"):
        _read(file)
    with pytest.raises(LibraryError, match="no column “body”") as caught:
        _read(_write(tmp_path, "t.csv", f"title,text\na,{TEXT}\n"), text="body")
    assert "title, text" in caught.value.next_step


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("https://a.example.org/x", "https://a.example.org/x"),
        ("javascript:alert(1)", None),
        ("guides/flu.html <script>", None),
        ("https://a.example.org/ <script>", None),
        ("https://[bad", None),
        ("https:///nowhere", None),
        ("https://a.example.org/\u001b]0;x", None),
    ],
)
def test_only_a_web_address_becomes_a_records_link(tmp_path: Path, given: str, kept: str | None) -> None:
    rows = [{"text": TEXT, "url": given}]
    _, records = _read(_write(tmp_path, "t.jsonl", "\n".join(map(json.dumps, rows))), url="url")
    assert records[0].url == kept


def test_titles_and_publishers_are_one_line_without_control_characters(tmp_path: Path) -> None:
    row = {"text": TEXT, "title": "A\u001b[31m title\n in \u202etwo", "publisher": "The\u0007 site"}
    _, records = _read(_write(tmp_path, "t.jsonl", json.dumps(row)))
    assert (records[0].title, records[0].publisher) == ("A[31m title in two", "The site")


PARAGRAPH = "Measles spreads through the air and two doses of the vaccine prevent it in nearly everyone. " * 4
PAGE = f"""<html><head><title>About measles</title><link rel="canonical" href="https://example.org/measles"></head>
<body><article><h1>About measles</h1><p>{PARAGRAPH}</p></article></body></html>"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "pages"
    (root / "deep" / ".git").mkdir(parents=True)
    (root / "a.html").write_text(PAGE)
    (root / "b.txt").write_text(f"Flu in brief\n\nInfluenza is a virus. {PARAGRAPH}")
    (root / "deep" / "c.md").write_text(f"# Diabetes\n\nBlood glucose is too high. {PARAGRAPH}")
    (root / "deep" / "d.pdf").write_bytes(b"%PDF-1.4 broken")
    (root / "deep" / ".git" / "e.txt").write_text("hidden " * 40)
    (root / ".f.txt").write_text("hidden " * 40)
    (root / "photo.jpg").write_bytes(b"\xff\xd8")
    return root


def test_files_become_records_in_sorted_order(folder: Path) -> None:
    records = list(open_folder(folder).read())
    assert [(r.record, r.label) for r in records] == [(0, "a.html"), (1, "b.txt"), (2, "deep/c.md"), (3, "deep/d.pdf")]
    assert [r.title for r in records[:3]] == ["About measles", "Flu in brief", "Diabetes"]
    assert records[0].url == "https://example.org/measles"
    assert "two doses" in records[0].text


def test_what_cannot_be_read_is_counted_and_named_and_a_folder_without_readable_files_explained(
    folder: Path, tmp_path: Path
) -> None:
    info = Libraries(tmp_path / "libraries", HashingEmbedder()).add(folder, "pages")
    assert (info.records, info.skipped, info.columns) == (3, 1, None)
    assert info.skipped_names[0].startswith("deep/d.pdf: ")
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "photo.jpg").write_bytes(b"x")
    with pytest.raises(LibraryError, match="has no file we can read"):
        open_folder(tmp_path / "pictures")


def test_a_link_out_of_the_folder_is_not_followed(folder: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret " * 40)
    (folder / "link.txt").symlink_to(secret)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "z.txt").write_text("secret " * 40)
    (folder / "door").symlink_to(outside)
    records = list(open_folder(folder).read())
    assert not any("secret" in record.text for record in records)
    assert next(r for r in records if r.label == "link.txt").problem == "leads out of the folder"


def test_a_pipe_or_socket_is_skipped_with_a_reason_and_not_waited_for(folder: Path, tmp_path: Path) -> None:
    os.mkfifo(folder / "pipe.txt")
    (folder / "to-pipe.txt").symlink_to(folder / "pipe.txt")
    with socket.socket(socket.AF_UNIX) as open_socket:
        open_socket.bind(str(folder / "s.txt"))
        problems = {record.label: record.problem for record in open_folder(folder).read()}
    assert all("not a file" in problems[name] for name in ("pipe.txt", "to-pipe.txt", "s.txt"))
    os.mkfifo(tmp_path / "table.csv")
    with pytest.raises(LibraryError, match="not a file"):
        Libraries(tmp_path / "libraries", HashingEmbedder()).add(tmp_path / "table.csv", "pipe")


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("https://a.org/x", "https://a.org/x"),
        ("/relative", None),
        ("javascript:alert(1)", None),
        ("https://[bad", None),
        ("", None),
    ],
)
def test_a_pages_own_address_is_taken_only_when_it_is_one(tmp_path: Path, href: str, url: str | None) -> None:
    (tmp_path / "a page.html").write_text(PAGE.replace("https://example.org/measles", href))
    assert [record.url for record in open_folder(tmp_path).read()] == [url]


def _repeat(values: pa.Array, times: int) -> pa.Array:
    return values.dictionary_encode().take(pa.array([0] * times))


def test_memory_goes_by_the_bytes_of_rows_and_not_by_their_number(tmp_path: Path) -> None:
    file = tmp_path / "small.parquet"
    pq.write_table(pa.table({"text": _repeat(pa.array(["x " * 500_000]), 45)}), file)
    assert file.stat().st_size < 1_000_000
    pa.default_memory_pool().release_unused()
    tracemalloc.start()
    records = open_table(file, {}).read()
    assert sum(len(next(records).text) for _ in range(45)) > 40_000_000
    assert tracemalloc.get_traced_memory()[1] < 100_000_000
    tracemalloc.stop()


@pytest.mark.parametrize("form", ["text", "bytes", "list", "struct", "one cell", "empty cells"])
def test_a_file_that_unpacks_to_far_more_than_its_size_is_refused_at_once(tmp_path: Path, form: str) -> None:
    file, long = tmp_path / "bomb.parquet", "x " * 500_000
    repeated = _repeat(pa.array([long]), 4_000)
    column = {
        "text": lambda: repeated,
        "bytes": lambda: _repeat(pa.array([long.encode()]), 4_000),
        "list": lambda: pa.ListArray.from_arrays(pa.array([0, 4_000], pa.int32()), repeated),
        "struct": lambda: pa.StructArray.from_arrays([repeated], ["inner"]),
        "one cell": lambda: pa.array([long * 100]),
        "empty cells": lambda: pa.nulls(10_000_000, pa.string()),
    }[form]()
    pq.write_table(pa.table({"text": column}), file, store_schema=False, compression="zstd")
    with pytest.raises(LibraryError, match=r"bomb.parquet has [\d,]+ bytes and would unpack to more than 50 MB"):
        open_table(file, {"text": "text"})


def test_a_text_longer_than_books_is_passed_over_with_its_reason(tmp_path: Path) -> None:
    file = _write(tmp_path, "t.csv", f"title,text\na,{'x ' * 3_000_000}\nb,{TEXT}\n")
    assert [record.problem for record in _read(file)[1]] == ["longer than 5,000,000 characters", ""]
    only = _write(tmp_path, "t.jsonl", json.dumps({"text": "x " * 3_000_000}))
    with pytest.raises(LibraryError, match=r"readable text in it \(row 1: longer than 5,000,000 characters\)"):
        Libraries(tmp_path / "libraries", HashingEmbedder()).add(only, "books")


def test_what_each_column_holds_is_said_where_none_holds_text(tmp_path: Path) -> None:
    file = tmp_path / "t.parquet"
    columns = {
        "text": pa.array([2**62], pa.timestamp("us")),
        "day": pa.array([0], pa.date32()),
        "n": [7],
        "url": ["https://a.example/x"],
        "kind": ["news"],
        "note": pa.nulls(1, pa.string()),
    }
    pq.write_table(pa.table(columns), file)
    with pytest.raises(LibraryError, match="has no text column") as caught:
        open_table(file, {})
    held = "text (impossible dates or times), day (dates or times), n (numbers), url (links)"
    assert f"The columns: {held}, kind (short labels), note (empty)." in caught.value.next_step


@pytest.mark.parametrize(
    "times",
    [
        pa.array([2**31 - 1, 0], pa.date32()),
        pa.array([2**62, 0], pa.timestamp("us")),
        pa.array([2**62, 0], pa.timestamp("ms", "Europe/Berlin")),
        pa.array([-(2**62), 0], pa.timestamp("ms", "No/Where")),
    ],
    ids=["date", "time", "zone", "unknown zone"],
)
def test_a_time_that_no_calendar_has_is_none_and_its_row_stays(tmp_path: Path, times: pa.Array) -> None:
    file = tmp_path / "times.parquet"
    pq.write_table(pa.table({"text": [TEXT, TEXT], "date": times}), file)
    _, records = _read(file, date="date")
    assert [record.published for record in records] == [None, date(1970, 1, 1)]


def test_lists_within_lists_are_no_record(tmp_path: Path) -> None:
    deep = "[" * 900 + "]" * 900
    with pytest.raises(LibraryError, match="line 1 is not a whole record"):
        open_table(_write(tmp_path, "deep.jsonl", f'{{"text": "{TEXT}", "title": {"[" * 50_000}\n'), {})
    file = _write(tmp_path, "deep.jsonl", f'{{"text": "{TEXT}", "title": {deep}}}\n')
    with suppress(LibraryError):  # where Python can write them it is a title like any other
        _read(file, title="title")
