"""From a link to a Source and its text, in one call; what went wrong is a label on the source."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

from crowdnotes.domain import DateOrigin, FetchOutcome, Source, text_sha256
from crowdnotes.errors import FetchError
from crowdnotes.evidence.fetching import Page, PageFetcher, no_check
from crowdnotes.evidence.provenance import categorise, publisher_of
from crowdnotes.evidence.reading import read_page
from crowdnotes.evidence.tidying import tidy_line


class SourceReader:
    """Fetches and reads. Safe to share between threads when its fetcher is."""

    def __init__(self, fetcher: PageFetcher) -> None:
        self._fetcher = fetcher

    def read(self, url: str, source_id: str, check: Callable[[], None] = no_check) -> tuple[Source, str | None]:
        """The source, and its text when its outcome is READ, else None.

        Raises nothing but what `check` raises (a cancelled job). `url` stays as it was brought; the
        kind and the publisher are those of the page where its redirects end.
        """
        page = self._fetcher.fetch(url, check)
        try:
            document = read_page(page, check)
        except FetchError as error:
            return _source(page, source_id, outcome=error.outcome, detail=error.message), None
        source = _source(
            page,
            source_id,
            title=document.title,
            sitename=document.publisher,
            published=document.published,
            text=document.text,
            language=document.language,
            detail=_redirect_note(page),
        )
        return source, document.text


def _source(
    page: Page,
    source_id: str,
    *,
    outcome: FetchOutcome = FetchOutcome.READ,
    detail: str = "",
    title: str = "",
    sitename: str | None = None,
    published: date | None = None,
    text: str | None = None,
    language: str | None = None,
) -> Source:
    return Source(
        id=source_id,
        title=title or tidy_line(page.requested_url),
        url=page.requested_url.strip(),
        publisher=publisher_of(page.url, sitename),
        published=published,
        date_origin=DateOrigin.PAGE if published is not None else None,
        category=categorise(page.url),
        outcome=outcome,
        outcome_detail=detail,
        text_sha256=text_sha256(text) if text is not None else None,
        characters=len(text) if text is not None else 0,
        language=language,
        read_at=page.fetched_at,
    )


def _redirect_note(page: Page) -> str:
    """A sentence when the link leads to another publisher than it shows."""
    before, after = publisher_of(page.requested_url), publisher_of(page.url)
    return "" if before == after else f"The link leads on to {page.url}."
