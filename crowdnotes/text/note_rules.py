"""X's rules for a note: its 280 characters and where its URLs are, and the reasons that its form asks for.

Source of the limit: on X each URL counts as one character, a line break as one, the limit is 280
(X's quickstart for note writers; checked against 864 real notes, see `x_storage_form`).
Lengths are in Unicode code points. Source of the form: the Community Notes guide, "download data" (the
columns) and the note form (the labels people tick). Everything here is a pure function.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import tldextract

from crowdnotes.domain import Classification
from crowdnotes.text import kept_by_text

NOTE_LIMIT = 280
AMBER_FROM = 260
URL_WEIGHT = 1
MAX_NOTE_LINKS = 3  # of a note that the program writes; each costs a character and a space

# Where a URL begins and ends, by the rules of X's own github.com/twitter/twitter-text (extractUrl): a path has Latin
# and Cyrillic letters and closed brackets, a query ASCII alone, a host with a scheme any letter; none begins after $, #
# or @.
_ACCENTED_LETTERS = (
    "\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0253\u0254\u0256\u0257\u0259\u025b\u0263\u0268\u026f\u0272\u0289\u028b"
    "\u02bb\u0300-\u036f\u1e00-\u1eff"
)
_PATH_CHARACTER = rf"[A-Za-z0-9{_ACCENTED_LETTERS}\u0400-\u04ff!*';:=+,.$/%#\[\]\u2013_~@|&-]"
_PATH = rf"(?:{_PATH_CHARACTER}|\((?:{_PATH_CHARACTER}|\({_PATH_CHARACTER}*\))*\))*"
_QUERY = r"(?:\?[A-Za-z0-9!?*'@();:&=+$/%#\[\]_.,~|-]*)?"
_REST = rf"(?::[0-9]+)?(?:[/#]{_PATH})?{_QUERY}"
_SCHEME_PATTERN = re.compile(r"(?<![@$#\uff20\uff03])[Hh][Tt][Tt][Pp][Ss]?://")
_HOST_PATTERN = re.compile(
    r"[^\s!-,/:-@\[-^`{-~\u00a0-\u00bf\u2000-\u206f\u3000-\u303f\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]*"
)
_ASCII_DOMAIN_PATTERN = re.compile(r"(?:[Xx][Nn]--[A-Za-z0-9-]+|[A-Za-z]+)(?!\.?[A-Za-z0-9]|[@+-])")
_REST_PATTERN = re.compile(_REST)
_UNNAMED_HOST_PATTERN = re.compile(rf"{_PATH}{_QUERY}")  # localhost, 127.0.0.1, [::1], user@host
_HOST_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_BARE_URL_PATTERN = re.compile(
    rf"(?<![A-Za-z0-9{_ACCENTED_LETTERS}_@$#\uff20\uff03./:-])(?P<host>(?:{_HOST_LABEL}\.)+(?P<tld>[A-Za-z]{{2,24}}))"
    rf"(?![A-Za-z0-9{_ACCENTED_LETTERS}_@+-])(?P<rest>{_REST})"
)
_TRAILING_PUNCTUATION = "!*';:,.$%[(~@|?\u2013"
_OPENER_BY_CLOSER = {")": "(", "]": "["}
_SPACELESS_LETTER_PATTERN = re.compile(
    "[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
)

_MISLEADING_TAGS = {
    "misleadingFactualError": "It contains a factual error",
    "misleadingManipulatedMedia": "It contains a digitally altered photo or video",
    "misleadingOutdatedInformation": "It contains outdated information that may be misleading",
    "misleadingMissingImportantContext": "It is a misrepresentation or missing important context",
    "misleadingUnverifiedClaimAsFact": "It presents an unverified claim as a fact",
    "misleadingSatire": "It is a joke or satire that might be misinterpreted as a fact",
    "misleadingOther": "Other",
}
_NOT_MISLEADING_TAGS = {
    "notMisleadingFactuallyCorrect": "It expresses a factually correct claim",
    "notMisleadingOutdatedButNotWhenWritten": "This post was correct when written, but is out of date now",
    "notMisleadingClearlySatire": "It is clearly satirical or joking",
    "notMisleadingPersonalOpinion": "It expresses a personal opinion",
    "notMisleadingOther": "Other",
}


@dataclass(frozen=True, slots=True)
class UrlSpan:
    """A URL as written in the text: text[start:end] == url. `has_scheme` is False for "cdc.gov"."""

    url: str
    start: int
    end: int
    has_scheme: bool

    @property
    def link(self) -> str:
        """The whole address, with https before "cdc.gov/flu"; "" for a bare host, which is no link."""
        return self.url if self.has_scheme else f"https://{self.url}" * ("/" in self.url)


@cache
def _longest_domain() -> int:
    return max(map(len, top_level_domains()))


@cache
def top_level_domains() -> frozenset[str]:
    """Return the top-level domains that a bare host may end in, lower case; the page's counter uses them too."""
    # The snapshot inside the package: the public list is never downloaded.
    extract = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
    return frozenset(suffix.rpartition(".")[2] for suffix in extract.tlds)  # of "za" it lists "co.za" and others alone


