"""The local libraries of one machine: add, list, search, read, remove."""

from __future__ import annotations

import logging
import os
import re
import shutil
import socket
import sqlite3
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime
from pathlib import Path

from crowdnotes.domain import Hit
from crowdnotes.engines.embedding import Embedder
from crowdnotes.errors import InputError, LibraryError
from crowdnotes.evidence.library.earlier_notes import FILES as NOTE_FILES
from crowdnotes.evidence.library.earlier_notes import LeaveOut, none_left_out, open_notes
from crowdnotes.evidence.library.fact_checks import KINDS as CHECK_KINDS
from crowdnotes.evidence.library.fact_checks import open_fact_checks
from crowdnotes.evidence.library.importing import (
    FILE_KINDS,
    TABLE_KINDS,
    TablePreview,
    is_file_or_folder,
    lay_out,
    open_folder,
    open_table,
    preview_table,
)
from crowdnotes.evidence.library.index import (
    FACT_CHECKS,
    NOTES,
    Incoming,
    IndexReader,
    IndexWriter,
    LibraryDocument,
    LibraryInfo,
    open_index,
)
from crowdnotes.evidence.library.search import build_expression, embed_topics, search_index, search_notes, topics_of
from crowdnotes.evidence.library.sharing import SharedLibraries
from crowdnotes.text.markdown import host

Progress = Callable[[int, int], None]
Hits = list[Hit]  # inside the class below, `list` is its method
Infos = list[LibraryInfo]

_log = logging.getLogger(__name__)
_LIBRARY_NAME_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_FILE_SUFFIX = ".sqlite"
_BUILDING_PREFIX = ".building-"
_ABANDONED_SECONDS = 3600  # what nothing wrote to for so long is left of a build that was killed
_RECORDS_PER_REPORT = 200
_MAX_NAMED_SKIPS = 20
_RECORDS_SAMPLED = 200  # to name the sites of a library: takes 25 ms, and finds a site of one record in 100


