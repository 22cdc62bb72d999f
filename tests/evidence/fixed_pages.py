"""A fetcher that gives one page, and the search result that led to it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from crowdnotes.domain import FetchOutcome, Hit
from crowdnotes.evidence.fetching import Page, no_check
from crowdnotes.evidence.reading.document import HTML

ARTICLE = (
    "<html><head><title>Measles</title><meta property='article:published_time' content='2024-03-02'></head>"
    "<body><article><h1>Measles</h1>"
    "<p>Measles is one of the most contagious of all human diseases, and vaccines prevent it.</p>"
    "<p>Two doses of the vaccine protect 97 of 100 people for their whole lives.</p></article></body></html>"
)


class FixedPage:
    def __init__(self, url: str, outcome: FetchOutcome = FetchOutcome.READ, body: str = ARTICLE) -> None:
        self._url, self._outcome, self._body = url, outcome, body

    def fetch(self, url: str, check: Callable[[], None] = no_check) -> Page:
        check()
        read = self._outcome is FetchOutcome.READ
        return Page(
            url,
            self._url,
            self._outcome,
            datetime.now(UTC),
            HTML,
            None,
            self._body.encode() if read else b"",
            "" if read else "Why.",
        )


def hit_of(**changes: object) -> Hit:
    return Hit(provider="pubmed", title="A trial", snippet="s", query="q").model_copy(update=changes)
