"""Crossref: GET {base}/works?filter=doi:…&rows=1, whose records may hold an abstract in JATS markup.

https://www.crossref.org/documentation/retrieve-metadata/rest-api/rest-api-filters/
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from crowdnotes.evidence.abstracts.base import Abstract, plain_abstract
from crowdnotes.evidence.abstracts.paper import Paper
from crowdnotes.evidence.search.answers import Record, parse_json, records, string
from crowdnotes.evidence.search.base import Check
from crowdnotes.evidence.search.crossref import first_issued
from crowdnotes.evidence.search.http import Service
from crowdnotes.evidence.search.notices import PREPRINT, notice_of
from crowdnotes.evidence.search.plain import plain_line


@dataclass(frozen=True, slots=True)
class CrossrefAbstracts:
    """See `AbstractService`. `credentials` is the parameter that says who asks: mailto."""

    service: Service
    credentials: Mapping[str, str] = field(default_factory=dict, repr=False)
    label: str = "Crossref"

    def abstract(self, paper: Paper, check: Check) -> Abstract | None:
        """See `AbstractService.abstract`. Knows papers by DOI alone."""
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


def _notices(item: Record) -> tuple[str, ...]:
    marks = [PREPRINT] if string(item, "subtype") == "preprint" else []
    updates = (notice_of(string(update, "type")) for update in records(item, "updated-by", may_lack=True))
    return tuple(dict.fromkeys([*marks, *(notice for notice in updates if notice is not None)]))
