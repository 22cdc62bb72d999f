"""The notes on a post from X's public files, today's or those of the pilot, by the post's id."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from crowdnotes.bridging.columns import HELPFUL_TAGS, HISTORY, NOT_HELPFUL_TAGS, NOTES, RATINGS, TableSpec
from crowdnotes.bridging.public_files import find_shards, parse, plan, read_blocks, read_header
from crowdnotes.domain import Ratings
from crowdnotes.errors import InputError
from crowdnotes.supernotes.note_files import Doubts, ReadNotes, Row, kept, note_of_row, post_number
from crowdnotes.text.note_rules import find_urls, x_storage_form
from crowdnotes.wording import say


def notes_of_post(data: Path, post_id: str) -> ReadNotes:
    """The notes on a post from X's public files, today's or the pilot's: `data` is their folder, or the notes' file.

    Ratings and status come from the files beside the notes, where they are; files are read in pieces, so they may be
    larger than memory. Raises InputError for files that cannot be read, or that have no note on the post.
    """
    post = post_number(post_id)
    folder = data.parent if data.is_file() else data
    dropped: Counter[str] = Counter()
    found = [row for row in _rows(NOTES, data, "tweetId", {post}, dropped) if row.get("tweetId") == int(post)]
    if not found:
        raise InputError(say("notes_file.not_on_post", name=data.name, post=post), say("notes_file.check_newer"))
    by_id = {row["noteId"]: row for row in found}
    ids = {str(note) for note in by_id}
    ratings = _ratings(row for row in _rows(RATINGS, folder, "noteId", ids, dropped) if row["noteId"] in by_id)
    status = {row["noteId"]: row["currentStatus"] for row in _rows(HISTORY, folder, "noteId", ids, dropped)}
    doubts = Doubts()
    notes = [
        note_of_row(
            {
                "text": _with_marks(x_storage_form(row.get("summary") or "")),
                "note_id": note_id,
                "classification": row["classification"],
                "status": status.get(note_id),
                "created_at": row.get("createdAtMillis"),
                "tags": {},
            },
            place,
            doubts,
        ).model_copy(update={"ratings": ratings.get(note_id, Ratings())})
        for place, (note_id, row) in enumerate(sorted(by_id.items()), start=1)
    ]
    lost = [say("notes_file.rows_lost", n=count, reason=reason) for reason, count in dropped.items()]
    if not ratings:
        lost.append(say("notes_file.no_ratings"))
    return kept(notes, [*lost, *doubts.sentences()])


# A question never begins with its mark.
_LOST_MARKS = re.compile(
    r"(?<=[a-z])\?(?=(?:s|t|re|ve|ll|d|m)\b)|(?:(?<=\s)|^)\?(?=\w[^?\n]{0,150}[\w.,!]\?(?:\W|$))", re.IGNORECASE
)


def _with_marks(text: str) -> str:
    """The text without the question marks that stand for curly marks in the pilot's file: "couldn?t", "?so?"."""
    urls = find_urls(text)
    letters = list(text)
    for mark in _LOST_MARKS.finditer(text):
        place = mark.start()
        if any(url.start <= place < url.end for url in urls):
            continue
        opens = not text[place - 1 : place].strip()
        letters[place] = "“" if opens else "’"
        if opens:
            letters[text.index("?", place + 1)] = "”"
    return "".join(letters)


def _rows(spec: TableSpec, data: Path, column: str, ids: set[str], dropped: Counter[str]) -> Iterator[Row]:
    """The rows of a table that hold one of the ids in `column`, and a few that hold it elsewhere."""
    ready = data / f"{spec.name}.parquet"
    if ready.is_file():
        try:
            yield from pq.read_table(ready, filters=[(column, "in", [int(number) for number in ids])]).to_pylist()
        except (pa.ArrowException, OSError) as error:
            raise InputError(
                say("notes_file.unreadable", name=ready.name, error=error), say("notes_file.again")
            ) from error
        return
    shards = find_shards(spec, data)
    if not shards and spec is NOTES:
        raise InputError(say("notes_file.no_public_data", name=data), say("notes_file.files_like"))
    for shard in shards:
        if column not in plan(spec, read_header(shard)):
            raise InputError(say("notes_file.lacks", name=shard.name, column=column), say("notes_file.give_public"))
        for header, block in read_blocks(shard):
            lines = _lines_with(block, [number.encode() for number in ids])
            if lines:
                yield from parse(spec, header, lines, dropped).to_pylist()


def _lines_with(block: bytes, numbers: Sequence[bytes]) -> bytes:
    """The lines that hold one of the numbers: a block is searched a hundred times as fast as it is parsed."""
    starts = set()
    for number in numbers:
        at = block.find(number)
        while at >= 0:
            starts.add(block.rfind(b"\n", 0, at) + 1)
            end = block.find(b"\n", at)
            at = block.find(number, end) if end >= 0 else -1
    return b"".join(block[start : block.find(b"\n", start) + 1] for start in sorted(starts))


def _ratings(rows: Iterable[Row]) -> dict[int, Ratings]:
    """The ratings of each note; a rater counts once for a note."""
    seen = set()
    levels: dict[int, Counter[str]] = {}
    names = {1.0: "helpful", 0.5: "somewhat_helpful", 0.0: "not_helpful"}
    for row in rows:
        key = (row["noteId"], row["raterParticipantId"])
        if key in seen:
            continue
        seen.add(key)
        counts = levels.setdefault(row["noteId"], Counter())
        counts[names[row["helpfulNum"]]] += 1
        counts.update(tag for tag in (*HELPFUL_TAGS, *NOT_HELPFUL_TAGS) if row.get(tag))
    return {
        note: Ratings(
            **{level: counts.pop(level, 0) for level in names.values()},
            tags=dict(counts),
        )
        for note, counts in levels.items()
    }
