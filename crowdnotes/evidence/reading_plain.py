"""Plain text and Markdown to a Document."""

from __future__ import annotations

import re

from crowdnotes.domain import FetchOutcome
from crowdnotes.errors import FetchError
from crowdnotes.evidence.charset import decode
from crowdnotes.evidence.document import Document
from crowdnotes.evidence.tidying import tidy_line, tidy_text

_TITLE_LIMIT = 150


def read_plain(body: bytes, charset: str | None, fallback_title: str) -> Document:
    """The text as it is; its first line is the title when it is short enough to be one."""
    decoded = decode(body, charset)
    if decoded.count("\x00") + decoded.count("\ufffd") > len(decoded) // 20:
        raise FetchError("The file is not text, although its server says so.", FetchOutcome.UNREADABLE)
    text = tidy_text(decoded)
    if not text:
        raise FetchError("The file is empty.", FetchOutcome.UNREADABLE)
    first = re.sub(r"^#{1,6}\s*|\s*#+$", "", text.partition("\n")[0])
    title = tidy_line(first) if 0 < len(first) <= _TITLE_LIMIT else fallback_title
    return Document(title=title, text=text)
