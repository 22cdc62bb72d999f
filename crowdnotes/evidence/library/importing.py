"""What becomes a library: tables (parquet, csv, tsv, jsonl) and folders (HTML, PDF, text, Markdown), record by record.

Of a table a first pass chooses which column is the text, the title, the link, checks the whole file and counts its
rows, so that a broken line is reported before anything is built; then it is read in file order and a batch at a time,
so that memory stays bounded. A row's `record` is its 0-based position among the rows (blank jsonl lines are none), a
file's its place in sorted order.
"""

from __future__ import annotations

import csv
import json
import os
import re
import stat
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import quote

from crowdnotes.errors import FetchError, InputError, LibraryError
from crowdnotes.evidence.library.index import Columns, Incoming, Record
from crowdnotes.evidence.reading.document import HTML, PDF, PLAIN
from crowdnotes.evidence.reading.extract import read_body
from crowdnotes.evidence.reading.plain_text import tidy_line
from crowdnotes.post_files import check_expansion, read_parquet
from crowdnotes.text.dates import parse_date
from crowdnotes.text.table_files import open_text, table_reader
from crowdnotes.text.urls import is_web_address

_TITLE_COLUMNS = ("title", "question", "headline", "name", "page_title", "subject", "heading", "topic", "focus")
_URL_COLUMNS = ("url", "link", "source_url", "page_url", "canonical_url", "href", "uri", "document_url")
_DATE_COLUMNS = (
    "date",
    "published",
    "published_at",
    "publication_date",
    "pub_date",
    "created",
    "created_at",
    "updated",
)
_PUBLISHER_COLUMNS = ("publisher", "source", "site", "site_name", "outlet", "journal", "organization", "domain")
_TEXT_COLUMNS = ("text", "answer", "body", "content", "article", "abstract", "passage", "document", "full_text")
_MIN_MEAN_CHARACTERS = 20  # characters on average; below it a column holds labels, unless its name says otherwise
_URL_PATTERN = re.compile(r"https?://\S+", re.IGNORECASE)
_NUMBER_PATTERN = re.compile(r"[-+]?[\d.,\s]+%?")

Rows = Sequence[Mapping[str, object]]


def choose_columns(
    names: Sequence[str], sample: Rows, named: Mapping[str, str | None], times: Collection[str] = ()
) -> Columns:
    """Return the parts of a table.

    `named` holds the columns that the user named, by part, "" for a part that the table does not have; the rest is
    guessed from `sample`. `times` are the columns that the file itself says hold dates or times. Text is the column
    with the longest mean text. Raises LibraryError for a named column that is not there, and for a table in which no
    column holds text.
    """
    for part, name in named.items():
        if name and name not in names:
            raise LibraryError(f"The table has no column “{name}” ({part}).", f"Its columns are: {', '.join(names)}.")
    text = named.get("text") or _guess_text_column(names, sample, times)
    taken = {text} | {name for name in named.values() if name}
    chosen: dict[str, str | None] = {}
    guesses = (
        ("title", _TITLE_COLUMNS),
        ("url", _URL_COLUMNS),
        ("date", _DATE_COLUMNS),
        ("publisher", _PUBLISHER_COLUMNS),
    )
    for part, known in guesses:
        name = named.get(part)
        if name is None:
            name = next(
                (n for n in _match_column_names(names, known) if n not in taken and _is_column_for(part, n, sample)),
                None,
            )
        if name is None and part == "url":
            name = next((n for n in names if n not in taken and _is_mostly(n, sample, _is_url)), None)
        if name:
            taken.add(name)
        chosen[part] = name or None
    return Columns(text=text, **chosen)


def _match_column_names(names: Sequence[str], known: Sequence[str]) -> list[str]:
    plain = {name: re.sub(r"[\s-]+", "_", name.strip().lower()) for name in names}
    return [name for wanted in known for name in names if plain[name] == wanted]


def _guess_text_column(names: Sequence[str], sample: Rows, times: Collection[str]) -> str:
    best, longest = None, 0.0
    for name in names:
        values = [value for value in (row.get(name) for row in sample) if isinstance(value, str) and value.strip()]
        prose = [
            v
            for v in values
            if not (_is_url(v) or _NUMBER_PATTERN.fullmatch(v.strip()) or (len(v) < 40 and parse_date(v)))
        ]
        if len(prose) * 2 <= len(values):
            continue
        mean = sum(len(value) for value in prose) / len(values)
        if mean < _MIN_MEAN_CHARACTERS and not _match_column_names([name], _TEXT_COLUMNS):
            continue
        if mean > longest:
            best, longest = name, mean
    if best is None:
        held = [f"{name} ({_describe_values([row.get(name) for row in sample], name in times)})" for name in names]
        raise LibraryError(
            "The table has no text column.",
            f"Name the text column. The columns: {', '.join(held) or 'none'}.",
        )
    return best


