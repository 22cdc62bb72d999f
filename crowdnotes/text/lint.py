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
_EMAIL_PATTERN = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
# What X's checker takes for a URL: word characters around a full stop, at least two letters after.
_PHANTOM_URL_PATTERN = re.compile(
    r"(?<![\w@$#＃./:-])(?P<host>[^\W_][\w-]*(?:\.[\w-]+)*\.[A-Za-z][^\W\d_]+)(?![\w@/]|://)"
)
_GLUED_URL_PATTERN = re.compile(r"(?<=[^\s(\[\"'\u201c\u2018<])https?://", re.IGNORECASE)
_PLACEHOLDER_PATTERN = re.compile(
    r"\[(?:insert|source|link|url|citation|todo|name|date)[^\]]*\]|\b(?:lorem ipsum|todo|tbd)\b"
    r"|<(?:insert|source|link|url)[^>]*>|\{\{?\w*\}?\}|https?://(?:www\.)?example\.(?:com|org|net)\b",
    re.IGNORECASE,
)
_HASHTAG_PATTERN = re.compile(r"(?<![\w&/])#[^\W\d]\w*")


@kept_by_text
def lint(text: str) -> tuple[LintWarning, ...]:
    """Every warning about the note's form, those that block approval first."""
    found = [warning for check in _CHECKS for warning in check(text)]
    return tuple(sorted(found, key=lambda w: (w.level is LintLevel.WARNS, w.span.start if w.span else -1)))


def blocking(warnings: tuple[LintWarning, ...]) -> tuple[LintWarning, ...]:
    """Return those that stop approval."""
    return tuple(warning for warning in warnings if warning.level is LintLevel.BLOCKS)


def without_tracking(text: str) -> str:
    """Return the text with tracking parameters, and nothing else, cut out of its links."""
    for url in reversed(find_urls(text)):
        head, mark, rest = url.url.partition("?")
        query, hash_mark, fragment = rest.partition("#")
        kept = [part for part in query.split("&") if not is_tracking(unquote_plus(part.partition("=")[0]))]
        if mark and len(kept) < len(query.split("&")):
            clean = head + ("?" if kept else "") + "&".join(kept) + hash_mark + fragment
            text = text[: url.start] + clean + text[url.end :]
    return text


def _build_blocking_warning(code: str, message: str, start: int | None = None, end: int = 0) -> LintWarning:
    return LintWarning(code=code, message=message, level=LintLevel.BLOCKS, span=_build_span(start, end))


def _build_mild_warning(code: str, message: str, start: int | None = None, end: int = 0) -> LintWarning:
    return LintWarning(code=code, message=message, level=LintLevel.WARNS, span=_build_span(start, end))


def _build_span(start: int | None, end: int) -> Span | None:
    return None if start is None else Span(start=start, end=end)


def _check_length(text: str) -> Iterator[LintWarning]:
    length = note_length(text)
    if length > NOTE_LIMIT:
        message = f"{length} characters: {length - NOTE_LIMIT} too many for X."
        yield _build_blocking_warning("over-limit", message)
    elif length >= AMBER_FROM:
        yield _build_mild_warning(
            "near-limit", f"{length} of {NOTE_LIMIT} characters: X may count an emoji or accent differently."
        )


def _check_empty(text: str) -> Iterator[LintWarning]:
    if not text.strip():
        yield _build_blocking_warning("empty", "There is no text yet.")


def _check_missing_url(text: str) -> Iterator[LintWarning]:
    if text.strip() and not any(url.has_scheme for url in find_urls(text)):
        yield _build_blocking_warning("no-url", "Add a link to a source that begins with https://. X wants one.")


def _check_bare_urls(text: str) -> Iterator[LintWarning]:
    emails = _find_email_spans(text)
    for url in find_urls(text):
        if not url.has_scheme and not _is_within_spans(emails, url.start):
            message = f"X makes “{url.url}” a link. If it is a source, write https:// before it."
            yield _build_mild_warning("bare-url", message, url.start, url.end)


