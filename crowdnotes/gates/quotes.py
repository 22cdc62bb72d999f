"""Quotations in a note: their words must stand in what was read, letter for letter.

A note that puts words into a source's mouth misleads more than one without a quotation, so approval
waits until the words are found or the marks are gone. Short ones name a word rather than quote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from crowdnotes.domain import Evidence, LintLevel, LintWarning, Post, Span
from crowdnotes.text.lint import lint
from crowdnotes.text.quotes import holds_quote

_SHORTEST = 4  # words; “long COVID” in marks is a name
_QUOTED = re.compile(r"[“„«\"]([^“”„«»\"]{2,1000})[”“»\"]")


def unfound_quotes(note: str, post: Post, evidence: Sequence[Evidence]) -> tuple[LintWarning, ...]:
    """A warning that blocks for each quotation of four words or more that no passage, and not the post, holds.

    White space, the shape of quotation marks and dashes, and capitals do not count; "…" stands for
    words left out, and each part must occur, in order.
    """
    read = [f"{e.passage.before}{e.passage.text}{e.passage.after}" for e in evidence]
    read.append(post.text)
    return tuple(
        LintWarning(
            code="quote-not-found",
            message="These words stand in quotation marks, but in none of the passages in use. "
            "Quote exactly, or take the marks off.",
            level=LintLevel.BLOCKS,
            span=span,
        )
        for span, words in _quotations(note)
        if not any(holds_quote(text, words) for text in read)
    )


def _quotations(note: str) -> Iterator[tuple[Span, str]]:
    for match in _QUOTED.finditer(note):
        words = match.group(1)
        if len(re.findall(r"\w+", words)) >= _SHORTEST:
            yield Span(start=match.start(), end=match.end()), words


def form_warnings(note: str, post: Post, evidence: Sequence[Evidence]) -> tuple[LintWarning, ...]:
    """Everything that X, or a reader, would stumble over: quotations first."""
    return (*unfound_quotes(note, post, evidence), *lint(note))
