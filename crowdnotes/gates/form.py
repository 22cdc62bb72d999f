"""What the program finds wrong with a note by itself, whichever engine judges it.

A quotation must stand in what was read, letter for letter: a note that puts words into a source's mouth misleads more
than one without. Short ones name a word rather than quote. A link must be that of a passage, the language the post's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from crowdnotes.domain import Evidence, Finding, GateName, LintLevel, LintWarning, Post, Span
from crowdnotes.text.languages import LANGUAGE_NAMES, language_of
from crowdnotes.text.lint import lint
from crowdnotes.text.note_rules import NOTE_LIMIT, find_urls, note_length, without_urls
from crowdnotes.text.quotes import holds_quote
from crowdnotes.text.urls import canonical_url
from crowdnotes.wording import say

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
        LintWarning(code="quote-not-found", message=say("gates.quote"), level=LintLevel.BLOCKS, span=span)
        for span, words in _quotations(note)
        if not any(holds_quote(text, words) for text in read)
    )


def _quotations(note: str) -> Iterator[tuple[Span, str]]:
    for match in _QUOTED.finditer(note):
        words = match.group(1)
        if len(re.findall(r"\w+", words)) >= _SHORTEST:
            yield Span(start=match.start(), end=match.end()), words


def faults(gate: GateName, note: str, post: Post, evidence: Sequence[Evidence]) -> tuple[Finding, ...]:
    """Why a note cannot pass a gate, whatever its judge says.

    Correctness: a quotation that stands nowhere, a link to none of the passages. Helpfulness: more characters than X
    takes, another language than the post's.
    """
    if gate is GateName.CORRECTNESS:
        quotes = (
            Finding(message=item.message, span=item.span, by_rule=True) for item in unfound_quotes(note, post, evidence)
        )
        known = {canonical_url(item.source.url, papers=False) for item in evidence if item.source.url}
        links = (
            Finding(message=say("gates.link"), span=Span(start=url.start, end=url.end), by_rule=True)
            for url in find_urls(note)
            if canonical_url(url.url, papers=False) not in known
        )
        return (*quotes, *links)
    if gate is GateName.HELPFULNESS:
        return (*_too_long(note), *_another_language(note, post))
    return ()


def _too_long(note: str) -> Iterator[Finding]:
    length = note_length(note)
    if length > NOTE_LIMIT:
        yield Finding(message=say("gates.too_long", limit=NOTE_LIMIT, n=length), by_rule=True)


def _another_language(note: str, post: Post) -> Iterator[Finding]:
    of_note, of_post = language_of(without_urls(note)), language_of(post.text) or post.language
    if of_note is not None and of_post is not None and of_note != of_post:
        names = [LANGUAGE_NAMES.get(code, code) for code in (of_note, of_post)]
        yield Finding(message=say("gates.another_language", note=names[0], post=names[1]))


def form_warnings(note: str, post: Post, evidence: Sequence[Evidence]) -> tuple[LintWarning, ...]:
    """Everything that X, or a reader, would stumble over: quotations first."""
    return (*unfound_quotes(note, post, evidence), *lint(note))
