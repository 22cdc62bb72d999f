"""Search providers for papers (OpenAlex, Crossref, Europe PMC), and abstracts of papers.

An abstract is read where a paper's page cannot be. A paper is known by what the search said of it, else by the address
itself. What a page says of itself does not count: it could claim any paper's abstract for its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Protocol, Self, runtime_checkable
from urllib.parse import parse_qsl, unquote, urlsplit

from pydantic import BaseModel, Field, SecretStr

from crowdnotes.domain import Hit, SourceCategory
from crowdnotes.errors import FetchError, SearchError
from crowdnotes.evidence.duplicates import PREPRINT
from crowdnotes.evidence.reading.plain_text import plain_line, plain_text
from crowdnotes.evidence.search.provider import (
    RETRACTED,
    RETRACTION_NOTICE,
    JsonObject,
    OnlineProvider,
    all_then_any,
    dig,
    first_hits,
    make_hit,
    notices_of,
    parse_json,
    plain_query,
    records,
    string,
    strings,
    unexpected,
)
from crowdnotes.evidence.search.service import COURTEOUS, Check, Pace, open_service
from crowdnotes.evidence.source_types import categorise, original_of
from crowdnotes.evidence.ssrf_guard import Deadline
from crowdnotes.settings_sections import SearchSettings
from crowdnotes.text.dates import first_day, parse_date, settle
from crowdnotes.text.urls import canonical_url, doi_url

_OPENALEX_QUIET_SECONDS = 600.0  # what a day allows is used up
_OPENALEX_FIELDS = "id,doi,display_name,publication_date,is_retracted,type,abstract_inverted_index"
_REPLY_TYPES_FILTER = "type:erratum|retraction|letter|editorial"
_MAX_REPLIES = 3
_MAX_ABSTRACT_WORDS = 600  # words of an abstract
_DOI_ADDRESS = "https://doi.org/"


class OpenAlexOptions(BaseModel):
    """OpenAlex."""

    openalex_url: str = Field("https://api.openalex.org", description="OpenAlex")
    openalex_key: SecretStr | None = Field(None, description="free; without it, 100 searches a day")


class OpenAlex(OnlineProvider):
    """See `SearchProvider`.

    GET {base}/works?search=&filter=to_publication_date:YYYY-MM-DD&select=&per_page= and
    ?filter=cites:W…,type:erratum|…; without a key a hundred searches a day, with a free one a thousand.
    https://developers.openalex.org/api-reference/authentication
    """

    name = "openalex"
    label = "OpenAlex"
    brings = "studies, with retractions, letters and corrections"
    options = OpenAlexOptions

    @classmethod
    def make(cls, search: SearchSettings) -> Self:
        """One query of a case: each costs some of what a day allows."""
        own = search.of(OpenAlexOptions)
        key = own.openalex_key.get_secret_value() if own.openalex_key else ""
        more = "" if key else "Set CROWDNOTES_SEARCH_OPENALEX_KEY (free) to search ten times as much."
        service = open_service(
            search, own.openalex_url, COURTEOUS, quiet_seconds=_OPENALEX_QUIET_SECONDS, raise_limit=more
        )
        return cls(service, {"api_key": key} if key else {}, most_queries=1)

    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:  # noqa: ARG002
        """Studies, and after them what replies to the nearest one."""
        asked = plain_query(query, 300)
        if not asked:
            return []
        bound = [f"to_publication_date:{until.isoformat()}"] if until else []
        studies = self._works(limit, check, bound, search=asked)
        nearest = string(studies[0], "id").rpartition("/")[2] if studies else ""
        replies = (
            self._works(_MAX_REPLIES, check, [f"cites:{nearest}", _REPLY_TYPES_FILTER, *bound])
            if nearest.isalnum()
            else []
        )
        return first_hits((self._hit(work, query) for work in [*studies[:1], *replies, *studies[1:]]), limit, until)

    def _works(self, limit: int, check: Check, bounds: list[str], **more: str) -> list[JsonObject]:
        params: dict[str, str | int] = {"select": _OPENALEX_FIELDS, "per_page": limit, **more, **self.credentials}
        if bounds:
            params["filter"] = ",".join(bounds)
        return records(parse_json(self.service.get("/works", params, check)), "results")

    def _hit(self, work: JsonObject, query: str) -> Hit | None:
        doi = string(work, "doi")
        if not doi.startswith(_DOI_ADDRESS):
            return None
        notice = RETRACTION_NOTICE if string(work, "type") == "retraction" else None
        notice = RETRACTED if dig(work, "is_retracted") is True and notice is None else notice
        return make_hit(
            self.name,
            query,
            title=string(work, "display_name"),
            snippet=_rebuild_abstract(dig(work, "abstract_inverted_index")),
            url=doi,
            published=parse_date(string(work, "publication_date")),
            doi=doi.removeprefix(_DOI_ADDRESS),
            notices=[notice] if notice else [],
        )


def _rebuild_abstract(places: object) -> str:
    """Rebuild the abstract from words with their places; "" where there is none."""
    if not isinstance(places, dict):
        return ""
    words = {
        place: word
        for word, found in places.items()
        if isinstance(found, list)
        for place in found
        if isinstance(place, int) and 0 <= place < _MAX_ABSTRACT_WORDS
    }
    return " ".join(words[place] for place in sorted(words))


_PUBMED_PATTERN = re.compile(r"https://pubmed\.ncbi\.nlm\.nih\.gov/(\d{1,9})/")
_PMC_PATTERN = re.compile(r"https://pmc\.ncbi\.nlm\.nih\.gov/articles/(PMC\d{1,9})/")
_DOI_IN_PATH_PATTERN = re.compile(r"(?:^|/)(10\.\d{4,9}/.+)$")
_DOI_QUERY_FIELDS = ("id", "doi")  # journals.plos.org/plosone/article?id=10.1371/…
# Publishers whose article numbers are the second half of the DOI.
_NATURE_PATH_PATTERN = re.compile(r"^/articles/([a-z]?\d[\w.-]+|nature\d+|n[a-z]+\.?\d[\w.]*)/?$", re.IGNORECASE)
_ELSEVIER_PATH_PATTERN = re.compile(r"/(?:article/)?PII(S\d{4}-\d{3}[\dX]\(\d\d\)\d{5}-[\dX])", re.IGNORECASE)
_ELSEVIER_HOSTS = ("thelancet.com", "cell.com", "jacc.org", "ajog.org", "jvascsurg.org")


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper by the ids that are known of it, at least one; `doi` in lowercase, `pmcid` with "PMC"."""

    doi: str | None = None
    pmid: str | None = None
    pmcid: str | None = None


