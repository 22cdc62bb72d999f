"""Pairs of notes from a file: CSV, JSON or a JSON object a line, in whatever encoding, and those of `crowdnotes bench`.

What X's public files escape is undone, in both notes alike: it would give away who wrote which.
"""

from __future__ import annotations

import csv
import html
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from pydantic import ValidationError

from crowdnotes.domain import NotePair, text_sha256
from crowdnotes.errors import InputError
from crowdnotes.storage.tables import storable_text
from crowdnotes.text.note_rules import x_storage_form
from crowdnotes.text.table_files import decode_table, rounded_number, table_reader
from crowdnotes.wording import fill

FILE_KINDS = ("csv", "tsv", "jsonl", "json")
MOST_PAIRS = 1_000
_FILE_FORM = (
    "Give CSV or JSON with the columns post, supernote and existing_note, or post, first and second; or pairs.jsonl or "
    "notes.jsonl of “crowdnotes bench”."
)
_MAX_FILE_BYTES = 5_000_000
_MAX_CHARACTERS_BY_PART = {
    "post": 25_000,
    "first": 5_000,
    "second": 5_000,
}  # characters; the first is X's own bound of a post
_POST_COLUMNS = ("post", "post_text", "tweet", "tweet_text")
_ID_COLUMNS = ("pair", "pair_id", "id")
_SHUFFLED_COLUMNS = ("left", "right")
# Two columns that belong together, and what the notes are called where nobody says so.
_NAMES_BY_NOTE_COLUMNS = {
    ("supernote", "best_existing_note"): ("Supernote", "Best existing note"),
    ("supernote", "best_existing"): ("Supernote", "Best existing note"),
    ("supernote", "existing_note"): ("Supernote", "Existing note"),
    ("supernote", "existing"): ("Supernote", "Existing note"),
    ("first", "second"): ("First note", "Second note"),
    ("note_1", "note_2"): ("First note", "Second note"),
    ("note_a", "note_b"): ("Note A", "Note B"),
    _SHUFFLED_COLUMNS: ("Left note", "Right note"),
}
_BENCH_RUN_COLUMNS = {"note_id", "post", "human", "outcome"}


@dataclass(frozen=True, slots=True)
class PairsFile:
    """What a file holds. `sides_unknown`: see `Comparison`."""

    pairs: tuple[NotePair, ...]
    names: tuple[str, str]
    sides_unknown: bool = False


def read_pairs(name: str, content: bytes) -> PairsFile:
    """Return the pairs of a file. Raises InputError with the line and what is wrong with it."""
    if len(content) > _MAX_FILE_BYTES:
        raise InputError(f"The file has {len(content):,} bytes.", f"Give at most {_MAX_FILE_BYTES:,}.")
    kind = PurePath(name).suffix.lower().removeprefix(".")
    if kind not in FILE_KINDS:
        raise InputError(
            f"“{name}” is no table that can be read.",
            _FILE_FORM,
        )
    text, encoding = decode_table(content)
    if encoding.has_lost(text):
        raise InputError(f"Some letters of {name} cannot be read.", "Save it as UTF-8.")
    rows = list(_parse_csv_rows(text, kind) if kind in {"csv", "tsv"} else _parse_json_rows(text, kind))
    if not rows:
        raise InputError(
            "The file holds no pairs.",
            _FILE_FORM,
        )
    columns = {column for _, row in rows for column in row}
    found = _read_bench_run_pairs(rows) if columns >= _BENCH_RUN_COLUMNS else _read_table_pairs(rows, columns)
    if len(found.pairs) > MOST_PAIRS:
        raise InputError(f"The file holds {len(found.pairs):,} pairs.", f"Give at most {MOST_PAIRS:,}.")
    return found


