"""Crossref: papers by DOI with their abstracts, and what became of them: retractions, corrections.

GET {base}/works?query.bibliographic=&rows=&filter=has-abstract:true,until-pub-date:YYYY-MM-DD&mailto=, one paper by
filter=doi:…. A record's `updated-by` names its retraction, by its publisher or by Retraction Watch; a record with
`update-to` is such a notice itself. Lists: 1 request a second, 3 in the polite pool (with an e-mail address), as its
x-rate-limit headers say. https://www.crossref.org/documentation/retrieve-metadata/rest-api/access-and-authentication/
and https://www.crossref.org/documentation/retrieve-metadata/rest-api/rest-api-filters/
"""

from __future__ import annotations

from datetime import date
from typing import Self

from pydantic import BaseModel, Field

from crowdnotes.domain import Hit
from crowdnotes.evidence.duplicates import PREPRINT
from crowdnotes.evidence.reading.markup import plain_line
from crowdnotes.evidence.search.papers import Abstract, Paper, plain_abstract
from crowdnotes.evidence.search.provider import (
    RETRACTED,
    RETRACTION_NOTICE,
    JsonObject,
    OnlineProvider,
    dig,
    first_hits,
    make_hit,
    notices_of,
    parse_json,
    plain_query,
    records,
    string,
)
from crowdnotes.evidence.search.service import Check, Pace, open_service
from crowdnotes.settings import SearchSettings
from crowdnotes.text.dates import first_day, parse_date, settle


class CrossrefOptions(BaseModel):
    """Crossref."""

    crossref_url: str = Field("https://api.crossref.org/v1", description="the Crossref REST API")


class Crossref(OnlineProvider):
    """See `SearchProvider` and `AbstractService`."""

    name = "crossref"
    label = "Crossref"
    brings = "brings.crossref"
    options = CrossrefOptions

    @classmethod
    def make(cls, search: SearchSettings) -> Self:
        """Few queries of a case: at its pace, more would hold up every case."""
        at_once, most_queries = (3, 4) if search.contact_email else (1, 2)
        service = open_service(search, search.of(CrossrefOptions).crossref_url, Pace(at_once, 1.1, at_once))
        who = {"mailto": search.contact_email} if search.contact_email else {}
        return cls(service, who, at_once=at_once, most_queries=most_queries)

    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:  # noqa: ARG002
        """Papers whose bibliographic words are nearest to the query's."""
        asked = plain_query(query, 300)
        if not asked:
            return []
        bound = f",until-pub-date:{until.isoformat()}" if until else ""
        items = self._items(f"has-abstract:true{bound}", limit, check, **{"query.bibliographic": asked})
        return first_hits((self._hit(item, query, until) for item in items), limit)

    def abstract(self, paper: Paper, check: Check) -> Abstract | None:
        """See `AbstractService`. It knows papers by DOI alone."""
        if paper.doi is None:
            return None
        for item in self._items(f"doi:{paper.doi}", 1, check):
            text = plain_abstract(string(item, "abstract"))
            if text is not None and string(item, "DOI").lower() == paper.doi:
                published, not_before = _first_issued(item)
                return Abstract(
                    service=self.label,
                    title=plain_line(string(item, "title")),
                    text=text,
                    published=published,
                    not_before=not_before,
                    doi=paper.doi,
                    notices=_notices(item),
                )
        return None

    def _items(self, which: str, rows: int, check: Check, **more: str) -> list[JsonObject]:
        params: dict[str, str | int] = {"filter": which, "rows": rows, **more, **self.credentials}
        return records(parse_json(self.service.get("/works", params, check)), "message", "items")

    def _hit(self, item: JsonObject, query: str, until: date | None) -> Hit | None:
        doi = string(item, "DOI")
        published, not_before = _first_issued(item)
        # A partial date passes the service's filter by its first day: so it is looked at again.
        if not doi or (until is not None and not_before is not None and not_before > until):
            return None
        return make_hit(
            self.name,
            query,
            title=string(item, "title"),
            snippet=string(item, "abstract"),
            url=f"https://doi.org/{doi}",
            published=published,
            doi=doi,
            notices=_notices(item),
        )


def _first_issued(item: JsonObject) -> tuple[date | None, date | None]:
    """The day of a work's first publication, None when it is not known, and the first day that it can be."""
    year, month, day = _parts(item)
    registered = parse_date(string(item, "created", "date-time"))
    return settle(year, month, day, [registered] if registered else []), first_day(year, month)


def _parts(item: JsonObject) -> tuple[int | None, int | None, int | None]:
    """Year, month and day of the first publication, as far as they are stated ("issued" is the earliest)."""
    stated = dig(item, "issued", "date-parts")
    first = stated[0] if isinstance(stated, list) and stated and isinstance(stated[0], list) else []
    numbers = [part if isinstance(part, int) and not isinstance(part, bool) else None for part in first[:3]]
    year, month, day = (*numbers, None, None, None)[:3]
    if year is None or not 1500 <= year <= 9999:
        return None, None, None
    if month is None or not 1 <= month <= 12:
        return year, None, None
    return year, month, day


def _notices(item: JsonObject) -> tuple[str, ...]:
    """What became of the work; a notice that something else was retracted is not called retracted itself."""
    own = notices_of(string(update, "type") for update in records(item, "update-to", may_lack=True))
    marks = [
        PREPRINT if string(item, "subtype") == "preprint" else None,
        RETRACTION_NOTICE if RETRACTED in own else None,
    ]
    return notices_of((string(update, "type") for update in records(item, "updated-by", may_lack=True)), *marks)
