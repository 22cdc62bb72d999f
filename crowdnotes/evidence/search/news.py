"""Search providers for news: Wikipedia's current events, and GDELT."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import ClassVar, Self

from pydantic import BaseModel, Field

from crowdnotes.domain import Hit
from crowdnotes.errors import SearchError
from crowdnotes.evidence.search.provider import (
    JsonObject,
    OnlineProvider,
    all_then_any,
    compact_day,
    dig,
    first_hits,
    make_hit,
    parse_json,
    records,
    refused,
    search_words,
    string,
    whole_records,
)
from crowdnotes.evidence.search.service import Check, Pace, open_service
from crowdnotes.evidence.search.wikimedia import (
    MAX_SEARCH_CHARACTERS,
    WikipediaOptions,
    ask_wiki,
    open_wikimedia,
    opening,
)
from crowdnotes.settings_sections import SearchSettings
from crowdnotes.text.dates import parse_date
from crowdnotes.text.languages import LANGUAGE_NAMES
from crowdnotes.text.names import dates_in
from crowdnotes.text.tokens import content_stems

_PORTAL_NAMESPACE = 100  # the number of its name space
_MAX_FOUND_DAYS = 4
_IN_TITLE = 'intitle:"Current events"'
_RECENT_DAYS = 7
_MIN_SHARED_WORDS = 2  # words that an entry has in common with the query; one alone finds everything
_DAY_TITLE_PATTERN = re.compile(r"Portal:Current events/(\d{4}) (\w+) (\d{1,2})")
_EXTERNAL_LINK_PATTERN = re.compile(r"\[(https?://[^\s\[\]]+) [^\[\]]*\]")


class CurrentEvents(OnlineProvider):
    """See `SearchProvider`.

    A page a day, of which each entry is an event in a sentence with links to news of it; in English alone. A hit is
    what an entry links, in the entry's words and of its day.
    GET {base}/api.php?action=query&list=search&srnamespace=100 finds days by their words, and prop=revisions gives the
    wikitext of pages such as "Portal:Current events/2026 November 3".
    https://en.wikipedia.org/wiki/Portal:Current_events, https://www.mediawiki.org/wiki/API:Search
    """

    name = "current-events"
    label = "Wikipedia's current events"
    brings = "each day's events, with news reports"
    options: ClassVar[type[BaseModel]] = WikipediaOptions

    @classmethod
    def make(cls, search: SearchSettings) -> Self:
        """Two queries of a case: an event has few entries."""
        base = search.of(WikipediaOptions).wikipedia_url.replace("{language}", "en")
        return cls(open_wikimedia(search, base), most_queries=2)

    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:  # noqa: ARG002
        """Entries of the days that the query names, of the last week and of the days that speak of it, best first."""
        wanted = content_stems(query)
        if not wanted:
            return []

        def ask(words: str) -> list[JsonObject]:
            params: dict[str, str | int] = {
                "list": "search",
                "srsearch": f"{_IN_TITLE} {words}",
                "srnamespace": _PORTAL_NAMESPACE,
                "srlimit": _MAX_FOUND_DAYS,
            }
            return records(ask_wiki(self.service, {"action": "query", **params}, check), "query", "search")

        last = until or datetime.now(UTC).date()
        named = [day for words in dates_in(query) if (day := parse_date(words))]
        most = MAX_SEARCH_CHARACTERS - len(_IN_TITLE) - 1
        matching = all_then_any(query, ask, most_characters=most)
        found = [day for record in matching if (day := _parse_day_title(string(record, "title")))]
        days = dict.fromkeys([*named, *found, *(last - timedelta(days=before) for before in range(_RECENT_DAYS))])
        all_entries = self._entries([day for day in days if day <= last], check)
        entries = [entry for entry in all_entries if entry.shares(wanted)]
        entries.sort(key=lambda entry: (-entry.shares(wanted), -entry.day.toordinal()))
        return first_hits((entry.as_hit(self.name, query) for entry in entries), limit, until)

    def _entries(self, days: list[date], check: Check) -> Iterator[_EventEntry]:
        titles = "|".join(f"Portal:Current events/{day:%Y %B} {day.day}" for day in days)
        params = {"action": "query", "prop": "revisions", "titles": titles, "rvprop": "content", "rvslots": "main"}
        for page in records(ask_wiki(self.service, params, check), "query", "pages"):
            day = _parse_day_title(string(page, "title"))
            revision = next(iter(records(page, "revisions", may_lack=True)), None)
            if day is not None and revision is not None:
                yield from _parse_entries(day, string(dig(revision, "slots"), "main", "content"))


@dataclass(frozen=True, slots=True)
class _EventEntry:
    day: date
    topic: str
    text: str
    link: str

    def shares(self, wanted: frozenset[str]) -> int:
        """Return how many of the words it has; 0 for too few."""
        shared = len(wanted & content_stems(f"{self.topic} {self.text}"))
        return shared if shared >= min(_MIN_SHARED_WORDS, len(wanted)) else 0

    def as_hit(self, provider: str, query: str) -> Hit | None:
        title = f"{self.topic}: {self.text}" if self.topic else self.text
        return make_hit(provider, query, title=title, snippet=self.text, url=self.link, published=self.day)


def _parse_entries(day: date, wikitext: str) -> Iterator[_EventEntry]:
    """Yield the entries of a day's page: lines of a nested list, whose upper lines name the topic."""
    topics: dict[int, str] = {}
    for line in wikitext.splitlines():
        depth = len(line) - len(line.lstrip("*"))
        link = _EXTERNAL_LINK_PATTERN.search(line)
        text = opening(_EXTERNAL_LINK_PATTERN.sub("", line.lstrip("*")))
        if depth and link is None:
            topics = {level: topic for level, topic in topics.items() if level < depth} | {depth: text}
        elif depth and link is not None and text:
            above = [level for level in topics if level < depth]
            yield _EventEntry(day, topics[max(above)] if above else "", text, link.group(1))