def paper_of(url: str | None, doi: str | None = None, pmid: str | None = None) -> Paper | None:
    """Return the paper that a link, or a search hit with its ids, is about; None for any other page."""
    address = original_of(url.strip()) if url else ""
    known = canonical_url(address) if address else ""
    in_pubmed, in_pmc = _PUBMED_PATTERN.fullmatch(known), _PMC_PATTERN.fullmatch(known)
    stated = _normalise_doi(doi) if doi else None
    found = Paper(
        doi=stated or _find_doi(address, known),
        pmid=(pmid if pmid and pmid.isascii() and pmid.isdigit() else None)
        or (in_pubmed.group(1) if in_pubmed else None),
        pmcid=in_pmc.group(1) if in_pmc else None,
    )
    return found if found != Paper() else None


def _find_doi(address: str, known: str) -> str | None:
    if known.startswith(_DOI_ADDRESS):
        return _normalise_doi(known.removeprefix(_DOI_ADDRESS))
    try:
        parts = urlsplit(address)
        host = (parts.hostname or "").removeprefix("www.")
    except ValueError:
        return None
    path = unquote(parts.path)
    written: list[str] = []
    # Any host can write a paper's DOI into its addresses.
    if categorise(address) is SourceCategory.RESEARCH:
        in_path = _DOI_IN_PATH_PATTERN.search(path)
        fields = [value for name, value in parse_qsl(parts.query) if name.lower() in _DOI_QUERY_FIELDS]
        written = [in_path.group(1)] if in_path is not None else []
        written += [value for value in fields if value.startswith("10.")]
    if host == "nature.com" and (found := _NATURE_PATH_PATTERN.match(path)) is not None:
        written.append(f"10.1038/{found.group(1)}")
    is_elsevier = any(host == name or host.endswith(f".{name}") for name in _ELSEVIER_HOSTS)
    if is_elsevier and (found := _ELSEVIER_PATH_PATTERN.search(path)) is not None:
        written.append(f"10.1016/{found.group(1)}")
    return _normalise_doi(written[0]) if written else None


def _normalise_doi(doi: str) -> str | None:
    """Return a DOI in lowercase without what addresses put around it; None for what is none."""
    address = doi_url(doi)
    return unquote(address.removeprefix(_DOI_ADDRESS)) if address else None


_MAX_FIND_SECONDS = 15.0  # for all services together: the page itself was waited for already
MIN_ABSTRACT_CHARACTERS = 80  # characters; "No abstract available" is none
_MAX_ABSTRACT_CHARACTERS = 8_000


@dataclass(frozen=True, slots=True)
class Abstract:
    """A paper's abstract as plain text, and what the service says of the paper.

    `not_before` is the first day on which it can have come out, where only a month or a year is known too.
    `notices` are marks that a reader must see, in the words of `notice_of`.
    """

    service: str
    title: str
    text: str
    published: date | None = None
    doi: str | None = None
    pmid: str | None = None
    notices: tuple[str, ...] = ()
    not_before: date | None = None


