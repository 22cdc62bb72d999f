"""A fetched page to a Document: the right reader for its kind, references dropped, language told."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import unquote, urlsplit

from crowdnotes.domain import FetchOutcome
from crowdnotes.errors import FetchError
from crowdnotes.evidence.content_type import HTML, PDF
from crowdnotes.evidence.document import Document
from crowdnotes.evidence.fetching import Page, no_check
from crowdnotes.evidence.reading_html import read_html
from crowdnotes.evidence.reading_pdf import read_pdf
from crowdnotes.evidence.reading_plain import read_plain
from crowdnotes.evidence.references import moved_starts, references_in, without
from crowdnotes.evidence.tidying import tidy_line
from crowdnotes.languages import language_of


def read_page(page: Page, check: Callable[[], None] = no_check) -> Document:
    """The document in a fetched page. Raises FetchError with the page's own outcome when it was not had."""
    if page.outcome is not FetchOutcome.READ:
        raise FetchError(page.detail, page.outcome)
    return read_body(page.body, page.content_type, page.charset, page.url, check)


def read_body(body: bytes, kind: str, charset: str | None, url: str, check: Callable[[], None] = no_check) -> Document:
    """The document in bytes of a known kind (`content_type.READABLE`).

    `url`, or a file's name, gives the title where the document has none. Raises FetchError when there
    is nothing to read.
    """
    if not body.strip():
        raise FetchError("The page is empty.", FetchOutcome.UNREADABLE)
    fallback_title = _title_from(url)
    if kind == HTML:
        document = read_html(body, charset, url, fallback_title)
    elif kind == PDF:
        document = read_pdf(body, fallback_title, check)
    else:
        document = read_plain(body, charset, fallback_title)
    dropped = references_in(document.text)
    text = without(document.text, dropped)
    return replace(
        document,
        text=text,
        language=language_of(text) or document.language,
        page_starts=moved_starts(document.page_starts, dropped, len(text)),
    )


def _title_from(url: str) -> str:
    """Words from a URL's path, or its host."""
    parts = urlsplit(url)
    stem = re.sub(r"\.\w{1,5}$", "", unquote(parts.path).rstrip("/").rpartition("/")[2])
    words = tidy_line(re.sub(r"[-_+]+", " ", stem), 120)
    return words if re.search(r"[^\W\d]{3}", words) else (parts.hostname or words or "Untitled")
