"""Wikipedia: background in the post's language, without a key; as it stood at the cutoff when there is one.

GET {base}/api.php?action=query&list=search and, for a cutoff, prop=revisions with rvstart. Requests one
after another and a User-Agent with a contact are asked for. https://www.mediawiki.org/wiki/API:Search,
https://www.mediawiki.org/wiki/API:Revisions and https://www.mediawiki.org/wiki/API:Etiquette
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import ClassVar, Self
from urllib.parse import quote

from pydantic import BaseModel, Field

from crowdnotes.domain import Hit, ProviderState
from crowdnotes.errors import SearchError
from crowdnotes.evidence.search.provider import (
    JsonObject,
    OnlineProvider,
    all_then_any,
    dig,
    first_hits,
    make_hit,
    parse_json,
    records,
    string,
    unexpected,
)
from crowdnotes.evidence.search.service import Check, Pace, Service, open_service
from crowdnotes.settings import SearchSettings
from crowdnotes.text.dates import parse_date
from crowdnotes.wording import say

PACE = Pace(10, 1.1, 1)  # one after another
_AS_OF = 3  # pages looked up as they stood: each takes a request of its own
_LANGUAGE = re.compile(r"[a-z]{2,3}")
_WIKITEXT = 40_000  # characters of an old revision looked at: its opening lies well within


class WikipediaOptions(BaseModel):
    """Wikipedia."""

    wikipedia_url: str = Field(
        "https://{language}.wikipedia.org/w", description="MediaWiki's folder of scripts; {language} is filled in"
    )


class Wikipedia(OnlineProvider):
    """See `SearchProvider`. The service's base URL holds {language}."""

    name = "wikipedia"
    label = "Wikipedia"
    brings = "brings.wikipedia"
    options: ClassVar[type[BaseModel]] = WikipediaOptions
    site: ClassVar[str] = "wikipedia.org"

    @classmethod
    def make(cls, search: SearchSettings) -> Self:
        """Few queries of a case: there is one article a subject, and more wordings find the same ones."""
        return cls(open_service(search, search.of(WikipediaOptions).wikipedia_url, PACE), most_queries=4)

    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:
        """Articles with all words, else with any; English when the post's language is not known.

        With `until`, links lead to the revision that stood at the end of that day and the snippet is
        the opening of it; an article that is younger is left out.
        """
        edition = language if language and _LANGUAGE.fullmatch(language) else "en"
        service = replace(self.service, base_url=self.service.base_url.replace("{language}", edition))

        def ask(words: str) -> list[JsonObject]:
            params: dict[str, str | int] = {"list": "search", "srsearch": words, "srlimit": limit, "srnamespace": 0}
            return records(_query(service, params, check), "query", "search")

        found = all_then_any(query, ask)
        if until is None:
            return first_hits((self._hit(record, query, edition) for record in found), limit)
        pages = [string(record, "title") for record in found[: min(limit, _AS_OF)]]
        hits = [self._hit_as_of(service, title, query, edition, until, check) for title in pages if title]
        return first_hits(hits, limit)

    def _hit(self, record: JsonObject, query: str, edition: str) -> Hit | None:
        title = string(record, "title")
        return make_hit(
            self.name,
            query,
            title=title,
            snippet=string(record, "snippet"),
            url=f"https://{edition}.{self.site}/wiki/{quote(title.replace(' ', '_'), safe='/:()', errors='replace')}",
            published=parse_date(string(record, "timestamp")),
        )

    def _hit_as_of(
        self, service: Service, title: str, query: str, edition: str, until: date, check: Check
    ) -> Hit | None:
        params: dict[str, str | int] = {
            "prop": "revisions", "titles": title, "rvprop": "ids|timestamp|content", "rvslots": "main",
            "rvlimit": 1, "rvdir": "older", "rvstart": f"{until.isoformat()}T23:59:59Z",
        }  # fmt: skip
        pages = records(_query(service, params, check), "query", "pages")
        revision = next((item for page in pages for item in records(page, "revisions", may_lack=True)), None)
        number = string(revision, "revid")
        if not number.isdecimal():
            return None
        address = f"title={quote(title, safe='', errors='replace')}&oldid={number}"
        return make_hit(
            self.name,
            query,
            title=title,
            snippet=opening(string(dig(revision, "slots"), "main", "content")),
            url=f"https://{edition}.{self.site}/w/index.php?{address}",
            published=parse_date(string(revision, "timestamp")),
        )


def _query(service: Service, params: dict[str, str | int], check: Check) -> JsonObject:
    answer = ask_wiki(service, {"action": "query", **params}, check)
    if not isinstance(dig(answer, "query"), dict):
        raise unexpected()
    return answer


def ask_wiki(service: Service, params: Mapping[str, str | int], check: Check) -> JsonObject:
    """What MediaWiki answers; its own errors, which come with a good status, are labelled."""
    common: dict[str, str | int] = {"format": "json", "formatversion": 2}
    answer = parse_json(service.get("/api.php", {**common, **params}, check))
    code = string(answer, "error", "code")
    if code in ("ratelimited", "maxlag", "toomanyrequests"):
        raise SearchError(say("services.too_often"), ProviderState.RATE_LIMITED)
    if code:
        raise SearchError(say("services.not_now"), ProviderState.FAILED)
    return answer


def opening(wikitext: str) -> str:
    """The article's opening words without templates, tables, notes and link brackets."""
    text = wikitext[:_WIKITEXT]
    text = re.sub(r"<ref[^<>]*/>|<ref\b.*?(?:</ref>|$)|<!--.*?(?:-->|$)", "", text, flags=re.DOTALL | re.IGNORECASE)
    text = _without_nested(_without_nested(text, "{{", "}}"), "{|", "|}")
    text = re.split(r"^==", text, maxsplit=1, flags=re.MULTILINE)[0]
    text = re.sub(r"\[\[(?:File|Image|Datei|Fichier|Archivo):[^\n]*", "", text, flags=re.IGNORECASE)
    text = re.sub(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]", r"\1", text)
    text = re.sub(r"\[https?://\S+ ([^\[\]]*)\]", r"\1", text)
    return re.sub(r"'{2,5}", "", text).strip()


def _without_nested(text: str, begin: str, end: str) -> str:
    """The text outside of `begin`…`end`, however deeply they are nested."""
    kept: list[str] = []
    depth = 0
    for piece in re.split(f"({re.escape(begin)}|{re.escape(end)})", text):
        if piece == begin:
            depth += 1
        elif piece == end:
            depth = max(0, depth - 1)
        elif depth == 0:
            kept.append(piece)
    return "".join(kept)
