"""Load a folder of public data into the index: only what is new, file by file.

A file counts whole or not at all: it is one transaction, so a damaged download, a cancel or a crash leaves what was
finished before it. It is known by its first and last bytes as far as it was read, whatever its name and folder; a zip
that did not change by its checksum. Of a person's ratings of a note the latest counts, of other rows the last read.
"""

from __future__ import annotations

import hashlib
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from crowdnotes.bridging.columns import DAY_MS, ENROLMENT, HISTORY, NOTES, RATINGS, TABLES, TableSpec
from crowdnotes.bridging.public_files import (
    Progress,
    find_shards,
    header_of,
    open_members,
    parse,
    passed_over,
    whole_lines,
)
from crowdnotes.bridging.ratings import is_sampled
from crowdnotes.domain import FrozenModel
from crowdnotes.domain.post import FIRST_ID_MS
from crowdnotes.errors import InputError
from crowdnotes.public_data.database import TAGS, Connection, how_many
from crowdnotes.public_data.topics import label

_COMPARED_BYTES = 65_536  # bytes that are compared at either end


@dataclass(frozen=True, slots=True)
class Mark:
    """What was read of a file, unpacked: its size in bytes to the last whole line, and hashes of both ends.

    crc: of the whole, if it was zipped.
    """

    size: int
    head: str
    tail: str
    crc: int | None


@dataclass(slots=True)
class Shard:
    """One file, or one member of a zip: `blocks` are the lines that are new.

    grown_from: what was read of it before. Once the blocks are read: `mark`, and `cut` if the last line is unfinished.
    """

    header: list[str]
    grown_from: Mark | None
    blocks: Iterator[bytes]
    mark: Mark | None = None
    cut: bool = False


def open_shards(path: Path, known: Sequence[Mark]) -> Iterator[Shard]:
    """Yield the shards of a file that hold something new; the blocks of one are read before the next is asked for.

    Raises InputError, also while blocks are read, when the file is cut short, damaged, or not text in columns.
    """
    with open_members(path) as members:
        checksums = _read_checksums(path)
        for member in members:
            size, crc = checksums.get(member.name, (None, None))
            if any(mark.crc == crc is not None and mark.size == size for mark in known):
                continue
            header = header_of(member, path)
            begin = member.tell()
            grown_from = _find_earlier_mark(member, known)
            member.seek(max(begin, grown_from.size) if grown_from else begin)
            shard = Shard(header, grown_from, iter(()))
            shard.blocks = _read_new_blocks(member, path, shard, crc)
            yield shard


def _read_checksums(path: Path) -> dict[str, tuple[int, int]]:
    if not zipfile.is_zipfile(path):
        return {}
    with zipfile.ZipFile(path) as archive:
        return {info.filename: (info.file_size, info.CRC) for info in archive.infolist()}


def _find_earlier_mark(stream: IO[bytes], known: Sequence[Mark]) -> Mark | None:
    stream.seek(0)
    head = stream.read(_COMPARED_BYTES)
    for mark in sorted(known, key=lambda mark: -mark.size):
        if _hash_bytes(head[: mark.size]) == mark.head:
            stream.seek(max(0, mark.size - _COMPARED_BYTES))
            if _hash_bytes(stream.read(min(mark.size, _COMPARED_BYTES))) == mark.tail:
                return mark
    return None


def _read_new_blocks(stream: IO[bytes], path: Path, shard: Shard, crc: int | None) -> Iterator[bytes]:
    size = stream.tell()
    stream.seek(0)
    head = stream.read(min(size, _COMPARED_BYTES))
    stream.seek(max(0, size - _COMPARED_BYTES))
    tail = stream.read(min(size, _COMPARED_BYTES))
    for block in whole_lines(stream, path):
        if block.endswith(b"\n"):
            size += len(block)
            head = (head + block[:_COMPARED_BYTES])[:_COMPARED_BYTES]
            tail = (tail + block[-_COMPARED_BYTES:])[-_COMPARED_BYTES:]
            yield block
        elif block.count(b"\t") == len(shard.header) - 1:
            yield block  # and again when the file has grown: whether it is whole is not known
            crc = None
        else:
            shard.cut = True
            crc = None
    shard.mark = Mark(size, _hash_bytes(head), _hash_bytes(tail), crc)


