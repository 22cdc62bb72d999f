"""A fetched page to a Document: the right reader for its kind, references dropped, language told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from crowdnotes.domain import FetchOutcome
from crowdnotes.errors import FetchError
from crowdnotes.evidence.document import Document
from crowdnotes.evidence.extracting import Extract, extract
from crowdnotes.evidence.fetching import Page, no_check
from crowdnotes.evidence.references import moved_starts, references_in, without
from crowdnotes.text.languages import language_of


def read_page(page: Page, check: Callable[[], None] = no_check, by: Extract = extract) -> Document:
    """The document in a fetched page. Raises FetchError with the page's own outcome when it was not had."""
    if page.outcome is not FetchOutcome.READ:
        raise FetchError(page.detail, page.outcome)
    return read_body(page.body, page.content_type, page.charset, page.url, check, by)


def read_body(
    body: bytes, kind: str, charset: str | None, url: str, check: Callable[[], None] = no_check, by: Extract = extract
) -> Document:
    """See `extract`, which is done here or `by` another; then without its list of references."""
    document = by(body, kind, charset, url, check)
    dropped = references_in(document.text)
    text = without(document.text, dropped)
    return replace(
        document,
        text=text,
        language=language_of(text) or document.language,
        page_starts=moved_starts(document.page_starts, dropped, len(text)),
    )
