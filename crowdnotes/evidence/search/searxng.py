"""SearXNG: the web through a metasearch server of one's own.

GET {base}/search?q=&format=json&language=. A server that does not list json under search.formats answers 403.
It has no bound of time but "the last day, month, year", so the program keeps the cutoff.
https://docs.searxng.org/dev/search_api.html
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from crowdnotes.domain import Hit, ProviderState
from crowdnotes.errors import SearchError
from crowdnotes.evidence.search.answers import Record, parse_json, records, string
from crowdnotes.evidence.search.provider import Check, make_hit, plain_query
from crowdnotes.evidence.search.service import Service
from crowdnotes.text.dates import parse_date

_MOST_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class SearXng:
    """See `SearchProvider`."""

    service: Service
    needs: str | None = None
    name: str = "searxng"
    label: str = "SearXNG"
    at_once: int = 2
    most_queries: int = 6  # each is passed on to many engines, which tire of a server that asks too much

    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:
        """Web pages, those dated after `until` left out; most have no date."""
        asked = plain_query(query, _MOST_CHARACTERS)
        if not asked:
            return []
        params: dict[str, str | int] = {"q": asked, "format": "json", "language": language or "all"}
        try:
            body = self.service.get("/search", params, check)
        except SearchError as error:
            if "(403)" not in error.message:
                raise
            raise SearchError(
                "Your server does not give results as JSON (403).",
                ProviderState.FAILED,
                "Add json to search.formats in its settings.yml.",
            ) from error
        hits = (self._hit(result, query) for result in records(parse_json(body), "results"))
        kept = [hit for hit in hits if hit is not None]
        return [hit for hit in kept if until is None or hit.published is None or hit.published <= until][:limit]

    def _hit(self, result: Record, query: str) -> Hit | None:
        return make_hit(
            self.name,
            query,
            title=string(result, "title"),
            snippet=string(result, "content"),
            url=string(result, "url"),
            published=parse_date(string(result, "publishedDate")),
        )
