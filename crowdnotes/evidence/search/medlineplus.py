"""MedlinePlus: health topics in plain language, English or Spanish, without a key.

GET {base}/query?db=healthTopics&term=&retmax=&rettype=brief, answers in XML; 85 requests a minute; the
source is to be named. Topics are kept up to date and carry no date: background, not proof.
https://medlineplus.gov/about/developers/webservices/
"""

from __future__ import annotations

from datetime import date
from typing import Any, Self

from pydantic import BaseModel, Field

from crowdnotes.domain import Hit
from crowdnotes.evidence.search.provider import (
    OnlineProvider,
    all_then_any,
    first_hits,
    make_hit,
    not_asked,
    parse_xml,
    unexpected,
    xml_text,
)
from crowdnotes.evidence.search.service import Check, Pace, contact, open_service
from crowdnotes.settings_sections import SearchSettings

_PACE = Pace(85, 66.0, 4)
_SUPPORTED_LANGUAGES = frozenset({"en", "es"})


class MedlinePlusOptions(BaseModel):
    """MedlinePlus."""

    medlineplus_url: str = Field("https://wsearch.nlm.nih.gov/ws", description="the MedlinePlus web service")


class MedlinePlus(OnlineProvider):
    """See `SearchProvider`."""

    name = "medlineplus"
    label = "MedlinePlus"
    brings = "health topics in plain words"
    options = MedlinePlusOptions

    @classmethod
    def make(cls, search: SearchSettings) -> Self:
        """Few queries of a case: of a few hundred topics, more wordings find the same ones."""
        service = open_service(search, search.of(MedlinePlusOptions).medlineplus_url, _PACE)
        return cls(service, contact(search), at_once=4, most_queries=4)

    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:  # noqa: ARG002
        """Search for all words first; any of them when no topic has all. `until` cannot bound it: no topic has a date.

        A query in a language that it does not speak is not asked.
        """
        if (language or "en") not in _SUPPORTED_LANGUAGES:
            raise not_asked("It has no articles in the language of these words.")
        database = "healthTopicsSpanish" if language == "es" else "healthTopics"

        def ask(term: str) -> list[Any]:
            params = {"db": database, "term": term, "retmax": str(limit), "rettype": "brief", **self.credentials}
            root = parse_xml(self.service.get("/query", params, check))
            if root.tag != "nlmSearchResult":
                raise unexpected()
            return list(root.iterfind("list/document"))

        return first_hits((self._hit(document, query) for document in all_then_any(query, ask, few=2)), limit)

    def _hit(self, document: Any, query: str) -> Hit | None:
        contents: dict[str, str] = {}
        for content in document.iterfind("content"):
            contents.setdefault(content.get("name", ""), xml_text(content))
        return make_hit(
            self.name,
            query,
            title=contents.get("title", ""),
            snippet=contents.get("FullSummary") or contents.get("snippet", ""),
            url=document.get("url", ""),
        )
