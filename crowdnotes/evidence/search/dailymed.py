"""DailyMed: the labels of medicines that are sold in the United States, as their makers sent them in; without a key.

GET {base}/spls.json?drug_name=&pagesize=&published_date=YYYY-MM-DD&published_date_comparison=lte. A label is found by
the name of its medicine, and read from its page. https://dailymed.nlm.nih.gov/dailymed/webservices-help/v2/spls_api.cfm
"""

from __future__ import annotations

from datetime import date
from typing import Self

from pydantic import BaseModel, Field

from crowdnotes.domain import Hit
from crowdnotes.evidence.search.openfda import label_page
from crowdnotes.evidence.search.provider import OnlineProvider, first_hits, make_hit, parse_json, records, string
from crowdnotes.evidence.search.service import COURTEOUS, Check, open_service
from crowdnotes.evidence.search.when_to_ask import words_of
from crowdnotes.settings import SearchSettings
from crowdnotes.text.dates import parse_date

_MEDICINES = 2  # asked for a query
_LABELS = 3  # of one medicine: they say nearly the same


class DailyMedOptions(BaseModel):
    """DailyMed."""

    dailymed_url: str = Field("https://dailymed.nlm.nih.gov/dailymed/services/v2", description="DailyMed's services")


class DailyMed(OnlineProvider):
    """See `SearchProvider`."""

    name = "dailymed"
    label = "DailyMed"
    brings = "brings.dailymed"
    options = DailyMedOptions

    @classmethod
    def make(cls, search: SearchSettings) -> Self:
        """Two queries of a case: more wordings name the same medicine."""
        return cls(open_service(search, search.of(DailyMedOptions).dailymed_url, COURTEOUS), at_once=2, most_queries=2)

    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:  # noqa: ARG002
        """Labels of the medicines that the query names; nothing is asked where it names none."""
        bound = {"published_date": until.isoformat(), "published_date_comparison": "lte"} if until else {}
        hits = []
        for medicine in words_of("substance", query)[:_MEDICINES]:
            params = {"drug_name": medicine, "pagesize": str(min(limit, _LABELS)), **bound}
            for record in records(parse_json(self.service.get("/spls.json", params, check)), "data"):
                title, published = string(record, "title"), parse_date(string(record, "published_date"))
                link = label_page(string(record, "setid"))
                hits.append(make_hit(self.name, query, title=title, snippet=title, url=link, published=published))
        return first_hits(hits, limit, until)
