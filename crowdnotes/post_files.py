"""Files whose rows are posts: a .csv, .jsonl or .parquet file row by row, so that memory stays bounded.

A row that cannot be used has a sentence that says why, and the rest is read on.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from crowdnotes.errors import InputError

_ROWS_PER_CHUNK = 500  # rows in memory
_MAX_ROW_CHARACTERS = 200_000  # characters of a row
_MAX_SAMPLED_ROWS = 100  # rows that tell a file's columns
_MAX_PREVIEW_ROWS = 5  # rows in a preview, of each kind
_MAX_COLUMN_NAMES_CHARACTERS = 300  # characters of columns' names


@dataclass(frozen=True, slots=True)
class Row:
    """One of a file, as it was read; `problem` says why it cannot be used."""

    number: int
    name: str = ""
    text: str = ""
    links: tuple[str, ...] = ()
    url: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Preview:
    """What a file would become: its columns, how many rows can be used and how many cannot, and the first of each."""

    columns: tuple[str, ...]
    usable: int
    bad: int
    first: tuple[Row, ...]
    broken: tuple[Row, ...]


def rows_of(file: Path) -> Iterator[Row]:
    """The rows of a .csv, .jsonl or .parquet file, one after the other.

    Raises InputError for another file, and for one without a column of ours.
    """
    readers = {".csv": _read_csv_rows, ".jsonl": _read_jsonl_rows, ".parquet": _read_parquet_rows}
    reader = readers.get(file.suffix.lower())
    if reader is None:
        raise InputError(
            "A batch is a .csv, .jsonl or .parquet file.",
            "Give it a column “text”, and “id”, “links” and “url” if you have them.",
        )
    try:
        columns = _read_column_names(file)
        if columns and not {"text", "links"} & {_normalise_column_name(name) for name in columns}:
            there = ", ".join(columns)[:_MAX_COLUMN_NAMES_CHARACTERS]
            raise InputError(
                f"The file has no column “text” and none “links”. It has: {there}.",
                "Give it a column “text”, and “id”, “links” and “url” if you have them.",
            )
        for number, found in enumerate(reader(file), 1):
            yield _parse_row(number, found)
    except (OSError, ValueError) as error:  # pyarrow's errors are of both kinds
        raise InputError(f"{file.name} cannot be read ({error}).") from error


def preview_of(file: Path) -> Preview:
    """All rows are looked at, none is kept. Raises as `rows_of`."""
    first, broken, n = list[Row](), list[Row](), Counter[bool]()
    for row in rows_of(file):
        n[is_bad := bool(row.problem)] += 1
        if n[is_bad] <= _MAX_PREVIEW_ROWS:
            (broken if is_bad else first).append(row)
    return Preview(_read_column_names(file), n[False], n[True], tuple(first), tuple(broken))


def _read_column_names(file: Path) -> tuple[str, ...]:
    """As the file names them; of one of JSON those of its first objects."""
    if file.suffix.lower() == ".parquet":
        import pyarrow.parquet as pq

        return tuple(pq.read_schema(file).names)
    reader = _read_csv_rows if file.suffix.lower() == ".csv" else _read_jsonl_rows
    found = (row for row in islice(reader(file), _MAX_SAMPLED_ROWS) if not isinstance(row, str))
    names = tuple(dict.fromkeys(str(name) for row in found for name in row if name is not None))
    if not names and file.suffix.lower() == ".csv":
        with file.open(encoding="utf-8-sig", errors="replace") as lines:  # a header alone
            names = tuple(name for name in lines.readline(_MAX_ROW_CHARACTERS).strip().split(",") if name)
    return names


def _normalise_column_name(name: object) -> str:
    return str(name).strip().lower()


def _parse_row(number: int, found: Mapping[str, object] | str) -> Row:
    if isinstance(found, str):
        return Row(number, str(number), problem=found)
    found = {_normalise_column_name(name): value for name, value in found.items()}
    name = str(found.get("id") or number)[:200]
    words, links = found.get("text"), found.get("links")
    said = "" if words is None else str(words).strip()
    listed = links if isinstance(links, list) else str(links or "").split()
    urls = tuple(str(link).strip() for link in listed if str(link).strip())
    if len(said) + sum(map(len, urls)) > _MAX_ROW_CHARACTERS:
        return Row(number, name, problem=f"It is longer than {_MAX_ROW_CHARACTERS:,} characters.")
    if not said and not urls:
        return Row(number, name, problem="It has neither text nor links.")
    return Row(number, name, said, urls, str(found.get("url") or "").strip()[:2_000])


def _read_csv_rows(file: Path) -> Iterator[Mapping[str, object] | str]:
    with file.open(encoding="utf-8-sig", errors="replace", newline="") as lines:
        head = lines.readline(_MAX_ROW_CHARACTERS)
        lines.seek(0)
        reader = csv.DictReader(lines, delimiter=max(",;\t", key=head.count))
        while True:
            try:
                yield next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield f"It cannot be read: {error}."


def _read_jsonl_rows(file: Path) -> Iterator[Mapping[str, object] | str]:
    with file.open(encoding="utf-8-sig", errors="replace") as lines:
        while line := lines.readline(_MAX_ROW_CHARACTERS):
            if len(line) >= _MAX_ROW_CHARACTERS:
                while not line.endswith("\n") and line:
                    line = lines.readline(_MAX_ROW_CHARACTERS)
                yield f"It is longer than {_MAX_ROW_CHARACTERS:,} characters."
                continue
            try:
                found = json.loads(line)
            except (ValueError, RecursionError) as error:
                yield f"It cannot be read: {error}."
            else:
                yield found if isinstance(found, dict) else "It is no JSON object."


def _read_parquet_rows(file: Path) -> Iterator[Mapping[str, object] | str]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(file) as table:
        wanted = [
            name for name in table.schema_arrow.names if _normalise_column_name(name) in {"id", "text", "links", "url"}
        ]
        for batch in table.iter_batches(_ROWS_PER_CHUNK, columns=wanted):
            yield from batch.to_pylist()