class Libraries:
    """The libraries in one directory, one SQLite file each. Safe to share between threads and processes.

    With a `shelf` those that are added are there on all machines that have it: each fetches a file when it first needs
    it, by its content hash, unless the directory is a shared one. `embedder` should be a cached one: a repeated search
    then embeds nothing.
    """

    table_kinds = tuple(kind.removeprefix(".") for kind in TABLE_KINDS)
    check_kinds = tuple(kind.removeprefix(".") for kind in CHECK_KINDS)
    note_kinds = tuple(kind.removeprefix(".") for kind in NOTE_FILES)
    of_fact_checks = FACT_CHECKS
    of_notes = NOTES
    file_kinds = tuple(kind.removeprefix(".") for kind in FILE_KINDS)

    def __init__(self, directory: Path, embedder: Embedder, shelf: SharedLibraries | None = None) -> None:
        self._directory = directory
        self._embedder = embedder
        self._shelf = shelf
        self._fetching = threading.Lock()

    def add(
        self,
        path: Path,
        name: str,
        *,
        progress: Progress | None = None,
        replace: bool = False,
        kind: str = "",
        **columns: str | None,
    ) -> LibraryInfo:
        """Make a library from a table (parquet, csv, tsv, jsonl) or a folder (HTML, PDF, text, Markdown).

        With the kind `FACT_CHECKS` it is made from ClaimReview data instead, see `open_fact_checks`; with `NOTES` from
        X's public notes, see `open_notes`.

        `columns` names a table's `text_column`, `title_column`, `url_column`, `date_column` and
        `publisher_column`; the others are guessed. `progress(done, total)` hears the work as a count of records;
        an error raised in it stops the work. Until the last moment the library is not
        there (or is the one to be replaced), so a stop, a crash or a full disk leaves no half library. What a
        killed build left on the disk goes when a library is added an hour later or more.
        Raises LibraryError with a sentence for whatever is wrong with name, path or content.
        """
        target = self._file(name)
        path = Path(path)
        if not replace and (target.exists() or (self._shelf is not None and self._shelf.find(name) is not None)):
            raise LibraryError(f"A library “{name}” already exists.", "Choose another name, or replace it.")
        named = {name.removesuffix("_column"): column for name, column in columns.items()}
        with as_library_error(name):
            incoming = _open_incoming(path, named, kind)
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._remove_abandoned()
            with tempfile.TemporaryDirectory(dir=self._directory, prefix=_BUILDING_PREFIX) as folder:
                building = Path(folder) / name
                info = self._build(building, name, kind, incoming, progress or (lambda *_: None))
                if target.exists() and not replace:
                    raise LibraryError(
                        f"A library “{name}” was added meanwhile.", "Choose another name, or replace it."
                    )
                if self._shelf is None:
                    os.replace(building, target)
                else:
                    self._put(self._shelf, info, building, replace=replace)
        return info

    def _put(self, shelf: SharedLibraries, info: LibraryInfo, building: Path, *, replace: bool) -> None:
        sha256 = shelf.put(info, building, replace=replace)
        self._by_hash(sha256).parent.mkdir(exist_ok=True)
        building.chmod(0o444)
        os.replace(building, self._by_hash(sha256))
        self._file(info.name).unlink(missing_ok=True)  # of this machine alone

    def add_uploaded(
        self,
        files: Sequence[tuple[str, bytes]],
        name: str,
        *,
        replace: bool,
        progress: Progress | None,
        kind: str = "",
        **columns: str,
    ) -> LibraryInfo:
        """See `add`, for files that a browser sent: a table, or a folder's documents by their place below it."""
        with as_library_error(name), tempfile.TemporaryDirectory() as folder:
            path = lay_out(Path(folder), files)
            return self.add(path, name, replace=replace, progress=progress, kind=kind, **columns)

    @staticmethod
    def preview(file: str, content: bytes) -> TablePreview:
        """See `preview_table`, of a table that a browser sent."""
        with as_library_error(file), tempfile.TemporaryDirectory() as folder:
            return preview_table(lay_out(Path(folder), [(file, content)]))

    def list(self) -> Infos:
        """Return the libraries that can be read, by name; `broken` names the others."""
        return [info for _, info in self._described() if info is not None]

    def broken(self) -> tuple[str, ...]:
        """Return the names of libraries whose file is damaged or of another version: `remove` works on them."""
        return tuple(name for name, info in self._described() if info is None)

    def info(self, name: str) -> LibraryInfo:
        """One library's description."""
        with self.open(name) as reader:
            return reader.info()

    def remove(self, name: str) -> None:
        """Delete a library for good."""
        with as_library_error(name):
            if self._shelf is None or not self._shelf.remove(name):
                self._existing(name).unlink()

    def search(self, name: str, query: str, k: int = 10) -> Hits:
        """At most `k` hits for one query, best first. Raises InputError when it holds no word."""
        if not build_expression(query).terms:
            raise InputError("What should we search for?", "Type a few words.")
        return self.search_many(name, [query], k, post=None)

    def search_many(
        self,
        name: str,
        queries: Sequence[str],
        k: int = 10,
        post: str | None = None,
        until: date | None = None,
        leave_out: LeaveOut = none_left_out,
    ) -> Hits:
        """At most `k` hits for several queries at once, merged, and ordered by meaning against the post.

        A hit's `query` is the one it is most similar to. Queries without a word are passed over, and records
        dated after `until`; so are earlier notes of which `leave_out` holds.
        """
        with self.open(name) as reader:
            if reader.info().kind == NOTES:
                return search_notes(reader, name, queries, post, k, self._embedder, until, leave_out)
            topics = reader.topic_vectors(self._embedder.dimensions, self._embedder.name)
            if topics is None:
                _log.warning(
                    "library %s was added with another embedding model: it is searched by words until added again", name
                )
            return search_index(reader, name, queries, post, k, self._embedder, topics, until)

    def document(self, name: str, record: int) -> LibraryDocument:
        """One record in full, by its position in the table or folder that was added."""
        with self.open(name) as reader:
            found = next(reader.documents(name, [record]), None)
        if found is None:
            raise LibraryError(f"“{name}” has no record {record}.", "The library may have been replaced.")
        return found.replace(title=found.heading)

    def sites(self, name: str) -> Counter[str]:
        """Count some of its records, evenly spread, by site; none where they have no addresses."""
        with self.open(name) as reader:
            records = reader.info().records
            some = sorted({records * part // _RECORDS_SAMPLED for part in range(_RECORDS_SAMPLED)})
            return Counter(filter(None, (host(item.url) for item in reader.documents(name, some))))

    def _described(self) -> Iterator[tuple[str, LibraryInfo | None]]:
        shared = self._shelf.infos() if self._shelf is not None else {}
        for name in sorted({*shared, *(file.stem for file in self._directory.glob(f"*{_FILE_SUFFIX}"))}):
            if name in shared:
                yield name, shared[name]
                continue
            file = self._directory / f"{name}{_FILE_SUFFIX}"
            if (
                not _LIBRARY_NAME_PATTERN.fullmatch(name) or not file.is_file()
            ):  # put there by hand, or removed meanwhile
                continue
            try:
                yield name, self.info(name)
            except LibraryError:
                yield name, None

    def _build(self, building: Path, name: str, kind: str, incoming: Incoming, progress: Progress) -> LibraryInfo:
        skipped, named = 0, list[str]()
        total = incoming.total
        with IndexWriter(building) as writer:
            for done, record in enumerate(incoming.read(), start=1):
                if record.problem:
                    skipped += 1
                    if len(named) < _MAX_NAMED_SKIPS:
                        named.append(f"{record.label}: {record.problem}")
                else:
                    writer.add(record)
                if done % _RECORDS_PER_REPORT == 0 or done == total:
                    progress(done // 2, total)  # the other half of the work is reading the titles
            if writer.records == 0:
                why = f" ({named[0]})" if named else ""
                raise LibraryError(f"We found no readable text in it{why}.", "Is it the right one?")
            titled = [] if kind else writer.titles()  # the few claims that share words with a query are read whole
            vectors, rows = embed_topics(
                topics_of([title for _, title in titled]),
                self._embedder,
                lambda share: progress(total // 2 + int(share * (total - total // 2)), total),
            )
            pairs = zip((record for record, _ in titled), rows, strict=True)
            writer.add_topics(vectors, ((record, row) for record, row in pairs if row is not None))
            info = LibraryInfo(
                name=name,
                records=writer.records,
                duplicates=writer.duplicates + incoming.copies,
                skipped=skipped,
                skipped_names=tuple(named),
                columns=incoming.columns,
                topics=len(vectors),
                created_at=datetime.now(UTC),
                kind=kind,
                remark=incoming.remark,
                **writer.brings(),
            )
            writer.finish(info, self._embedder.name)
        progress(total, total)
        return info

    @contextmanager
    def open(self, name: str) -> Iterator[IndexReader]:
        """Open a library's index for the time of one use: what benchmarks rank by themselves."""
        with as_library_error(name), open_index(self._existing(name)) as reader:
            yield reader

    def _existing(self, name: str) -> Path:
        file = self._file(name)
        if self._shelf is not None and (sha256 := self._shelf.find(name)) is not None:
            file = self._by_hash(sha256)
            with self._fetching:  # those who need it too wait for one who fetches it
                if not file.is_file():
                    self._shelf.fetch(name, sha256, file)
                    self._clear(self._shelf.hashes())
        elif not file.is_file() and self._shelf is not None:
            where = f"The library “{name}” is neither on this machine ({socket.gethostname()}) nor in the database."
            raise LibraryError(where, "Add it again in place of the old one. Then all machines have it.")
        elif not file.is_file():
            raise LibraryError(f"There is no library “{name}”.", "`crowdnotes library list` shows those there are.")
        return file

    def _by_hash(self, sha256: str) -> Path:
        return self._directory / "by-hash" / f"{sha256}{_FILE_SUFFIX}"

    def _clear(self, wanted: Collection[str]) -> None:
        """Of files by hash those that were removed or replaced on some machine."""
        for file in self._by_hash("").parent.glob(f"*{_FILE_SUFFIX}"):
            if file.stem not in wanted:
                file.unlink(missing_ok=True)

    def _file(self, name: str) -> Path:
        if not _LIBRARY_NAME_PATTERN.fullmatch(name):
            raise LibraryError(
                "Use letters a to z, digits, - and _, at most 64. Start with a letter or digit.",
                "Choose another name.",
            )
        return self._directory / f"{name}{_FILE_SUFFIX}"

    def _remove_abandoned(self) -> None:
        # Earlier versions built in files named .<library>.<hex>.building.
        for left in (*self._directory.glob(f"{_BUILDING_PREFIX}*"), *self._directory.glob(".*.building")):
            with suppress(FileNotFoundError):  # another build ended meanwhile
                newest = max(path.stat().st_mtime for path in (left, *left.rglob("*")))
                if time.time() - newest <= _ABANDONED_SECONDS:
                    continue
                if left.is_dir():
                    shutil.rmtree(left)
                else:
                    left.unlink()


_OPENER_BY_KIND = {FACT_CHECKS: open_fact_checks, NOTES: open_notes}


def _open_incoming(path: Path, named: Mapping[str, str | None], kind: str) -> Incoming:
    if kind and kind not in _OPENER_BY_KIND:
        raise LibraryError(
            f"“{kind}” is not a kind of library.",
            f"For tables and folders leave it out. Other kinds: {', '.join(_OPENER_BY_KIND)}.",
        )
    if (path.is_dir() or kind) and any(named.values()):
        raise LibraryError("Folders and fact-checks have no columns.", "Leave the column names out.")
    if path.is_dir() and not kind:
        return open_folder(path)
    if not path.exists():
        raise LibraryError(f"There is nothing at {path.name or path}.", "Check the path.")
    if not is_file_or_folder(path):
        raise LibraryError(f"{path.name} is not a file but a pipe, socket or device.", "Give a table or a folder.")
    if kind:
        return _OPENER_BY_KIND[kind](path)
    if path.suffix.lower() not in TABLE_KINDS:
        raise LibraryError(
            f"{path.name} is not a table we can read ({', '.join(TABLE_KINDS)}).",
            "For HTML, PDF, text or Markdown files, add their folder.",
        )
    return open_table(path, named)


@contextmanager
def as_library_error(name: str) -> Iterator[None]:
    """Raise LibraryError, with the library's name and what to do, for sqlite3.Error and OSError."""
    try:
        yield
    except sqlite3.Error as error:
        if "full" in str(error):
            raise LibraryError(
                "The disk is full. Nothing was added.", "Free some disk space, then try again."
            ) from error
        raise LibraryError(
            f"We cannot read or write the library “{name}” ({error}).", "Remove it and add it again."
        ) from error
    except OSError as error:
        raise LibraryError(
            f"We cannot read or write the library “{name}” ({error.strerror}).",
            "Check the disk's space and the folder's permissions.",
        ) from error
