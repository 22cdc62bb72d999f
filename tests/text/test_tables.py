"""Rows of a table read as words, what was marked is found again, and tables leave without a formula."""

from __future__ import annotations

import csv
import errno
import io
import os
import re
import stat
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.domain import Span
from crowdnotes.text.table_files import decode_table, open_export, plain_cell, rounded_number, table_text
from crowdnotes.text.tables import readable_rows

TABLE = "| Year | Reports |\n|---|---|\n| 2024 | 12 |\n| 2023 | 11 |"
_LINES = ["|---|---|", "|:--|--:|", "| a | 12 |", "| 3 | b c |", "||", "| | |", r"| a \| b | |", "| | x |", "z", ""]
_TEXTS = st.one_of(
    st.text(alphabet="ab1 |-:\\\n", max_size=80),
    st.builds("\n".join, st.lists(st.sampled_from(_LINES), max_size=8)),
)


@pytest.mark.parametrize(
    ("kept", "shown"),
    [
        (TABLE, "Year · Reports\n2024 · 12\n2023 · 11"),
        ("before\n| a |\n|:---|\nafter", "before\na\nafter"),
        ("  | a |  \n|---|", "a\n"),
        ("| 1 \\| 2 | three |\n| 4 | five |", "1 | 2 · three\n4 · five"),
        ("| | 2023 | 2024 |\n|---|---|---|\n| a | | 7 |\n| b | 8 | |", "· 2023 · 2024\na · · 7\nb · 8"),
        ("| a | b |\n| | |\n| c | d |", "a · b\nc · d"),
        ("|a|b|\n|c|d|", "a · b\nc · d"),
    ],
)
def test_rows_of_a_table_read_as_words(kept: str, shown: str) -> None:
    assert readable_rows(kept).text == shown


@pytest.mark.parametrize(
    "text",
    [
        "words | with | bars",
        "|",
        "||",
        "a --- b",
        "|x| is the absolute value, and |y|",
        "|x| is the absolute value, and |y|\n|x|",
        "| alone |",
        "| a | b |\n\n| c | d |",
        "before\n|---|---|\nafter",
        "|---|\n|---|",
        "|x\\|\n|---|",
    ],
)
def test_a_line_between_bars_is_no_row_by_itself(text: str) -> None:
    assert readable_rows(text).text == text


@pytest.mark.parametrize("line", ["|{}--- {}", "| {}x", "{}", "|{}|", "| a{}|", "|---{}|"])
def test_a_line_of_very_many_spaces_or_bars_is_read_through_once(line: str) -> None:
    """Some of these kept a page for hours when rows were found by patterns that can split spaces in many ways."""
    for filling in (" " * 200_000, "|" * 200_000, "| " * 100_000):
        text = line.format(*[filling] * line.count("{}"))
        assert re.findall(r"\w", readable_rows(f"{text}\n|---|\n{text}").text) == re.findall(r"\w", text) * 2


@given(_TEXTS)
def test_no_word_of_a_table_is_lost_and_none_run_together(text: str) -> None:
    assert re.findall(r"\w+", readable_rows(text).text) == re.findall(r"\w+", text)


@given(_TEXTS, st.data())
def test_what_was_marked_is_found_again_word_for_word(text: str, data: st.DataObject) -> None:
    ends = st.integers(min_value=0, max_value=len(text))
    start, middle, end = sorted(data.draw(st.tuples(ends, ends, ends)))
    rows = readable_rows(text)
    first = rows.carried(Span(start=start, end=middle))
    second = rows.carried(Span(start=middle, end=end))
    for kept, found in ((text[start:middle], first), (text[middle:end], second)):
        assert re.findall(r"\w+", rows.text[found.start : found.end]) == re.findall(r"\w+", kept)
    assert first.end <= second.start


@pytest.mark.parametrize("cell", ["Reports", "2024", "12", "11"])
def test_a_mark_on_a_cell_and_its_bars_is_on_the_cell_alone(cell: str) -> None:
    start = TABLE.index(cell)
    rows = readable_rows(TABLE)
    place = rows.carried(Span(start=start - 2, end=start + len(cell) + 2))
    assert rows.text[place.start : place.end] == cell


@pytest.mark.parametrize(
    "cell",
    [
        "=1+1",
        "+1+1",
        "-1+1",
        "@SUM(1)",
        "\t=1",
        "\r=1",
        "\n=1",
        " =1",
        "\u00a0=1",
        "\ufeff=1",
        "\u2003=1",
        "\x0b=1",
        "\x00=1",
        "\x1f \u00ad\u2060@a",
        "﹦1",
        "＝1+1",
        "＋1",
        "－1",
        "＠a",
    ],
)
def test_a_cell_that_a_spreadsheet_would_run_is_defused(cell: str) -> None:
    assert plain_cell(cell) == f"'{cell}"


def test_numbers_stay_numbers_and_every_cell_of_a_table_is_looked_at() -> None:
    assert [plain_cell(cell) for cell in (-1.5, -2, 0.0, None, "", "a=1")] == ["-1.5", "-2", "0.0", "", "", "a=1"]
    rows = list(csv.reader(io.StringIO(table_text(["a", "b"], [["=1", 'x"\n'], (-1, "@a")]), newline="")))
    assert rows == [["a", "b"], ["'=1", 'x"\n'], ["-1", "'@a"]]


def test_an_export_is_its_owners_and_a_pipe_is_written_to(tmp_path: Path) -> None:
    (tmp_path / "there").touch(0o644)
    for name in ("new", "there"):
        with open_export(tmp_path / name) as out:
            out.write("ä\r\n")
        assert (tmp_path / name).read_bytes() == "ä\r\n".encode()
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    os.mkfifo(tmp_path / "pipe")
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_text()))
    reader.start()
    with open_export(tmp_path / "pipe") as out:
        out.write("x")
    reader.join()
    assert read == ["x"]


def test_an_export_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "answers.csv").write_text("old")

    def export() -> None:
        with open_export(tmp_path / "answers.csv") as out:
            out.write("new")
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        export()
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("answers.csv", "old")]


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("https://x.com/a/status/1.35E+18", "1.35E+18"),
        ("https://x.com/a/status/1.35E%2B18", "1.35E%2B18"),
        ("1,35e+18", "1,35e+18"),
        ("1E+18", "1E+18"),
        ("1.93294E+018", "1.93294E+018"),
        ("1945335671389839405.0", "1945335671389839405.0"),
        ("1945335671389830000", "1945335671389830000"),
        ("1945335671389839405", ""),
        ("20", ""),
        ("1.3498123456789E18", "1.3498123456789E18"),
        ("a1.35E+18", ""),
        ("a1.35E18", ""),
        ("7e5", ""),
        ("7E10", ""),
    ],
)
def test_a_number_that_a_spreadsheet_rounded_is_found(cell: str, number: str) -> None:
    assert rounded_number(cell) == number


@given(st.binary(max_size=300))
def test_any_file_is_decoded(content: bytes) -> None:
    assert isinstance(decode_table(content)[0], str)