@runtime_checkable
class AbstractService(Protocol):
    """One place to ask. Implementations are safe to share between threads."""

    @property
    def label(self) -> str:
        """As a person knows it, e.g. "Europe PMC"."""
        ...

    def abstract(self, paper: Paper, check: Check) -> Abstract | None:
        """Return the abstract of that very paper; None when it is not known here or has none.

        Raises SearchError for whatever the service does wrong, and whatever `check` raises.
        """
        ...


def plain_abstract(markup: str) -> str | None:
    """Return an abstract as plain text of at most 8,000 characters; None for what is too short to be one."""
    text = plain_text(markup, _MAX_ABSTRACT_CHARACTERS)
    return text if len(text) >= MIN_ABSTRACT_CHARACTERS else None


class AbstractFinder:
    """The services among `services` that give abstracts, asked in turn. Safe to share between threads when they are."""

    def __init__(self, services: Iterable[object]) -> None:
        self._services = [service for service in services if isinstance(service, AbstractService)]

    def find(self, paper: Paper, check: Check) -> Abstract | str:
        """Return the first abstract that a service has, else a sentence that says what each answered.

        Raises nothing but what `check` raises.
        """
        deadline = Deadline(_MAX_FIND_SECONDS, check)
        said: list[str] = []
        for service in self._services:
            try:
                deadline.check()
                found = service.abstract(paper, deadline.check)
            except SearchError as error:
                said.append(f"{service.label}: {error.message}")
            except FetchError:
                said.append(f"{service.label}: It did not answer in time.")
                break
            else:
                if found is not None:
                    return found
                said.append(f"{service.label} has none.")
        return " ".join(["We could not get its abstract either.", *said]) if said else ""


class CrossrefOptions(BaseModel):
    """Crossref."""

    crossref_url: str = Field("https://api.crossref.org/v1", description="the Crossref REST API")


class Crossref(OnlineProvider):
    """See `SearchProvider` and `AbstractService`.

    GET {base}/works?query.bibliographic=&rows=&filter=has-abstract:true,until-pub-date:YYYY-MM-DD&mailto=, one paper by
    filter=doi:…. A record's `updated-by` names its retraction, by its publisher or by Retraction Watch; a record with
    `update-to` is such a notice itself. Lists: 1 request a second, 3 in the polite pool (with an e-mail address), as
    its x-rate-limit headers say.
    https://www.crossref.org/documentation/retrieve-metadata/rest-api/access-and-authentication/
    and https://www.crossref.org/documentation/retrieve-metadata/rest-api/rest-api-filters/
    """

    name = "crossref"
    label = "Crossref"
    brings = "papers and retractions"
    options = CrossrefOptions

    @classmethod
    def make(cls, search: SearchSettings) -> Self:
        """Few queries of a case: at its pace, more would hold up every case."""
        at_once, most_queries = (3, 4) if search.contact_email else (1, 2)
        more = "" if search.contact_email else "Set CROWDNOTES_SEARCH_CONTACT_EMAIL to search more often."
        pace = Pace(at_once, 1.1, at_once)
        service = open_service(search, search.of(CrossrefOptions).crossref_url, pace, raise_limit=more)
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
                published, not_before = _read_first_issued(item)
                return Abstract(
                    service=self.label,
                    title=plain_line(string(item, "title")),
                    text=text,
                    published=published,
                    not_before=not_before,
                    doi=paper.doi,
                    notices=_read_crossref_notices(item),
                )
        return None

    def _items(self, which: str, rows: int, check: Check, **more: str) -> list[JsonObject]:
        params: dict[str, str | int] = {"filter": which, "rows": rows, **more, **self.credentials}
        return records(parse_json(self.service.get("/works", params, check)), "message", "items")

    def _hit(self, item: JsonObject, query: str, until: date | None) -> Hit | None:
        doi = string(item, "DOI")
        published, not_before = _read_first_issued(item)
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
            notices=_read_crossref_notices(item),
        )


def _read_first_issued(item: JsonObject) -> tuple[date | None, date | None]:
    """Return the day of a work's first publication, None when it is not known, and the first day that it can be."""
    year, month, day = _read_date_parts(item)
    registered = parse_date(string(item, "created", "date-time"))
    return settle(year, month, day, [registered] if registered else []), first_day(year, month)


def _read_date_parts(item: JsonObject) -> tuple[int | None, int | None, int | None]:
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


def _read_crossref_notices(item: JsonObject) -> tuple[str, ...]:
    """Return the notices of a work; a notice that something else was retracted is not called retracted itself."""
    own = notices_of(string(update, "type") for update in records(item, "update-to", may_lack=True))
    marks = [
        PREPRINT if string(item, "subtype") == "preprint" else None,
        RETRACTION_NOTICE if RETRACTED in own else None,
    ]
    return notices_of((string(update, "type") for update in records(item, "updated-by", may_lack=True)), *marks)


