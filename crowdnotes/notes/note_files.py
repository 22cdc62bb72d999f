"""Read the notes on a post: pasted, from a table or JSON, or from X's public files by the post's id.

`ReadNotes.faults` has a sentence for everything that could not be used.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from crowdnotes.bridging.columns import HELPFUL_TAGS, HISTORY, NOT_HELPFUL_TAGS, NOTES, RATINGS, TableSpec
from crowdnotes.bridging.public_files import (
    find_shards,
    parse,
    passed_over,
    plan,
    read_blocks,
    read_header,
    ready_table,
)
from crowdnotes.domain import Classification, CrowdStatus, ExistingNote, Ratings
from crowdnotes.engines.prompt_injection import holds_injection
from crowdnotes.errors import InputError
from crowdnotes.text.note_rules import find_urls, note_length, without_urls, x_storage_form
from crowdnotes.text.table_files import decode_table, rounded_number, table_reader
from crowdnotes.wording import fill, plural

MOST_NOTES = 200
MOST_CHARACTERS = 1_500  # by X's count; a note has 280, and a page that was pasted by mistake has more
_MAX_PARSED_LINES = 100  # enough to see whether it is the right file
MOST_BYTES = 20_000_000  # of a file of notes on one post; X's own files are read by the post's id


@dataclass(frozen=True, slots=True)
class ReadNotes:
    """What was read: `notes` with ids N1, N2 …, at least one; `faults` are sentences on what was merged or left out."""

    notes: tuple[ExistingNote, ...]
    faults: tuple[str, ...] = ()


def pasted_notes(text: str) -> ReadNotes:
    """Read pasted notes: with empty lines or "---" between them, as a list, or one a line.

    A part that holds nothing but links belongs to the note before it. Raises InputError where there is no note.
    """
    text = _SEPARATOR_LINE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    faults = []
    pieces = re.split(r"\n[ \t]*\n", text)
    if sum(bool(piece.strip()) for piece in pieces) == 1:
        lines = [line for line in text.split("\n") if line.strip()]
        marked = [line for line in lines if _LIST_MARKER.match(line)]
        if len(marked) > 1:
            pieces = re.split(r"\n(?=[ \t]*(?:[-•*]|\d{1,3}[.)])[ \t])", text)
        elif len([line for line in lines if not _has_only_links(line)]) > 1:
            pieces = lines
            faults.append("Each line was taken for a note. Put empty lines between longer notes.")
    joined: list[str] = []
    for piece in (_LIST_MARKER.sub("", piece.strip(), count=1) for piece in pieces):
        if joined and piece and _has_only_links(piece):
            joined[-1] += f"\n{piece}"
        elif piece:
            joined.append(piece)
    return kept([ExistingNote(id="", text=piece) for piece in joined], faults)


_SEPARATOR_LINE = re.compile(r"^[ \t]*(?:-{3,}|={3,}|\*{3,})[ \t]*$", re.MULTILINE)  # leaves an empty line
_LIST_MARKER = re.compile(r"[ \t]*(?:[-•*]|\d{1,3}[.)])[ \t]+")


def _has_only_links(text: str) -> bool:
    return not any(char.isalnum() for char in without_urls(text)) and bool(find_urls(text))


def read_notes(content: bytes, name: str, post_id: str | None = None) -> ReadNotes:
    """Read notes from a file called `name`: CSV or TSV with a heading, JSON or JSON lines, in any usual encoding.

    Known columns: text (or summary, note), noteId, tweetId, classification, status, helpful, somewhatHelpful,
    notHelpful, tags ("helpfulClear: 3") or a column a tag, createdAt. Of a file with notes on several posts only those
    on `post_id` are read. Raises InputError for another kind of file, or one without a note.
    """
    if len(content) > MOST_BYTES:
        raise InputError(
            f"{name} is too large for notes on one post ({len(content):,} bytes).",
            "Give the folder of X's public files and the post's id.",
        )
    text, encoding = decode_table(content)
    faults = [remark] if (remark := encoding.remark(name)) else []
    text = text.replace("\x00", "")
    if not text.strip():
        raise InputError(f"{name} is empty.", "Choose another file.")
    try:
        return _read_rows(text, name, post_id, faults)
    except RecursionError as error:
        raise InputError(f"{name} has too many lists within lists.", "Check the file.") from error


def _read_rows(text: str, name: str, post_id: str | None, faults: Sequence[str]) -> ReadNotes:
    rows = list(_read_json_rows(text, name) if text.lstrip()[0] in "[{" else _read_table_rows(text, name))
    for row in rows:
        _refuse_rounded(name, row.get("post"), row.get("note_id"))
    posts = {row["post"] for row in rows if row.get("post")}
    if post_id is not None and posts:
        rows = [row for row in rows if row.get("post") == post_number(post_id)]
        if not rows:
            raise InputError(f"{name} has no note on the post {post_id}.", "Check the post's id, or give newer notes.")
    elif len(posts) > 1:
        raise InputError(f"{name} has notes on {len(posts)} posts.", "Say on which, by the post's id.")
    doubts = Doubts()
    notes = [note_of_row(row, place, doubts) for place, row in enumerate(rows, start=1)]
    return kept(notes, [*faults, *doubts.sentences()])


def _refuse_rounded(name: str, *ids: object) -> None:
    """Refuse rounded ids: a rounded post number does not say which post a note is on."""
    if rounded := next(filter(None, (rounded_number(str(one)) for one in ids)), ""):
        raise InputError(
            f"A spreadsheet rounded the ids in {name} ({rounded}).",
            "Get the file again, and do not save it in a spreadsheet.",
        )


def _normalise_key(key: object) -> str:
    return re.sub(r"[^a-z0-9]", "", str(key).lower())


_COLUMN_NAMES_BY_FIELD = {
    "text": "text summary note notetext body".split(),
    "note_id": "noteid id".split(),
    "post": "tweetid postid".split(),
    "classification": "classification misleading".split(),
    "status": "status currentstatus ratingstatus".split(),
    "helpful": "helpful helpfulcount helpfulratings ratedhelpful".split(),
    "somewhat_helpful": "somewhathelpful somewhat somewhathelpfulcount somewhathelpfulratings".split(),
    "not_helpful": "nothelpful nothelpfulcount nothelpfulratings ratednothelpful".split(),
    "tags": "tags".split(),
    "created_at": "createdat createdatmillis date written".split(),
    "chosen": "chosen".split(),
}
_FIELD_BY_COLUMN_NAME = {name: target for target, names in _COLUMN_NAMES_BY_FIELD.items() for name in names}
_TAG_BY_KEY = {_normalise_key(tag): tag for tag in (*HELPFUL_TAGS, *NOT_HELPFUL_TAGS)}
Row = dict[str, Any]
_MAX_DEPTH = 3  # of a record in a record


def _map_fields(pairs: Iterable[tuple[object, object]], depth: int = 0) -> Row:
    """Return the fields of a row by our names, those of nested objects ("ratings", "info") among them."""
    row: Row = {}
    tags: dict[str, object] = {}
    for key, value in pairs:
        plain = _normalise_key(key)
        if plain in {"ratings", "info", "testresult"} and isinstance(value, Mapping) and depth < _MAX_DEPTH:
            inner = _map_fields(value.items(), depth + 1)
            tags |= inner.pop("tags", {})
            row = inner | row
        elif plain == "tags":
            tags |= _parse_tags(value)
        elif plain in _TAG_BY_KEY:
            tags[_TAG_BY_KEY[plain]] = value
        elif plain in _FIELD_BY_COLUMN_NAME and value is not None and str(value).strip():
            row.setdefault(_FIELD_BY_COLUMN_NAME[plain], value)
    if "post" in row:
        row["post"] = str(row["post"]).strip()
    return row | {"tags": tags}


def _parse_tags(value: object) -> dict[str, object]:
    if isinstance(value, str) and value.strip().startswith("{"):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {str(value)[:30]: 1}  # named as no tag of X's
    if isinstance(value, Mapping):
        return {_TAG_BY_KEY.get(_normalise_key(key), str(key)): count for key, count in value.items()}
    parts = value if isinstance(value, list) else re.split(r"[;,|\n]", str(value or ""))
    found: dict[str, object] = {}
    for part in parts:
        name, _, count = re.sub(r"[=×(]", ":", str(part)).partition(":")
        if name.strip():
            found[_TAG_BY_KEY.get(_normalise_key(name), name.strip())] = count.strip(" )") or 1
    return found


def _read_json_rows(text: str, name: str) -> Iterator[Row]:
    try:
        records = json.loads(text)
    except (ValueError, RecursionError):
        try:  # an object a line
            records = [json.loads(line) for line in text.splitlines() if line.strip()]
        except (ValueError, RecursionError) as error:
            raise InputError(f"{name} cannot be read as JSON ({error}).", "Check the file.") from error
    if isinstance(records, Mapping):
        records = next((records[key] for key in ("notes", "data") if isinstance(records.get(key), list)), [records])
    for item in records:
        if isinstance(item, str):
            yield {"text": item, "tags": {}}
        elif isinstance(item, Mapping):
            yield _map_fields(item.items())
        else:
            yield {"tags": {}}


def _read_table_rows(text: str, name: str) -> Iterator[Row]:
    text = text.lstrip("\ufeff")
    heading = text.split("\n", 1)[0]
    # X's TSV knows no quotation marks, and a note may begin with one.
    is_public = '"' not in heading and {"noteId", "summary"} <= set(heading.strip().split("\t"))
    csv.field_size_limit(MOST_BYTES)
    lines = io.StringIO(text, newline="")
    rows = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE) if is_public else table_reader(lines, strict=False)
    try:
        head = next(rows)
        if not any(_FIELD_BY_COLUMN_NAME.get(_normalise_key(column)) == "text" for column in head):
            raise InputError(f"{name} has no column text.", "Name the columns in its first line.")
        for row in rows:
            if any(cell.strip() for cell in row):
                known = _map_fields(zip(head, row, strict=False))
                if any(cell.strip() for cell in row[len(head) :]):
                    known["beyond"] = " ".join(row[len(head) :])
                if is_public and "text" in known:
                    known["text"] = x_storage_form(known["text"])
                yield known
    except csv.Error as error:
        raise InputError(f"{name} cannot be read as a table ({error}).", "Save it as CSV in UTF-8.") from error


@dataclass
class Doubts:
    """Values that could not be read, by what was made of them, with their rows."""

    rows: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def add(self, what: str, place: int, value: object, column: str = "") -> None:
        """Record one value of the note at `place`, and what was made of it."""
        self.rows.setdefault((what, column), []).append(f"{place} (“{str(value)[:30]}”)")

    def sentences(self) -> list[str]:
        """Return one sentence for each kind."""
        return [fill(what, column=column, places=_join_places(rows)) for (what, column), rows in self.rows.items()]


def note_of_row(row: Row, place: int, doubts: Doubts) -> ExistingNote:
    """Return the note of a row by our names for its columns, and "tags", without an id of ours."""
    if "beyond" in row:
        doubts.add(
            "More cells than columns, left out (does the text need quotation marks?): note {places}.",
            place,
            row["beyond"],
        )
    counts = {}
    for name in ("helpful", "somewhat_helpful", "not_helpful"):
        counts[name] = _parse_count(
            row.get(name), "Not a number of ratings, taken for none ({column}): note {places}.", place, doubts, name
        )
    tags = {}
    for tag, value in row["tags"].items():
        if tag in _TAG_BY_KEY.values():
            tags[tag] = _parse_count(value, "Not a number of tags, taken for none: note {places}.", place, doubts)
        else:
            doubts.add("Not a tag of X's, left out: note {places}.", place, tag)
    return ExistingNote(
        id="",
        text=str(row.get("text", "")).strip(),
        note_id=str(row["note_id"]).strip() if "note_id" in row else None,
        classification=_parse_classification(row.get("classification"), place, doubts),
        status=_parse_status(row.get("status"), place, doubts),
        ratings=Ratings(**counts, tags={tag: count for tag, count in tags.items() if count}),
        created_at=_parse_moment(row.get("created_at"), place, doubts),
        chosen={"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}.get(
            _normalise_key(row.get("chosen"))
        ),
    )


def _parse_count(value: object, what: str, place: int, doubts: Doubts, column: str = "") -> int:
    if value is None or (isinstance(value, str) and not value.strip()):
        return 0
    try:
        number = float(str(value).strip())
        if 0 <= number <= 1e9 and number == int(number):
            return int(number)
    except (ValueError, OverflowError):
        pass
    doubts.add(what, place, value, column)
    return 0


def _parse_classification(value: object, place: int, doubts: Doubts) -> Classification:
    plain = _normalise_key(value) if value is not None else ""
    if plain in {"notmisleading", "false", "no", "0"}:
        return Classification.NOT_MISLEADING
    if plain not in {"", "misinformedorpotentiallymisleading", "misleading", "true", "yes", "1"}:
        doubts.add("Not a classification, taken for “misleading”: note {places}.", place, value)
    return Classification.MISLEADING


_STATUS_BY_KEY = {
    **{_normalise_key(status): status for status in CrowdStatus},
    "needsmoreratings": CrowdStatus.NEEDS_MORE_RATINGS,
    "nmr": CrowdStatus.NEEDS_MORE_RATINGS,
    "helpful": CrowdStatus.HELPFUL,
    "ratedhelpful": CrowdStatus.HELPFUL,
    "crh": CrowdStatus.HELPFUL,
    "nothelpful": CrowdStatus.NOT_HELPFUL,
    "ratednothelpful": CrowdStatus.NOT_HELPFUL,
    "crnh": CrowdStatus.NOT_HELPFUL,
}


def _parse_status(value: object, place: int, doubts: Doubts) -> CrowdStatus | None:
    if value is None or not str(value).strip():
        return None
    found = _STATUS_BY_KEY.get(_normalise_key(value))
    if found is None:
        doubts.add("Not a status, left out: note {places}.", place, value)
    return found


def _parse_moment(value: object, place: int, doubts: Doubts) -> datetime | None:
    if value is None:
        return None
    try:
        text = str(value).strip()
        if re.fullmatch(r"\d{12,14}", text):  # milliseconds since 1970
            return datetime.fromtimestamp(int(text) / 1000, UTC)
        found = datetime.fromisoformat(text)
    except (ValueError, OverflowError, OSError):
        doubts.add("Not a date, left out: note {places}.", place, value)
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def kept(notes: Sequence[ExistingNote], faults: Sequence[str]) -> ReadNotes:
    """Return the notes that can be used, each text once, with their ids, and why the others were left out."""
    remarks = list(faults)
    empty = [place for place, note in enumerate(notes, start=1) if not note.text.strip()]
    if empty:
        remarks.append(f"Without words, left out: note {_join_places(empty)}.")
    by_text: dict[str, list[ExistingNote]] = {}
    for place, note in enumerate(notes, start=1):
        if not note.text.strip():
            continue
        length = len(note.text) if len(note.text) > 20 * MOST_CHARACTERS else note_length(note.text)
        if length > MOST_CHARACTERS:
            remarks.append(f"Note {place} is too long, left out: {length:,} characters.")
            continue
        by_text.setdefault(" ".join(note.text.casefold().split()), []).append(note)
    once = [_merge_duplicates(same) for same in by_text.values()]
    repeated = sum(map(len, by_text.values())) - len(once)
    if repeated:
        remarks.append(
            plural(
                repeated,
                "{n} duplicate note was merged.",
                "{n} duplicate notes were merged.",
            )
        )
    if len(once) > MOST_NOTES:
        best = sorted(range(len(once)), key=lambda i: (not once[i].is_used, -once[i].ratings.count, i))[:MOST_NOTES]
        remarks.append(f"Of {len(once)} notes the {MOST_NOTES} most rated were taken, eligible ones first.")
        once = [once[i] for i in sorted(best)]
    if not once:
        raise InputError(" ".join(["There is no note.", *remarks]), "Give at least one note, with its words.")
    numbered = []
    for number, note in enumerate(once, start=1):
        update: dict[str, object] = {"id": f"N{number}"}
        if holds_injection(note.text):
            remarks.append(f"N{number} contains instructions to programs: it is not used, and no AI gets its words.")
            update["chosen"] = False
        numbered.append(note.replace(**update))
    return ReadNotes(tuple(numbered), tuple(remarks))


def _join_places(places: Sequence[object]) -> str:
    return ", ".join(map(str, places[:10])) + " …" * (len(places) > 10)


def _merge_duplicates(same: Sequence[ExistingNote]) -> ExistingNote:
    """Merge notes of the same words: the most rated one, with the ratings of all that differ."""
    if len(same) == 1:
        return same[0]
    differing: dict[str, ExistingNote] = {}
    for note in same:  # a note that a file has twice, by X's id or in every field, counts its ratings once
        key = note.note_id or note.model_dump_json(exclude={"text"})
        if key not in differing or differing[key].ratings.count < note.ratings.count:
            differing[key] = note
    lead = max(differing.values(), key=lambda note: note.ratings.count)
    tags: Counter[str] = Counter()
    for note in differing.values():
        tags.update(note.ratings.tags)
    ratings = Ratings(
        helpful=sum(note.ratings.helpful for note in differing.values()),
        somewhat_helpful=sum(note.ratings.somewhat_helpful for note in differing.values()),
        not_helpful=sum(note.ratings.not_helpful for note in differing.values()),
        tags=dict(tags),
    )
    return lead.replace(ratings=ratings)


def post_number(post_id: str) -> str:
    """Return the number of a post, from itself or the post's address. Raises InputError for anything else."""
    found = re.fullmatch(r"(?:.*/status(?:es)?/)?(\d{1,19})(?:[/?#].*)?", post_id.strip())
    if found is None or int(found.group(1)) >= 2**63:
        raise InputError(f"“{post_id[:60]}” is no post id.", "It is the number in the post's address.")
    return found.group(1)


