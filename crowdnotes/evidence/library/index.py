"""One library as one SQLite file: what it holds, a full-text index over its records, and its description.

Written once, then only read: the file is built under another name and moved into place when whole,
so it needs no journal while building and is opened read-only ever after, one connection a use.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

import numpy as np
from pydantic import ValidationError

from crowdnotes.domain import EarlierNote, FactCheck, FrozenModel
from crowdnotes.engines.embedding import FloatArray
from crowdnotes.evidence.duplicates import normalised
from crowdnotes.evidence.reading.plain_text import tidy_line
from crowdnotes.text.note_rules import without_urls
from crowdnotes.text.tokens import spaced
from crowdnotes.text.urls import is_web_address
from crowdnotes.wording import fill, plural

FACT_CHECKS = "fact-checks"
NOTES = "notes"
_MAX_HEADING_CHARACTERS = 80  # characters of a text that serve as its title


@dataclass(frozen=True, slots=True)
class Record:
    """One row or file on its way into a library. `record` is its 0-based position there.

    `problem` says why it cannot be kept ("" when it can), for the count of what was skipped. `check` is what a
    record of fact-checks says, `note` whose words a record of earlier notes are: these come oldest first.
    """

    record: int
    text: str
    title: str = ""
    url: str | None = None
    published: date | None = None
    publisher: str | None = None
    label: str = ""
    problem: str = ""
    check: FactCheck | None = None
    note: EarlierNote | None = None


class Columns(FrozenModel):
    """Which column of a table plays which part; None where no column does."""

    text: str
    title: str | None = None
    url: str | None = None
    date: str | None = None
    publisher: str | None = None


@dataclass(frozen=True, slots=True)
class Incoming:
    """A table or folder, opened and checked: how many records, which columns, and a way to go through them.

    `copies` are exact copies that are not among the records; `remark` says what to check before it is used.
    """

    total: int
    columns: Columns | None
    read: Callable[[], Iterator[Record]]
    copies: int = 0
    remark: str = ""


_COUNT_TEXTS_BY_KIND = {
    FACT_CHECKS: ("1 fact-check", "{n:,} fact-checks"),
    NOTES: ("1 note with a source", "{n:,} notes with a source"),
}


class LibraryInfo(FrozenModel):
    """A library as it is listed. `columns` is None for a folder.

    `duplicates` are exact copies left out, `skipped` rows without text or files that could not be
    read, of which `skipped_names` names the first twenty. `topics` counts the distinct titles that
    can be found by meaning. `kind` is `FACT_CHECKS`, `NOTES`, or "" for tables and folders. `newest` is the latest
    date of a record, `languages` the codes of fact-checks' languages, the most frequent first. `shown` counts the notes
    that X is known to have shown. `remark` says what to check before it is used.
    """

    name: str
    records: int
    duplicates: int
    skipped: int
    skipped_names: tuple[str, ...] = ()
    columns: Columns | None = None
    topics: int = 0
    created_at: datetime
    kind: str = ""
    publishers: int = 0
    newest: date | None = None
    languages: tuple[str, ...] = ()
    shown: int = 0
    remark: str = ""

    @property
    def has_addresses(self) -> bool:
        """Whether its records have addresses that a note can link to."""
        return self.kind in _COUNT_TEXTS_BY_KIND or (self.columns is not None and self.columns.url is not None)

    @property
    def as_text(self) -> str:
        """What it holds and what was left out, in one line."""
        parts = [fill(_COUNT_TEXTS_BY_KIND.get(self.kind, ("1 record", "{n:,} records")), n=self.records)]
        if self.kind == NOTES:
            parts.append(
                plural(self.shown, "1 was shown by X", "{n:,} were shown by X")
                if self.shown
                else "unknown which of them X showed"
            )
        if self.kind == FACT_CHECKS and self.publishers:
            parts.append(plural(self.publishers, "1 publisher", "{n:,} publishers"))
        if self.languages:
            parts.append(plural(len(self.languages), "1 language", "{n} languages"))
        if self.newest is not None:
            parts.append(f"newest of {self.newest}")
        if self.duplicates:
            parts.append(plural(self.duplicates, "1 duplicate skipped", "{n:,} duplicates skipped"))
        if self.skipped:
            more = f"; and {self.skipped - 3:,} more" if self.skipped > 3 else ""
            parts.append(f"{self.skipped:,} skipped ({'; '.join(self.skipped_names[:3])}{more})")
        return " · ".join([*parts, self.remark] if self.remark else parts)


class LibraryDocument(FrozenModel):
    """One record in full."""

    library: str
    record: int
    title: str
    text: str
    url: str | None = None
    published: date | None = None
    publisher: str | None = None
    check: FactCheck | None = None
    note: EarlierNote | None = None

    @property
    def heading(self) -> str:
        """The title, or the text's beginning, or the record's number: never empty."""
        return (
            self.title
            or tidy_line(self.text[: 4 * _MAX_HEADING_CHARACTERS], _MAX_HEADING_CHARACTERS)
            or f"Record {self.record}"
        )


_SCHEMA = """
CREATE TABLE records (
    record INTEGER PRIMARY KEY, title TEXT NOT NULL, text TEXT NOT NULL,
    url TEXT, published TEXT, publisher TEXT, topic INTEGER
);
CREATE TABLE checks (record INTEGER PRIMARY KEY, claimant TEXT, verdict TEXT, scale TEXT, language TEXT);
CREATE TABLE notes (record INTEGER PRIMARY KEY, note INTEGER NOT NULL, post INTEGER, status TEXT, shown TEXT);
CREATE TABLE topics (topic INTEGER PRIMARY KEY, vector BLOB NOT NULL);
CREATE TABLE description (json TEXT NOT NULL, embedder TEXT NOT NULL);
CREATE VIRTUAL TABLE words USING fts5 (
    title, body, content='', tokenize='porter unicode61 remove_diacritics 2'
);
CREATE TEMP TABLE seen (fingerprint BLOB PRIMARY KEY) WITHOUT ROWID;
"""
_MAX_ROWID = 2**63 - 1
_TITLE_WEIGHT = 3.0  # a word in a title of ten says more than one in a text of two hundred


class IndexWriter:
    """Builds a library file at `path`, which must not exist. Use as a context manager."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.executescript(f"PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; {_SCHEMA} BEGIN;")
        self.records = 0
        self.duplicates = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._db.close()

    def add(self, record: Record) -> None:
        """Keep one record, unless title and text are an exact copy of one kept before.

        The title counts: "It is inherited from one parent." under two diseases is two facts. Copies of notes were left
        out before.
        """
        title, text = _make_storable(record.title), _make_storable(record.text)
        if record.note is not None:
            self._add_note(record.record, text, record.note)
            return
        key = hashlib.sha256(f"{normalised(title)}\0{normalised(text)}".encode()).digest()[:16]
        if self._db.execute("INSERT OR IGNORE INTO seen VALUES (?)", (key,)).rowcount == 0:
            self.duplicates += 1
            return
        published = record.published.isoformat() if record.published else None
        url = _make_storable(record.url) if record.url else None
        publisher = _make_storable(record.publisher) if record.publisher else None
        self._db.execute(
            "INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, NULL)",
            (record.record, title, "" if record.check else text, url, published, publisher),
        )
        if (check := record.check) is not None:  # its text is made of these parts; of them the claimant is searched
            parts = [
                _make_storable(part) for part in (check.claimant, check.verdict, check.scale, check.language or "")
            ]
            self._db.execute("INSERT INTO checks VALUES (?, ?, ?, ?, ?)", (record.record, *parts))
            text = parts[0]
        self._db.execute(
            "INSERT INTO words (rowid, title, body) VALUES (?, ?, ?)", (record.record, spaced(title), spaced(text))
        )
        self.records += 1

    def _add_note(self, record: int, text: str, note: EarlierNote) -> None:
        self._db.execute(
            "INSERT INTO records VALUES (?, '', ?, NULL, ?, NULL, NULL)", (record, text, note.written.isoformat())
        )
        shown = note.shown.isoformat() if note.shown else None
        self._db.execute("INSERT INTO notes VALUES (?, ?, ?, ?, ?)", (record, note.note, note.post, note.status, shown))
        # Of its links nothing is searched: half the words of an address are its site's.
        self._db.execute(
            "INSERT INTO words (rowid, title, body) VALUES (?, '', ?)", (record, spaced(without_urls(text)))
        )
        self.records += 1

    def titles(self) -> list[tuple[int, str]]:
        """(record, title) of every record that has a title, in order."""
        return self._db.execute("SELECT record, title FROM records WHERE title <> '' ORDER BY record").fetchall()

    def brings(self) -> dict[str, object]:
        """Fields of `LibraryInfo` that sum its records up."""
        publishers, newest = self._db.execute(
            "SELECT count(DISTINCT publisher), max(published) FROM records"
        ).fetchone()
        spoken = self._db.execute(
            "SELECT language FROM checks WHERE language <> '' GROUP BY language ORDER BY count(*) DESC, language"
        )
        (shown,) = self._db.execute("SELECT count(shown) FROM notes").fetchone()
        languages = tuple(code for (code,) in spoken)
        return {"publishers": publishers, "newest": newest, "languages": languages, "shown": shown}

    def add_topics(self, vectors: FloatArray, topic_of: Iterable[tuple[int, int]]) -> None:
        """Keep topic vectors (row = topic) and, for each (record, topic), which record is about which."""
        rows = [(topic, vector.astype(np.float16).tobytes()) for topic, vector in enumerate(vectors)]
        self._db.executemany("INSERT INTO topics VALUES (?, ?)", rows)
        pairs = ((topic, record) for record, topic in topic_of)
        self._db.executemany("UPDATE records SET topic = ? WHERE record = ?", pairs)
        self._db.execute("CREATE INDEX by_topic ON records (topic)")

    def finish(self, info: LibraryInfo, embedder: str) -> None:
        """Write the description and put everything on disk."""
        if info.kind == NOTES:
            self._db.execute("CREATE INDEX by_day ON records (published)")
            self._db.execute("CREATE INDEX by_note ON notes (note)")
        self._db.execute("INSERT INTO words (words) VALUES ('optimize')")
        self._db.execute("INSERT INTO description VALUES (?, ?)", (info.model_dump_json(), embedder))
        self._db.execute("COMMIT")