def _read_table_pairs(rows: Iterable[tuple[int, Mapping[str, Any]]], columns: set[str]) -> PairsFile:
    post = next((column for column in _POST_COLUMNS if column in columns), None)
    sides = next((pair for pair in _NAMES_BY_NOTE_COLUMNS if columns >= set(pair)), None)
    if post is None or sides is None:
        missing, there = "post" if post is None else "notes", ", ".join(sorted(columns))[:200]
        raise InputError(f"There is no column with the {missing}. The columns are: {there}.", _FILE_FORM)
    named = next((column for column in _ID_COLUMNS if column in columns), None)
    pairs: dict[str, NotePair] = {}
    for line, row in rows:
        texts = {"post": html.unescape(_get_cell_text(line, row, post))}
        texts |= {
            part: x_storage_form(_get_cell_text(line, row, side)) for part, side in zip(_NOTE_PARTS, sides, strict=True)
        }
        for part, longest in _MAX_CHARACTERS_BY_PART.items():
            if len(texts[part]) > longest:
                raise _build_line_error(
                    line,
                    "Line {line} has {n:,} characters where at most {most:,} can be shown.",
                    n=len(texts[part]),
                    most=longest,
                )
        if texts["first"] == texts["second"]:
            raise _build_line_error(line, "Line {line} has the same note twice.")
        pair_id = _get_cell_text(line, row, named) if named else text_sha256("\0".join(texts.values()))[:12]
        if named and (rounded := rounded_number(pair_id)):
            raise _build_line_error(
                line, "Line {line} has an id that a spreadsheet rounded: {rounded}.", rounded=rounded
            )
        if len(pair_id) > 64:
            raise _build_line_error(line, "Line {line} has an id of more than 64 characters.")
        if pair_id in pairs:
            raise _build_line_error(line, "Line {line} repeats an earlier pair.")
        pairs[pair_id] = NotePair(id=pair_id, **texts)
    return PairsFile(tuple(pairs.values()), _NAMES_BY_NOTE_COLUMNS[sides], sides_unknown=sides == _SHUFFLED_COLUMNS)


_NOTE_PARTS = ("first", "second")


def _read_bench_run_pairs(rows: Iterable[tuple[int, Mapping[str, Any]]]) -> PairsFile:
    """Return the pairs that `bench compare` would make of this run, and with whose note is whose."""
    from crowdnotes.studies.bench.healthnotes import PostRow
    from crowdnotes.studies.bench.notes import is_left, pairs

    posts: dict[str, PostRow] = {}
    for line, row in rows:
        try:
            posts[str(row.get("note_id"))] = PostRow.model_validate(row)
        except ValidationError as error:
            raise _build_line_error(
                line, "Line {line} is no row that `crowdnotes bench notes` or `supernotes` wrote."
            ) from error
    passed = [row for row in posts.values() if row.passed]
    if not passed:
        raise InputError("No note of this run passed every gate, so there is nothing to compare.")
    found = [
        NotePair(id=pair.pair, post=pair.post, first=own, second=human)
        for row, pair in zip(passed, pairs(passed), strict=True)
        for own, human in [(pair.left, pair.right) if is_left(row.note_id) else (pair.right, pair.left)]
    ]
    of_supernotes = all(row.supernote is not None for row in passed)
    names = ("Supernote", "Best existing note") if of_supernotes else ("The program's note", "The human note")
    return PairsFile(tuple(found), names)


def _get_cell_text(line: int, row: Mapping[str, Any], column: str) -> str:
    value = row.get(column)
    text = storable_text(str(value)).strip() if isinstance(value, str | int) else ""
    if not text:
        raise _build_line_error(line, "Line {line} has nothing under “{column}”.", column=column)
    return text


def _parse_csv_rows(text: str, kind: str) -> Iterator[tuple[int, dict[str, Any]]]:
    reader = table_reader(io.StringIO(text, newline=""), delimiters="\t" if kind == "tsv" else ",;\t")
    try:
        columns = [_normalise_column_name(column) for column in next(reader, [])]
        for cells in reader:
            if not any(cells):
                continue
            if len(cells) != len(columns):
                raise _build_line_error(
                    reader.line_num,
                    "Line {line} has {n} fields where the header has {header}.",
                    n=len(cells),
                    header=len(columns),
                )
            yield reader.line_num, dict(zip(columns, cells, strict=True))
    except csv.Error as error:
        raise _build_line_error(
            reader.line_num, "Line {line} is broken: is a quotation mark missing, or not doubled inside a text?"
        ) from error


def _parse_json_rows(text: str, kind: str) -> Iterator[tuple[int, dict[str, Any]]]:
    if kind == "json":
        rows = _parse_json(1, text)
        if not isinstance(rows, list):
            raise InputError(
                "The file holds no list of pairs.",
                _FILE_FORM,
            )
        numbered: Iterable[tuple[int, Any]] = enumerate(rows, 1)
    else:
        numbered = (
            (number, _parse_json(number, line)) for number, line in enumerate(text.split("\n"), 1) if line.strip()
        )
    for number, row in numbered:
        if not isinstance(row, dict):
            raise _build_line_error(number, "Line {line} is no object with names and values.")
        yield number, {_normalise_column_name(name): value for name, value in row.items()}


def _parse_json(line: int, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _build_line_error(line, "Line {line} is not whole JSON.") from error


def _normalise_column_name(column: str) -> str:
    return "_".join(column.strip().lower().replace("-", " ").split())


def _build_line_error(line: int, words: str, **values: object) -> InputError:
    return InputError(
        fill(words, line=line, **values),
        _FILE_FORM,
    )
