"""Tavily: the open web with extracts made for reading by programs, with a key.

POST {base}/search {query, search_depth, max_results, end_date}, the key as a bearer token; 432 and 433 say that
the plan's limit is used up. `end_date` has been seen to leak, and pages mostly come without a date: the
cutoff is kept by the date of the page itself. https://docs.tavily.com/documentation/api-reference/endpoint/search
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from crowdnotes.domain import Hit
from crowdnotes.evidence.search.answers import Record, parse_json, records, string
from crowdnotes.evidence.search.provider import Check, make_hit, plain_query
from crowdnotes.evidence.search.service import Service
from crowdnotes.text.dates import parse_date

_MOST_CHARACTERS = 400
_MOST_RESULTS = 20


@dataclass(frozen=True, slots=True)
class Tavily:
    """See `SearchProvider`."""

    service: Service
    needs: str | None = None
    name: str = "tavily"
    label: str = "Tavily"
    at_once: int = 4
    most_queries: int = 6  # each costs a credit

    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:  # noqa: ARG002
        """Web pages, the plain search that costs one credit."""
        asked = plain_query(query, _MOST_CHARACTERS)
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
        hits = (self._hit(result, query) for result in results[:limit])
        return [hit for hit in hits if hit is not None]

    def _hit(self, result: Record, query: str) -> Hit | None:
        return make_hit(
            self.name,
            query,
            title=string(result, "title"),
            snippet=string(result, "content"),
            url=string(result, "url"),
            published=parse_date(string(result, "published_date")),
        )
