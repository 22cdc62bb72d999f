"""Pairs of notes from a file: CSV, JSON or a JSON object a line, in whatever encoding, and those of `crowdnotes bench`.

What X's public files escape is undone, in both notes alike: it would tell who wrote which.
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
from crowdnotes.evidence.reading.plain_text import decode_table
from crowdnotes.storage.tables import storable_text
from crowdnotes.text.note_rules import x_storage_form
from crowdnotes.wording import say

FILE_KINDS = ("csv", "tsv", "jsonl", "json")
MOST_PAIRS = 1_000
_MOST_BYTES = 5_000_000
_LONGEST = {"post": 25_000, "first": 5_000, "second": 5_000}  # characters; the first is X's own bound of a post
_POSTS = ("post", "post_text", "tweet", "tweet_text")
_IDS = ("pair", "pair_id", "id")
_SHUFFLED = ("left", "right")
# Two columns that belong together, and what the notes are called where nobody says so.
_NOTES = {
    ("supernote", "best_existing_note"): (say("pairs_file.supernote"), say("pairs_file.best_existing")),
    ("supernote", "best_existing"): (say("pairs_file.supernote"), say("pairs_file.best_existing")),
    ("supernote", "existing_note"): (say("pairs_file.supernote"), say("pairs_file.existing")),
    ("supernote", "existing"): (say("pairs_file.supernote"), say("pairs_file.existing")),
    ("first", "second"): (say("pairs_file.first"), say("pairs_file.second")),
    ("note_1", "note_2"): (say("pairs_file.first"), say("pairs_file.second")),
    ("note_a", "note_b"): (say("pairs_file.a"), say("pairs_file.b")),
    _SHUFFLED: (say("pairs_file.left"), say("pairs_file.right")),
}
_OF_A_RUN = {"note_id", "post", "human", "outcome"}


@dataclass(frozen=True, slots=True)
class PairsFile:
    """What a file holds. `sides_unknown`: see `Comparison`."""

    pairs: tuple[NotePair, ...]
    names: tuple[str, str]
    sides_unknown: bool = False


def read_pairs(name: str, content: bytes) -> PairsFile:
    """The pairs of a file. Raises InputError with the line and what is wrong with it."""
    if len(content) > _MOST_BYTES:
        raise InputError(say("pairs_file.too_large", n=len(content)), say("pairs_file.at_most", most=_MOST_BYTES))
    kind = PurePath(name).suffix.lower().removeprefix(".")
    if kind not in FILE_KINDS:
        raise InputError(say("pairs_file.no_table", name=name), say("pairs_file.form"))
    text = decode_table(content)
    rows = list(_csv_rows(text, kind) if kind in {"csv", "tsv"} else _json_rows(text, kind))
    if not rows:
        raise InputError(say("pairs_file.none"), say("pairs_file.form"))
    columns = {column for _, row in rows for column in row}
    found = _of_a_run(rows) if columns >= _OF_A_RUN else _of_columns(rows, columns)
    if len(found.pairs) > MOST_PAIRS:
        raise InputError(say("pairs_file.too_many", n=len(found.pairs)), say("pairs_file.at_most", most=MOST_PAIRS))
    return found


def _of_columns(rows: Iterable[tuple[int, Mapping[str, Any]]], columns: set[str]) -> PairsFile:
    post = next((column for column in _POSTS if column in columns), None)
    sides = next((pair for pair in _NOTES if columns >= set(pair)), None)
    if post is None or sides is None:
        words = "pairs_file.no_post_column" if post is None else "pairs_file.no_notes_column"
        raise InputError(say(words, columns=", ".join(sorted(columns))[:200]), say("pairs_file.form"))
    named = next((column for column in _IDS if column in columns), None)
    pairs: dict[str, NotePair] = {}
    for line, row in rows:
        texts = {"post": html.unescape(_words(line, row, post))}
        texts |= {part: x_storage_form(_words(line, row, side)) for part, side in zip(_PARTS, sides, strict=True)}
        for part, longest in _LONGEST.items():
            if len(texts[part]) > longest:
                raise _wrong(line, "pairs_file.too_long", n=len(texts[part]), most=longest)
        if texts["first"] == texts["second"]:
            raise _wrong(line, "pairs_file.same_note")
        pair_id = _words(line, row, named) if named else text_sha256("\0".join(texts.values()))[:12]
        if len(pair_id) > 64:
            raise _wrong(line, "pairs_file.long_id")
        if pair_id in pairs:
            raise _wrong(line, "pairs_file.repeated")
        pairs[pair_id] = NotePair(id=pair_id, **texts)
    return PairsFile(tuple(pairs.values()), _NOTES[sides], sides_unknown=sides == _SHUFFLED)


_PARTS = ("first", "second")


def _of_a_run(rows: Iterable[tuple[int, Mapping[str, Any]]]) -> PairsFile:
    """The pairs that `bench compare` would make of this run, and with whose note is whose."""
    from crowdnotes.studies.bench.healthnotes import PostRow
    from crowdnotes.studies.bench.notes import is_left, pairs

    posts: dict[str, PostRow] = {}
    for line, row in rows:
        try:
            posts[str(row.get("note_id"))] = PostRow.model_validate(row)
        except ValidationError as error:
            raise _wrong(line, "pairs_file.no_row") from error
    passed = [row for row in posts.values() if row.passed]
    if not passed:
        raise InputError(say("pairs_file.none_passed"))
    found = [
        NotePair(id=pair.pair, post=pair.post, first=own, second=human)
        for row, pair in zip(passed, pairs(passed), strict=True)
        for own, human in [(pair.left, pair.right) if is_left(row.note_id) else (pair.right, pair.left)]
    ]
    of_supernotes = all(row.supernote is not None for row in passed)
    names = ("pairs_file.supernote", "pairs_file.best_existing")
    if not of_supernotes:
        names = ("pairs_file.program", "pairs_file.human")
    return PairsFile(tuple(found), (say(names[0]), say(names[1])))


def _words(line: int, row: Mapping[str, Any], column: str) -> str:
    value = row.get(column)
    text = storable_text(str(value)).strip() if isinstance(value, str | int) else ""
    if not text:
        raise _wrong(line, "pairs_file.nothing_under", column=column)
    return text


def _csv_rows(text: str, kind: str) -> Iterator[tuple[int, dict[str, Any]]]:
    header = text.partition("\n")[0]
    delimiter = "\t" if kind == "tsv" else max(",;\t", key=header.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        columns = [_plain(column) for column in next(reader, [])]
        for cells in reader:
            if not any(cells):
                continue
            if len(cells) != len(columns):
                raise _wrong(reader.line_num, "pairs_file.other_fields", n=len(cells), header=len(columns))
            yield reader.line_num, dict(zip(columns, cells, strict=True))
    except csv.Error as error:
        raise _wrong(reader.line_num, "pairs_file.broken") from error


def _json_rows(text: str, kind: str) -> Iterator[tuple[int, dict[str, Any]]]:
    if kind == "json":
        rows = _json(1, text)
        if not isinstance(rows, list):
            raise InputError(say("pairs_file.no_list"), say("pairs_file.form"))
        numbered: Iterable[tuple[int, Any]] = enumerate(rows, 1)
    else:
        numbered = ((number, _json(number, line)) for number, line in enumerate(text.split("\n"), 1) if line.strip())
    for number, row in numbered:
        if not isinstance(row, dict):
            raise _wrong(number, "pairs_file.no_object")
        yield number, {_plain(name): value for name, value in row.items()}


def _json(line: int, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _wrong(line, "pairs_file.no_json") from error


def _plain(column: str) -> str:
    return "_".join(column.strip().lower().replace("-", " ").split())


def _wrong(line: int, words: str, **values: object) -> InputError:
    return InputError(say(words, line=line, **values), say("pairs_file.form"))
