"""What a model's note must keep to before anyone sees it: its ids, its form, its length, and whose words it says."""

from __future__ import annotations

import re
from collections.abc import Sequence

from crowdnotes.engines.llm.quotes import has_handle
from crowdnotes.engines.orders import find_orders, holds_orders, visible
from crowdnotes.errors import AnswerUnreadableError
from crowdnotes.text.note_rules import find_urls

_MARKS = re.compile(r"\s*[(\[]\s*(?:passages?\s+|evidence\s+)?([EN]\d+(?:\s*[,;&]\s*[EN]\d+)*)\s*[)\]]")
_CLOSING_LINKS = re.compile(
    r"(?i)[\s(\[]*(?:sources?|links?|via|see|read more|more)?\s*:?\s*(https?://\S+[\s,;)\]]*)+$"
)
_ECHO_WORDS = 5


def clean_note(text: str, offered: Sequence[str]) -> str:
    """One line without marks like [E1] and without links put behind the words; links are the program's to add.

    Raises AnswerUnreadableError for what cannot be mended: a mark that was not offered, a link or account
    name inside the words, or words that speak to a model.
    """
    for match in _MARKS.finditer(text):
        for mark in re.findall(r"[EN]\d+", match.group(1)):
            if mark not in offered:
                raise AnswerUnreadableError(f"The model cited {mark}, which it was not given.")
    line = " ".join(visible(_MARKS.sub("", text)).split())
    line = _CLOSING_LINKS.sub("", line).strip()
    if find_urls(line):
        raise AnswerUnreadableError("The model put a link of its own into the note.")
    if has_handle(line):
        raise AnswerUnreadableError("The model named an account in the note.")
    if holds_orders(line):
        raise AnswerUnreadableError("The model passed on words that speak to a model.")
    if not line:
        raise AnswerUnreadableError("The model said that it wrote a note, and left it empty.")
    return line


def known_ids(ids: Sequence[str], offered: Sequence[str]) -> tuple[str, ...]:
    """The ids as offered, each once. Raises AnswerUnreadableError for one that was not offered."""
    kept: dict[str, None] = {}
    for raw in ids:
        wanted = raw.strip().strip("[]()").upper()
        if wanted not in offered:
            raise AnswerUnreadableError("The model cited a passage that it was not given.")
        kept[wanted] = None
    return tuple(kept)


def echoes_orders(note: str, texts: Sequence[str]) -> bool:
    """Whether the note says five words in a row that stand in an order in one of the texts."""
    said = _runs(note)
    return any(said & _runs(visible(text[span.start : span.end])) for text in texts for span in find_orders(text))


def _runs(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[i : i + _ECHO_WORDS]) for i in range(len(words) - _ECHO_WORDS + 1)}
