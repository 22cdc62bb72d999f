"""What is wrong with a note's form, before anyone judges its content. Pure functions.

The checks follow X's note form and its URL checker (every URL must answer with HTTP 200; a missing
space after a full stop makes a phantom URL; an e-mail address becomes its domain).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from urllib.parse import parse_qsl, unquote_plus, urlsplit

from crowdnotes.domain import LintLevel, LintWarning, Span
from crowdnotes.text import kept_by_text
from crowdnotes.text.note_rules import AMBER_FROM, NOTE_LIMIT, find_urls, is_missing_space, note_length
from crowdnotes.text.urls import is_tracking

# The lookbehind lets a match begin only where a word does: without it a long word takes quadratic time.
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
# What X's checker takes for a URL: word characters around a full stop, at least two letters after.
_PHANTOM = re.compile(r"(?<![\w@./:-])(?P<host>[^\W_][\w-]*(?:\.[\w-]+)*\.[A-Za-z][^\W\d_]+)(?![\w@/]|://)")
_GLUED = re.compile(r"(?<=[^\s(\[\"'\u201c\u2018<])https?://", re.IGNORECASE)
_PLACEHOLDER = re.compile(
    r"\[(?:insert|source|link|url|citation|todo|name|date)[^\]]*\]|\b(?:lorem ipsum|todo|tbd)\b"
    r"|<(?:insert|source|link|url)[^>]*>|\{\{?\w*\}?\}|https?://(?:www\.)?example\.(?:com|org|net)\b",
    re.IGNORECASE,
)
_HASHTAG = re.compile(r"(?<![\w&/])#[^\W\d]\w*")


@kept_by_text
def lint(text: str) -> tuple[LintWarning, ...]:
    """Every warning about the note's form, those that block approval first."""
    found = [warning for check in _CHECKS for warning in check(text)]
    return tuple(sorted(found, key=lambda w: (w.level is LintLevel.WARNS, w.span.start if w.span else -1)))


def blocking(warnings: tuple[LintWarning, ...]) -> tuple[LintWarning, ...]:
    """Those that stop approval."""
    return tuple(warning for warning in warnings if warning.level is LintLevel.BLOCKS)


def without_tracking(text: str) -> str:
    """The text with tracking parameters, and nothing else, cut out of its links."""
    for url in reversed(find_urls(text)):
        head, mark, rest = url.url.partition("?")
        query, hash_mark, fragment = rest.partition("#")
        kept = [part for part in query.split("&") if not is_tracking(unquote_plus(part.partition("=")[0]))]
        if mark and len(kept) < len(query.split("&")):
            clean = head + ("?" if kept else "") + "&".join(kept) + hash_mark + fragment
            text = text[: url.start] + clean + text[url.end :]
    return text


def _length(text: str) -> Iterator[LintWarning]:
    length = note_length(text)
    if length > NOTE_LIMIT:
        yield LintWarning(
            code="over-limit",
            message=f"The note counts {length} of at most {NOTE_LIMIT} characters: {length - NOTE_LIMIT} too many.",
            level=LintLevel.BLOCKS,
        )
    elif length >= AMBER_FROM:
        yield LintWarning(
            code="near-limit",
            message=f"{length} of {NOTE_LIMIT} characters: X may count an emoji or accent differently.",
            level=LintLevel.WARNS,
        )


def _empty(text: str) -> Iterator[LintWarning]:
    if not text.strip():
        yield LintWarning(code="empty", message="There is no text yet.", level=LintLevel.BLOCKS)


def _missing_url(text: str) -> Iterator[LintWarning]:
    if text.strip() and not any(url.has_scheme for url in find_urls(text)):
        yield LintWarning(
            code="no-url",
            message="X takes a note only with a link to a source, beginning with https://.",
            level=LintLevel.BLOCKS,
        )


def _bare_url(text: str) -> Iterator[LintWarning]:
    emails = _emails(text)
    for url in find_urls(text):
        if not url.has_scheme and not _within(emails, url.start):
            yield LintWarning(
                code="bare-url",
                message=f"X turns “{url.url}” into a link. Write https:// before it if it is a source.",
                level=LintLevel.WARNS,
                span=Span(start=url.start, end=url.end),
            )