def _describe_values(values: Sequence[object], are_times: bool) -> str:
    filled = [value for value in values if value not in (None, "")]
    if are_times:
        return "dates or times" if filled else "impossible dates or times"
    if not filled:
        return "empty"
    if all(map(_is_url, filled)):
        return "links"
    if all(_NUMBER_PATTERN.fullmatch(str(value).strip()) for value in filled):
        return "numbers"
    if all(parse_date(value) for value in filled):
        return "dates"
    return "short labels" if all(isinstance(value, str) for value in filled) else "no text"


def _is_column_for(part: str, name: str, sample: Rows) -> bool:
    if part == "url":
        return _is_mostly(name, sample, _is_url)
    if part == "date":
        return _is_mostly(name, sample, lambda value: parse_date(value) is not None)
    return _is_mostly(name, sample, lambda value: isinstance(value, str) and not _is_url(value))


def _is_mostly(name: str, sample: Rows, test: Callable[[object], bool]) -> bool:
    values = [value for value in (row.get(name) for row in sample) if value not in (None, "")]
    return bool(values) and sum(bool(test(value)) for value in values) * 2 > len(values)


def _is_url(value: object) -> bool:
    return isinstance(value, str) and _URL_PATTERN.fullmatch(value.strip()) is not None


Row = Mapping[str, object]

TABLE_KINDS = (".parquet", ".csv", ".tsv", ".jsonl")

_SAMPLE_ROWS = 500
_PREVIEW_ROWS = 3
_SAMPLE_CHARACTERS = 2_000  # of a value: a longer one is a text in any case
_MAX_FIELD_CHARACTERS = 50_000_000  # the csv module's own limit of 131,072 is shorter than a long article
_MAX_TEXT_CHARACTERS = 5_000_000  # of one record: several books
_MAX_TITLE_CHARACTERS = 1_000  # questions are titles too, and are searched whole


def open_table(path: Path, named: Mapping[str, str | None]) -> Incoming:
    """Check a table and choose its columns; `named` maps parts (text, title, …) to column names.

    Raises LibraryError for a broken or empty file, and as `choose_columns` does.
    """
    table, sample = _open_any_table(path)
    columns = choose_columns(table.names, sample, named, table.times)

    def records() -> Iterator[Record]:
        return (_build_row_record(i, row, columns) for i, row in enumerate(table.rows()))

    return Incoming(table.total, columns, records, remark=table.remark)


class TablePreview(NamedTuple):
    """A table before it becomes a library: its columns, our guess at what each is for, and its first rows.

    guessed: None where no column holds text. remark: what to check before it is used.
    """

    names: tuple[str, ...]
    guessed: Columns | None
    total: int
    first: tuple[Row, ...]
    remark: str


def preview_table(path: Path) -> TablePreview:
    """Check a table and look at its first rows. Raises LibraryError for a broken or empty file."""
    table, sample = _open_any_table(path)
    try:
        guessed = choose_columns(table.names, sample, {}, table.times)
    except LibraryError:
        guessed = None
    return TablePreview(tuple(table.names), guessed, table.total, tuple(sample[:_PREVIEW_ROWS]), table.remark)


def _open_any_table(path: Path) -> tuple[_OpenedTable, list[Row]]:
    kinds = {".parquet": _open_parquet, ".csv": _open_csv, ".tsv": _open_csv, ".jsonl": _open_jsonl}
    table = kinds[path.suffix.lower()](path)
    if table.total == 0:
        raise LibraryError(f"{path.name} has no rows.", "Is it the right file?")
    return table, [_beginnings(row) for row in islice(table.rows(), _SAMPLE_ROWS)]


def _beginnings(row: Row) -> Row:
    return {name: value[:_SAMPLE_CHARACTERS] if isinstance(value, str) else value for name, value in row.items()}


def _build_row_record(position: int, row: Row, columns: Columns) -> Record:
    text = _to_stripped_string(row.get(columns.text))
    url = _to_stripped_string(row.get(columns.url)) if columns.url else ""
    return Record(
        record=position,
        text=text,
        title=tidy_line(_to_stripped_string(row.get(columns.title)), _MAX_TITLE_CHARACTERS) if columns.title else "",
        url=url if is_web_address(url) else None,
        published=parse_date(row.get(columns.date)) if columns.date else None,
        publisher=(tidy_line(_to_stripped_string(row.get(columns.publisher))) or None) if columns.publisher else None,
        label=f"row {position + 1}",  # as `record_place` counts
        problem=_find_text_problem(text),
    )


