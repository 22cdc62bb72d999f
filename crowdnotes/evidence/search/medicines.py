"""Search providers for medicines: openFDA's labels and recalls, and DailyMed's labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from itertools import chain
from typing import Self
from urllib.parse import quote

from pydantic import BaseModel, Field

from crowdnotes.domain import Hit
from crowdnotes.evidence.search.provider import (
    JsonObject,
    OnlineProvider,
    compact_day,
    first_hits,
    make_hit,
    not_asked,
    parse_json,
    records,
    search_words,
    string,
    unexpected,
)
from crowdnotes.evidence.search.service import COURTEOUS, Check, Pace, open_service
from crowdnotes.evidence.search.when_to_ask import words_of
from crowdnotes.settings_sections import SearchSettings
from crowdnotes.text.dates import parse_date
from crowdnotes.wording import fill

_OPENFDA_PACE = Pace(200, 66.0, 3)
_MAX_SEARCH_WORDS = 6
_MAX_LABEL_PART_CHARACTERS = 700  # characters of each part of a label
_RECALL_KINDS = ("drug", "food", "device")
_LABEL_FIELDS = ("boxed_warning", "indications_and_usage", "warnings", "warnings_and_cautions", "contraindications")


class OpenFdaOptions(BaseModel):
    """openFDA."""

    openfda_url: str = Field("https://api.fda.gov", description="openFDA")


class OpenFda(OnlineProvider):
    """See `SearchProvider`.

    GET {base}/drug/label.json and {base}/drug|food|device/enforcement.json with search=field:(a AND b) and limit=, days
    as [YYYYMMDD TO YYYYMMDD]; nothing found is a 404 with the code NOT_FOUND. Without a key, 240 requests a minute and
    1,000 a day. Counts of reports of adverse events are never asked for: they say nothing of causes.
    https://open.fda.gov/apis/query-syntax/
    """

    name = "openfda"
    label = "openFDA"
    brings = "US medicine labels and recalls"
    options = OpenFdaOptions
    gives_entries = True

    @classmethod
    def make(cls, search: SearchSettings) -> Self:
        """Two queries of a case: more wordings name the same medicine."""
        service = open_service(search, search.of(OpenFdaOptions).openfda_url, _OPENFDA_PACE)
        return cls(replace(service, nothing_status=404), at_once=2, most_queries=2)

    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:  # noqa: ARG002
        """Recalls where the query speaks of one, then labels of the medicines that it names."""
        if not (words_of("substance", query) or words_of("recall", query)):
            raise not_asked("The search words name no medicine and no recall.")
        found = chain(self._recalls(query, limit, until, check), self._labels(query, limit, until, check))
        return first_hits(found, limit)

    def _labels(self, query: str, limit: int, until: date | None, check: Check) -> Iterator[Hit | None]:
        named = [word for said in words_of("substance", query) for word in search_words(said)][:_MAX_SEARCH_WORDS]
        if not named:
            return
        which = _build_any_search("openfda.generic_name", "openfda.brand_name", words=named)
        for record in self._records(
            "/drug/label.json", which + _build_date_search("effective_time", until), limit, check
        ):
            brand, maker = (string(record, "openfda", name) for name in ("brand_name", "manufacturer_name"))
            fields = [string(record, name) for name in _LABEL_FIELDS]
            yield make_hit(
                self.name,
                query,
                title=f"Label of {brand or string(record, 'openfda', 'generic_name')}, {maker}",
                snippet=" ".join(part[:_MAX_LABEL_PART_CHARACTERS] for part in fields if part),
                url=label_page(string(record, "set_id")),
                published=compact_day(string(record, "effective_time")),
            )

    def _recalls(self, query: str, limit: int, until: date | None, check: Check) -> Iterator[Hit | None]:
        """Any of the words is asked for, best first, and what holds fewer than half of them is left out."""
        spoken_of = {word for said in words_of("recall", query) for word in search_words(said)}
        subject = [word for word in search_words(query) if word not in spoken_of][:_MAX_SEARCH_WORDS]
        if not spoken_of or not subject:
            return
        which = _build_any_search("product_description", "reason_for_recall", words=subject)
        for kind in _RECALL_KINDS:
            for record in self._records(
                f"/{kind}/enforcement.json", which + _build_date_search("report_date", until), limit, check
            ):
                about = f"{string(record, 'product_description')} {string(record, 'reason_for_recall')}".lower()
                if 2 * sum(word in about for word in subject) >= len(subject):
                    yield self._recall(record, query)

    def _recall(self, record: JsonObject, query: str) -> Hit | None:
        names = ("product_description", "reason_for_recall", "classification", "status", "recalling_firm")
        fields = {name: string(record, name) for name in names}
        return make_hit(
            self.name,
            query,
            title=f"Recall: {fields['product_description'][:120]}",
            snippet=fill(
                "{product_description} Reason for recall: {reason_for_recall} {classification}, {status}. "
                "Recalling firm: {recalling_firm}.",
                **fields,
            ),
            url=f"https://www.accessdata.fda.gov/scripts/ires/?Event={quote(string(record, 'event_id'), safe='')}",
            published=compact_day(string(record, "report_date")),
        )

    def _records(self, path: str, which: str, limit: int, check: Check) -> list[JsonObject]:
        answer = parse_json(self.service.get(path, {"search": which, "limit": limit}, check))
        if string(answer, "error", "code") == "NOT_FOUND":
            return []
        if "error" in answer:
            raise unexpected()
        return records(answer, "results")


def label_page(number: str) -> str:
    """Return where a person reads the label of a set id: DailyMed."""
    return f"https://dailymed.nlm.nih.gov/dailymed/drugInfo.cfm?setid={quote(number, safe='')}"


def _build_any_search(*fields: str, words: list[str]) -> str:
    """Return a search for any of the words in any of the fields."""
    each = " OR ".join(words)
    return f"({' OR '.join(f'{field}:({each})' for field in fields)})"


def _build_date_search(field: str, until: date | None) -> str:
    return f" AND {field}:[19900101 TO {until:%Y%m%d}]" if until else ""


_MAX_MEDICINES_PER_QUERY = 2  # asked for a query
_MAX_LABELS_PER_MEDICINE = 3  # of one medicine: they say nearly the same


class DailyMedOptions(BaseModel):
    """DailyMed."""

    dailymed_url: str = Field("https://dailymed.nlm.nih.gov/dailymed/services/v2", description="DailyMed's services")


class DailyMed(OnlineProvider):
    """See `SearchProvider`.

    GET {base}/spls.json?drug_name=&pagesize=&published_date=YYYY-MM-DD&published_date_comparison=lte; without a key. A
    label is found by the name of its medicine, and read from its page.
    https://dailymed.nlm.nih.gov/dailymed/webservices-help/v2/spls_api.cfm
    """

    name = "dailymed"
    label = "DailyMed"
    brings = "US medicine labels from their makers"
    options = DailyMedOptions

    @classmethod
    def make(cls, search: SearchSettings) -> Self:
        """Two queries of a case: more wordings name the same medicine."""
        return cls(open_service(search, search.of(DailyMedOptions).dailymed_url, COURTEOUS), at_once=2, most_queries=2)

    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:  # noqa: ARG002
        """Labels of the medicines that the query names; nothing is asked where it names none."""
        bound = {"published_date": until.isoformat(), "published_date_comparison": "lte"} if until else {}
        medicines = words_of("substance", query)[:_MAX_MEDICINES_PER_QUERY]
        if not medicines:
            raise not_asked("The search words name no medicine.")
        hits = []
        for medicine in medicines:
            params = {"drug_name": medicine, "pagesize": str(min(limit, _MAX_LABELS_PER_MEDICINE)), **bound}
            for record in records(parse_json(self.service.get("/spls.json", params, check)), "data"):
                title, published = string(record, "title"), parse_date(string(record, "published_date"))
                link = label_page(string(record, "setid"))
                hits.append(make_hit(self.name, query, title=title, snippet=title, url=link, published=published))
        return first_hits(hits, limit, until)
