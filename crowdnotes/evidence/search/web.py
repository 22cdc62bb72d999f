"""Search providers for the whole web: Brave, SearXNG and Tavily."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Self

from pydantic import BaseModel, Field, SecretStr

from crowdnotes.domain import Hit, ProviderState
from crowdnotes.errors import SearchError
from crowdnotes.evidence.reading.plain_text import plain_line
from crowdnotes.evidence.search.provider import (
    JsonObject,
    OnlineProvider,
    dig,
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
from crowdnotes.evidence.search.service import COURTEOUS, Check, Pace, Service, open_service
from crowdnotes.settings_sections import SearchSettings

_MAX_RESULTS = 20
_MAX_NAMED_ENGINES = 6


class BraveOptions(BaseModel):
    """Brave Search."""

    brave_key: SecretStr | None = Field(None, description="switches Brave Search on")
    brave_per_second: float = Field(1.0, gt=0, description="requests a second your plan allows")
    brave_url: str = Field("https://api.search.brave.com/res/v1", description="the Brave Search API")


class Brave(OnlineProvider):
    """See `SearchProvider`.

    GET {base}/web/search?q=&count=&freshness=1990-01-01toYYYY-MM-DD, the key in X-Subscription-Token; q has at
    most 400 characters and 50 words. https://api-dashboard.search.brave.com/api-reference/web/search/get
    """

    name = "brave"
    label = "Brave Search"
    brings = "pages of the whole web"
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
            open_service(
                search,
                own.brave_url,
                steps,
                {"X-Subscription-Token": key},
                raise_limit="Set CROWDNOTES_SEARCH_BRAVE_PER_SECOND to your plan's limit, or take a larger plan.",
            ),
            needs=None if key else needed("BRAVE_KEY", "a key of the Brave Search API"),
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
            "count": min(limit, _MAX_RESULTS),
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


class SearXngOptions(BaseModel):
    """SearXNG."""

    searxng_url: str | None = Field(None, description="your SearXNG server; it must send json")


class SearXng(OnlineProvider):
    """See `SearchProvider`.

    GET {base}/search?q=&format=json&language=, of a metasearch server of one's own. A server that does not list json
    under search.formats answers 403, or its page with 200. docs/search.md leads to one in three commands. It has no
    bound of time but "the last day, month, year", so the program keeps the cutoff.
    https://docs.searxng.org/dev/search_api.html
    """

    name = "searxng"
    label = "SearXNG"
    brings = "pages of the whole web, from your own server"
    options = SearXngOptions
    free = False
    searches_web = True

    @classmethod
    def make(cls, search: SearchSettings) -> Self:
        """Few queries of a case: each is passed on to many engines, which tire of a server that asks too much."""
        url = search.of(SearXngOptions).searxng_url
        return cls(
            open_service(search, url or "", COURTEOUS),
            needs=None if url else needed("SEARXNG_URL", "the address of your SearXNG server"),
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
            if error.status != 403:
                raise
            raise _build_no_json_error() from error
        if body[:512].lstrip().lower().startswith((b"<!doctype html", b"<html")):
            raise _build_no_json_error()
        answer = parse_json(body)
        results = records(answer, "results")
        if not results and (silent := _list_silent_engines(answer)):
            raise SearchError(
                f"It found nothing, and some of its engines failed: {silent}.",
                ProviderState.FAILED,
                "Try later, or choose other engines in its settings.yml.",
                of_query=True,
            )
        hits = web_hits(self.name, query, results, snippet="content", published="publishedDate")
        return first_hits(hits, limit, until)


def _list_silent_engines(answer: JsonObject) -> str:
    """Return the engines that gave no answer, each with its reason; some versions list pairs, others names."""
    found = dig(answer, "unresponsive_engines")
    engines = [
        " ".join(f"({plain_line(part)})" if place else plain_line(part) for place, part in enumerate(parts[:2]) if part)
        for item in (found if isinstance(found, list) else [])
        if (parts := [part for part in (item if isinstance(item, list) else [item]) if isinstance(part, str)])
    ]
    more = len(engines) - _MAX_NAMED_ENGINES
    return ", ".join([*engines[:_MAX_NAMED_ENGINES], *([f"{more} more"] if more > 0 else [])])


def _build_no_json_error() -> SearchError:
    return SearchError(
        "It does not send JSON.", ProviderState.FAILED, "Add json to search.formats in its settings.yml."
    )


_TAVILY_PACE = Pace(100, 66.0, 4)  # https://docs.tavily.com/documentation/rate-limits
_TAVILY_PACE_WITHOUT_KEY = Pace(20, 66.0, 2)  # five cases a minute: a guest asks little
_MAX_EXCLUDED_DOMAINS = 150  # that it takes; what it finds of more is left out when it is here
_TAVILY_QUIET_SECONDS = 60.0  # what its limit of requests a minute comes to


class TavilyOptions(BaseModel):
    """Tavily."""

    tavily_key: SecretStr | None = Field(None, description="raises Tavily's limits")
    tavily_url: str = Field("https://api.tavily.com", description="the Tavily API")


def tavily_service(search: SearchSettings) -> Service:
    """Tavily's API with the key that is set, else as a guest."""
    own = search.of(TavilyOptions)
    key = own.tavily_key.get_secret_value() if own.tavily_key else ""
    if not key:
        guest = open_service(
            search,
            own.tavily_url,
            _TAVILY_PACE_WITHOUT_KEY,
            quiet_seconds=_TAVILY_QUIET_SECONDS,
            raise_limit="Without a key few searches are allowed. Set CROWDNOTES_SEARCH_TAVILY_KEY (free).",
        )
        return replace(guest, headers={"X-Tavily-Access-Mode": "keyless"})
    headers = {"Authorization": f"Bearer {key}"}
    return open_service(search, own.tavily_url, _TAVILY_PACE, headers, quiet_seconds=_TAVILY_QUIET_SECONDS)


class Tavily(OnlineProvider):
    """See `SearchProvider`. Without a key it is the fallback where no other web search is set up.

    POST {base}/search {query, search_depth, max_results, end_date, exclude_domains}, the key as a bearer token; 432
    and 433 say that the plan's limit is used up. `end_date` has been seen to leak, and pages mostly come without a
    date: the cutoff is kept by the date of the page itself. https://docs.tavily.com/documentation/api-reference/endpoint/search
    Without a key a header says so, and the answers are the same under lower limits, which are not published:
    https://docs.tavily.com/documentation/keyless
    """

    name = "tavily"
    label = "Tavily"
    brings = "pages of the whole web, with extracts"
    options = TavilyOptions
    searches_web = True

    @classmethod
    def make(cls, search: SearchSettings) -> Self:
        """Few queries of a case: each costs a credit, or some of what a guest may ask."""
        service = tavily_service(search)
        if service.keyed:
            return cls(service, at_once=4, most_queries=6)
        return cls(service, at_once=2, most_queries=4, is_fallback=True)

    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:  # noqa: ARG002
        """Web pages, the plain search that costs one credit."""
        asked = plain_query(query, 400)
        if not asked:
            return []
        document: dict[str, object] = {
            "query": asked,
            "search_depth": "basic",
            "max_results": min(limit, _MAX_RESULTS),
        }
        if self.leave_out:
            document["exclude_domains"] = self.leave_out[:_MAX_EXCLUDED_DOMAINS]
        if until is not None:
            document["end_date"] = until.isoformat()
        results = records(parse_json(self.service.post("/search", document, check)), "results")
        return first_hits(web_hits(self.name, query, results, snippet="content", published="published_date"), limit)
