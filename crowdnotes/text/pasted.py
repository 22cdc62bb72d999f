"""What a person pasted into one box, each part taken for what it is: a post's words, its address on X, links."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from crowdnotes.domain import X_HOSTS
from crowdnotes.text.note_rules import find_urls
from crowdnotes.text.urls import MAX_URL

# Not the 1 of 1.35E+18, which a spreadsheet made of a number.
_POST_PATH_PATTERN = re.compile(r"/.+/status(?:es)?/(\d++)(?![\w+]|[.,]\w)", re.IGNORECASE)
_MAX_POST_NUMBER_DIGITS = 20  # of a post's number; more is none
# X writes these into the words of a post: they belong to it, and are no sources that a person brings.
_X_LINK_HOSTS = frozenset({"t.co", "pic.x.com", "pic.twitter.com"})
_BULLET_PATTERN = re.compile(r"(?:[-*•–·]|\d{1,2}[.)])\s+")
_LINK_EDGES = "<>,;."


@dataclass(frozen=True, slots=True)
class Pasted:
    """The `words` of a post, its `address` on X, and `links` to sources, each once, as they were pasted."""

    words: str
    address: str | None = None
    links: tuple[str, ...] = ()


def parse_pasted(text: str, *, has_address: bool = False) -> Pasted:
    """Return the parts of what was pasted; nothing but repetitions, bullets and blank lines is left out.

    Links alone on their line are links: the first that is a post's address is the address, the others are sources.
    Without one, unless the post `has_address` from elsewhere, a post's address before or after all words is the
    address, as phones share posts. Any other link on a line with words belongs to the words, and so does a bare
    host, which may be a name ("Amazon.com").
    """
    words: list[str] = []
    address: str | None = None
    links: dict[str, None] = {}
    for line in text.replace("\r\n", "\n").split("\n"):
        found = _find_lone_links(line)
        if not found:
            words.append(line)
        for link in found:
            if post_number(link) is not None and address in {None, link}:
                address = link
            else:
                links[link] = None
    post = "\n".join(words).strip()
    if address is None and not has_address:
        post, address = _split_off_address(post)
    return Pasted(post, address, tuple(links))


def _split_off_address(text: str) -> tuple[str, str | None]:
    """Return the text without a post's address at its end or beginning, and that address."""
    *before, last = text.rsplit(maxsplit=1) or [""]
    first, *after = text.split(maxsplit=1) or [""]
    for part, rest in ((last, before), (first, after)):
        link = part.strip(_LINK_EDGES)
        if rest and post_number(link) is not None and _is_link(link):
            return rest[0], link
    return text, None


def post_from_address(words: str, url: str, limit: int) -> str:
    """Return the box's text for a post that a link brought: at most `limit` characters of it, and its address.

    An address on X that is none of a post, such as a reader's timeline, is left out.
    """
    url = "".join(url.split())[:MAX_URL]
    try:
        is_elsewhere_on_x = urlsplit(url).hostname in X_HOSTS and post_number(url) is None
    except ValueError:
        is_elsewhere_on_x = False
    return f"{words.strip()[:limit]}\n\n{'' if is_elsewhere_on_x else url}".strip()


def post_number(url: str) -> int | None:
    """Return the number of the post on X that is at this address, with a scheme or without; None where none is."""
    try:
        parts = urlsplit(url if "://" in url else f"https://{url}")
        number = _POST_PATH_PATTERN.match(parts.path) if parts.hostname in X_HOSTS else None
    except ValueError:
        return None
    return int(number.group(1)[:_MAX_POST_NUMBER_DIGITS]) if number else None


def _find_lone_links(line: str) -> list[str]:
    """Return the links of a line that has nothing else; none of any other line."""
    found = []
    for part in _BULLET_PATTERN.sub("", line.strip(), count=1).split():
        link = part.strip(_LINK_EDGES)
        if not _is_link(link):
            return []
        found.append(link)
    return found


def _is_link(text: str) -> bool:
    has_scheme = text.lower().startswith(("http://", "https://"))
    found = find_urls(text)
    if not has_scheme and (len(found) != 1 or found[0].url != text):
        return False
    if has_scheme and found and "/" not in found[0].url.partition("://")[2] and text[found[0].end :][:1].isalpha():
        return False  # "https://example.jpを見て": words follow the host
    try:
        parts = urlsplit(text if has_scheme else f"https://{text}")
    except ValueError:
        return False
    host = parts.hostname or ""
    is_named = has_scheme or host.startswith("www.") or bool(parts.path.strip("/"))
    return bool(host) and is_named and host not in _X_LINK_HOSTS
