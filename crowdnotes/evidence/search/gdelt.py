"""GDELT DOC 2.0: news of the world of the last three months, in the post's language, without a key.

GET {base}?query=&mode=artlist&format=json&maxrecords=&startdatetime=&enddatetime=YYYYMMDDHHMMSS; one request in five
seconds. It answers 429, or a sentence with 200, whenever it is busy, also to a first request: so it is asked once a
case, for five seconds at most and without a second try. Words of one or two letters it refuses.
https://blog.gdeltproject.org/gdelt-doc-2-0-api-debuts/
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import Self

from pydantic import BaseModel, Field

from crowdnotes.domain import Hit, ProviderState
from crowdnotes.errors import SearchError
from crowdnotes.evidence.search.provider import (
    OnlineProvider,
    compact_day,
    first_hits,
    make_hit,
    parse_json,
    records,
    search_words,
    string,
)
from crowdnotes.evidence.search.service import Check, Pace, open_service
from crowdnotes.settings import SearchSettings
from crowdnotes.text.languages import LANGUAGE_NAMES
from crowdnotes.wording import say

_PACE = Pace(1, 1.1, 1)
_BETWEEN = 5.5  # seconds from one request to the next
_MOST_SECONDS = 5.0
_QUIET_SECONDS = 600.0
_WINDOW = timedelta(days=90)
_MOST_WORDS = 6
_SHORTEST = 3


class GdeltOptions(BaseModel):
    """GDELT."""

    gdelt_url: str = Field("https://api.gdeltproject.org/api/v2/doc/doc", description="the DOC 2.0 API of GDELT")


class Gdelt(OnlineProvider):
    """See `SearchProvider`."""

    name = "gdelt"
    label = "GDELT"
    brings = "brings.gdelt"
    options = GdeltOptions

    @classmethod
    def make(cls, search: SearchSettings) -> Self:
        """One query of a case, tried once: whoever waits for it waits long."""
        service = open_service(search, search.of(GdeltOptions).gdelt_url, _PACE, quiet_seconds=_QUIET_SECONDS)
        seconds = min(service.request_seconds, _MOST_SECONDS)
        return cls(replace(service, tries=1, request_seconds=seconds), most_queries=1)

    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:
        """Articles with all of the first words, in the language of the query where it is known."""
        words = [word for word in search_words(query) if len(word) >= _SHORTEST][:_MOST_WORDS]
        if not words:
            return []
        spoken = LANGUAGE_NAMES.get(language or "en", "English").lower()
        params: dict[str, str | int] = {
            "query": f"{' '.join(words)} sourcelang:{spoken}",
            "mode": "artlist",
            "format": "json",
            "maxrecords": limit,
        }
        if until is not None:
            params["startdatetime"] = f"{until - _WINDOW:%Y%m%d}000000"
            params["enddatetime"] = f"{until:%Y%m%d}235959"
        body = self.service.get("", params, check)
        self.service.pacer.pause(_BETWEEN)
        if b"limit requests" in body[:500]:
            self.service.pacer.pause(_QUIET_SECONDS)
            raise SearchError(say("services.too_often"), ProviderState.RATE_LIMITED)
        articles = records(parse_json(body), "articles", may_lack=True)
        return first_hits(
            (
                make_hit(
                    self.name,
                    query,
                    title=string(article, "title"),
                    snippet=string(article, "title"),
                    url=string(article, "url"),
                    published=compact_day(string(article, "seendate")),
                )
                for article in articles
            ),
            limit,
            until,
        )
