"""Tables of a page as words to read. Pages are kept with their tables as Markdown writes them, a row a line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from crowdnotes.domain import Span

_BAR_PATTERN = re.compile(r"(?<!\\)\|")
_ESCAPED_BAR_PATTERN = re.compile(r"\\\|")
_MIN_DASHES = 3  # a cell of the line under the head; a single dash may be a cell that says "nothing"


@dataclass(frozen=True, slots=True)
class _Line:
    """A line's place; of one that begins and ends with a bar also where its bars are."""

    start: int
    end: int
    bars: tuple[int, ...] = ()
    is_rule: bool = False


@dataclass(frozen=True, slots=True)
class _Edit:
    span: Span
    words: str


@dataclass(frozen=True, slots=True)
class ReadableRows:
    """A text with its rows rewritten, and where places of the kept text are in it."""

    text: str
    _edits: tuple[_Edit, ...]

    def carried(self, kept: Span) -> Span:
        """Return the same words in the rewritten text, without what is between two cells at either end."""
        start, end = self._place(kept.start, is_start=True), self._place(kept.end, is_start=False)
        return Span(start=start, end=max(start, end))

    def _place(self, kept: int, *, is_start: bool) -> int:
        shift = 0
        for edit in self._edits:
            start, end, grown = edit.span.start, edit.span.end, len(edit.words)
            if kept < start or (kept == start and not is_start):
                break
            if kept < end or (kept == end and not is_start):
                return start + shift + (grown if is_start else 0)
            shift += grown - (end - start)
        return kept + shift


def readable_rows(text: str) -> ReadableRows:
    """Return the cells of a row with a dot between them, without the line under the head; all else as it is.

    A line between bars, such as |x|, is a row only next to the line under a head, or next to a line of as many bars.
    """
    lines: list[_Line | None] = [None, *_parse_lines(text), None]
    edits: list[_Edit] = []
    for before, line, after in zip(lines, lines[1:], lines[2:], strict=False):
        if line is not None and any(other is not None and _are_rows(line, other) for other in (before, after)):
            edits.extend(_build_row_edits(text, line))
    return ReadableRows(_apply_edits(text, edits), tuple(edits))


def _parse_lines(text: str) -> Iterator[_Line]:
    start = 0
    for words in text.split("\n"):
        yield _parse_line(words, start)
        start += len(words) + 1


def _parse_line(words: str, start: int) -> _Line:
    end = start + len(words)
    row = words.strip()
    if len(row) < 2 or row[0] != "|" or row[-1] != "|" or row[-2] == "\\":
        return _Line(start, end)
    bars = tuple(start + bar.start() for bar in _BAR_PATTERN.finditer(words))
    return _Line(start, end, bars, all(_is_dash_cell(cell.strip()) for cell in row[1:-1].split("|")))


def _is_dash_cell(cell: str) -> bool:
    dashes = cell.removeprefix(":").removesuffix(":")
    return len(dashes) >= _MIN_DASHES and not dashes.strip("-")


def _are_rows(line: _Line, other: _Line) -> bool:
    if not line.bars or not other.bars or (line.is_rule and other.is_rule):
        return False
    return line.is_rule or other.is_rule or len(line.bars) == len(other.bars)


def _build_row_edits(text: str, line: _Line) -> list[_Edit]:
    """Return what to put in place of the bars of a row; a line without words goes with its line break."""
    whole = Span(start=line.start, end=min(line.end + 1, len(text)))
    if line.is_rule:
        return [_Edit(whole, "")]
    gaps: list[tuple[int, int, int]] = []  # start, end and bars of what is between two cells with words
    for bar in line.bars:
        if gaps and not text[gaps[-1][1] : bar].strip():
            gaps[-1] = (gaps[-1][0], bar + 1, gaps[-1][2] + 1)
        else:
            gaps.append((bar, bar + 1, 1))
    if len(gaps) == 1:
        return [_Edit(whole, "")]
    (_, first, bars), *between, (last, _, _) = gaps
    edits = [_build_bar_edit(text, line.start, first, "· " * (bars - 1))]
    edits += [_build_bar_edit(text, start, end, " " + "· " * bars) for start, end, bars in between]
    edits.append(_build_bar_edit(text, last, line.end, ""))
    escaped = [bar.start() for bar in _ESCAPED_BAR_PATTERN.finditer(text, line.start, line.end)]
    edits += [_Edit(Span(start=at, end=at + 1), "") for at in escaped]
    return sorted(edits, key=lambda edit: edit.span.start)


def _build_bar_edit(text: str, start: int, end: int, words: str) -> _Edit:
    """Return the bars from `start` to `end`, with the spaces around them, in other words."""
    while start > 0 and text[start - 1] != "\n" and text[start - 1].isspace():
        start -= 1
    while end < len(text) and text[end] != "\n" and text[end].isspace():
        end += 1
    return _Edit(Span(start=start, end=end), words)


def _apply_edits(text: str, edits: list[_Edit]) -> str:
    pieces: list[str] = []
    position = 0
    for edit in edits:
        pieces += [text[position : edit.span.start], edit.words]
        position = edit.span.end
    return "".join([*pieces, text[position:]])