def _parse_day_title(title: str) -> date | None:
    found = _DAY_TITLE_PATTERN.fullmatch(title)
    return parse_date(f"{found[3]} {found[2]} {found[1]}") if found else None


# A sentence of its own: neither JSON nor a page.
_REFUSAL_PATTERN = re.compile(rb"(?:\xef\xbb\xbf)?\s*[^\s{\[<\xef]")
_ARTICLE_PATTERN = re.compile(r'\{\s*"url"')
_MAX_ARTICLES = 250  # that it lists at most
_GDELT_PACE = Pace(1, 1.1, 1, gap_seconds=5.5)
_GDELT_TIMEOUT_SECONDS = 5.0
_GDELT_QUIET_SECONDS = 600.0
_GDELT_WINDOW = timedelta(days=90)
_MAX_GDELT_WORDS = 6
_MIN_GDELT_WORD_LETTERS = 3


class GdeltOptions(BaseModel):
    """GDELT."""

    gdelt_url: str = Field("https://api.gdeltproject.org/api/v2/doc/doc", description="the DOC 2.0 API of GDELT")


class Gdelt(OnlineProvider):
    """See `SearchProvider`.

    News of the world of the last three months, in the post's language, by DOC 2.0, without a key.
    GET {base}?query=&mode=artlist&format=json&maxrecords=&startdatetime=&enddatetime=YYYYMMDDHHMMSS; one request in
    five seconds. It answers 429, or a sentence with 200, whenever it is busy, also to a first request: so it is asked
    once a case, for five seconds at most and without a second try. Words of one or two letters it refuses. Its JSON is
    not always whole: of a damaged list, the articles that can be read are taken.
    https://blog.gdeltproject.org/gdelt-doc-2-0-api-debuts/
    """

    name = "gdelt"
    label = "GDELT"
    brings = "news of the last three months; often busy"
    options = GdeltOptions

    @classmethod
    def make(cls, search: SearchSettings) -> Self:
        """Return it for one query of a case, tried once: its answers take long."""
        service = open_service(
            search, search.of(GdeltOptions).gdelt_url, _GDELT_PACE, quiet_seconds=_GDELT_QUIET_SECONDS
        )
        seconds = min(service.request_seconds, _GDELT_TIMEOUT_SECONDS)
        return cls(replace(service, tries=1, request_seconds=seconds), most_queries=1)

    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:
        """Articles with all of the first words, in the language of the query where it is known."""
        words = [word for word in search_words(query) if len(word) >= _MIN_GDELT_WORD_LETTERS][:_MAX_GDELT_WORDS]
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
            params["startdatetime"] = f"{until - _GDELT_WINDOW:%Y%m%d}000000"
            params["enddatetime"] = f"{until:%Y%m%d}235959"
        body = self.service.get("", params, check)
        if re.search(rb"limit requests|rate limit|too many requests", body[:500], re.IGNORECASE):
            self.service.pacer.pause(_GDELT_QUIET_SECONDS)
            raise self.service.too_often()
        if _REFUSAL_PATTERN.match(body):  # "The specified phrase is too short.", with the status 200
            raise refused(body.decode(errors="replace"))
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
                for article in _read_articles(body)
            ),
            limit,
            until,
        )


def _read_articles(body: bytes) -> list[JsonObject]:
    """Return the list's articles; where it is damaged, those of them that are whole.

    SearchError where there are none.
    """
    try:
        return records(parse_json(body), "articles", may_lack=True)
    except SearchError:
        if whole := whole_records(body, _ARTICLE_PATTERN, _MAX_ARTICLES):
            return whole
        raise
