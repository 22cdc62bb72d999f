"""MedlinePlus: health topics in plain language, English or Spanish, without a key.

GET {base}/query?db=healthTopics&term=&retmax=&rettype=brief, answers in XML; 85 requests a minute; the
source is to be named. Topics are kept up to date and carry no date: background, not proof.
https://medlineplus.gov/about/developers/webservices/
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import Any

from crowdnotes.domain import Hit
from crowdnotes.evidence.search.answers import parse_xml, unexpected, xml_text
from crowdnotes.evidence.search.provider import Check, all_of, any_of, make_hit, search_words
from crowdnotes.evidence.search.service import Service

_SPOKEN = frozenset({"en", "es"})


@dataclass(frozen=True, slots=True)
class MedlinePlus:
    """See `SearchProvider`. `credentials` are the parameters that say who asks: tool, email."""

    service: Service
    credentials: dict[str, str] = field(default_factory=dict, repr=False)
    name: str = "medlineplus"
    label: str = "MedlinePlus"
    needs: str | None = None
    at_once: int = 4
    most_queries: int = 4  # a few hundred topics: more wordings find the same ones

    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:  # noqa: ARG002
        """All words first; any of them when no topic has all. `until` cannot bound it: no topic has a date.

        A query in a language that it does not speak is not asked.
        """
        words = search_words(query)
        if not words or (language or "en") not in _SPOKEN:
            return []
        database = "healthTopicsSpanish" if language == "es" else "healthTopics"
        found = self._ask(database, all_of(words), limit, check)
        if not found and len(words) > 1:
            found = self._ask(database, any_of(words), limit, check)
        hits = (self._hit(document, query) for document in found[:limit])
        return [hit for hit in hits if hit is not None]

    def _ask(self, database: str, term: str, limit: int, check: Check) -> list[Any]:
        params: dict[str, str | int] = {
            "db": database,
            "term": term,
            "retmax": limit,
            "rettype": "brief",
            **self.credentials,
        }
        root = parse_xml(self.service.get("/query", params, check))
        if root.tag != "nlmSearchResult":
            raise unexpected()
        return list(root.iterfind("list/document"))

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
