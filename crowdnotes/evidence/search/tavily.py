"""Tavily: the open web with extracts made for reading by programs, with a key.

POST {base}/search {query, search_depth, max_results, end_date}, the key as a bearer token; 432 and 433 say that
the plan's limit is used up. `end_date` has been seen to leak, and pages mostly come without a date: the
cutoff is kept by the date of the page itself. https://docs.tavily.com/documentation/api-reference/endpoint/search
"""

from __future__ import annotations

from datetime import date
from typing import Self

from pydantic import BaseModel, Field, SecretStr

from crowdnotes.domain import Hit
from crowdnotes.evidence.search.answers import JsonObject, parse_json, records, string
from crowdnotes.evidence.search.provider import OnlineProvider, first_hits, make_hit, needed, plain_query
from crowdnotes.evidence.search.service import Check, Pace, open_service
from crowdnotes.settings import SearchSettings
from crowdnotes.text.dates import parse_date

_PACE = Pace(100, 66.0, 4)  # https://docs.tavily.com/documentation/rate-limits
_MOST_RESULTS = 20


class TavilyOptions(BaseModel):
    """Tavily."""

    tavily_key: SecretStr | None = Field(None, description="switches Tavily on")
    tavily_url: str = Field("https://api.tavily.com", description="the Tavily API")


class Tavily(OnlineProvider):
    """See `SearchProvider`."""

    name = "tavily"
    label = "Tavily"
    options = TavilyOptions
    free = False

    @classmethod
    def make(cls, search: SearchSettings) -> Self:
        """Few queries of a case: each costs a credit."""
        own = search.of(TavilyOptions)
        key = own.tavily_key.get_secret_value() if own.tavily_key else ""
        return cls(
            open_service(search, own.tavily_url, _PACE, {"Authorization": f"Bearer {key}"}),
            needs=None if key else needed("TAVILY_KEY", "a key of Tavily"),
            at_once=4,
            most_queries=6,
        )

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
        if until is not None:
            document["end_date"] = until.isoformat()
        results = records(parse_json(self.service.post("/search", document, check)), "results")
        return first_hits((self._hit(result, query) for result in results), limit)

    def _hit(self, result: JsonObject, query: str) -> Hit | None:
        return make_hit(
            self.name,
            query,
            title=string(result, "title"),
            snippet=string(result, "content"),
            url=string(result, "url"),
            published=parse_date(string(result, "published_date")),
        )
