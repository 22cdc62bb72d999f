"""Files of ClaimReview data as they become a library: feeds and pages of JSON, web pages with JSON-LD, and tables.

Data Commons gives one DataFeed (dataFeedElement, each with a list of items), Fact-Check Insights one object of lists or
a table, a publisher one item or a graph of them: any JSON is searched for ClaimReviews, at any place.
https://datacommons.org/factcheck/download, https://www.factcheckinsights.org/guide
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from crowdnotes.errors import LibraryError
from crowdnotes.evidence.claim_review import Item, claim_reviews, fact_check, reviews_in_text
from crowdnotes.evidence.library.importing import below, delimiters_of, why_not_opened
from crowdnotes.evidence.library.index import Incoming, Record
from crowdnotes.evidence.reading.plain_text import decode
from crowdnotes.evidence.source_types import publisher_of
from crowdnotes.text.table_files import encoding_of, open_text, table_reader

KINDS = (".json", ".jsonld", ".jsonl", ".csv", ".tsv", ".html", ".htm")
_WHAT_TO_GIVE = "Give ClaimReview data: from Data Commons, Fact-Check Insights, or pages with JSON-LD."
_MAX_PAGE_BYTES = 20_000_000  # bytes
_MAX_FIELD_CHARACTERS = 1_000_000  # characters of a table's field
_SCRIPT_PATTERN = re.compile(r"<script\b[^<>]{0,600}>", re.IGNORECASE)
_SCRIPT_END_PATTERN = re.compile(r"</script", re.IGNORECASE)


def open_fact_checks(path: Path) -> Incoming:
    """Return the ClaimReviews of a file, or of all files in a folder. What is broken becomes a record with a problem.

    Raises LibraryError for a file of another kind, and where there is not one ClaimReview.
    """
    files = sorted(below(path.resolve(), KINDS)) if path.is_dir() else [path]
    if not path.is_dir() and path.suffix.lower() not in KINDS:
        raise LibraryError(
            f"{path.name} is not a fact-check file ({', '.join(KINDS)}).",
            _WHAT_TO_GIVE,
        )
    root = path.resolve() if path.is_dir() else None
    total = sum(1 for file in files for _ in _read_claim_reviews(file, root))
    if total == 0:
        raise LibraryError(
            f"{path.name} has no fact-checks (ClaimReview).",
            _WHAT_TO_GIVE,
        )
    remarks = (_remark_on(file, root) for file in files)
    return Incoming(total, None, lambda: _read_fact_checks(files, root), remark=next(filter(None, remarks), ""))


def _remark_on(file: Path, root: Path | None) -> str:
    if file.suffix.lower() in (".html", ".htm") or (root is not None and why_not_opened(file, root)):
        return ""
    with file.open("rb") as raw:
        return encoding_of(raw).remark(file.name)


def _read_fact_checks(files: list[Path], root: Path | None) -> Iterator[Record]:
    found = ((file, item) for file in files for item in _read_claim_reviews(file, root))
    for position, (file, item) in enumerate(found):
        label = f"fact-check {position + 1} of {file.name}"
        if isinstance(item, str):
            yield Record(position, "", label=label, problem=item)
            continue
        check = fact_check(item)
        if check is None:
            yield Record(position, "", label=label, problem="it names no claim")
            continue
        if not check.publisher and check.url:
            check = check.replace(publisher=publisher_of(check.url) or "")
        yield Record(
            record=position,
            title=check.claim,
            text=check.sentence,
            url=check.url,
            published=check.published,
            publisher=check.publisher or None,
            label=label,
            check=check,
        )


def _read_claim_reviews(file: Path, root: Path | None = None) -> Iterator[Item | str]:
    """Yield the ClaimReviews of one file, and a sentence in the place of each that is not whole.

    A file of the folder `root` that leads out of it, or that is none, is left alone.
    """
    if root is not None and (why := why_not_opened(file, root)):
        yield why
        return
    kind = file.suffix.lower()
    if kind in (".csv", ".tsv"):
        yield from _read_table_rows(file)
    elif kind in (".html", ".htm"):
        with file.open("rb") as page:
            text = decode(page.read(_MAX_PAGE_BYTES))
        for script in _find_json_ld(text):
            yield from reviews_in_text(script)
    else:
        with open_text(file) as (feed, _):
            yield from _FeedReader(feed).items()


def _find_json_ld(text: str) -> Iterator[str]:
    """Yield the text of JSON-LD scripts; the last one may lack its end."""
    at = 0
    while (begin := _SCRIPT_PATTERN.search(text, at)) is not None:
        end = _SCRIPT_END_PATTERN.search(text, begin.end())
        at = end.end() if end else len(text)
        if "ld+json" in begin[0].lower():
            yield text[begin.end() : end.start() if end else at]


def _read_table_rows(file: Path) -> Iterator[Item | str]:
    """Yield the rows of a table.

    Rows of Fact-Check Insights are of different lengths, so a short one is a row as well.
    """
    csv.field_size_limit(_MAX_FIELD_CHARACTERS)
    with open_text(file) as (table, _):
        rows = table_reader(table, delimiters=delimiters_of(file), strict=False)
        try:
            header = [name.strip() for name in next(rows, [])]
            if "claimReviewed" not in header:
                return
            for row in rows:
                if row:
                    yield dict(zip(header, row, strict=False))
        except csv.Error:
            yield "the file breaks off here"


_CHUNK_CHARACTERS = 4_000_000  # characters read at once
MOST_OF_A_RECORD = 1_000_000  # characters; a larger one is reported and passed over
_MAX_NESTING = 100
_PASSED_CHARACTERS = 16_000  # are let go of: the decoder counts the lines before each fault that it finds
_OBJECT_START_PATTERN = re.compile(r'\{\s*["}]')
_JSON_MARK_PATTERN = re.compile(r'["{}\[\]]')
_STRING_CONTENT_PATTERN = re.compile(r'[^"\\\n]*')
_CLAIM_KEY = '"claimReviewed"'


class _FeedReader:
    """JSON of any size, gone through with a few MB of memory.

    An object that ends within `MOST_OF_A_RECORD` characters is read whole; one that does not, or that is broken, is
    entered, and what it holds is gone through in the same way. So neither a cut in the middle, a broken record nor
    a file of one line stops what can be read. No string of JSON holds a bare line end: after a mark too many or too
    few, reading is right again on the next line.
    """

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._text = ""
        self._at = 0
        self._ended = False

    def items(self) -> Iterator[Item | str]:
        decoder, depth, is_reported = json.JSONDecoder(), 0, False
        level = _MAX_NESTING  # of the records that begin a line each
        while (mark := self._next_mark()) is not None:
            if mark == '"':
                if self._text.startswith(_CLAIM_KEY, self._at) and not is_reported:
                    is_reported = True  # inside an object that could not be read whole
                    yield f"it is broken or longer than {MOST_OF_A_RECORD:,} characters"
                self._pass_string()
                continue
            if mark == "{" and _OBJECT_START_PATTERN.match(self._text, self._at):
                begins_line = self._text[self._at - 1 : self._at] == "\n"
                try:
                    found, self._at = decoder.raw_decode(self._text, self._at)
                except (ValueError, RecursionError):
                    is_reported = False
                else:
                    if begins_line:  # so a line before it that was cut off does not hold it
                        depth = level = min(depth, level)
                    yield from claim_reviews(found)
                    continue
            self._at += 1
            depth += 1 if mark in "{[" else -1
            if depth > _MAX_NESTING:
                raise LibraryError(
                    "The file has too many levels of brackets.",
                    "Is it the right one?",
                )
        if depth > 0:
            yield "the file breaks off here"

    def _next_mark(self) -> str | None:
        """Return the next bracket or quotation mark, with a record's length of text behind it; None at the end."""
        while True:
            if len(self._text) - self._at < MOST_OF_A_RECORD:
                self._read_on()
            if self._at > _PASSED_CHARACTERS:
                self._text, self._at = self._text[self._at :], 0
            found = _JSON_MARK_PATTERN.search(self._text, self._at)
            if found is not None:
                self._at = found.start()
                if len(self._text) - self._at < MOST_OF_A_RECORD:
                    self._read_on()
                return found[0]
            self._at = len(self._text)
            if self._ended:
                return None

    def _pass_string(self) -> None:
        self._at += 1
        while True:
            if self._at < len(self._text):
                plain = _STRING_CONTENT_PATTERN.match(self._text, self._at)
                self._at = plain.end() if plain else self._at
            if self._at < len(self._text):
                is_escape = self._text[self._at] == "\\"
                self._at += 2 if is_escape else 1
                if not is_escape:
                    return
            elif self._ended:
                return
            else:
                self._read_on()

    def _read_on(self) -> None:
        part = "" if self._ended else self._file.read(_CHUNK_CHARACTERS)
        self._ended = not part
        if part:
            left = self._text[self._at :]
            self._at = max(0, self._at - len(self._text))  # past the end where a letter after a backslash is awaited
            self._text = left + part
