"""Wikidata: dates of life and office, and places, of the persons and bodies that a claim names; without a key.

GET {base}/api.php?action=wbsearchentities&search= and ?action=wbgetentities&ids=, one request after another, with a
User-Agent that says whom to ask. An entry is told as it stands now; what is dated after a cutoff is left out.
https://www.wikidata.org/w/api.php?action=help&modules=wbsearchentities
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any, Self

from pydantic import BaseModel, Field

from crowdnotes.domain import Hit
from crowdnotes.evidence.search.provider import (
    JsonObject,
    OnlineProvider,
    dig,
    first_hits,
    make_hit,
    records,
    string,
    unexpected,
)
from crowdnotes.evidence.search.service import Check, Pace, open_service
from crowdnotes.evidence.search.wikipedia import ask_wiki
from crowdnotes.settings import SearchSettings
from crowdnotes.text.names import names_in
from crowdnotes.wording import say

_PACE = Pace(10, 1.1, 1)  # one after another
_NAMES = 2  # looked up for a query: each takes two requests
_STATEMENTS = 4  # of one property
_PROPERTIES = {
    "P569": "registers.born",
    "P19": "registers.born_in",
    "P570": "registers.died",
    "P20": "registers.died_in",
    "P39": "registers.office",
    "P571": "registers.begun",
    "P576": "registers.ended",
    "P159": "registers.seat",
    "P17": "registers.country",
}
_BEGIN, _END = "P580", "P582"
_DAY, _MONTH = 11, 10  # precisions of a time


class WikidataOptions(BaseModel):
    """Wikidata."""

    wikidata_url: str = Field("https://www.wikidata.org/w", description="Wikidata's folder of scripts")


class Wikidata(OnlineProvider):
    """See `SearchProvider`."""

    name = "wikidata"
    label = "Wikidata"
    brings = "brings.wikidata"
    options = WikidataOptions
    gives_entries = True

    @classmethod
    def make(cls, search: SearchSettings) -> Self:
        """Two queries of a case: more wordings name the same persons."""
        return cls(open_service(search, search.of(WikidataOptions).wikidata_url, _PACE), most_queries=2)

    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:  # noqa: ARG002
        """The entries of the names in the query; nothing is asked where it has none."""
        found: dict[str, JsonObject] = {}
        for name in names_in(query)[: min(limit, _NAMES)]:
            first = next(iter(self._named(name, check)), None)
            if first is not None and string(first, "id"):
                found[string(first, "id")] = first
        if not found:
            return []
        entries = self._entries(list(found), "claims|labels|descriptions", check)
        places = {place for entry in entries.values() for place in _values(entry)}
        names = self._entries(sorted(places)[:50], "labels", check) if places else {}
        labels = {number: _label(entry) for number, entry in names.items()}
        return first_hits((self._hit(number, entries.get(number), labels, query, until) for number in found), limit)

    def _named(self, name: str, check: Check) -> list[JsonObject]:
        params: dict[str, str | int] = {"action": "wbsearchentities", "search": name, "language": "en", "limit": 1}
        return records(ask_wiki(self.service, params, check), "search")

    def _entries(self, numbers: list[str], props: str, check: Check) -> Mapping[str, JsonObject]:
        params = {"action": "wbgetentities", "ids": "|".join(numbers), "props": props, "languages": "en"}
        found = dig(ask_wiki(self.service, params, check), "entities")
        if not isinstance(found, dict):
            raise unexpected()
        return found

    def _hit(self, number: str, entry: object, labels: Mapping[str, str], query: str, until: date | None) -> Hit | None:
        told = [
            say(words, value=value)
            for name, words in _PROPERTIES.items()
            for statement in records(entry, "claims", name, may_lack=True)[:_STATEMENTS]
            if (value := _told(statement, labels, until))
        ]
        about = f"{_label(entry)}: {string(entry, 'descriptions', 'en', 'value')}."
        if not told:
            return None
        url = f"https://www.wikidata.org/wiki/{number}"
        return make_hit(
            self.name, query, title=f"{_label(entry)} ({number})", snippet=" ".join([about, *told]), url=url
        )


def _label(entry: object) -> str:
    return string(entry, "labels", "en", "value")


def _values(entry: object) -> list[str]:
    """The numbers of the entries that an entry's statements lead to."""
    found = (
        string(statement, "mainsnak", "datavalue", "value", "id")
        for name in _PROPERTIES
        for statement in records(entry, "claims", name, may_lack=True)[:_STATEMENTS]
    )
    return [number for number in found if number]


def _told(statement: JsonObject, labels: Mapping[str, str], until: date | None) -> str:
    """A statement's value, with since when and until when it held; "" for one that is not to be told."""
    if string(statement, "rank") == "deprecated":
        return ""
    value = dig(statement, "mainsnak", "datavalue", "value")
    if string(value, "time"):
        return _day(value, until)
    name = labels.get(string(value, "id"), "")
    begun, ended = (_qualifier(statement, which, until) for which in (_BEGIN, _END))
    if not name or (until is not None and _qualifier(statement, _BEGIN, None) and not begun):
        return ""
    since = say("registers.since", value=begun) if begun else ""
    to = say("registers.to", value=ended) if ended else ""
    return f"{name} {since} {to}".strip()


def _qualifier(statement: JsonObject, which: str, until: date | None) -> str:
    first = next(iter(records(statement, "qualifiers", which, may_lack=True)), {})
    return _day(dig(first, "datavalue", "value"), until)


def _day(value: Any, until: date | None) -> str:
    """A time as it is known: a day, a month or a year; "" when it is later than `until`, or before our era."""
    time, precision = string(value, "time"), dig(value, "precision")
    if not time.startswith("+") or not isinstance(precision, int):
        return ""
    said = time[1:11] if precision >= _DAY else time[1:8] if precision == _MONTH else time[1:5]
    return "" if until is not None and said > until.isoformat() else said