def notes_of_post(data: Path, post_id: str) -> ReadNotes:
    """Read the notes on a post from X's public files, today's or the pilot's.

    `data` is their folder, or the notes' file. Ratings and status come from files in the same folder, where they are.
    Files are read in pieces, so they may be larger than memory. Raises InputError for files that cannot be read, or
    that have no note on the post.
    """
    post = post_number(post_id)
    folder = data.parent if data.is_file() else data
    dropped: Counter[str] = Counter()
    found = [
        row for row in _read_public_rows(NOTES, data, "tweetId", {post}, dropped) if row.get("tweetId") == int(post)
    ]
    if not found:
        raise InputError(f"{data.name} has no note on the post {post}.", "Check the post's id, or give newer files.")
    by_id = {row["noteId"]: row for row in found}
    ids = {str(note) for note in by_id}
    ratings = _count_ratings(
        row for row in _read_public_rows(RATINGS, folder, "noteId", ids, dropped) if row["noteId"] in by_id
    )
    status = {row["noteId"]: row["currentStatus"] for row in _read_public_rows(HISTORY, folder, "noteId", ids, dropped)}
    doubts = Doubts()
    notes = [
        note_of_row(
            {
                "text": _restore_quote_marks(x_storage_form(row.get("summary") or "")),
                "note_id": note_id,
                "classification": row["classification"],
                "status": status.get(note_id),
                "created_at": row.get("createdAtMillis"),
                "tags": {},
            },
            place,
            doubts,
        ).replace(ratings=ratings.get(note_id, Ratings()))
        for place, (note_id, row) in enumerate(sorted(by_id.items()), start=1)
    ]
    lost = [f"{count:,} rows could not be read: {reason}." for reason, count in dropped.items()]
    if not ratings:
        lost.append("The folder has no ratings of these notes.")
    return kept(notes, [*lost, *passed_over(data, (NOTES, RATINGS, HISTORY)), *doubts.sentences()])