def _hash_bytes(some: bytes) -> str:
    return hashlib.sha256(some).hexdigest()


_FIRST_POSSIBLE_MS = 1_609_459_200_000  # 2021-01-01: Birdwatch began that month
_SAME_DOWNLOAD_MS = 2 * DAY_MS  # the files of one day's download end at different notes
_FIRST_SNOWFLAKE = 29_700_000_000  # ids before November 2010 were plain numbers
_MESSAGE_BY_MISSING_TABLE = {
    "notes": "No notes: we know no posts, texts, surges or delays.",
    "ratings": "No ratings: we know no scores or sides.",
    "noteStatusHistory": "No status history: we do not know when X decided.",
    "userEnrollment": "No enrolment: we do not know which notes an AI wrote and which raters X's Core model takes.",
}


class FileReport(FrozenModel):
    """One file's result: rows added, rows dropped or mended by reason. grown: only its new end was read."""

    table: str
    file: str
    rows: int
    dropped: dict[str, int]
    grown: bool
    seconds: float


class Loaded(FrozenModel):
    """A folder's result. unchanged: files that were read before. problems: what was not read, and why."""

    files: tuple[FileReport, ...]
    unchanged: tuple[str, ...]
    problems: tuple[str, ...]


def load_folder(connection: Connection, data: Path, now_ms: int, progress: Progress | None = None) -> Loaded:
    """Add what is new in the folder. now_ms: times a day past it cannot be right.

    Raises InputError when the folder holds no public data at all, or none of its files can be read.
    """
    if data.is_file():
        raise InputError(f"{data} is a file.", "Give the folder that holds it.")
    found = {spec.name: find_shards(spec, data) for spec in TABLES}
    if not any(found.values()):
        overlooked = "".join(f" {sentence}" for sentence in passed_over(data)[:1])
        raise InputError(
            f"{data} holds no public data.{overlooked}",
            "It should have files such as notes-00000.tsv and ratings-00000.zip.",
        )
    files: list[FileReport] = []
    unchanged = []
    connection.execute("CREATE OR REPLACE TEMP TABLE touched (post BIGINT)")  # see posts.py
    problems, failed = passed_over(data), list[str]()
    for spec in TABLES:
        if not found[spec.name] and not _has_loaded(connection, spec):
            problems.append(_MESSAGE_BY_MISSING_TABLE[spec.name])
        for path in found[spec.name]:
            try:
                reports, sentences = _load_file(connection, spec, path, now_ms, progress)
            except InputError as error:
                failed.append(f"{error.message} Nothing of it was added. {error.next_step}".strip())
                continue
            files += reports
            problems += sentences
            if not reports:
                unchanged.append(path.name)
    problems = failed + problems
    if problems and not files and not unchanged:
        raise InputError(problems[0])
    return Loaded(files=tuple(files), unchanged=tuple(unchanged), problems=tuple(problems))


