"""X's public notes as they become a library: signposts to the pages that notes under other posts cited.

They come from X's files as downloaded (today's or the pilot's, zipped or not, with the status history where it is
next to them), from a Parquet table of notes, or from the index that `crowdnotes crowd index` made. DuckDB joins and
sorts them on the disk: millions take no more memory than thousands. Records come oldest first: a cutoff is a number.
https://communitynotes.x.com/guide/en/under-the-hood/download-data
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from crowdnotes.bridging.columns import HISTORY, NOTES, TableSpec
from crowdnotes.bridging.model import NoteStatus
from crowdnotes.bridging.public_files import find_shards, passed_over, read_table, ready_table
from crowdnotes.domain import EarlierNote, Hit
from crowdnotes.domain.post import FIRST_ID_MS
from crowdnotes.errors import InputError, LibraryError
from crowdnotes.evidence.library.index import Incoming, Record
from crowdnotes.post_files import check_expansion, read_parquet
from crowdnotes.text.markdown import host
from crowdnotes.text.note_rules import find_urls, x_storage_form
from crowdnotes.text.urls import canonical_url, each_page_once, is_on_x, is_web_address

FILES = (".tsv", ".zip", ".parquet")
_INDEX_SUFFIX = ".duckdb"
KINDS = (*FILES, _INDEX_SUFFIX)
_SHORT_LINK_HOST = "t.co"  # where X's short links lead is not known; and a post proves nothing about a post
_MEMORY_LIMIT = "600MB"  # of DuckDB's own; what does not fit is laid on the disk
_ADDRESS_WORD_PATTERN = re.compile(r"(?<![^\W_])[^\W\d_]{2,}(?![^\W_])")  # of an address: no part of a number or code
_IGNORED_ADDRESS_WORDS = frozenset("www htm html php aspx asp jsp pdf index amp".split())
_MAX_TITLE_WORDS = 16
# A column of a note, under the names that it has in X's files and in tables that others made of them.
_NOTE_COLUMNS = {
    "note": ("noteId", "note_id", "note"),
    "post": ("tweetId", "post_id", "post"),
    "written": ("createdAtMillis", "written"),
    "text": ("summary", "text"),
}
_HISTORY_COLUMNS = {
    "note": ("noteId", "note"),
    "status": ("currentStatus", "status"),
    "status_at": ("timestampMillisOfCurrentStatus", "status_at"),
    "first": ("firstNonNMRStatus", "first_status"),
    "first_at": ("timestampMillisOfFirstNonNMRStatus", "first_at"),
}
_TEXT_COLUMNS = frozenset({"text", "status", "first"})
_REQUIRED_COLUMNS = frozenset({"note", "text"})
_ID_COLUMNS = frozenset({"note", "post"})
_WHAT_TO_GIVE = "Give a folder of X's public data, its notes file, or the index from `crowdnotes crowd index`."
_MAX_TIME_MS = 4_102_444_800_000  # 2100
# X's ids hold the time as well. Of exact copies the one that X showed first stays, else the oldest.
_CHOOSE_NOTES_SQL = f"""
CREATE TEMP TABLE statuses AS SELECT note, any_value(status) AS status, min(CASE
    WHEN first = '{NoteStatus.HELPFUL}' AND first_at > 0 THEN first_at
    WHEN status = '{NoteStatus.HELPFUL}' AND status_at > 0 THEN status_at END) AS shown
    FROM past GROUP BY note;
CREATE TEMP TABLE chosen AS SELECT note, written, status, shown FROM (
    SELECT note, status, shown,
        coalesce(written, CASE WHEN note > {2**35} THEN (note >> 22) + {FIRST_ID_MS} END) AS written,
        row_number() OVER (PARTITION BY hash(text) ORDER BY shown NULLS LAST, note) AS copy
    FROM listed LEFT JOIN statuses USING (note) WHERE note IS NOT NULL) WHERE copy = 1;
"""
_SORT_NOTES_SQL = """
SELECT note, post, chosen.written, text, status, shown FROM listed JOIN chosen USING (note)
    ORDER BY chosen.written NULLS FIRST, note