def _check_phantom_urls(text: str) -> Iterator[LintWarning]:
    urls, emails = _find_url_spans(text), _find_email_spans(text)
    for match in _PHANTOM_URL_PATTERN.finditer(text):
        host = match["host"]
        if _is_within_spans(urls, match.start()) or _is_within_spans(emails, match.start()):
            continue
        if is_missing_space(host, None) or re.search(r"[^\W\d_]{2,}\.[^\W\d_]{2,}$", host):
            message = f"X takes “{host}” for a link: put a space after the full stop."
            yield _build_blocking_warning("phantom-url", message, match.start(), match.end())


def _check_glued_urls(text: str) -> Iterator[LintWarning]:
    for match in _GLUED_URL_PATTERN.finditer(text):
        before = max(text.rfind(" ", 0, match.start()), text.rfind("\n", 0, match.start())) + 1
        if text[before : before + len("https://")].lower().startswith(("http://", "https://")):
            continue  # a URL inside a URL, as archives write them
        message = f"Put a space before the link that follows “{text[before : match.start()][-20:]}”."
        yield _build_blocking_warning("glued-url", message, before, match.end())


def _check_emails(text: str) -> Iterator[LintWarning]:
    for match in _EMAIL_PATTERN.finditer(text):
        message = f"X takes the e-mail address “{match.group()}” for a link."
        yield _build_blocking_warning("email", message, match.start(), match.end())


def _check_tracking(text: str) -> Iterator[LintWarning]:
    for url in find_urls(text):
        names = [name for name, _ in _parse_query(url.url) if is_tracking(name)]
        if names:
            message = f"Remove tracking from the link: {', '.join(sorted(set(names)))}."
            yield _build_mild_warning("tracking", message, url.start, url.end)


def _check_cut_links(text: str) -> Iterator[LintWarning]:
    for url in find_urls(text):
        rest = text[url.end : url.end + 1]
        if url.has_scheme and rest.isalpha():
            message = (
                f"X ends this link before “{rest}”. Put a space there, or copy the link again from the address bar."
            )
            yield _build_mild_warning("cut-link", message, url.start, url.end)


def _check_placeholders(text: str) -> Iterator[LintWarning]:
    for match in _PLACEHOLDER_PATTERN.finditer(text):
        message = f"Fill in “{match.group()}”."
        yield _build_blocking_warning("placeholder", message, match.start(), match.end())


def _check_invented_hosts(text: str) -> Iterator[LintWarning]:
    # RFC 2606 and 6761: names that no page on the Internet can have; the demonstration's pages do.
    for url in find_urls(text):
        if re.search(r"\.(?:example|test|invalid)(?:[:/?#]|$)", url.url, re.IGNORECASE):
            message = "Practice only: this link is made up. Do not post the note."
            yield _build_mild_warning("invented-host", message, url.start, url.end)


def _check_hashtags(text: str) -> Iterator[LintWarning]:
    urls = _find_url_spans(text)
    for match in _HASHTAG_PATTERN.finditer(text):
        if not _is_within_spans(urls, match.start()):
            message = f"“{match.group()}”: readers find hashtags unhelpful."
            yield _build_mild_warning("hashtag", message, match.start(), match.end())


def _parse_query(url: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(urlsplit(url).query, keep_blank_values=True)
    except ValueError:  # "http://[" and the like: no query to speak of
        return []


def _find_url_spans(text: str) -> list[tuple[int, int]]:
    """Spans by start; an end is the furthest so far, because a bare host may hold a whole link ("a.org/https://b.org")."""
    urls = find_urls(text)
    return list(zip((url.start for url in urls), accumulate((url.end for url in urls), max), strict=True))


def _find_email_spans(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in _EMAIL_PATTERN.finditer(text)]


def _is_within_spans(spans: Sequence[tuple[int, int]], position: int) -> bool:
    """Return whether one of the spans, which are in order, holds the position."""
    before = bisect_right(spans, position, key=lambda span: span[0])
    return before > 0 and position < spans[before - 1][1]


_CHECKS: tuple[Callable[[str], Iterator[LintWarning]], ...] = (
    _check_empty,
    _check_length,
    _check_missing_url,
    _check_phantom_urls,
    _check_glued_urls,
    _check_emails,
    _check_placeholders,
    _check_bare_urls,
    _check_tracking,
    _check_cut_links,
    _check_invented_hosts,
    _check_hashtags,
)
