"""SearXNG: the web through a metasearch server of one's own.

GET {base}/search?q=&format=json&language=. A server that does not list json under search.formats answers 403, or its
page with 200. docs/search.md leads to one in three commands.
It has no bound of time but "the last day, month, year", so the program keeps the cutoff.
https://docs.searxng.org/dev/search_api.html
"""

from __future__ import annotations

from datetime import date
from typing import Self

from pydantic import BaseModel, Field

from crowdnotes.domain import Hit, ProviderState
from crowdnotes.errors import SearchError
from crowdnotes.evidence.search.provider import (
    OnlineProvider,
    first_hits,
    needed,
    parse_json,
    plain_query,
    records,
    web_hits,
)
from crowdnotes.evidence.search.service import COURTEOUS, Check, open_service
from crowdnotes.settings import SearchSettings
from crowdnotes.wording import say


class SearXngOptions(BaseModel):
    """SearXNG."""

    searxng_url: str | None = Field(None, description="your SearXNG server; it must give the format json")


class SearXng(OnlineProvider):
    """See `SearchProvider`."""

    name = "searxng"
    label = "SearXNG"
    brings = "brings.searxng"
    options = SearXngOptions
    free = False
    searches_web = True

    @classmethod
    def make(cls, search: SearchSettings) -> Self:
        """Few queries of a case: each is passed on to many engines, which tire of a server that asks too much."""
        url = search.of(SearXngOptions).searxng_url
        return cls(
            open_service(search, url or "", COURTEOUS),
            needs=None if url else needed("SEARXNG_URL", say("services.searxng_address")),
            at_once=2,
            most_queries=6,
        )

    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:
        """Web pages, those dated after `until` left out; most have no date."""
        asked = plain_query(query, 300)
        if not asked:
            return []
        params: dict[str, str | int] = {"q": asked, "format": "json", "language": language or "all"}
        try:
            body = self.service.get("/search", params, check)
        except SearchError as error:
            if "(403)" not in error.message:
                raise
            raise _no_json() from error
        if body[:512].lstrip().lower().startswith((b"<!doctype html", b"<html")):
            raise _no_json()
        results = records(parse_json(body), "results")
        hits = web_hits(self.name, query, results, snippet="content", published="publishedDate")
        return first_hits(hits, limit, until)


def _no_json() -> SearchError:
    return SearchError(say("services.no_json"), ProviderState.FAILED, say("services.add_json"))