"""


LeaveOut = Callable[[EarlierNote], bool]  # which notes a search must not go by


def none_left_out(_: EarlierNote) -> bool:
    """Return False for every note."""
    return False


def open_notes(path: Path) -> Incoming:
    """Return the notes of a file, a folder of X's files, or an index; unusable ones are records with a problem.

    Raises LibraryError where nothing can be read, or there is not one note.
    """
    if not path.is_dir() and path.suffix.lower() not in KINDS:
        raise LibraryError(
            f"{path.name} is not a notes file ({', '.join(KINDS)}).",
            _WHAT_TO_GIVE,
        )
    with ExitStack() as opened:
        scratch = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="crowdnotes-notes-")))
        table, problems, copies = _write_sorted_notes(path, scratch)
        kept = pq.read_metadata(table).num_rows
        if not kept:
            raise LibraryError(
                f"{path.name} has no notes.",
                _WHAT_TO_GIVE,
            )
        until_read = opened.pop_all()

    def records() -> Iterator[Record]:
        with until_read:
            yield from (Record(-1, "", label=path.name, problem=why) for why in problems)
            yield from _read_notes(table)

    return Incoming(len(problems) + kept, None, records, copies)


def _write_sorted_notes(path: Path, scratch: Path) -> tuple[Path, list[str], int]:
    """Return the notes, oldest first, each text once, as a Parquet file; what was not read; the number of copies."""
    out, problems = scratch / "sorted.parquet", list[str]()
    is_index = path.suffix.lower() == _INDEX_SUFFIX
    with _open_duckdb(path if is_index else None, scratch, path.name) as connection:
        if is_index:
            _require_tables(connection, path.name)
            listed, past = "main.notes", "main.history"
        else:
            files = _find_tables(NOTES, path, scratch, problems)
            if not files:
                why = problems[0] if problems else f"{path.name} has no notes."
                raise LibraryError(
                    why,
                    _WHAT_TO_GIVE,
                )
            history = _find_tables(HISTORY, path if path.is_dir() else path.parent, scratch, problems)
            problems += passed_over(path, (NOTES, HISTORY))
            listed, past = _build_parquet_sql(files), _build_parquet_sql(history) if history else "(SELECT 0 AS noteId)"
        _create_view(connection, "listed", listed, _NOTE_COLUMNS)
        _create_view(connection, "past", past, _HISTORY_COLUMNS)
        connection.execute(_CHOOSE_NOTES_SQL)
        connection.sql(_SORT_NOTES_SQL).write_parquet(str(out))
        (every,) = connection.execute("SELECT count(*) FROM listed").fetchone() or (0,)
    return out, problems, max(0, every - pq.read_metadata(out).num_rows)


def note_links(text: str) -> tuple[str, ...]:
    """Return the pages that a note links to, each once, in order: not posts on X, nor what is no address of a page."""
    return each_page_once(_find_page_links(text))


def _find_page_links(text: str) -> Iterator[str]:
    for url in find_urls(text):
        if is_web_address(url.link) and not is_on_x(url.link) and host(url.link) != _SHORT_LINK_HOST:
            yield url.link


def pages_of(found: Iterable[Hit], until: date | None) -> list[Hit]:
    """Return the pages that notes link to, from hits of one note each: a page once, with all notes that led to it.

    A title is made of the page's address: no word of a note is in what engines and programs get of a hit.
    What X did after `until` is left out.
    """
    pages: dict[str, Hit] = {}
    for hit in found:
        note = _hide_later_status(hit.notes[0], until)
        for link in note_links(note.text):
            page = canonical_url(link)
            if (known := pages.get(page)) is not None:
                pages[page] = known.replace(notes=(*known.notes, note))
            else:
                pages[page] = hit.replace(title=_build_title_from_link(link), url=link, notes=(note,))
    return list(pages.values())


def _hide_later_status(note: EarlierNote, until: date | None) -> EarlierNote:
    """Return the note with its status as it was on a day, as far as that is known."""
    if until is None or note.shown is None or note.shown <= until:
        return note
    return note.replace(status="", shown=None)


def _build_title_from_link(link: str) -> str:
    words = [
        word
        for word in _ADDRESS_WORD_PATTERN.findall(unquote(urlsplit(link).path))
        if word.lower() not in _IGNORED_ADDRESS_WORDS
    ]
    return f"{host(link)}: {' '.join(words[:_MAX_TITLE_WORDS])}" if words else host(link)


def _read_notes(table: Path) -> Iterator[Record]:
    place, last = 0, None
    for row in read_parquet(table):
        if row["note"] != last:  # a note that is in two files comes twice in a row
            yield _build_note_record(place, row)
        place, last = place + 1, row["note"]


def _build_note_record(place: int, row: Mapping[str, Any]) -> Record:
    text = x_storage_form(row["text"] or "").strip()
    label = f"note {row['note']}"
    if not text:
        return Record(place, "", label=label, problem="no text")
    if (written := _milliseconds_to_day(row["written"])) is None:
        return Record(place, "", label=label, problem="it has no date")
    if next(_find_page_links(text), None) is None:
        return Record(place, "", label=label, problem="it has no link")
    status, shown = row["status"] or "", _milliseconds_to_day(row["shown"])
    note = EarlierNote(note=row["note"], post=row["post"], text=text, written=written, status=status, shown=shown)
    return Record(place, text, published=written, label=label, note=note)


def _milliseconds_to_day(milliseconds: int | None) -> date | None:
    """Return the day of a time; None where there is none, or none that can be."""
    if milliseconds is None or not 0 < milliseconds < _MAX_TIME_MS:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, UTC).date()


def _find_tables(spec: TableSpec, data: Path, scratch: Path, problems: list[str]) -> list[Path]:
    """Parquet files of a table; a file that cannot be read, and rows that were dropped, are added to `problems`."""
    ready = ready_table(spec, data)
    if ready is not None:
        try:
            check_expansion(ready)
        except InputError as error:
            raise LibraryError(error.message, error.next_step) from error
        except (pa.ArrowException, OSError):
            pass  # DuckDB says what is wrong with it
        return [ready]
    found = []
    for number, shard in enumerate(find_shards(spec, data)):
        try:
            report = read_table(spec, [shard], scratch / f"{spec.name}-{number}.parquet")
        except InputError as error:
            problems.append(f"{error.message} {error.next_step}".strip())
            continue
        found.append(Path(report.parquet))
        problems += [f"{n:,} rows are unreadable: {reason}." for reason, n in report.dropped.items()]
    return found


def _require_tables(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    """Raise LibraryError for views, which may compute rows without end: an index that we made has tables."""
    there = connection.execute("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main'").fetchall()
    if missing := {"notes", "history"} - {table for (table,) in there}:
        raise LibraryError(f"{name} lacks the table {' and '.join(sorted(missing))}.", _WHAT_TO_GIVE)


def _create_view(
    connection: duckdb.DuckDBPyConnection, name: str, table: str, columns: Mapping[str, tuple[str, ...]]
) -> None:
    """Create a view of the table under the names of `columns`; what the table lacks is NULL."""
    there = connection.sql(f"SELECT * FROM {table}").columns
    parts = []
    for column, names in columns.items():
        found = next((one for one in names if one in there), None)
        if found is None and column in _REQUIRED_COLUMNS:
            raise LibraryError(
                f"The notes have none of the columns {', '.join(names[:2])}.",
                _WHAT_TO_GIVE,
            )
        kind = "VARCHAR" if column in _TEXT_COLUMNS else "BIGINT"
        if column in _ID_COLUMNS and found is not None:
            _refuse_rounded(connection, table, found)
        parts.append(f"TRY_CAST({found or 'NULL'} AS {kind}) AS {column}")
    connection.execute(f"CREATE TEMP VIEW {name} AS SELECT {', '.join(parts)} FROM {table}")


def _refuse_rounded(connection: duckdb.DuckDBPyConnection, table: str, column: str) -> None:
    """Raise LibraryError where a program took ids for fractions: DuckDB would make whole numbers of what is left."""
    as_text = f"CAST({column} AS VARCHAR)"
    found = connection.sql(f"SELECT {as_text} FROM {table} WHERE regexp_matches({as_text}, '[eE.]') LIMIT 1").fetchone()
    if found is not None:
        raise LibraryError(
            f"The ids in column {column} were rounded, as in {found[0]}.",
            "Download the data again. Do not save it from a spreadsheet.",
        )


def _build_parquet_sql(files: list[Path]) -> str:
    named = ", ".join(f"'{_quote_for_sql(file)}'" for file in files)
    return f"read_parquet([{named}], union_by_name = true)"


def _quote_for_sql(path: Path) -> str:
    return str(path).replace("'", "''")


@contextmanager
def _open_duckdb(index: Path | None, scratch: Path, name: str) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open the index, or an empty database, that keeps on disk what does not fit in memory.

    Raises LibraryError for what it cannot read.
    """
    config: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": _MEMORY_LIMIT,
        "temp_directory": str(scratch),
        "autoinstall_known_extensions": False,  # nothing is downloaded
        "autoload_known_extensions": False,
    }
    try:
        with duckdb.connect(str(index or ":memory:"), read_only=index is not None, config=config) as connection:
            if index is not None:  # a view in it must not read what this program may read
                connection.execute(f"SET allowed_directories = ['{_quote_for_sql(scratch)}']")
                connection.execute("SET enable_external_access = false")
            yield connection
    except duckdb.Error as error:
        raise LibraryError(
            f"We cannot read notes from {name}: {str(error).splitlines()[0]}.",
            "If the index is still being made, wait. Otherwise download the data or make the index again.",
        ) from error
