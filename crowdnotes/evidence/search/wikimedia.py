"""Search providers of Wikimedia: Wikipedia and Wikidata, and what both share."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any, Self
from urllib.parse import quote

from pydantic import BaseModel, Field

from crowdnotes.domain import Hit
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
    refused,
    string,
    unexpected,
)
from crowdnotes.evidence.search.service import WIKIMEDIA, Check, Service, open_service, wikimedia_pacer
from crowdnotes.settings_sections import SearchSettings
from crowdnotes.text.dates import parse_date
from crowdnotes.text.names import names_in
from crowdnotes.wording import fill

MAX_SEARCH_CHARACTERS = 300  # that CirrusSearch takes: more is refused
_MAX_REVISIONS = 3  # old versions looked up: each takes a request of its own
_LANGUAGE_CODE_PATTERN = re.compile(r"[a-z]{2,3}")
_MAX_WIKITEXT_CHARACTERS = 40_000  # characters of an old revision looked at: its opening lies well within


class WikipediaOptions(BaseModel):
    """Wikipedia."""

    wikipedia_url: str = Field(
        "https://{language}.wikipedia.org/w", description="MediaWiki's folder of scripts; {language} is filled in"
    )


class Wikipedia(OnlineProvider):
    """See `SearchProvider`. The service's base URL holds {language}.

    GET {base}/api.php?action=query&list=search and, for a cutoff, prop=revisions with rvstart; without a key. Requests
    one after another and a User-Agent with a contact are asked for. https://www.mediawiki.org/wiki/API:Search,
    https://www.mediawiki.org/wiki/API:Revisions and https://www.mediawiki.org/wiki/API:Etiquette
    """

    name = "wikipedia"
    label = "Wikipedia"
    brings = "background, as of the day of the cutoff"
    options = WikipediaOptions

    @classmethod
    def make(cls, search: SearchSettings) -> Self:
        """Few queries of a case: there is one article a subject, and more wordings find the same ones."""
        return cls(open_wikimedia(search, search.of(WikipediaOptions).wikipedia_url), most_queries=4)

    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:
        """Articles with all words, else with any; English when the post's language is not known.

        With `until`, links lead to the revision at the end of that day and the snippet is
        its opening; an article that is younger is left out.
        """
        edition = language if language and _LANGUAGE_CODE_PATTERN.fullmatch(language) else "en"
        service = replace(self.service, base_url=self.service.base_url.replace("{language}", edition))

        def ask(words: str) -> list[JsonObject]:
            params: dict[str, str | int] = {"list": "search", "srsearch": words, "srlimit": limit, "srnamespace": 0}
            return records(_query_wiki(service, params, check), "query", "search")

        found = all_then_any(query, ask, most_characters=MAX_SEARCH_CHARACTERS)
        if until is None:
            return first_hits((self._hit(record, query, edition) for record in found), limit)
        pages = [string(record, "title") for record in found[: min(limit, _MAX_REVISIONS)]]
        hits = [self._hit_as_of(service, title, query, edition, until, check) for title in pages if title]
        return first_hits(hits, limit)

    def _hit(self, record: JsonObject, query: str, edition: str) -> Hit | None:
        title = string(record, "title")
        return make_hit(
            self.name,
            query,
            title=title,
            snippet=string(record, "snippet"),
            url=f"https://{edition}.wikipedia.org/wiki/{quote(title.replace(' ', '_'), safe='/:()', errors='replace')}",
            published=parse_date(string(record, "timestamp")),
        )

    def _hit_as_of(
        self, service: Service, title: str, query: str, edition: str, until: date, check: Check
    ) -> Hit | None:
        params: dict[str, str | int] = {
            "prop": "revisions", "titles": title, "rvprop": "ids|timestamp|content", "rvslots": "main",
            "rvlimit": 1, "rvdir": "older", "rvstart": f"{until.isoformat()}T23:59:59Z",
        }  # fmt: skip
        pages = records(_query_wiki(service, params, check), "query", "pages")
        revision = next((item for page in pages for item in records(page, "revisions", may_lack=True)), None)
        number = string(revision, "revid")
        if not number.isdecimal():
            return None
        address = f"title={quote(title, safe='', errors='replace')}&oldid={number}"
        return make_hit(
            self.name,
            query,
            title=title,
            snippet=opening(string(dig(revision, "slots"), "main", "content")),
            url=f"https://{edition}.wikipedia.org/w/index.php?{address}",
            published=parse_date(string(revision, "timestamp")),
        )


def open_wikimedia(search: SearchSettings, url: str) -> Service:
    """Return a service of Wikimedia, asked at the pace that all of them share."""
    more = "" if search.contact_email else "Set CROWDNOTES_SEARCH_CONTACT_EMAIL: Wikimedia wants a contact."
    return replace(open_service(search, url, WIKIMEDIA, raise_limit=more), pacer=wikimedia_pacer())


def _query_wiki(service: Service, params: dict[str, str | int], check: Check) -> JsonObject:
    answer = ask_wiki(service, {"action": "query", **params}, check)
    if not isinstance(dig(answer, "query"), dict):
        raise unexpected()
    return answer


def ask_wiki(service: Service, params: Mapping[str, str | int], check: Check) -> JsonObject:
    """Return what MediaWiki answers; its own errors, which come with a good status, are labelled."""
    common: dict[str, str | int] = {"format": "json", "formatversion": 2}
    answer = parse_json(service.get("/api.php", {**common, **params}, check))
    code = string(answer, "error", "code")
    if code in ("ratelimited", "maxlag", "toomanyrequests"):
        raise service.too_often()
    if code:
        raise refused(string(answer, "error", "info"))
    return answer


def opening(wikitext: str) -> str:
    """Return the article's opening words without templates, tables, notes and link brackets."""
    text = wikitext[:_MAX_WIKITEXT_CHARACTERS]
    text = re.sub(r"<ref[^<>]*/>|<ref\b.*?(?:</ref>|$)|<!--.*?(?:-->|$)", "", text, flags=re.DOTALL | re.IGNORECASE)
    text = _strip_nested(_strip_nested(text, "{{", "}}"), "{|", "|}")
    text = re.split(r"^==", text, maxsplit=1, flags=re.MULTILINE)[0]
    text = re.sub(r"\[\[(?:File|Image|Datei|Fichier|Archivo):[^\n]*", "", text, flags=re.IGNORECASE)
    text = re.sub(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]", r"\1", text)
    text = re.sub(r"\[https?://\S+ ([^\[\]]*)\]", r"\1", text)
    return re.sub(r"'{2,5}", "", text).strip()


