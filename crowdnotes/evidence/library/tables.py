"""Tables (parquet, csv, jsonl) as rows, in file order and a batch at a time, so that memory stays bounded.

A first pass checks the whole file and counts its rows, so that a broken line is reported before
anything is built. A row's `record` is its 0-based position among the rows (blank jsonl lines are none).
"""

from __future__ import annotations

import codecs
import csv
import json
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from crowdnotes.errors import LibraryError
from crowdnotes.evidence.library.columns import choose_columns
from crowdnotes.evidence.library.records import Columns, Incoming, Record
from crowdnotes.evidence.tidying import tidy_line
from crowdnotes.text.dates import parse_date
from crowdnotes.text.urls import is_web_address

Row = Mapping[str, object]

TABLE_KINDS = (".parquet", ".csv", ".tsv", ".jsonl")

_BATCH = 1000
_SAMPLE_ROWS = 500
_FIELD_CHARACTERS = 50_000_000  # the csv module's own limit of 131,072 is shorter than a long article
_SNIFFED_BYTES = 262_144
_A_LINE = 'each line must be one record, such as {"title": "…", "text": "…"}'
_TORN = "it is damaged, cut short or of another kind"
_TITLE_CHARACTERS = 1_000  # questions are titles too, and are searched whole


def open_table(path: Path, named: Mapping[str, str | None]) -> Incoming:
    """Check a table and choose its columns; `named` maps parts (text, title, …) to column names.

    Raises LibraryError for a broken or empty file, and as `choose_columns` does.
    """
    kinds = {".parquet": _open_parquet, ".csv": _open_csv, ".tsv": _open_csv, ".jsonl": _open_jsonl}
    names, count, rows = kinds[path.suffix.lower()](path)
    if count == 0:
        raise LibraryError(f"{path.name} holds no rows.", "Check that it is the file you meant.")
    columns = choose_columns(names, list(islice(rows(), _SAMPLE_ROWS)), named)
    return Incoming(count, columns, lambda: (_record(i, row, columns) for i, row in enumerate(rows())))


def _record(position: int, row: Row, columns: Columns) -> Record:
    text = _string(row.get(columns.text))
    url = _string(row.get(columns.url)) if columns.url else ""
    return Record(
        record=position,
        text=text,
        title=tidy_line(_string(row.get(columns.title)), _TITLE_CHARACTERS) if columns.title else "",
        url=url if is_web_address(url) else None,
        published=parse_date(row.get(columns.date)) if columns.date else None,
        publisher=(tidy_line(_string(row.get(columns.publisher))) or None) if columns.publisher else None,
        label=f"row {position}",
        problem="" if text else "no text",
    )


def _string(value: object) -> str:
    return "" if value is None else str(value).strip()


_Opened = tuple[list[str], int, Callable[[], Iterator[Row]]]


def _open_parquet(path: Path) -> _Opened:
    import pyarrow as pa
    import pyarrow.parquet as pq

    def rows() -> Iterator[Row]:
        try:
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(batch_size=_BATCH):
                    yield from batch.to_pylist()
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise _broken(path, "parquet", _TORN) from error

    try:
        with pq.ParquetFile(path) as file:
            return list(file.schema_arrow.names), int(file.metadata.num_rows), rows
    except (pa.ArrowException, OSError) as error:
        raise _broken(path, "parquet", _TORN) from error


def _open_csv(path: Path) -> _Opened:
    encoding = _encoding(path)
    with path.open("rb") as raw:
        beginning = codecs.getincrementaldecoder(encoding)(errors="replace").decode(raw.read(_SNIFFED_BYTES))
    delimiter = _delimiter(path, beginning)

    def lines() -> Iterator[tuple[int, list[str]]]:
        csv.field_size_limit(_FIELD_CHARACTERS)
        with path.open(encoding=encoding, newline="") as file:
            reader = csv.reader(file, delimiter=delimiter, strict=True)
            try:
                for line in reader:
                    if line:
                        yield reader.line_num, line
            except csv.Error as error:
                raise _broken(path, "csv", f"line {reader.line_num} {_csv_fault(str(error))}") from error

    header = [name.strip() for _, names in islice(lines(), 1) for name in names]
    if len(set(header)) != len(header):
        raise _broken(path, "csv", "two columns have the same name")
    count = 0
    for number, line in islice(lines(), 1, None):
        if len(line) != len(header):
            raise _broken(path, "csv", f"line {number} has {len(line)} fields where the header has {len(header)}")
        count += 1
    return header, count, lambda: (dict(zip(header, line, strict=True)) for _, line in islice(lines(), 1, None))


def _encoding(path: Path) -> str:
    """UTF-16 by its mark, UTF-8 when the whole file is valid, else the likeliest by charset-normalizer."""
    with path.open("rb") as file:
        start = file.read(_SNIFFED_BYTES)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        with path.open(encoding="utf-8-sig") as text:
            while text.read(1_000_000):
                pass
    except UnicodeDecodeError:
        from charset_normalizer import from_bytes

        best = from_bytes(start).best()
        if best is None:
            raise _broken(path, "csv", "its character encoding is not known") from None
        return best.encoding
    return "utf-8-sig"


def _delimiter(path: Path, beginning: str) -> str:
    if path.suffix.lower() == ".tsv":
        return "\t"
    header = beginning.partition("\n")[0]
    return max(",;\t|", key=header.count)


def _open_jsonl(path: Path) -> _Opened:
    def rows() -> Iterator[Row]:
        try:
            with path.open(encoding="utf-8-sig") as file:
                for number, line in enumerate(file, start=1):
                    if line.strip():
                        yield _parsed(path, number, line)
        except UnicodeDecodeError as error:
            raise _broken(path, "jsonl", "it is not valid UTF-8") from error

    names: dict[str, None] = {}
    count = 0
    for row in rows():
        names.update(dict.fromkeys(row))
        count += 1
    return list(names), count, rows


def _parsed(path: Path, number: int, line: str) -> Row:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _broken(path, "jsonl", f"line {number} is not a whole record; {_A_LINE}") from error
    if not isinstance(row, dict):
        raise _broken(path, "jsonl", f"line {number} is not a record of names and values; {_A_LINE}")
    return row


def _csv_fault(error: str) -> str:
    """What the csv module objects to, as a person would say it."""
    if "unexpected end of data" in error:
        return "ends inside a quotation: a closing quotation mark is missing somewhere above"
    if "expected after" in error:
        return "has words right behind a closing quotation mark: marks inside a text must be doubled"
    if "field larger" in error:
        return f"has a field of more than {_FIELD_CHARACTERS:,} characters"
    return "is not a row of fields"


def _broken(path: Path, kind: str, what: str) -> LibraryError:
    return LibraryError(
        f"{path.name} cannot be read as {kind}: {what}.",
        "Repair the file or export it again; nothing was added.",
    )