_SOURCE_FILTER = "(SRC:MED OR SRC:PMC OR SRC:PPR)"  # papers and preprints: no patents, no theses


class EuropePmcOptions(BaseModel):
    """Europe PMC."""

    europe_pmc_url: str = Field(
        "https://www.ebi.ac.uk/europepmc/webservices/rest", description="Europe PMC, or a mirror of it"
    )


class EuropePmc(OnlineProvider):
    """See `SearchProvider` and `AbstractService`.

    GET {base}/search?query=&format=json&resultType=core&pageSize=&synonym=true, dates by the field FIRST_PDATE, one
    paper by DOI:"…", EXT_ID:… AND SRC:MED or PMCID:PMC…; without a key.
    https://europepmc.org/RestfulWebService and https://europepmc.org/searchsyntax
    """

    name = "europe-pmc"
    label = "Europe PMC"
    brings = "papers and preprints, with abstracts"
    options = EuropePmcOptions

    @classmethod
    def make(cls, search: SearchSettings) -> Self:
        """See `OnlineProvider`."""
        return cls(open_service(search, search.of(EuropePmcOptions).europe_pmc_url, COURTEOUS), at_once=6)

    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:  # noqa: ARG002
        """Search for all words first; any of them when nothing has all."""
        bound = f" AND FIRST_PDATE:[1800-01-01 TO {until.isoformat()}]" if until else ""

        def ask(words: str) -> list[JsonObject]:
            return self._records(f"({words}) AND {_SOURCE_FILTER}{bound}", limit, check, synonym="true")

        return first_hits((self._hit(record, query) for record in all_then_any(query, ask)), limit)

    def abstract(self, paper: Paper, check: Check) -> Abstract | None:
        """See `AbstractService`."""
        for record in self._records(_build_paper_query(paper), 5, check):
            text = plain_abstract(string(record, "abstractText"))
            if text is not None and _is_record_of(record, paper):
                return Abstract(
                    service=self.label,
                    title=plain_line(string(record, "title")),
                    text=text,
                    published=parse_date(string(record, "firstPublicationDate")),
                    doi=string(record, "doi").lower() or None,
                    pmid=string(record, "pmid") or None,
                    notices=_read_europe_pmc_notices(record),
                )
        return None

    def _records(self, query: str, limit: int, check: Check, **more: str) -> list[JsonObject]:
        params: dict[str, str | int] = {"query": query, "format": "json", "resultType": "core", "pageSize": limit}
        answer = parse_json(self.service.get("/search", params | more, check))
        if dig(answer, "hitCount") is None:
            raise unexpected()
        return records(answer, "resultList", "result", may_lack=True)

    def _hit(self, record: JsonObject, query: str) -> Hit | None:
        return make_hit(
            self.name,
            query,
            title=string(record, "title"),
            snippet=string(record, "abstractText"),
            url=_choose_paper_link(record),
            published=parse_date(string(record, "firstPublicationDate")),
            doi=string(record, "doi") or None,
            notices=_read_europe_pmc_notices(record),
        )


def _choose_paper_link(record: JsonObject) -> str:
    """Return the page that a reader and a program can both read: Europe PMC's own is built by script."""
    if pmid := string(record, "pmid"):
        return f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/"
    if pmcid := string(record, "pmcid"):
        return f"https://pmc.ncbi.nlm.nih.gov/articles/{pmcid}/"
    if doi := string(record, "doi"):
        return f"https://doi.org/{doi}"
    return f"https://europepmc.org/article/{string(record, 'source')}/{string(record, 'id')}"


def _build_paper_query(paper: Paper) -> str:
    if paper.pmid:
        return f"EXT_ID:{paper.pmid} AND SRC:MED"
    if paper.doi:
        quoted = paper.doi.replace("\\", "").replace('"', "")
        return f'DOI:"{quoted}"'
    return f"PMCID:{paper.pmcid}"


def _is_record_of(record: JsonObject, paper: Paper) -> bool:
    """Return whether the record is of that very paper, and not one that a loose search found."""
    if paper.pmid:
        return string(record, "pmid") == paper.pmid
    if paper.doi:
        return string(record, "doi").lower() == paper.doi
    return string(record, "pmcid").upper() == (paper.pmcid or "").upper()


def _read_europe_pmc_notices(record: JsonObject) -> tuple[str, ...]:
    relations = records(record, "commentCorrectionList", "commentCorrection", may_lack=True)
    kinds = [*strings(record, "pubTypeList", "pubType"), *(string(relation, "type") for relation in relations)]
    return notices_of(kinds, PREPRINT if string(record, "source") == "PPR" else None)
