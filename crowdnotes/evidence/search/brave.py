"""Brave Search: the open web, with a key.

GET {base}/web/search?q=&count=&freshness=1990-01-01toYYYY-MM-DD, the key in X-Subscription-Token; q has at
most 400 characters and 50 words. https://api-dashboard.search.brave.com/api-reference/web/search/get
"""

from __future__ import annotations

from datetime import date
from typing import Self

from pydantic import BaseModel, Field, SecretStr

from crowdnotes.domain import Hit
from crowdnotes.evidence.search.provider import (
    OnlineProvider,
    first_hits,
    needed,
    parse_json,
    plain_query,
    records,
    string,
    strings,
    unexpected,
    web_hits,
)
from crowdnotes.evidence.search.service import Check, Pace, open_service
from crowdnotes.settings import SearchSettings
from crowdnotes.wording import say

_MOST_RESULTS = 20


class BraveOptions(BaseModel):
    """Brave Search."""

    brave_key: SecretStr | None = Field(None, description="switches Brave Search on")
    brave_per_second: float = Field(1.0, gt=0, description="requests a second that your Brave plan allows")
    brave_url: str = Field("https://api.search.brave.com/res/v1", description="the Brave Search API")


class Brave(OnlineProvider):
    """See `SearchProvider`."""

    name = "brave"
    label = "Brave Search"
    brings = "brings.brave"
    options = BraveOptions
    free = False
    searches_web = True

    @classmethod
    def make(cls, search: SearchSettings) -> Self:
        """As many requests as the plan allows; a slow plan is asked fewer of a case's queries."""
        own = search.of(BraveOptions)
        key, pace = own.brave_key.get_secret_value() if own.brave_key else "", own.brave_per_second
        steps = Pace(max(1, int(pace)), 1.1 / min(1.0, pace), 4)
        return cls(
            open_service(search, own.brave_url, steps, {"X-Subscription-Token": key}),
            needs=None if key else needed("BRAVE_KEY", say("services.brave_key")),
            at_once=min(4, max(1, int(pace))),
            most_queries=3 if pace < 2 else 8,
        )

    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:  # noqa: ARG002
        """Web pages. The language is left to the query: a code that Brave does not know would be an error."""
        asked = plain_query(query, 400)
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
        pages = (
            {**page, "words": " ".join([string(page, "description"), *strings(page, "extra_snippets")])}
            for page in records(answer, "web", "results", may_lack=True)
        )
        return first_hits(web_hits(self.name, query, pages, snippet="words", published="page_age"), limit)