def _find_text_problem(text: str) -> str:
    if len(text) > _MAX_TEXT_CHARACTERS:
        return f"longer than {_MAX_TEXT_CHARACTERS:,} characters"
    return "" if text else "no text"


def _to_stripped_string(value: object) -> str:
    return "" if value is None else str(value).strip()


class _OpenedTable(NamedTuple):
    """`times`: the columns that are said to hold dates or times; `remark`: what to check before it is used."""

    names: list[str]
    total: int
    rows: Callable[[], Iterator[Row]]
    times: tuple[str, ...] = ()
    remark: str = ""


def _open_parquet(path: Path) -> _OpenedTable:
    import pyarrow as pa
    import pyarrow.parquet as pq

    def rows() -> Iterator[Row]:
        try:
            yield from read_parquet(path)
        except (pa.ArrowException, OSError, ValueError, OverflowError, KeyError) as error:
            raise _build_broken_file_error(path, "parquet", "it is damaged, incomplete or of another kind") from error

    try:
        check_expansion(path)
        with pq.ParquetFile(path) as file:
            times = tuple(field.name for field in file.schema_arrow if pa.types.is_temporal(field.type))
            return _OpenedTable(list(file.schema_arrow.names), int(file.metadata.num_rows), rows, times)
    except InputError as error:
        raise LibraryError(error.message, error.next_step) from error
    except (pa.ArrowException, OSError) as error:
        raise _build_broken_file_error(path, "parquet", "it is damaged, incomplete or of another kind") from error


def _open_csv(path: Path) -> _OpenedTable:
    with open_text(path) as (_, encoding):
        pass

    def lines() -> Iterator[tuple[int, list[str]]]:
        csv.field_size_limit(_MAX_FIELD_CHARACTERS)
        with open_text(path, encoding) as (file, _):
            reader = table_reader(file, delimiters=delimiters_of(path))
            try:
                for line in reader:
                    if line:
                        yield reader.line_num, line
            except csv.Error as error:
                raise _build_broken_file_error(path, "csv", _describe_csv_error(str(error), reader.line_num)) from error

    header = [name.strip() for _, names in islice(lines(), 1) for name in names]
    if len(set(header)) != len(header):
        raise _build_broken_file_error(path, "csv", "two columns have the same name")
    count = 0
    for number, line in islice(lines(), 1, None):
        if len(line) != len(header):
            raise _build_broken_file_error(
                path, "csv", f"line {number} has {len(line)} fields, the header {len(header)}"
            )
        count += 1

    def rows() -> Iterator[Row]:
        return (dict(zip(header, line, strict=True)) for _, line in islice(lines(), 1, None))

    return _OpenedTable(header, count, rows, remark=encoding.remark(path.name))


def delimiters_of(path: Path) -> str:
    """Return the signs that may separate the fields of a table of that name."""
    return "\t" if path.suffix.lower() == ".tsv" else ",;\t|"


def _open_jsonl(path: Path) -> _OpenedTable:
    def rows() -> Iterator[Row]:
        with open_text(path) as (file, encoding):
            lines = iter(lambda: file.readline(_MAX_FIELD_CHARACTERS), "")
            for number, line in enumerate(lines, start=1):
                if len(line) >= _MAX_FIELD_CHARACTERS:
                    raise _build_broken_file_error(
                        path, "jsonl", f"line {number} has over {_MAX_FIELD_CHARACTERS:,} characters"
                    )
                if encoding.is_guess or encoding.has_lost(line):
                    raise _build_broken_file_error(path, "jsonl", "it is not valid UTF-8")
                if line.strip():
                    yield _parse_json_line(path, number, line)

    names: dict[str, None] = {}
    count = 0
    for row in rows():
        names.update(dict.fromkeys(row))
        count += 1
    return _OpenedTable(list(names), count, rows)


_EACH_LINE = 'each line must be one record, such as {"title": "…", "text": "…"}'


def _parse_json_line(path: Path, number: int, line: str) -> Row:
    try:
        row = json.loads(line)
        str(row)  # lists that are too deep for Python to write, though not to read
    except (ValueError, RecursionError) as error:
        raise _build_broken_file_error(path, "jsonl", f"line {number} is not a whole record; {_EACH_LINE}") from error
    if not isinstance(row, dict):
        raise _build_broken_file_error(
            path, "jsonl", f"line {number} is not a record of names and values; {_EACH_LINE}"
        )
    return row


def _describe_csv_error(error: str, line: int) -> str:
    """Return what the csv module objects to, as a person would say it."""
    if "unexpected end of data" in error:
        return f"line {line} ends inside a quotation: a closing mark is missing above"
    if "expected after" in error:
        return f"line {line} goes on after a closing quotation mark: double the marks inside a text"
    if "field larger" in error:
        return f"line {line} has a field of over {_MAX_FIELD_CHARACTERS:,} characters"
    return f"line {line} is not a row of fields"


