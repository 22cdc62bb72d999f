"""Short markup, such as a title, an abstract or a verdict, to plain text."""

from __future__ import annotations

import html
import re

from crowdnotes.evidence.reading.plain import tidy_line, tidy_text

_MAX_MARKUP = 10_000  # characters looked at; a title or abstract is shorter
_ROUNDS = 3  # some services escape what is escaped already
_UNSEEN = re.compile(r"<(script|style|template|noscript)\b[^>]*>.*?(?:</\1\s*>|$)", re.IGNORECASE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?(?:-->|$)", re.DOTALL)
# Tags that stand inside a word or sentence leave no gap: H<sub>2</sub>O.
_INLINE = re.compile(r"</?(?:jats:)?(?:i|b|em|strong|sub|sup|span|sc|italic|bold|u|mark|a)\b[^<>]*>", re.IGNORECASE)
# "p < 0.05" is no tag: a tag's name starts at once.
_TAG = re.compile(r"</?[a-z][^<>]*>|<[!?][^<>]*>", re.IGNORECASE)
# A tag that was cut off in the middle, with an attribute that shows what it was.
_BROKEN_TAG = re.compile(r"<[a-z][\w:-]*\s[^<>]*=[^<>]*$", re.IGNORECASE)


def plain_text(markup: str, limit: int) -> str:
    """At most `limit` characters of plain text; paragraphs of the markup run together."""
    text = markup[:_MAX_MARKUP]
    for _ in range(_ROUNDS):
        before = text
        text = html.unescape(_without_tags(text))
        if text == before:
            break
    return tidy_line(tidy_text(_without_tags(text)), limit)


def plain_line(markup: str) -> str:
    """The same for a title."""
    return plain_text(markup, 300)


def _without_tags(text: str) -> str:
    text = _COMMENT.sub(" ", _UNSEEN.sub(" ", text))
    return _BROKEN_TAG.sub(" ", _TAG.sub(" ", _INLINE.sub("", text)))
