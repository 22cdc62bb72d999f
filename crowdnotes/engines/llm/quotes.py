"""What a model quotes must stand in the text: found word for word, whatever the spaces, quotation marks and case."""

from __future__ import annotations

import re

from crowdnotes.domain import Span
from crowdnotes.text.note_rules import find_urls

_SAME = str.maketrans({"“": '"', "”": '"', "„": '"', "’": "'", "‘": "'", "–": "-", "—": "-", "‑": "-", "\u00a0": " "})
_EDGES = " \t\n\"'.…,;:"
_SHORTEST = 3
_HANDLE = re.compile(r"(?<![\w.@])@\w{2,}")


def find_quote(text: str, quote: str) -> Span | None:
    """Where the quote stands in the text, or None. Quotation marks and stops at its ends do not count.

    A quote of fewer than 3 letters proves nothing and is not looked for.
    """
    wanted = quote.translate(_SAME).strip(_EDGES)
    words = wanted.split()
    if len(wanted) < _SHORTEST or not words:
        return None
    # Every translated character is one for one, so the match's offsets hold in the text itself.
    pattern = r"\s+".join(re.escape(word) for word in words)
    match = re.search(pattern, text.translate(_SAME), re.IGNORECASE)
    return Span(start=match.start(), end=match.end()) if match else None


def plain(text: str, limit: int) -> str:
    """A model's words for the screen: one line, printable, without links and handles, at most `limit` characters."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    for url in reversed(find_urls(line)):
        line = f"{line[: url.start]}(link left out){line[url.end :]}"
    line = _HANDLE.sub("(name left out)", line)
    return line if len(line) <= limit else f"{line[: limit - 1].rsplit(' ', 1)[0]}…"


def has_handle(text: str) -> bool:
    """Whether the text names an account, as in @someone."""
    return _HANDLE.search(text) is not None
