"""Tavily: the open web with extracts made for reading by programs, with a key or without one.

POST {base}/search {query, search_depth, max_results, end_date, exclude_domains}, the key as a bearer token; 432 and
433 say that the plan's limit is used up. `end_date` has been seen to leak, and pages mostly come without a date: the
cutoff is kept by the date of the page itself. https://docs.tavily.com/documentation/api-reference/endpoint/search

Without a key a header says so, and the answers are the same under lower limits, which are not published:
https://docs.tavily.com/documentation/keyless
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Self

from pydantic import BaseModel, Field, SecretStr

from crowdnotes.domain import Hit, ProviderState
from crowdnotes.errors import SearchError
from crowdnotes.evidence.search.provider import OnlineProvider, first_hits, parse_json, plain_query, records, web_hits
from crowdnotes.evidence.search.service import Check, Pace, Service, open_service
from crowdnotes.settings import SearchSettings
from crowdnotes.wording import say

_PACE = Pace(100, 66.0, 4)  # https://docs.tavily.com/documentation/rate-limits
_PACE_WITHOUT_KEY = Pace(20, 66.0, 2)  # five cases a minute: a guest asks little
_MOST_RESULTS = 20
_MOST_LEFT_OUT = 150  # that it takes; what it finds of more is left out when it is here
_QUIET_SECONDS = 60.0  # what its limit of requests a minute comes to


class TavilyOptions(BaseModel):
    """Tavily."""

    tavily_key: SecretStr | None = Field(
        None, description="raises Tavily's limits; without it Tavily is asked as a guest, and less"
    )
    tavily_url: str = Field("https://api.tavily.com", description="the Tavily API")


def tavily_service(search: SearchSettings) -> Service:
    """Tavily's API with the key that is set, else as a guest."""
    own = search.of(TavilyOptions)
    key = own.tavily_key.get_secret_value() if own.tavily_key else ""
    if not key:
        guest = open_service(search, own.tavily_url, _PACE_WITHOUT_KEY, quiet_seconds=_QUIET_SECONDS)
        return replace(guest, headers={"X-Tavily-Access-Mode": "keyless"})
    headers = {"Authorization": f"Bearer {key}"}
    return open_service(search, own.tavily_url, _PACE, headers, quiet_seconds=_QUIET_SECONDS)


class Tavily(OnlineProvider):
    """See `SearchProvider`. Without a key it stands in for a web search that nobody has set up."""

    name = "tavily"
    label = "Tavily"
    brings = "brings.tavily"
    options = TavilyOptions
    searches_web = True

    @classmethod
    def make(cls, search: SearchSettings) -> Self:
        """Few queries of a case: each costs a credit, or some of what a guest may ask."""
        service = tavily_service(search)
        if service.keyed:
            return cls(service, at_once=4, most_queries=6)
        return cls(service, at_once=2, most_queries=4, stands_in=True)

    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:  # noqa: ARG002
        """Web pages, the plain search that costs one credit."""
        asked = plain_query(query, 400)
        if not asked:
            return []
        document: dict[str, object] = {
            "query": asked,
            "search_depth": "basic",
            "max_results": min(limit, _MOST_RESULTS),
        }
        if self.leave_out:
            document["exclude_domains"] = self.leave_out[:_MOST_LEFT_OUT]
        if until is not None:
            document["end_date"] = until.isoformat()
        results = records(parse_json(self._answer(document, check)), "results")
        return first_hits(web_hits(self.name, query, results, snippet="content", published="published_date"), limit)

    def _answer(self, document: dict[str, object], check: Check) -> bytes:
        try:
            return self.service.post("/search", document, check)
        except SearchError as error:
            if self.stands_in and error.state is ProviderState.RATE_LIMITED:
                raise SearchError(error.message, error.state, say("services.tavily_key")) from error
            raise
