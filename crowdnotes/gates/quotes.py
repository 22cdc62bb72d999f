"""Quotations in a note: their words must stand in what was read, letter for letter.

A note that puts words into a source's mouth misleads more than one without a quotation, so approval
waits until the words are found or the marks are gone. Short ones name a word rather than quote.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from crowdnotes.domain import Evidence, LintLevel, LintWarning, Post, Span
from crowdnotes.text.lint import lint

_SHORTEST = 4  # words; “long COVID” in marks is a name
_QUOTED = re.compile(r"[“„«\"]([^“”„«»\"]{2,1000})[”“»\"]")
_LEFT_OUT = re.compile(r"\[?(?:…|\.{3})\]?")
_SAME = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "\u00ad": None})


def unfound_quotes(note: str, post: Post, evidence: Sequence[Evidence]) -> tuple[LintWarning, ...]:
    """A warning that blocks for each quotation of four words or more that no passage, and not the post, holds.

    White space, the shape of quotation marks and dashes, and capitals do not count; "…" stands for
    words left out, and each part must occur, in order.
    """
    read = [_folded(f"{e.passage.before}{e.passage.text}{e.passage.after}") for e in evidence]
    read.append(_folded(post.text))
    return tuple(
        LintWarning(
            code="quote-not-found",
            message="These words stand in quotation marks, but in none of the passages in use. "
            "Quote exactly, or take the marks off.",
            level=LintLevel.BLOCKS,
            span=span,
        )
        for span, words in _quotations(note)
        if not any(_holds(text, words) for text in read)
    )


def _quotations(note: str) -> Iterator[tuple[Span, str]]:
    for match in _QUOTED.finditer(note):
        words = match.group(1)
        if len(re.findall(r"\w+", words)) >= _SHORTEST:
            yield Span(start=match.start(), end=match.end()), words


def _holds(text: str, words: str) -> bool:
    at = 0
    for part in _LEFT_OUT.split(words):
        wanted = _folded(part).strip(" ,.;:!?")
        found = text.find(wanted, at)
        if found < 0:
            return False
        at = found + len(wanted)
    return True


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).translate(_SAME).casefold().split())


def form_warnings(note: str, post: Post, evidence: Sequence[Evidence]) -> tuple[LintWarning, ...]:
    """Everything that X, or a reader, would stumble over: quotations first."""
    return (*unfound_quotes(note, post, evidence), *lint(note))
