"""Crossref: papers by DOI with their abstracts, and what became of them: retractions, corrections.

GET {base}/works?query.bibliographic=&rows=&filter=has-abstract:true,until-pub-date:YYYY-MM-DD&mailto=. A
record's `updated-by` names its retraction, by its publisher or by Retraction Watch; a record with `update-to`
is such a notice itself. Lists: 1 request a second, 3 in the polite pool (with an e-mail address).
https://www.crossref.org/documentation/retrieve-metadata/rest-api/access-and-authentication/
https://www.crossref.org/documentation/retrieve-metadata/rest-api/rest-api-filters/
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date

from crowdnotes.domain import Hit
from crowdnotes.evidence.search.answers import (
    PREPRINT,
    RETRACTED,
    RETRACTION_NOTICE,
    Record,
    dig,
    notice_of,
    parse_json,
    plain_line,
    records,
    string,
)
from crowdnotes.evidence.search.papers import Abstract, Paper, plain_abstract
from crowdnotes.evidence.search.provider import Check, make_hit, plain_query
from crowdnotes.evidence.search.service import Service
from crowdnotes.text.dates import first_day, parse_date, settle

_MOST_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class Crossref:
    """See `SearchProvider`. `credentials` is the parameter that says who asks: mailto."""

    service: Service
    credentials: dict[str, str] = field(default_factory=dict, repr=False)
    name: str = "crossref"
    label: str = "Crossref"
    needs: str | None = None
    at_once: int = 1
    most_queries: int = 2

    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:  # noqa: ARG002
        """Papers whose bibliographic words are nearest to the query's."""
        asked = plain_query(query, _MOST_CHARACTERS)
        if not asked:
            return []
        bound = f",until-pub-date:{until.isoformat()}" if until else ""
        params: dict[str, str | int] = {
            "query.bibliographic": asked, "rows": limit, "filter": f"has-abstract:true{bound}", **self.credentials
        }  # fmt: skip
        items = records(parse_json(self.service.get("/works", params, check)), "message", "items")
        hits = (self._hit(item, query, until) for item in items[:limit])
        return [hit for hit in hits if hit is not None]

    def _hit(self, item: Record, query: str, until: date | None) -> Hit | None:
        doi = string(item, "DOI")
        published, not_before = first_issued(item)
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

    def abstract(self, paper: Paper, check: Check) -> Abstract | None:
        """See `AbstractService`. It knows papers by DOI alone."""
        if paper.doi is None:
            return None
        params: dict[str, str | int] = {"filter": f"doi:{paper.doi}", "rows": 1, **self.credentials}
        for item in records(parse_json(self.service.get("/works", params, check)), "message", "items"):
            text = plain_abstract(string(item, "abstract"))
            if text is not None and string(item, "DOI").lower() == paper.doi:
                published, not_before = first_issued(item)
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


def first_issued(item: Record) -> tuple[date | None, date | None]:
    """The day of a work's first publication, None when it is not known, and the first day that it can be."""
    year, month, day = _parts(item)
    registered = parse_date(string(item, "created", "date-time"))
    return settle(year, month, day, [registered] if registered else []), first_day(year, month)


def _parts(item: Record) -> tuple[int | None, int | None, int | None]:
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


def _notices(item: Record) -> tuple[str, ...]:
    marks = [PREPRINT] if string(item, "subtype") == "preprint" else []
    own = [notice_of(string(update, "type")) for update in records(item, "update-to", may_lack=True)]
    if RETRACTED in own:
        marks.append(RETRACTION_NOTICE)
    updates = (notice_of(string(update, "type")) for update in records(item, "updated-by", may_lack=True))
    return tuple(dict.fromkeys([*marks, *(notice for notice in updates if notice is not None)]))
