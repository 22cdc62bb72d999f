"""Copies in web archives: which page a copy is of."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

# https://en.wikipedia.org/wiki/Wikipedia:List_of_web_archives_on_Wikipedia
_ARCHIVE_TODAY = frozenset(f"archive.{end}" for end in "today ph is li vn fo md".split())
_WAYBACK = frozenset({"web.archive.org", "wayback.archive.org"})
_COPY = re.compile(r"^/(?:web/)?(?:o/\w+/)?(?:[\d*]{1,14}(?:[a-z]{2}_)?|newest|oldest)/(.+)$", re.IGNORECASE)
_OF_TODAY = re.compile(r"^/o/\w+/(.+)$")


def is_archived(url: str) -> bool:
    """Whether a link leads to a copy in the Wayback Machine or archive.today."""
    host, path = _host_and_path(url)
    return (host in _WAYBACK and path.startswith("/web/")) or (host in _ARCHIVE_TODAY and len(path) > 1)


def original_of(url: str) -> str:
    """The address that an archived copy is of; the address itself when it is no copy or does not tell."""
    host, path = _host_and_path(url)
    if host not in _WAYBACK and host not in _ARCHIVE_TODAY:
        return url
    found = _COPY.match(path) or (_OF_TODAY.match(path) if host in _ARCHIVE_TODAY else None)
    if found is None:
        return url
    inner = found.group(1)
    if re.match(r"https?%3a", inner, re.IGNORECASE):
        inner = unquote(inner)
    inner = re.sub(r"^(https?):/+", r"\1://", inner, flags=re.IGNORECASE)
    if not re.match(r"https?://", inner, re.IGNORECASE):
        inner = f"http://{inner}" if re.match(r"[\w-]+(?:\.[\w-]+)+(?:/|$)", inner) else ""
    query = url.partition("?")[2].partition("#")[0]
    return (f"{inner}?{query}" if query else inner) or url


def _host_and_path(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url.strip())
        return (parts.hostname or "").rstrip(".").removeprefix("www."), parts.path
    except ValueError:
        return "", ""
