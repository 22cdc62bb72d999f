"""Text from outside, made fit to keep: no invisible characters that hide or reorder words."""

from __future__ import annotations

import re
import unicodedata

# Control, bidirectional overrides and isolates, zero-width characters, soft hyphens, variation and tag
# characters (used to smuggle words past a reader), lone surrogates, private use and non-characters.
# Kept: the joiners U+200C and U+200D and the marks U+200E and U+200F, which real scripts need.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u180e\u200b\u202a-\u202e\u2060-\u206f"
    "\ud800-\udfff\ue000-\uf8ff\ufe00-\ufe0f\ufeff\ufff0-\uffff\U000e0000-\U0010ffff]"
)
_LINE_END = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_SPACES = re.compile("[^\\S\n]+")
_MANY_MARKS = re.compile("([\u0300-\u036f]{3})[\u0300-\u036f]+")


def tidy_text(text: str) -> str:
    """NFC, invisible characters removed, line ends as line feeds, runs of spaces as one, at most one empty line."""
    text = _INVISIBLE.sub("", _LINE_END.sub("\n", text))
    text = unicodedata.normalize("NFC", _MANY_MARKS.sub(r"\1", text))
    lines = (_SPACES.sub(" ", line).strip() for line in text.split("\n"))
    return re.sub("\n{3,}", "\n\n", "\n".join(lines)).strip()


def tidy_line(text: str, limit: int = 300) -> str:
    """The same for a title or name: one line of at most `limit` characters."""
    line = " ".join(tidy_text(text).split())
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"