def _phantom_url(text: str) -> Iterator[LintWarning]:
    urls, emails = _urls(text), _emails(text)
    for match in _PHANTOM.finditer(text):
        host = match["host"]
        if _within(urls, match.start()) or _within(emails, match.start()):
            continue
        if is_missing_space(host, None) or re.search(r"[^\W\d_]{2,}\.[^\W\d_]{2,}$", host):
            yield LintWarning(
                code="phantom-url",
                message=f"“{host}” looks like a link to X's checker: put a space after the full stop.",
                level=LintLevel.BLOCKS,
                span=Span(start=match.start(), end=match.end()),
            )


def _glued_url(text: str) -> Iterator[LintWarning]:
    for match in _GLUED.finditer(text):
        before = max(text.rfind(" ", 0, match.start()), text.rfind("\n", 0, match.start())) + 1
        if text[before : before + len("https://")].lower().startswith(("http://", "https://")):
            continue  # a URL inside a URL, as archives write them
        yield LintWarning(
            code="glued-url",
            message=f"Put a space before the link that follows “{text[before : match.start()][-20:]}”.",
            level=LintLevel.BLOCKS,
            span=Span(start=before, end=match.end()),
        )


def _email(text: str) -> Iterator[LintWarning]:
    for match in _EMAIL.finditer(text):
        yield LintWarning(
            code="email",
            message=f"“{match.group()}” is an e-mail address; X's checker takes its domain for a link.",
            level=LintLevel.BLOCKS,
            span=Span(start=match.start(), end=match.end()),
        )


def _tracking(text: str) -> Iterator[LintWarning]:
    for url in find_urls(text):
        names = [name for name, _ in _query(url.url) if is_tracking(name)]
        if names:
            yield LintWarning(
                code="tracking",
                message=f"The link carries tracking: cut {', '.join(sorted(set(names)))} from it.",
                level=LintLevel.WARNS,
                span=Span(start=url.start, end=url.end),
            )


def _placeholder(text: str) -> Iterator[LintWarning]:
    for match in _PLACEHOLDER.finditer(text):
        yield LintWarning(
            code="placeholder",
            message=f"“{match.group()}” looks like a place still to be filled in.",
            level=LintLevel.BLOCKS,
            span=Span(start=match.start(), end=match.end()),
        )


def _invented_host(text: str) -> Iterator[LintWarning]:
    # RFC 2606 and 6761: names that no page on the Internet can have; the demonstration's pages do.
    for url in find_urls(text):
        if re.search(r"\.(?:example|test|invalid)(?:[:/?#]|$)", url.url, re.IGNORECASE):
            yield LintWarning(
                code="invented-host",
                message="The link leads to an invented page, as the demonstration's do: do not post this note.",
                level=LintLevel.WARNS,
                span=Span(start=url.start, end=url.end),
            )


def _hashtag(text: str) -> Iterator[LintWarning]:
    urls = _urls(text)
    for match in _HASHTAG.finditer(text):
        if not _within(urls, match.start()):
            yield LintWarning(
                code="hashtag",
                message=f"“{match.group()}”: raters find hashtags in notes unhelpful.",
                level=LintLevel.WARNS,
                span=Span(start=match.start(), end=match.end()),
            )


def _query(url: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(urlsplit(url).query, keep_blank_values=True)
    except ValueError:  # "http://[" and the like: no query to speak of
        return []


def _urls(text: str) -> list[tuple[int, int]]:
    """Spans by start; an end is the furthest so far, because a bare host may hold a whole link ("a.org/https://b.org")."""
    urls = find_urls(text)
    return list(zip((url.start for url in urls), accumulate((url.end for url in urls), max), strict=True))


def _emails(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in _EMAIL.finditer(text)]


def _within(spans: Sequence[tuple[int, int]], position: int) -> bool:
    """Whether one of the spans, which are in order, holds the position."""
    before = bisect_right(spans, position, key=lambda span: span[0])
    return before > 0 and position < spans[before - 1][1]


_CHECKS: tuple[Callable[[str], Iterator[LintWarning]], ...] = (
    _empty,
    _length,
    _missing_url,
    _phantom_url,
    _glued_url,
    _email,
    _placeholder,
    _bare_url,
    _tracking,
    _invented_host,
    _hashtag,
)
