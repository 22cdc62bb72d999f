"""WHO IRIS: guidelines, reports and resolutions of the World Health Organization, with abstracts; without a key.

GET {base}/discover/search/objects?query=&dsoType=item&size=, HAL of DSpace 7. Its filter by date differs from one such
server to another, so the cutoff is kept here, by the day, month or year that a record states. Its pages are built by
script: an abstract is read as the service gives it. https://github.com/DSpace/RestContract
"""

from __future__ import annotations

import re
from datetime import date
from typing import Self

from pydantic import BaseModel, Field

from crowdnotes.domain import Hit
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
from crowdnotes.evidence.search.service import Check, Pace, open_service
from crowdnotes.settings import SearchSettings
from crowdnotes.text.dates import first_day, parse_date

_PACE = Pace(5, 1.1, 2)  # no limit is published
_ISSUED = re.compile(r"(\d{4})(?:-(\d\d))?")


class WhoIrisOptions(BaseModel):
    """WHO IRIS."""

    who_iris_url: str = Field("https://iris.who.int/server/api", description="the API of WHO IRIS")


class WhoIris(OnlineProvider):
    """See `SearchProvider`."""

    name = "who-iris"
    label = "WHO IRIS"
    brings = "brings.who_iris"
    options = WhoIrisOptions
    gives_entries = True

    @classmethod
    def make(cls, search: SearchSettings) -> Self:
        """Two queries of a case: the claim's words, and the medical terms."""
        service = open_service(search, search.of(WhoIrisOptions).who_iris_url, _PACE)
        return cls(service, at_once=2, most_queries=2)

    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:  # noqa: ARG002
        """Publications with all words, else with any."""
        size = limit if until is None else 2 * limit

        def ask(words: str) -> list[JsonObject]:
            params: dict[str, str | int] = {"query": words, "dsoType": "item", "size": size}
            found = dig(parse_json(self.service.get("/discover/search/objects", params, check)), "_embedded")
            if not isinstance(dig(found, "searchResult"), dict):
                raise unexpected()
            return records(found, "searchResult", "_embedded", "objects", may_lack=True)

        found = (dig(record, "_embedded", "indexableObject") for record in all_then_any(query, ask))
        return first_hits((self._hit(item, query, until) for item in found), limit, until)

    def _hit(self, item: object, query: str, until: date | None) -> Hit | None:
        issued, handle = _stated(item, "dc.date.issued"), string(item, "handle")
        known = _ISSUED.match(issued)
        first = first_day(int(known[1]), int(known[2]) if known[2] else None) if known else None
        if not handle or (until is not None and (first is None or first > until)):
            return None
        return make_hit(
            self.name,
            query,
            title=_stated(item, "dc.title") or string(item, "name"),
            snippet=_stated(item, "dc.description.abstract") or _stated(item, "dc.description"),
            url=f"https://iris.who.int/handle/{handle}",
            published=parse_date(issued),
        )


def _stated(item: object, field: str) -> str:
    """The first value of a field of Dublin Core."""
    return next((string(value, "value") for value in records(item, "metadata", field, may_lack=True)), "")