def tags_of(classification: Classification) -> dict[str, str]:
    """Column → label of the tags that go with a classification."""
    return dict(_MISLEADING_TAGS if classification is Classification.MISLEADING else _NOT_MISLEADING_TAGS)


def tag_words(column: str) -> str:
    """Return a column of the ratings as text, without its side: "good sources" of helpfulGoodSources."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", re.sub("^(?:helpful|notHelpful)", "", column)).lower()


def _trim_url(url: str) -> str:
    """Take off sentence punctuation that follows a URL, keeping balanced brackets."""
    end = len(url)
    unclosed = {last: url.count(last) - url.count(first) for last, first in _OPENER_BY_CLOSER.items()}
    while end and (url[end - 1] in _TRAILING_PUNCTUATION or unclosed.get(url[end - 1], 0) > 0):
        end -= 1
        for last, first in _OPENER_BY_CLOSER.items():
            unclosed[last] += (url[end] == first) - (url[end] == last)
    return url[:end]


def is_missing_space(host: str, rest: str | None) -> bool:
    """Return True for "false.The" or "better.In": two sentences without a space, not a host name."""
    before, _, after = host.rpartition(".")
    return not rest and after[:1].isupper() and after[1:].islower() and not before.isupper()


def _find_domain_end(text: str, start: int, end: int) -> int | None:
    """Return the end of the longest host of text[start:end] with a top-level domain; letters may follow."""
    dot = text.rfind(".", start + 1, end)
    while dot > start:
        if (ascii_domain := _ASCII_DOMAIN_PATTERN.match(text, dot + 1)) is not None:
            domain = ascii_domain.group().lower()
            if domain.startswith("xn--") or domain in top_level_domains():
                return ascii_domain.end()
        elif not text[dot + 1 : dot + 2].isascii():
            longest = min(end - dot - 1, _longest_domain())
            for length in range(longest, 0, -1):
                if text[dot + 1 : dot + 1 + length].lower() in top_level_domains():
                    return dot + 1 + length
        dot = text.rfind(".", start + 1, dot)
    return None


def _find_urls_with_scheme(text: str) -> Iterator[UrlSpan]:
    scheme = _SCHEME_PATTERN.search(text)
    while scheme is not None:
        start, end = scheme.span()
        host = _HOST_PATTERN.match(text, end)
        domain_end = _find_domain_end(text, end, host.end()) if host is not None else None
        rest = _UNNAMED_HOST_PATTERN.match(text, end) if domain_end is None else _REST_PATTERN.match(text, domain_end)
        url = _trim_url(text[start : rest.end()]) if rest is not None else ""
        if len(url) > end - start:
            end = start + len(url)
            yield UrlSpan(url, start, end, has_scheme=True)
        scheme = _SCHEME_PATTERN.search(text, end)


@kept_by_text
def find_urls(text: str) -> tuple[UrlSpan, ...]:
    """Return the URLs of a text, in order, as X counts them.

    With a scheme: always, up to the first letter that cannot be in it. Without one: only when it ends in a real
    top-level domain and is neither a full stop with the space forgotten nor part of a $cashtag, #hashtag or @mention.
    """
    found = list(_find_urls_with_scheme(text))
    starts, ends = [span.start for span in found], [span.end for span in found]
    for match in _BARE_URL_PATTERN.finditer(text):
        start = match.start()
        before = bisect_right(starts, start) - 1  # the last URL with a scheme that begins here or earlier
        if (before >= 0 and start < ends[before]) or is_missing_space(match["host"], match["rest"]):
            continue
        if match["tld"].lower() not in top_level_domains():
            continue
        url = _trim_url(match.group())
        found.append(UrlSpan(url, start, start + len(url), has_scheme=False))
    return tuple(sorted(found, key=lambda span: span.start))


def note_length(text: str) -> int:
    """Characters of a note as X counts them: code points, each URL as 1, a line break as 1."""
    text = text.replace("\r\n", "\n")
    return len(text) - sum(span.end - span.start - URL_WEIGHT for span in find_urls(text))


def characters_for_words(links: int) -> int:
    """Return how many characters a note has for its words, if it has so many links (three at most)."""
    return NOTE_LIMIT - min(MAX_NOTE_LINKS, links) * (URL_WEIGHT + 1)


def x_storage_form(stored: str) -> str:
    """Return a note from X's public data as its writer typed it.

    X stores HTML entities (at times escaped twice) and a line break as two spaces. Undone this
    way, all but two of 864 real notes count at most 280, and many exactly 280.
    """
    return html.unescape(html.unescape(stored)).replace("  ", "\n")


def without_urls(text: str) -> str:
    """Return the words of a note alone: URLs taken out, white space tidied."""
    for span in reversed(find_urls(text)):
        if span.has_scheme:
            text = text[: span.start] + text[span.end :]
    return re.sub(r"[ \t]{2,}", " ", re.sub(r"(?<![ \t])[ \t]*+\n\s*", "\n", text)).strip()


def truncate(text: str, limit: int = NOTE_LIMIT) -> str:
    """Return the longest beginning of `text` that counts at most `limit`, never cut inside a word or URL.

    Used before the helpfulness gate, as in CrowdNotes+ appendix E.3. A first word that is longer
    than the limit by itself leaves nothing. Scripts written without spaces are cut between letters.
    """
    if limit < 0:
        raise ValueError(f"limit must not be negative: {limit}")
    if note_length(text) <= limit:
        return text
    urls = find_urls(text)
    best = 0
    count = 0
    position = 0
    while position < len(text) and count <= limit:
        span = next((u for u in urls if u.start == position), None)
        if _can_cut_at(text, position):
            best = position
        position, count = (span.end, count + URL_WEIGHT) if span else (position + 1, count + 1)
    if count <= limit and position == len(text):
        best = position
    cut = text[:best].rstrip()
    # Cutting can change what is a URL ("a.b" at the new end); step back until the count holds.
    while cut and note_length(cut) > limit:
        cut = cut[: _find_last_break(cut)].rstrip()
    return cut


def _can_cut_at(text: str, position: int) -> bool:
    """Return whether text[:position] ends at the end of a word."""
    if position == 0:
        return True
    here, before = text[position], text[position - 1]
    if here.isspace() or before.isspace():
        return True
    return bool(_SPACELESS_LETTER_PATTERN.match(here) and _SPACELESS_LETTER_PATTERN.match(before))


def _find_last_break(text: str) -> int:
    return max((i for i in range(len(text)) if _can_cut_at(text, i)), default=0)
