"""Links as a person pastes them: which lines can be read as web addresses, and why the others cannot."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from crowdnotes.errors import InputError

_MAX_URLS = 20
_MAX_URL_CHARACTERS = 4_000
# Neither JSON nor PostgreSQL can carry these.
NEVER_IN_TEXT = re.compile(r"[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class RefusedLink:
    """A line that cannot be taken as a link, as it was given, and why."""

    line: str
    why: InputError


def usable_urls(lines: Sequence[str]) -> tuple[tuple[str, ...], tuple[RefusedLink, ...]]:
    """The lines that can be links, each once, as `checked_urls` takes them; and those that cannot, each with why."""
    urls: dict[str, None] = {}
    refused: list[RefusedLink] = []
    for line in lines:
        try:
            url = checked_url(line)
        except InputError as why:
            refused.append(RefusedLink(line, why))
            continue
        if url not in urls and len(urls) == _MAX_URLS:
            full = InputError(f"“{shown(line)}” is one too many: a case takes {_MAX_URLS} links.")
            refused.append(RefusedLink(line, full))
        else:
            urls[url] = None
    return tuple(urls), tuple(refused)


def checked_urls(urls: Sequence[str]) -> tuple[str, ...]:
    """The URLs, each once, in order; InputError names the first that cannot be one."""
    checked = tuple(dict.fromkeys(checked_url(url) for url in urls if url.strip()))
    if len(checked) > _MAX_URLS:
        raise InputError(f"That is {len(checked)} links; a case takes {_MAX_URLS}.", "Bring the best ones.")
    return checked


def checked_url(url: str) -> str:
    """The address with a scheme; InputError in a sentence when it cannot be one."""
    given = NEVER_IN_TEXT.sub("", url).strip()
    url, said = given, shown(given)
    if len(given) > _MAX_URL_CHARACTERS:
        raise InputError(f"“{said}” is too long for a web address.", "Copy it again from the browser's address bar.")
    if not re.match(r"[a-z][a-z0-9+.-]*:", url, re.IGNORECASE) or re.match(r"[^/]*\.[^/]*:\d", url):
        url = f"https://{url}"
    try:
        parts = urlsplit(url)
        host = parts.hostname
        _ = parts.port
    except ValueError:
        raise InputError(f"“{said}” is not a web address.", "Copy it again from the browser's address bar.") from None
    if parts.scheme.lower() not in {"http", "https"}:
        raise InputError(f"“{said}” is not an http or https address.", "Only web pages can be read.")
    is_word = url != given and "." not in (host or "")  # "hello" is no address, though a browser would try it
    if not host or is_word or re.search(r"\s", url):
        raise InputError(f"“{said}” is not a web address.", "Copy it again from the browser's address bar.")
    return url


def shown(url: str) -> str:
    """An address as a sentence can hold it."""
    return url if len(url) <= 80 else f"{url[:77]}…"
