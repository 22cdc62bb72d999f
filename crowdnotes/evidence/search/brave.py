"""Brave Search: the open web, with a key.

GET {base}/web/search?q=&count=&freshness=1990-01-01toYYYY-MM-DD, the key in X-Subscription-Token; q has at
most 400 characters and 50 words. https://api-dashboard.search.brave.com/api-reference/web/search/get
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from crowdnotes.domain import Hit
from crowdnotes.evidence.search.answers import Record, parse_json, records, string, strings, unexpected
from crowdnotes.evidence.search.provider import Check, make_hit, plain_query
from crowdnotes.evidence.search.service import Service
from crowdnotes.text.dates import parse_date

_MOST_CHARACTERS = 400
_MOST_RESULTS = 20


@dataclass(frozen=True, slots=True)
class Brave:
    """See `SearchProvider`."""

    service: Service
    needs: str | None = None
    name: str = "brave"
    label: str = "Brave Search"
    at_once: int = 1
    most_queries: int = 3

    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:  # noqa: ARG002
        """Web pages. The language is left to the query: a code that Brave does not know would be an error."""
        asked = plain_query(query, _MOST_CHARACTERS)
        if not asked:
            return []
        params: dict[str, str | int] = {
            "q": asked,
            "count": min(limit, _MOST_RESULTS),
            "text_decorations": "false",
            "result_filter": "web",
        }
        if until is not None:
            params["freshness"] = f"1990-01-01to{until.isoformat()}"
        answer = parse_json(self.service.get("/web/search", params, check))
        if "type" not in answer and "web" not in answer:
            raise unexpected()
        hits = (self._hit(result, query) for result in records(answer, "web", "results", may_lack=True)[:limit])
        return [hit for hit in hits if hit is not None]

    def _hit(self, result: Record, query: str) -> Hit | None:
        return make_hit(
            self.name,
            query,
            title=string(result, "title"),
            snippet=" ".join([string(result, "description"), *strings(result, "extra_snippets")]),
            url=string(result, "url"),
            published=parse_date(string(result, "page_age")),
        )