def _strip_nested(text: str, begin: str, end: str) -> str:
    """Return the text outside of `begin`…`end`, however deeply they are nested."""
    kept: list[str] = []
    depth = 0
    for piece in re.split(f"({re.escape(begin)}|{re.escape(end)})", text):
        if piece == begin:
            depth += 1
        elif piece == end:
            depth = max(0, depth - 1)
        elif depth == 0:
            kept.append(piece)
    return "".join(kept)


_MAX_NAMES_PER_QUERY = 2  # looked up for a query: each takes two requests
_MAX_STATEMENTS = 4  # of one property
_SENTENCE_BY_PROPERTY = {
    "P569": "Born: {value}.",
    "P19": "Place of birth: {value}.",
    "P570": "Died: {value}.",
    "P20": "Place of death: {value}.",
    "P39": "Position held: {value}.",
    "P571": "Inception: {value}.",
    "P576": "Dissolved: {value}.",
    "P159": "Headquarters: {value}.",
    "P17": "Country: {value}.",
}
_START_PROPERTY, _END_PROPERTY = "P580", "P582"
_DAY_PRECISION, _MONTH_PRECISION = 11, 10  # precisions of a time


class WikidataOptions(BaseModel):
    """Wikidata."""

    wikidata_url: str = Field("https://www.wikidata.org/w", description="Wikidata's folder of scripts")


