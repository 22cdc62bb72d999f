"""A query in the words of a service: what a person typed must never become its search syntax."""

from __future__ import annotations

import re
import unicodedata

from crowdnotes.text.stems import content_words

_MOST_WORDS = 24
_OPERATORS = frozenset({"and", "or", "not", "near"})
_SYNTAX = re.compile(r"(?:^|(?<=\s))[!:?<>+\-|*~^]+(?=\S)|[\"\u201c\u201d()\[\]{}\\]")


def search_words(query: str) -> list[str]:
    """The query's content words, once each, without what a service could take for an operator."""
    found = dict.fromkeys(content_words(unicodedata.normalize("NFC", query)))
    return [word for word in found if word not in _OPERATORS][:_MOST_WORDS]


def all_of(words: list[str]) -> str:
    """For services that take words side by side to mean all of them."""
    return " ".join(words)


def any_of(words: list[str]) -> str:
    """Any of the words; the service's ranking brings up what has the most and rarest of them."""
    return " OR ".join(words)


def plain_query(query: str, limit: int, most_words: int = 50) -> str:
    """The query as a person would type it, without marks that web search engines obey, cut at a word."""
    text = " ".join(_SYNTAX.sub(" ", query).split()[:most_words])
    return text if len(text) <= limit else (text[:limit].rsplit(" ", 1)[0] or text[:limit])