# A question never begins with its mark.
_LOST_QUOTE_MARK = re.compile(
    r"(?<=[a-z])\?(?=(?:s|t|re|ve|ll|d|m)\b)|(?:(?<=\s)|^)\?(?=\w[^?\n]{0,150}[\w.,!]\?(?:\W|$))", re.IGNORECASE
)


def _restore_quote_marks(text: str) -> str:
    """Replace the question marks that the pilot's file has instead of curly marks: "couldn?t", "?so?"."""
    urls = find_urls(text)
    letters = list(text)
    for mark in _LOST_QUOTE_MARK.finditer(text):
        place = mark.start()
        if any(url.start <= place < url.end for url in urls):
            continue
        opens = not text[place - 1 : place].strip()
        letters[place] = "“" if opens else "’"
        if opens:
            letters[text.index("?", place + 1)] = "”"
    return "".join(letters)


def _read_public_rows(spec: TableSpec, data: Path, column: str, ids: set[str], dropped: Counter[str]) -> Iterator[Row]:
    """Yield the rows of a table that hold one of the ids in `column`, and a few that hold it elsewhere."""
    ready = ready_table(spec, data)
    if ready is not None:
        try:
            yield from pq.read_table(ready, filters=[(column, "in", [int(number) for number in ids])]).to_pylist()
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{ready.name} cannot be read ({error}).", "Make or download it again.") from error
        return
    shards = find_shards(spec, data)
    if not shards and spec is NOTES:
        raise InputError(f"{data} has no notes of X's public data.", "It should have files such as notes-00000.tsv.")
    for shard in shards:
        if column not in plan(spec, read_header(shard)):
            raise InputError(f"{shard.name} lacks the column {column}.", "Give a file of the public data.")
        for number, (header, block) in enumerate(read_blocks(shard)):
            if number == 0:  # fails on rounded ids, which a search would not find
                parse(spec, header, b"".join(block.splitlines(keepends=True)[:_MAX_PARSED_LINES]), Counter())
            lines = _select_lines(block, [number.encode() for number in ids])
            if lines:
                yield from parse(spec, header, lines, dropped).to_pylist()


def _select_lines(block: bytes, numbers: Sequence[bytes]) -> bytes:
    """Return the lines that hold one of the numbers: searching a block is a hundred times faster than parsing it."""
    starts = set()
    for number in numbers:
        at = block.find(number)
        while at >= 0:
            starts.add(block.rfind(b"\n", 0, at) + 1)
            end = block.find(b"\n", at)
            at = block.find(number, end) if end >= 0 else -1
    return b"".join(block[start : block.find(b"\n", start) + 1] for start in sorted(starts))


def _count_ratings(rows: Iterable[Row]) -> dict[int, Ratings]:
    """Count the ratings of each note; a rater counts once for a note."""
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
