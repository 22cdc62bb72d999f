"""Which kind of document a body is: what its server declares, and what its first bytes say."""

from __future__ import annotations

import re
from dataclasses import dataclass

from crowdnotes.domain import FetchOutcome
from crowdnotes.errors import FetchError

HTML = "text/html"
PLAIN = "text/plain"
PDF = "application/pdf"
READABLE = frozenset({HTML, PLAIN, PDF})

_KINDS = {
    "text/html": HTML,
    "application/xhtml+xml": HTML,
    "text/plain": PLAIN,
    "text/markdown": PLAIN,
    "text/x-markdown": PLAIN,
    "application/pdf": PDF,
    "application/x-pdf": PDF,
}
# Types by which a server says that it does not know; the bytes decide.
_UNDECIDED = frozenset(
    {"", "application/octet-stream", "binary/octet-stream", "application/force-download", "unknown/unknown"}
)
_HTML_START = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype html|html|head|body|meta|title)\b",
    re.IGNORECASE | re.DOTALL,
)
_BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_LOOK = 1024


@dataclass(frozen=True, slots=True)
class ContentType:
    """A Content-Type header: `essence` in lowercase without parameters, "" when there is none."""

    essence: str
    charset: str | None = None

    def refuse_unreadable(self) -> None:
        """Raise FetchError(WRONG_TYPE) for a type that is known and cannot be read."""
        if self.essence not in _UNDECIDED and self.essence not in _KINDS:
            raise FetchError(
                f"This is {self.essence[:60]}: only web pages, plain text and PDF can be read.", FetchOutcome.WRONG_TYPE
            )


def parse_content_type(header: str | None) -> ContentType:
    """Lenient, as browsers are: quotes and odd spaces are accepted."""
    essence, _, parameters = (header or "").partition(";")
    found = re.search(r"charset\s*=\s*[\"']?([\w.:-]{2,40})", parameters, re.IGNORECASE)
    return ContentType(essence.strip().lower(), found.group(1).lower() if found else None)


def settle_kind(declared: ContentType, body: bytes) -> str:
    """HTML, PLAIN or PDF. The bytes overrule a header that is missing, undecided or plainly wrong.

    Raises FetchError(WRONG_TYPE) when neither says something that can be read.
    """
    start = body[:_LOOK]
    if b"%PDF-" in start[:64] or (b"%PDF-" in start and declared.essence not in _KINDS):
        return PDF
    kind = _KINDS.get(declared.essence)
    if kind == HTML:
        return HTML
    if kind in (None, PDF) and _HTML_START.match(start):
        return HTML
    is_text = b"\x00" not in start or start.startswith(_BOMS)
    if kind == PLAIN and is_text:
        return PLAIN
    if kind is None and is_text and body.strip():
        return PLAIN
    raise FetchError("This is not a web page, plain text or PDF.", FetchOutcome.WRONG_TYPE)