def snowflake(times_ms: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the first id of X for something made at these times."""
    return (times_ms - FIRST_ID_MS) << 22


def _has_loaded(connection: Connection, spec: TableSpec) -> bool:
    return connection.execute("SELECT 1 FROM loads WHERE kind = ? LIMIT 1", [spec.name]).fetchone() is not None


def _load_file(
    connection: Connection, spec: TableSpec, path: Path, now_ms: int, progress: Progress | None
) -> tuple[list[FileReport], list[str]]:
    known = [
        Mark(*row)
        for row in connection.execute("SELECT size, head, tail, crc FROM loads WHERE kind = ?", [spec.name]).fetchall()
    ]
    reports, sentences = [], []
    connection.begin()
    try:
        for shard in open_shards(path, known):
            began = time.perf_counter()
            dropped: Counter[str] = Counter()
            (load,) = connection.execute("SELECT coalesce(max(load), 0) + 1 FROM loads").fetchone() or (1,)
            blocks = _report_progress(_parse_blocks(spec, shard, dropped), spec, progress)
            rows = _LOADER_BY_TABLE[spec.name](connection, blocks, load, now_ms, dropped)
            _record_load(connection, spec, path, shard, load)
            if shard.cut:
                sentences.append(
                    f"{path.name} ends in the middle of a line: is its download finished? Its whole lines were added."
                )
            if rows or dropped or shard.grown_from is None:
                reports.append(
                    FileReport(
                        table=spec.name,
                        file=path.name,
                        rows=rows,
                        dropped=dict(dropped),
                        grown=shard.grown_from is not None,
                        seconds=time.perf_counter() - began,
                    )
                )
        connection.commit()
    except BaseException:
        connection.rollback()
        raise
    return reports, sentences


def _parse_blocks(spec: TableSpec, shard: Shard, dropped: Counter[str]) -> Iterable[pa.Table]:
    for block in shard.blocks:
        yield parse(spec, shard.header, block, dropped)


def _report_progress(blocks: Iterable[pa.Table], spec: TableSpec, progress: Progress | None) -> Iterable[pa.Table]:
    rows = 0
    for block in blocks:
        yield block
        rows += block.num_rows
        if progress:
            progress(spec.name, rows)


def _record_load(connection: Connection, spec: TableSpec, path: Path, shard: Shard, load: int) -> None:
    if shard.mark is None:
        raise AssertionError("a loader leaves no block unread")
    before, mark = shard.grown_from, shard.mark
    if before is not None:
        connection.execute(
            "DELETE FROM loads WHERE kind = ? AND size = ? AND tail = ?", [spec.name, before.size, before.tail]
        )
    connection.execute(
        "INSERT INTO loads VALUES (?, ?, ?, ?, ?, ?, ?)",
        [load, spec.name, path.name, mark.size, mark.head, mark.tail, mark.crc],
    )


def _load_notes(
    connection: Connection, blocks: Iterable[pa.Table], load: int, now_ms: int, dropped: Counter[str]
) -> int:
    del load
    connection.execute("CREATE OR REPLACE TEMP TABLE fresh AS SELECT 0 AS place, * FROM notes LIMIT 0")
    for place, block in enumerate(blocks):
        written = _read_times(block, "createdAtMillis", now_ms, dropped)
        posts = _read_typed_column(block, "tweetId", pa.int64())
        texts = _read_typed_column(block, "summary", pa.string()).to_pylist()
        labels = [label(text) if text else (None, 0) for text in texts]
        columns = {
            "place": pa.repeat(place, block.num_rows),
            "note": block["noteId"],
            "author": _hash_people(block, "noteAuthorParticipantId"),
            "written": written,
            "post": posts,
            "posted": _read_snowflake_times(posts, now_ms, dropped),
            "misleading": pc.not_equal(block["classification"].cast(pa.string()), "NOT_MISLEADING"),
            "language": pa.array([language for language, _ in labels], pa.string()),
            "topics": pa.array([topics for _, topics in labels], pa.uint8()),
            "text": texts,
            "collaborative": _read_typed_column(block, "isCollaborativeNote", pa.bool_()),
        }
        _append_block(connection, "fresh", columns)
    if older := _forget_older_notes(connection):
        dropped[_OLDER] += older
    return _replace_rows(connection, "notes", "note")


_OLDER = "older than what the index has"


def _forget_older_notes(connection: Connection) -> int:
    """Leave out fresh rows of an older file that differ from what the index has of a note.

    Nothing in a row says when it was changed, so a file is older whose newest note is days older. What a file of an
    older form does not have is kept. Returns how many rows were left out.
    """
    connection.execute(
        """
        UPDATE fresh SET author = coalesce(fresh.author, notes.author), text = coalesce(fresh.text, notes.text),
            collaborative = coalesce(fresh.collaborative, notes.collaborative), post = coalesce(fresh.post, notes.post)
        FROM notes WHERE fresh.note = notes.note AND (
            (fresh.author IS NULL AND notes.author IS NOT NULL) OR (fresh.text IS NULL AND notes.text IS NOT NULL)
            OR (fresh.collaborative IS NULL AND notes.collaborative IS NOT NULL)
            OR (fresh.post IS NULL AND notes.post IS NOT NULL))
        """
    )
    where = (
        "fresh.note = notes.note AND (fresh.text, fresh.misleading, fresh.post) IS DISTINCT FROM "
        "(notes.text, notes.misleading, notes.post) AND (SELECT max(written) FROM fresh) + "
        f"{_SAME_DOWNLOAD_MS} < (SELECT max(written) FROM notes)"
    )
    return _forget_rows(connection, "notes", where)


def _forget_rows(connection: Connection, table: str, where: str) -> int:
    """Leave out the fresh rows of which that holds; how many they are."""
    older = how_many(connection, f"SELECT count(DISTINCT fresh.rowid) FROM fresh, {table} WHERE {where}")
    if older:
        connection.execute(f"DELETE FROM fresh USING {table} WHERE {where}")
    return older


def _load_history(
    connection: Connection, blocks: Iterable[pa.Table], load: int, now_ms: int, dropped: Counter[str]
) -> int:
    del load
    connection.execute("CREATE OR REPLACE TEMP TABLE fresh AS SELECT 0 AS place, * FROM history LIMIT 0")
    for place, block in enumerate(blocks):
        columns = {"place": pa.repeat(place, block.num_rows), "note": block["noteId"]}
        columns["author"] = _hash_people(block, "noteAuthorParticipantId")
        for name, column in _HISTORY_TIME_COLUMNS.items():
            columns[name] = _read_times(block, column, now_ms, dropped)
        for name, column in _HISTORY_WORD_COLUMNS.items():
            columns[name] = _read_typed_column(block, column, pa.string())
        columns["foreseen_at"] = _read_foreseen_times(block, now_ms, dropped)
        _append_block(connection, "fresh", columns)
    if older := _forget_older_history(connection):
        dropped[_OLDER] += older
    return _replace_rows(connection, "history", "note")


def _forget_older_history(connection: Connection) -> int:
    """Leave out fresh rows of notes whose status the index knows from a later time; how many they are."""
    changed = "greatest(coalesce({0}.status_at, 0), coalesce({0}.latest_at, 0), coalesce({0}.locked_at, 0))"
    where = f"fresh.note = history.note AND {changed.format('history')} > {changed.format('fresh')}"
    return _forget_rows(connection, "history", where)


def _read_foreseen_times(block: pa.Table, now_ms: int, dropped: Counter[str]) -> pa.ChunkedArray:
    """When X first foresaw that a note would be shown: kept with a minus once that is over; -1 is a time forgotten."""
    name = "abovePcrhThresholdTime"
    times = pc.abs(_read_typed_column(block, name, pa.int64()))
    known = pc.if_else(pc.fill_null(pc.equal(times, 1), False), pa.scalar(None, pa.int64()), times)
    return _read_times(pa.table({name: known}), name, now_ms, dropped)


_HISTORY_TIME_COLUMNS = {
    "written": "createdAtMillis",
    "first_at": "timestampMillisOfFirstNonNMRStatus",
    "latest_at": "timestampMillisOfLatestNonNMRStatus",
    "status_at": "timestampMillisOfCurrentStatus",
    "locked_at": "timestampMillisOfStatusLock",
}
_HISTORY_WORD_COLUMNS = {
    "first_status": "firstNonNMRStatus",
    "latest_status": "mostRecentNonNMRStatus",
    "status": "currentStatus",
    "locked_status": "lockedStatus",
    "decided_by": "currentDecidedBy",
}


def _load_people(
    connection: Connection, blocks: Iterable[pa.Table], load: int, now_ms: int, dropped: Counter[str]
) -> int:
    del load
    connection.execute("CREATE OR REPLACE TEMP TABLE fresh AS SELECT 0 AS place, * FROM people LIMIT 0")
    for place, block in enumerate(blocks):
        columns = {
            "place": pa.repeat(place, block.num_rows),
            "rater": _hash_people(block, "participantId"),
            "state": _read_typed_column(block, "enrollmentState", pa.string()),
            "modeling_group": _read_typed_column(block, "modelingGroup", pa.float64()),
            "changed_at": _read_times(block, "timestampOfLastStateChange", now_ms, dropped),
        }
        _append_block(connection, "fresh", columns)
    if older := _forget_older_people(connection):
        dropped[_OLDER] += older
    return _replace_rows(connection, "people", "rater")


def _forget_older_people(connection: Connection) -> int:
    """Leave out fresh rows of people whose state the index knows from a later time; how many they are.

    Of a file with more rows that are older than newer ones, also those of the same time: groups change without a time.
    """
    known, fresh = "coalesce(people.changed_at, 0)", "coalesce(fresh.changed_at, 0)"
    joined = "FROM fresh JOIN people USING (rater)"
    newer = how_many(connection, f"SELECT count(*) {joined} WHERE {fresh} > {known}")
    older = how_many(connection, f"SELECT count(*) {joined} WHERE {fresh} < {known}")
    return _forget_rows(
        connection, "people", f"fresh.rater = people.rater AND {fresh} {'<=' if older > newer else '<'} {known}"
    )


_SOURCE = "ratingSourceBucketed"


def _load_ratings(
    connection: Connection, blocks: Iterable[pa.Table], load: int, now_ms: int, dropped: Counter[str]
) -> int:
    connection.execute("CREATE OR REPLACE TEMP TABLE fresh AS SELECT * FROM ratings LIMIT 0")
    for block in blocks:
        bits = np.zeros(block.num_rows, dtype=np.int32)
        for place, tag in enumerate(TAGS):
            if tag in block.column_names:
                bits |= pc.fill_null(block[tag], False).to_numpy().astype(np.int32) << place
        columns: dict[str, object] = {
            "note": block["noteId"],
            "rater": _hash_people(block, "raterParticipantId"),
            "rated": _read_times(block, "createdAtMillis", now_ms, dropped),
            "level": (block["helpfulNum"].to_numpy() * 2).astype(np.uint8),
            "tags": bits,
            "load": pa.repeat(load, block.num_rows),
        }
        if _SOURCE in block.column_names:
            columns["sampled"] = is_sampled(block[_SOURCE])
        _append_block(connection, "fresh", columns)
    # By note, so that one note's are found without reading all of them.
    connection.execute("INSERT INTO ratings SELECT * FROM fresh ORDER BY note; DROP TABLE fresh")
    again = _forget_repeated_ratings(connection, load)
    if again:
        dropped["repeated noteId and raterParticipantId"] += again
    return how_many(connection, "SELECT count(*) FROM ratings WHERE load = ?", load)


def _forget_repeated_ratings(connection: Connection, load: int) -> int:
    """Keep of each person's ratings of a note the latest; how many went. Few repeat, so they are looked for first."""
    keys = connection.execute("SELECT hash(note, rater) AS key FROM ratings WHERE load = ?", [load]).fetchnumpy()["key"]
    ordered = np.sort(np.asarray(keys, dtype=np.uint64))
    twice = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    connection.register("twice", pa.table({"key": twice}))
    connection.execute(
        """
        CREATE OR REPLACE TEMP TABLE suspects AS
        SELECT note, rater FROM ratings WHERE load = $load AND hash(note, rater) IN (SELECT key FROM twice)
        UNION SELECT note, rater FROM ratings
            SEMI JOIN (SELECT note, rater FROM ratings WHERE load = $load) AS fresh USING (note, rater)
            WHERE load <> $load
        """,
        {"load": load},
    )
    connection.unregister("twice")
    if not how_many(connection, "SELECT count(*) FROM suspects"):
        return 0
    before = how_many(connection, "SELECT count(*) FROM ratings")
    connection.execute("""
        DELETE FROM ratings WHERE rowid IN (
            SELECT rowid FROM (
                SELECT rowid,
                    row_number() OVER (PARTITION BY note, rater ORDER BY rated DESC NULLS LAST, load, rowid) AS n
                FROM ratings SEMI JOIN suspects USING (note, rater)
            ) WHERE n > 1
        )""")
    return before - how_many(connection, "SELECT count(*) FROM ratings")


def _append_block(connection: Connection, into: str, columns: dict[str, object]) -> None:
    connection.register("block", pa.table(columns))
    connection.execute(f"INSERT INTO {into} BY NAME SELECT * FROM block")
    connection.unregister("block")


def _replace_rows(connection: Connection, table: str, key: str) -> int:
    """Put the last fresh row of each key in place of what the table had of it; return how many rows that are.

    The posts of fresh notes, as they were and as they are, go into `touched`.
    """
    last = f"SELECT * EXCLUDE (place) FROM fresh QUALIFY row_number() OVER (PARTITION BY {key} ORDER BY place DESC) = 1"
    touch = "INSERT INTO touched SELECT post FROM notes SEMI JOIN fresh USING (note)" if key == "note" else ""
    if how_many(connection, f"SELECT count(*) FROM (SELECT 1 FROM {table} LIMIT 1)"):
        connection.execute(f"{touch}; DELETE FROM {table} WHERE {key} IN (SELECT {key} FROM fresh)")
    before = how_many(connection, f"SELECT count(*) FROM {table}")
    connection.execute(f"INSERT INTO {table} BY NAME {last}; {touch}; DROP TABLE fresh")
    return how_many(connection, f"SELECT count(*) FROM {table}") - before


def _read_typed_column(block: pa.Table, name: str, kind: pa.DataType) -> pa.ChunkedArray:
    return block[name].cast(kind) if name in block.column_names else pa.chunked_array([pa.nulls(block.num_rows, kind)])


def _read_times(block: pa.Table, name: str, now_ms: int, dropped: Counter[str]) -> pa.ChunkedArray:
    """Return a column of times; those that cannot be right are left out and counted. 0 and below mean "never"."""
    times = _read_typed_column(block, name, pa.int64())
    said = pc.fill_null(pc.greater(times, 0), False)
    right = pc.and_(pc.fill_null(pc.greater_equal(times, _FIRST_POSSIBLE_MS), False), pc.less(times, now_ms + DAY_MS))
    right = pc.fill_null(right, False)
    if wrong := pc.sum(pc.and_not(said, right)).as_py():
        dropped[f"(value left out, row kept) {name} before 2021 or still to come"] += wrong
    return pc.if_else(right, times, pa.scalar(None, pa.int64()))


def _read_snowflake_times(posts: pa.ChunkedArray, now_ms: int, dropped: Counter[str]) -> pa.Array:
    """When posts were made, from their ids; None for ids that are no snowflakes."""
    known = pc.fill_null(posts, 0).to_numpy()
    times = (known >> 22) + FIRST_ID_MS
    right = (known > _FIRST_SNOWFLAKE) & (times < now_ms + DAY_MS)
    if wrong := int(np.count_nonzero(~right)):
        dropped["(value left out, row kept) tweetId is no snowflake: when the post was made is not known"] += wrong
    return pa.array(times, pa.int64(), mask=~right)


def _hash_people(block: pa.Table, name: str) -> pa.Array:
    """People's ids as 64-bit hashes, the same on every machine and day; None where there is none."""
    if name not in block.column_names:
        return pa.nulls(block.num_rows, pa.int64())
    words = block[name].combine_chunks()
    words = words if pa.types.is_dictionary(words.type) else words.dictionary_encode()
    if isinstance(words, pa.ChunkedArray):
        words = words.unify_dictionaries().combine_chunks()
    names = np.asarray(words.dictionary.to_pylist(), dtype=object)
    hashes: npt.NDArray[np.int64] = (
        pd.util.hash_array(names, categorize=False).view(np.int64) if len(names) else np.zeros(0, dtype=np.int64)
    )
    return pa.array(hashes, pa.int64()).take(words.indices) if len(names) else pa.nulls(block.num_rows, pa.int64())


_LOADER_BY_TABLE: dict[str, Callable[[Connection, Iterable[pa.Table], int, int, Counter[str]], int]] = {
    NOTES.name: _load_notes,
    HISTORY.name: _load_history,
    ENROLMENT.name: _load_people,
    RATINGS.name: _load_ratings,
}