def _make_storable(text: str) -> str:
    """Text that UTF-8 can hold: a lone surrogate becomes the replacement character, NUL goes."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "")


class IndexReader:
    """A finished library, read-only; made by `open_index`. Raises sqlite3.Error for whatever is damaged."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def info(self) -> LibraryInfo:
        """Return the library's description."""
        json, _ = self._description()
        try:
            return LibraryInfo.model_validate_json(json)
        except ValidationError as error:
            raise sqlite3.DatabaseError("its description is damaged or of another version") from error

    def topic_vectors(self, dimensions: int, embedder: str) -> FloatArray | None:
        """Return unit vectors, one row a topic; None when another embedder made them: they do not compare."""
        _, made_by = self._description()
        if made_by != embedder:
            return None
        blobs = [blob for (blob,) in self._db.execute("SELECT vector FROM topics ORDER BY topic")]
        if any(len(blob) != 2 * dimensions for blob in blobs):
            raise sqlite3.DatabaseError("its vectors are damaged")
        return np.frombuffer(b"".join(blobs), dtype=np.float16).reshape(-1, dimensions).astype(np.float32)

    def ranked(self, expression: str, limit: int, before: int | None = None, most: int | None = None) -> list[int]:
        """Return records that match a full-text expression, best by BM25 first; with `before` those below that one.

        Of more than `most` that match the last ones are ranked.
        """
        end, first = _MAX_ROWID if before is None else before, 0
        if most is not None:
            row = self._db.execute(
                "SELECT rowid FROM words WHERE words MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT 1 OFFSET ?",
                (expression, end, most - 1),
            ).fetchone()
            first = row[0] if row else 0
        found = self._db.execute(
            "SELECT rowid FROM words WHERE words MATCH ? AND rowid >= ? AND rowid < ?"
            f" ORDER BY bm25(words, {_TITLE_WEIGHT}, 1.0), rowid LIMIT ?",
            (expression, first, end, limit),
        )
        return [record for (record,) in found]

    def first_after(self, day: date) -> int | None:
        """Return the first record of earlier notes that was written after a day; None where there is none."""
        found = self._db.execute(
            "SELECT record FROM records WHERE published > ? ORDER BY published, record LIMIT 1", (day.isoformat(),)
        ).fetchone()
        return found[0] if found else None

    def post_of_note(self, note: int) -> int | None:
        """Return the post that a note of X is on, where the library holds the note and knows its post."""
        if not self._has("notes"):
            return None
        found = self._db.execute("SELECT post FROM notes WHERE note = ?", (note,)).fetchone()
        return found[0] if found else None

    def about(self, topic: int, limit: int) -> list[int]:
        """Return the first records about a topic."""
        found = self._db.execute("SELECT record FROM records WHERE topic = ? ORDER BY record LIMIT ?", (topic, limit))
        return [record for (record,) in found]

    def beginnings(self, characters: int) -> Iterator[tuple[int, str]]:
        """(record, its title and the first characters of its text) of every record, in order."""
        rows = self._db.execute("SELECT record, title, substr(text, 1, ?) FROM records ORDER BY record", (characters,))
        return ((record, f"{title}\n{text}".strip()) for record, title, text in rows)

    def matching(self, term: str, most: int = -1) -> int:
        """Return how many records hold a word or phrase, by the index's own stems; counted no further than `most`."""
        (count,) = self._db.execute(
            "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)", (f'"{term}"', most)
        ).fetchone()
        return int(count)

    def documents(self, library: str, records: Sequence[int]) -> Iterator[LibraryDocument]:
        """Yield those of the records that the library holds, in the order asked for."""
        kind = self.info().kind
        for record in records:
            row = self._db.execute(
                "SELECT title, text, url, published, publisher FROM records WHERE record = ?", (record,)
            ).fetchone()
            if row is not None:
                document = _build_document(library, record, row)
                add = {NOTES: self._with_note, FACT_CHECKS: self._with_check}.get(kind)
                yield add(document) if add else document

    def _with_check(self, document: LibraryDocument) -> LibraryDocument:
        parts = self._db.execute(
            "SELECT claimant, verdict, scale, language FROM checks WHERE record = ?", (document.record,)
        ).fetchone()
        if parts is None:
            return document
        claimant, verdict, scale, language = parts
        check = FactCheck(
            claim=document.title,
            claimant=claimant,
            verdict=verdict,
            scale=scale,
            publisher=document.publisher or "",
            published=document.published,
            language=language or None,
            url=document.url,
        )
        return document.replace(text=check.sentence, check=check)

    def _with_note(self, document: LibraryDocument) -> LibraryDocument:
        parts = self._db.execute(
            "SELECT note, post, status, shown FROM notes WHERE record = ?", (document.record,)
        ).fetchone()
        if parts is None or document.published is None:
            raise sqlite3.DatabaseError(f"its record {document.record} is damaged")
        number, post, status, shown = parts
        note = EarlierNote(
            note=number,
            post=post,
            text=document.text,
            written=document.published,
            status=status,
            shown=date.fromisoformat(shown) if shown else None,
        )
        return document.replace(note=note)

    def _has(self, table: str) -> bool:
        return self._db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone() is not None

    def _description(self) -> tuple[str, str]:
        row = self._db.execute("SELECT json, embedder FROM description").fetchone()
        if row is None:
            raise sqlite3.DatabaseError("its description is missing")
        return row[0], row[1]


def _build_document(
    library: str, record: int, row: tuple[str, str, str | None, str | None, str | None]
) -> LibraryDocument:
    title, text, url, published, publisher = row
    try:
        return LibraryDocument(
            library=library,
            record=record,
            title=title,
            text=text,
            url=url if url and is_web_address(url) else None,  # libraries made before tables were checked
            published=date.fromisoformat(published) if published else None,
            publisher=publisher,
        )
    except ValueError as error:
        raise sqlite3.DatabaseError(f"its record {record} is damaged") from error


@contextmanager
def open_index(path: Path) -> Iterator[IndexReader]:
    """Open a reader for the time of one use; sqlite3.Error when the file is not a library."""
    db = sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro", uri=True, timeout=10)
    try:
        yield IndexReader(db)
    finally:
        db.close()
