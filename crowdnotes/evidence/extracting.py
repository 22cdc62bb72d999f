"""A page's bytes to a Document, by the reader for its kind. Light to import: page readers are processes of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol
from urllib.parse import unquote, urlsplit

from crowdnotes.domain import FetchOutcome
from crowdnotes.errors import FetchError
from crowdnotes.evidence.content_type import HTML, PDF
from crowdnotes.evidence.document import Document
from crowdnotes.evidence.reading_html import read_html
from crowdnotes.evidence.reading_pdf import read_pdf
from crowdnotes.evidence.reading_plain import read_plain
from crowdnotes.evidence.tidying import tidy_line


class Extract(Protocol):
    """What takes the words out of a page: `extract` itself, or a process that does it."""

    def __call__(self, body: bytes, kind: str, charset: str | None, url: str, check: Callable[[], None], /) -> Document:
        """See `extract`."""
        ...


def extract(body: bytes, kind: str, charset: str | None, url: str, check: Callable[[], None], /) -> Document:
    """The document in bytes of a known kind (`content_type.READABLE`), as it stands there.

    `url`, or a file's name, gives the title where the document has none. `check` is called at each page
    of a PDF. Raises FetchError when there is nothing to read.
    """
    if not body.strip():
        raise FetchError("The page is empty.", FetchOutcome.UNREADABLE)
    fallback_title = _title_from(url)
    if kind == HTML:
        return read_html(body, charset, url, fallback_title)
    if kind == PDF:
        return read_pdf(body, fallback_title, check)
    return read_plain(body, charset, fallback_title)


def _title_from(url: str) -> str:
    """Words from a URL's path, or its host."""
    parts = urlsplit(url)
    stem = re.sub(r"\.\w{1,5}$", "", unquote(parts.path).rstrip("/").rpartition("/")[2])
    words = tidy_line(re.sub(r"[-_+]+", " ", stem), 120)
    return words if re.search(r"[^\W\d]{3}", words) else (parts.hostname or words or "Untitled")
