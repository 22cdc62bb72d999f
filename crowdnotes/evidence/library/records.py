"""What a library holds: its records, its description, and one document as it is handed out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime

from crowdnotes.domain import Noun
from crowdnotes.evidence.reading.plain import tidy_line
from crowdnotes.text.markdown import count

_BEGINNING = 80  # characters of a text that stand for its title


@dataclass(frozen=True, slots=True)
class Record:
    """One row or file on its way into a library. `record` is its 0-based position there.

    `problem` says why it cannot be kept ("" when it can), for the count of what was skipped.
    """

    record: int
    text: str
    title: str = ""
    url: str | None = None
    published: date | None = None
    publisher: str | None = None
    label: str = ""
    problem: str = ""


class Columns(Noun):
    """Which column of a table plays which part; None where no column does."""

    text: str
    title: str | None = None
    url: str | None = None
    date: str | None = None
    publisher: str | None = None


@dataclass(frozen=True, slots=True)
class Incoming:
    """A table or folder, opened and checked: how many records, which columns, and a way to go through them."""

    total: int
    columns: Columns | None
    read: Callable[[], Iterator[Record]]


class LibraryInfo(Noun):
    """A library as it is listed. `columns` is None for a folder.

    `duplicates` are exact copies left out, `skipped` rows without text or files that could not be
    read, of which `skipped_names` names the first twenty. `topics` counts the distinct titles that
    can be found by meaning.
    """

    name: str
    records: int
    duplicates: int
    skipped: int
    skipped_names: tuple[str, ...] = ()
    columns: Columns | None = None
    topics: int = 0
    created_at: datetime

    @property
    def has_addresses(self) -> bool:
        """Whether its records have addresses that a note can link to."""
        return self.columns is not None and self.columns.url is not None

    @property
    def in_words(self) -> str:
        """What it holds and what was left out, in one line."""
        parts = [count(self.records, "record")]
        if self.duplicates:
            parts.append(f"{count(self.duplicates, 'exact copy', 'exact copies')} left out")
        if self.skipped:
            more = f"; and {self.skipped - 3:,} more" if self.skipped > 3 else ""
            parts.append(f"{self.skipped:,} passed over ({'; '.join(self.skipped_names[:3])}{more})")
        return " · ".join(parts)


class LibraryDocument(Noun):
    """One record in full."""

    library: str
    record: int
    title: str
    text: str
    url: str | None = None
    published: date | None = None
    publisher: str | None = None

    @property
    def heading(self) -> str:
        """The title, or the text's beginning, or the record's number: never empty."""
        return self.title or tidy_line(self.text[: 4 * _BEGINNING], _BEGINNING) or f"Record {self.record}"