def _build_broken_file_error(path: Path, kind: str, what: str) -> LibraryError:
    return LibraryError(
        f"We cannot read {path.name} as {kind}: {what}.",
        "Nothing was added. Repair the file or export it again.",
    )


FILE_KINDS = {
    ".html": HTML,
    ".htm": HTML,
    ".xhtml": HTML,
    ".pdf": PDF,
    ".txt": PLAIN,
    ".md": PLAIN,
    ".markdown": PLAIN,
}
_MAX_FILE_BYTES = 20_000_000  # a larger file is a scan or a book, and one file must not fill the memory
_UNSAFE_NAME_PATTERN = re.compile(r"[^\w.\- ]")  # what the name of a file here may not hold


def open_folder(folder: Path) -> Incoming:
    """Return all readable files below a folder, hidden ones left out; `record` is the place in sorted order.

    A file that cannot be read, is too large, or is a link that leads out of the folder becomes a
    record with a problem. Raises LibraryError for a folder without any file of these kinds.
    """
    root = folder.resolve()
    files = sorted(below(root, FILE_KINDS), key=lambda file: file.relative_to(root).as_posix())
    if not files:
        raise LibraryError(
            f"The folder {folder.name or folder} has no file we can read ({', '.join(FILE_KINDS)}).",
            "Is it the right folder?",
        )
    return Incoming(len(files), None, lambda: (_build_file_record(i, file, root) for i, file in enumerate(files)))


def below(root: Path, kinds: Collection[str]) -> Iterator[Path]:
    """Yield the files of these kinds (".html") below a folder, hidden ones left out."""
    closed: list[Path] = []
    for directory, names, files in os.walk(root, onerror=lambda error: closed.append(Path(error.filename))):
        names[:] = [name for name in names if not name.startswith(".")]
        for name in files:
            if not name.startswith(".") and Path(name).suffix.lower() in kinds:
                yield Path(directory, name)
    yield from closed  # named among what was skipped: reading them fails with the reason


def _build_file_record(position: int, file: Path, root: Path) -> Record:
    label = file.relative_to(root).as_posix()

    def skipped(why: str) -> Record:
        return Record(position, "", label=label, problem=why)

    if why := why_not_opened(file, root):
        return skipped(why)
    try:
        if file.stat().st_size > _MAX_FILE_BYTES:
            return skipped(f"larger than {_MAX_FILE_BYTES // 1_000_000} MB")
        body = file.read_bytes()
        kind = FILE_KINDS[file.suffix.lower()]
        document = read_body(body, kind, None, quote(file.name))
    except OSError as error:
        return skipped(error.strerror or "cannot be opened")
    except FetchError as error:
        return skipped(error.message)
    return Record(
        record=position,
        text=document.text,
        title=document.title,
        url=document.canonical,
        published=document.published,
        publisher=document.publisher,
        label=label,
        problem=_find_text_problem(document.text),
    )


def why_not_opened(file: Path, root: Path) -> str:
    """Return why a file of a folder that a person gave is left alone; "" where it may be opened."""
    if not file.resolve().is_relative_to(root):
        return "leads out of the folder"
    try:
        return "" if is_file_or_folder(file) else "a pipe, socket or device, not a file"
    except OSError as error:
        return error.strerror or "cannot be opened"


def is_file_or_folder(path: Path) -> bool:
    """Return False for a pipe, socket or device: opening one may wait for ever."""
    mode = path.stat().st_mode
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


def lay_out(folder: Path, files: Sequence[tuple[str, bytes]]) -> Path:
    """Write uploaded files to disk: the table, or the folder of the documents.

    Of a table's name only the last part is taken, of a document's the place below the folder: what
    leads elsewhere is left out of the path.
    """
    first, content = files[0]
    if len(files) == 1 and PurePosixPath(first).suffix.lower() in (*TABLE_KINDS, ".json", ".jsonld", ".zip"):
        table = folder / _clean_file_name(
            PurePosixPath(first.replace("\\", "/")).parts
        )  # errors call it by the person's own name
        table.write_bytes(content)
        return table
    for number, (name, content) in enumerate(files):
        parts = [part for part in PurePosixPath(name.replace("\\", "/")).parts if part not in ("/", ".", "..")]
        place = folder.joinpath(
            *(_UNSAFE_NAME_PATTERN.sub("_", part)[-100:] for part in parts[:-1]),
            f"{number:05}-{_clean_file_name(parts)}",
        )
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return folder


def _clean_file_name(parts: Sequence[str]) -> str:
    return _UNSAFE_NAME_PATTERN.sub("_", parts[-1])[-100:] if parts else "document"
