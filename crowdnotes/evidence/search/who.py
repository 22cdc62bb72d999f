"""Search providers of the World Health Organization: IRIS and the Disease Outbreak News."""

from __future__ import annotations

import re
from datetime import date
from typing import Self
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
    not_asked,
    parse_json,
    records,
    string,
    unexpected,
)
from crowdnotes.evidence.search.service import Check, Pace, open_service
from crowdnotes.evidence.search.when_to_ask import words_of
from crowdnotes.settings_sections import SearchSettings
from crowdnotes.text.dates import first_day, parse_date

_PACE = Pace(5, 1.1, 2)  # no limit is published
_ISSUED_DATE_PATTERN = re.compile(r"(\d{4})(?:-(\d\d))?")


class WhoIrisOptions(BaseModel):
    """WHO IRIS."""

    who_iris_url: str = Field("https://iris.who.int/server/api", description="the API of WHO IRIS")


class WhoIris(OnlineProvider):
    """See `SearchProvider`.

    Guidelines, reports and resolutions, with abstracts; without a key.
    GET {base}/discover/search/objects?query=&dsoType=item&size=, HAL of DSpace 7. Its filter by date differs from one
    such server to another, so the cutoff is kept here, by the day, month or year that a record states. Its pages are
    built by script: an abstract is read as the service gives it. https://github.com/DSpace/RestContract
    """

    name = "who-iris"
    label = "WHO IRIS"
    brings = "WHO guidelines and reports"
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
        issued, handle = _read_field(item, "dc.date.issued"), string(item, "handle")
        known = _ISSUED_DATE_PATTERN.match(issued)
        first = first_day(int(known[1]), int(known[2]) if known[2] else None) if known else None
        if not handle or (until is not None and (first is None or first > until)):
            return None
        return make_hit(
            self.name,
            query,
            title=_read_field(item, "dc.title") or string(item, "name"),
            snippet=_read_field(item, "dc.description.abstract") or _read_field(item, "dc.description"),
            url=f"https://iris.who.int/handle/{handle}",
            published=parse_date(issued),
        )


def _read_field(item: object, field: str) -> str:
    """Return the first value of a field of Dublin Core."""
    return next((string(value, "value") for value in records(item, "metadata", field, may_lack=True)), "")


_ITEM_URL = "https://www.who.int/emergencies/disease-outbreak-news/item"
_MAX_DISEASES_PER_QUERY = 2  # asked for a query
_REPORTS_PER_PAGE = 100
_SMALLEST_FULL_PAGE = 20  # a server may give fewer than it is asked for; a shorter page than this is the last one
_MAX_PAGES = 15


class WhoOutbreaksOptions(BaseModel):
    """WHO Disease Outbreak News."""

    who_outbreaks_url: str = Field(
        "https://www.who.int/api/news/diseaseoutbreaknews", description="the list of WHO's Disease Outbreak News"
    )


class WhoOutbreaks(OnlineProvider):
    """See `SearchProvider`.

    GET {base}?$filter=(contains(Title,'Measles') or …) and PublicationDateAndTime le …&$orderby=&$top=&$select=, OData
    in JSON, without a key. Its titles name the disease and the country, so that is what is asked for. Without an order
    the oldest come first, and $orderby is not always obeyed: so the program sorts, and turns pages where it has to.
    https://www.who.int/emergencies/disease-outbreak-news
    """

    name = "who-outbreaks"
    label = "WHO outbreak news"
    brings = "WHO reports on outbreaks"
    options = WhoOutbreaksOptions

    @classmethod
    def make(cls, search: SearchSettings) -> Self:
        """Two queries of a case: more wordings name the same disease."""
        service = open_service(search, search.of(WhoOutbreaksOptions).who_outbreaks_url, _PACE)
        return cls(service, at_once=2, most_queries=2)

    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:  # noqa: ARG002
        """Find reports whose title names a disease of the query, the newest first."""
        bound = f" and PublicationDateAndTime le {until.isoformat()}T23:59:59Z" if until else ""
        diseases = words_of("disease", query)[:_MAX_DISEASES_PER_QUERY]
        if not diseases:
            raise not_asked("The search words name none of its diseases.")
        found: list[JsonObject] = []
        unseen: list[str] = []  # diseases with more reports than were looked at
        for disease in diseases:
            reports, is_whole = self._reports(f"({_build_title_filter(disease)}){bound}", limit, check)
            found += reports
            unseen += [] if is_whole else [disease]
        hits = [
            make_hit(
                self.name,
                query,
                title=string(report, "Title"),
                snippet=string(report, "Overview") or string(report, "Title"),
                url=f"{_ITEM_URL}/{quote(string(report, 'UrlName'), safe='')}",
                published=parse_date(string(report, "PublicationDateAndTime")),
            )
            for report in sorted(found, key=_when_published, reverse=True)
            if string(report, "UrlName")
        ]
        shown = first_hits(hits, limit, until)
        if unseen:
            raise SearchError(
                f"It has over {len(found)} reports on {' and '.join(unseen)}, unsorted: newer ones may be missing.",
                ProviderState.FAILED,
                of_query=True,
                found=shown,
            )
        return shown

    def _reports(self, which: str, limit: int, check: Check) -> tuple[list[JsonObject], bool]:
        """Return reports, the newest first where the service sorts them, and whether none is missing."""
        found: list[JsonObject] = []
        for _ in range(_MAX_PAGES):
            params: dict[str, str | int] = {
                "$filter": which,
                "$orderby": "PublicationDateAndTime desc",
                "$top": max(limit, _REPORTS_PER_PAGE),
                "$select": "Title,UrlName,PublicationDateAndTime,Overview",
                "sf_culture": "en",
                **({"$skip": len(found)} if found else {}),
            }
            page = records(parse_json(self.service.get("", params, check)), "value")
            new = [report for report in page if report not in found]
            found += new
            dates = [_when_published(report) for report in found]
            if not new or len(page) < _SMALLEST_FULL_PAGE or dates == sorted(dates, reverse=True):
                return found, True
        return found, False


def _when_published(report: JsonObject) -> str:
    """Return a time in ISO 8601 and UTC, which sorts as text."""
    return string(report, "PublicationDateAndTime")


def _build_title_filter(disease: str) -> str:
    """Return a title that names it, as titles write it: letters may have to be alike.

    "Measles", "poliovirus", "MERS", "Yellow Fever", "Rift Valley fever".
    """
    *first, last = disease.split(" ")
    of_a_place = " ".join((*(word.capitalize() for word in first), last))
    forms = dict.fromkeys((disease.capitalize(), disease, disease.upper(), disease.title(), of_a_place))
    return " or ".join(f"contains(Title,'{form}')" for form in forms)
