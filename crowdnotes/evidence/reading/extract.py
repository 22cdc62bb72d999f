"""A page's bytes to a Document, by the reader for its kind.

Light to import, because page readers are processes of it: the readers themselves are imported when first used.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from crowdnotes.domain import BADLY_READABLE, FetchOutcome
from crowdnotes.errors import FetchError
from crowdnotes.evidence.reading.document import (
    HTML,
    MAX_SHORT_TEASER_CHARACTERS,
    NO_TEXT_SENTENCE,
    PAYWALL_SENTENCE,
    PDF,
    PLAIN,
    Document,
    Extract,
    asks_for_money,
    asks_for_script,
    references_in,
    refuse_stand_in,
    without_references,
)
from crowdnotes.text.languages import language_of

if TYPE_CHECKING:
    from crowdnotes.evidence.fetching import Page


def extract(body: bytes, kind: str, charset: str | None, url: str, check: Callable[[], None], /) -> Document:
    """Return the document in bytes of a known kind (`READABLE`), unchanged.

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
        return judge_letters(read_html(body, charset, url, fallback_title))
    document = read_pdf(body, fallback_title, check) if kind == PDF else read_plain(body, charset, fallback_title)
    if kind == PLAIN:
        refuse_words_in_place(document)
    return judge_letters(document)


def refuse_words_in_place(document: Document) -> None:
    """Raise FetchError when plain words are what a site shows in the place of a page."""
    refuse_stand_in(document.title, document.text)
    if len(document.text) < MAX_SHORT_TEASER_CHARACTERS and asks_for_money(document.text):
        raise FetchError(PAYWALL_SENTENCE, FetchOutcome.PAYWALLED)
    if asks_for_script(document.text):
        raise FetchError(NO_TEXT_SENTENCE, FetchOutcome.UNREADABLE)


def judge_letters(document: Document) -> Document:
    """Return the document, marked where letters or words were lost.

    Raises FetchError where it cannot be read for that.
    """
    from crowdnotes.evidence.reading.printed_signs import Legibility, legibility

    found = legibility(document.text)
    if found is Legibility.NONE:
        raise FetchError(
            "The text comes out garbled. Open the page and paste the text you need.",
            FetchOutcome.UNREADABLE,
        )
    if found is Legibility.GOOD:
        return document
    remark = "Some letters or spaces are lost. Compare with the page before you quote it."
    return replace(document, notices=(*document.notices, BADLY_READABLE), remark=f"{document.remark} {remark}".strip())


def _guess_title(url: str) -> str:
    """Words from a URL's path, or its host."""
    from crowdnotes.evidence.reading.plain_text import tidy_line

    parts = urlsplit(url)
    stem = re.sub(r"\.\w{1,5}$", "", unquote(parts.path).rstrip("/").rpartition("/")[2])
    words = tidy_line(re.sub(r"[-_+]+", " ", stem), 120)
    return words if re.search(r"[^\W\d]{3}", words) else (parts.hostname or words or "Untitled")


def read_page(page: Page, check: Callable[[], None] = lambda: None, by: Extract = extract) -> Document:
    """Return the document in a fetched page. Raises FetchError with the page's own outcome when it was not had."""
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