class Wikidata(OnlineProvider):
    """See `SearchProvider`.

    Of the persons and bodies that a claim names. GET {base}/api.php?action=wbsearchentities&search= and
    ?action=wbgetentities&ids=, one request after another, with a User-Agent that says whom to ask; without a key. An
    entry is given as it is now; what is dated after a cutoff is left out.
    https://www.wikidata.org/w/api.php?action=help&modules=wbsearchentities
    """

    name = "wikidata"
    label = "Wikidata"
    brings = "dates of life and office, and places"
    options = WikidataOptions
    gives_entries = True

    @classmethod
    def make(cls, search: SearchSettings) -> Self:
        """Two queries of a case: more wordings name the same persons."""
        return cls(open_wikimedia(search, search.of(WikidataOptions).wikidata_url), most_queries=2)

    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:  # noqa: ARG002
        """Return the entries of the names in the query; nothing is asked where it has none."""
        names_asked = names_in(query)[: min(limit, _MAX_NAMES_PER_QUERY)]
        if not names_asked:
            raise not_asked("The search words name no person or body.")
        found: dict[str, JsonObject] = {}
        for name in names_asked:
            first = next(iter(self._named(name, check)), None)
            if first is not None and string(first, "id"):
                found[string(first, "id")] = first
        if not found:
            return []
        entries = self._entries(list(found), "claims|labels|descriptions", check)
        places = {place for entry in entries.values() for place in _find_linked_entries(entry)}
        names = self._entries(sorted(places)[:50], "labels", check) if places else {}
        labels = {number: _read_label(entry) for number, entry in names.items()}
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
        statements = [
            fill(words, value=value)
            for name, words in _SENTENCE_BY_PROPERTY.items()
            for statement in records(entry, "claims", name, may_lack=True)[:_MAX_STATEMENTS]
            if (value := _describe_statement(statement, labels, until))
        ]
        about = f"{_read_label(entry)}: {string(entry, 'descriptions', 'en', 'value')}."
        if not statements:
            return None
        url = f"https://www.wikidata.org/wiki/{number}"
        return make_hit(
            self.name, query, title=f"{_read_label(entry)} ({number})", snippet=" ".join([about, *statements]), url=url
        )


def _read_label(entry: object) -> str:
    return string(entry, "labels", "en", "value")


def _find_linked_entries(entry: object) -> list[str]:
    """Return the numbers of the entries that an entry's statements lead to."""
    found = (
        string(statement, "mainsnak", "datavalue", "value", "id")
        for name in _SENTENCE_BY_PROPERTY
        for statement in records(entry, "claims", name, may_lack=True)[:_MAX_STATEMENTS]
    )
    return [number for number in found if number]


def _describe_statement(statement: JsonObject, labels: Mapping[str, str], until: date | None) -> str:
    """Return a statement's value, with since when and until when it held; "" for one that is left out."""
    if string(statement, "rank") == "deprecated":
        return ""
    value = dig(statement, "mainsnak", "datavalue", "value")
    if string(value, "time"):
        return _format_known_time(value, until)
    name = labels.get(string(value, "id"), "")
    begun, ended = (_read_qualifier(statement, which, until) for which in (_START_PROPERTY, _END_PROPERTY))
    if not name or (until is not None and _read_qualifier(statement, _START_PROPERTY, None) and not begun):
        return ""
    since = f"from {begun}" if begun else ""
    to = f"until {ended}" if ended else ""
    return f"{name} {since} {to}".strip()


def _read_qualifier(statement: JsonObject, which: str, until: date | None) -> str:
    first = next(iter(records(statement, "qualifiers", which, may_lack=True)), {})
    return _format_known_time(dig(first, "datavalue", "value"), until)


def _format_known_time(value: Any, until: date | None) -> str:
    """Return a time as it is known: a day, a month or a year; "" when it is later than `until`, or before our era."""
    time, precision = string(value, "time"), dig(value, "precision")
    if not time.startswith("+") or not isinstance(precision, int):
        return ""
    said = time[1:11] if precision >= _DAY_PRECISION else time[1:8] if precision == _MONTH_PRECISION else time[1:5]
    return "" if until is not None and said > until.isoformat() else said
