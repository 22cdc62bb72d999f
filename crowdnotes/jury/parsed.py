"""A note taken apart once, for all that read it: its links, its words, and the names and phrases among them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from crowdnotes.jury.leanings import Match, Token, plain_text, shipped_leanings, tokens_of
from crowdnotes.text.note_rules import UrlSpan, find_urls, without_urls

_KEPT = 512  # notes; more than one reads side by side


@dataclass(frozen=True)
class Parsed:
    """links: in order. body: the note without them. plain, tokens: the body's plain text and its words.

    names, topics: what the leanings know of, by place among the tokens.
    """

    links: tuple[UrlSpan, ...]
    body: str
    plain: str
    tokens: tuple[Token, ...]
    names: tuple[Match, ...]
    topics: tuple[Match, ...]


@lru_cache(maxsize=_KEPT)
def parsed(note: str) -> Parsed:
    """See `Parsed`. Raises ConfigurationError when the leanings cannot be read."""
    known = shipped_leanings()
    body = without_urls(note)
    plain = plain_text(body)
    tokens = tokens_of(plain)
    return Parsed(
        tuple(find_urls(note)),
        body,
        plain,
        tuple(tokens),
        tuple(known.names.find(tokens)),
        tuple(known.topics.find(tokens)),
    )
