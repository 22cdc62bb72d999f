"""Markdown for the screen. Text from outside goes through `escaped`, so that it never becomes markup."""

from __future__ import annotations

import re
import unicodedata
from datetime import date, datetime
from urllib.parse import quote, urlsplit

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
# Streamlit turns these into links, emoji, icons and arrows even when they are escaped; an invisible
# word joiner (U+2060) inside them stops it.
_ACTIVE = re.compile(r"(?<=:)(?=\S)|(?<=@)|(?<=[wW])(?=[wW])|(?<=[<>~=-])(?=[<>=-])")
_JOINER = "\u2060"
_MARKS = re.compile(r"[\[\]\\`*_~$<>]")  # without these no Markdown acts within a line
# An address is shown as code instead, so that a copy of it has no joiner inside.
_ADDRESS = re.compile(r"((?:https?://|www\.)[^\s<>\"“”]*[^\s<>\"“”.,;:!?'’)\]*_~…])", re.IGNORECASE)
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u202d\u202e\ufeff]")
# On a line that we share with text from outside, these would reorder our own words too.
_DIRECTION = re.compile("[\u202a-\u202e\u2066-\u2069]")
_RIGHT_TO_LEFT = frozenset({"R", "AL", "AN"})
_FROM_HERE, _TO_HERE = "\u2068", "\u2069"  # first strong isolate, pop directional isolate
_DEEPEST = 8  # brackets within brackets; Markdown counts to 32
_BRACKETS = re.compile(r"[\[\]\\]")


def controls_shown(text: str) -> str:
    """Return the text with control characters and direction overrides made visible as \ufffd."""
    return _CONTROLS.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def escaped(text: str, limit: int | None = None) -> str:
    """Markdown that shows `text` as the characters it is, on one line, cut at `limit` characters.

    Text that runs from right to left is isolated, so that our own words next to it stay in place.
    """
    line = " ".join(_DIRECTION.sub("\ufffd", controls_shown(text)).split())
    if limit is not None:
        line = clip(line, limit)
    # Split at a group: every second part is an address.
    parts = _ADDRESS.split(line)
    shown = "".join(exact(part) if place % 2 else _as_typed(part) for place, part in enumerate(parts))
    mixed = not line.isascii() and any(unicodedata.bidirectional(letter) in _RIGHT_TO_LEFT for letter in line)
    return f"{_FROM_HERE}{shown}{_TO_HERE}" if mixed else shown


def _as_typed(text: str) -> str:
    return _PUNCTUATION.sub(r"\\\1", _ACTIVE.sub(_JOINER, text))


def without_marks(text: str) -> str:
    """Return the text on one line without Markdown's characters: for a label that is only read aloud.

    A screen reader would read the backslashes of `escaped`. Left as it is, the text could load an image.
    """
    return _ACTIVE.sub(_JOINER, " ".join(_MARKS.sub(" ", _DIRECTION.sub("\ufffd", controls_shown(text))).split()))


def exact(text: str) -> str:
    """Return an address as Markdown code, so that a copy of it has the same characters and no others.

    Brackets without their partner are percent-encoded, as addresses allow: around our colours and sizes
    Streamlit looks for a closing bracket, in code too, and what comes after it would be Markdown.
    """
    line = " ".join(_DIRECTION.sub("\ufffd", controls_shown(text)).split())
    if not _is_balanced(line):
        line = _BRACKETS.sub(lambda found: quote(found[0]), line)
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", line)), default=0))
    edge = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{edge}{line}{edge}{fence}" if line else ""


def _is_balanced(line: str) -> bool:
    depth = 0
    for found in _BRACKETS.findall(line):
        depth += {"[": 1, "]": -1, "\\": -_DEEPEST}[found]  # a backslash would take a bracket out of the count
        if not 0 <= depth <= _DEEPEST:
            return False
    return depth == 0


def title(text: str, otherwise: str, limit: int | None = None) -> str:
    """Return a title in bold, or `otherwise` for one without visible letters (bold nothing is a rule)."""
    shown = any(character.isprintable() and not character.isspace() for character in text)
    return f"**{escaped(text if shown else otherwise, limit)}**"


def clip(text: str, limit: int) -> str:
    """Return the text, or its beginning with an ellipsis, at a word's end where there is one."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    at_word = cut.rsplit(" ", 1)[0] if " " in cut[limit // 2 :] else cut
    return at_word.rstrip(" ,;:.") + "…"


def web_url(url: str | None) -> str | None:
    """Return the URL when it is one that a browser may open: http or https with a host; else None."""
    if not url:
        return None
    try:
        parts = urlsplit(url)
        return url if parts.scheme.lower() in {"http", "https"} and parts.hostname else None
    except ValueError:
        return None


def host(url: str | None) -> str:
    """Return the host of a URL without "www.", or an empty text."""
    try:
        return (urlsplit(url or "").hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def day(when: date | datetime) -> str:
    """For example 4 March 2026."""
    return f"{when.day} {when:%B %Y}"


def count(number: int, one: str, many: str = "") -> str:
    """For example 1 source, 2 sources."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def record_place(library: str, record: int | None) -> str:
    """Markdown of a record's place, as a person counts: "record 1 of health"."""
    name = escaped(library, 40)
    return f"record {record + 1:,} of {name}" if record is not None else name


def lines(text: str) -> list[str]:
    """Return the non-empty lines of a text, without surrounding white space, each once."""
    return list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))


_MOST_DIGITS = 6


def in_figures(value: float, line: float) -> str:
    """Write a number to compare with a line: whole where the line is, else with enough digits to differ from it."""
    if float(line).is_integer():
        return f"{value:.0f}"
    digits = 2
    while digits < _MOST_DIGITS and value != line and round(value, digits) == round(line, digits):
        digits += 1
    return f"{value:z.{digits}f}"
