"""A page's bytes to a Document, by the reader for its kind.

Light to import, because page readers are processes of it: the readers themselves are imported when first used.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from crowdnotes.domain import FetchOutcome
from crowdnotes.errors import FetchError
from crowdnotes.evidence.reading.document import HTML, PDF, Document, Extract, references_in, without_references
from crowdnotes.text.languages import language_of

if TYPE_CHECKING:
    from crowdnotes.evidence.fetching import Page


def extract(body: bytes, kind: str, charset: str | None, url: str, check: Callable[[], None], /) -> Document:
    """The document in bytes of a known kind (`READABLE`), as it stands there.

    `url`, or a file's name, gives the title where the document has none. `check` is called at each page
    of a PDF. Raises FetchError when there is nothing to read.
    """
    from crowdnotes.evidence.reading.html import read_html
    from crowdnotes.evidence.reading.pdf import read_pdf
    from crowdnotes.evidence.reading.plain_text import read_plain

    if not body.strip():
        raise FetchError("The page is empty.", FetchOutcome.UNREADABLE)
    fallback_title = _guess_title(url)
    if kind == HTML:
        return read_html(body, charset, url, fallback_title)
    if kind == PDF:
        return read_pdf(body, fallback_title, check)
    return read_plain(body, charset, fallback_title)


def _guess_title(url: str) -> str:
    """Words from a URL's path, or its host."""
    from crowdnotes.evidence.reading.plain_text import tidy_line

    parts = urlsplit(url)
    stem = re.sub(r"\.\w{1,5}$", "", unquote(parts.path).rstrip("/").rpartition("/")[2])
    words = tidy_line(re.sub(r"[-_+]+", " ", stem), 120)
    return words if re.search(r"[^\W\d]{3}", words) else (parts.hostname or words or "Untitled")


def read_page(page: Page, check: Callable[[], None] = lambda: None, by: Extract = extract) -> Document:
    """The document in a fetched page. Raises FetchError with the page's own outcome when it was not had."""
    if page.outcome is not FetchOutcome.READ:
        raise FetchError(page.detail, page.outcome)
    return read_body(page.body, page.content_type, page.charset, page.url, check, by)


def read_body(
    body: bytes,
    kind: str,
    charset: str | None,
    url: str,
    check: Callable[[], None] = lambda: None,
    by: Extract = extract,
) -> Document:
    """See `extract`, which is done here or `by` another; then without its list of references."""
    document = by(body, kind, charset, url, check)
    begin, end = references_in(document.text)
    text = without_references(document.text)
    # A page of which nothing is left begins where the next one does.
    starts = (min(start, max(begin, start - (end - begin))) for start in document.page_starts)
    return replace(
        document,
        text=text,
        language=language_of(text) or document.language,
        page_starts=tuple(start for start in starts if start < len(text)),
    )
