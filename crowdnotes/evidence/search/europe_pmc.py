"""Europe PMC: papers, preprints and their abstracts, without a key.

GET {base}/search?query=&format=json&resultType=core&pageSize=&synonym=true, dates by the field FIRST_PDATE, one
paper by DOI:"…", EXT_ID:… AND SRC:MED or PMCID:PMC….
https://europepmc.org/RestfulWebService and https://europepmc.org/searchsyntax
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
    JsonObject,
    OnlineProvider,
    all_then_any,
    dig,
    first_hits,
    make_hit,
    notices_of,
    parse_json,
    records,
    string,
    strings,
    unexpected,
)
from crowdnotes.evidence.search.service import COURTEOUS, Check, open_service
from crowdnotes.settings import SearchSettings
from crowdnotes.text.dates import parse_date

_KINDS = "(SRC:MED OR SRC:PMC OR SRC:PPR)"  # papers and preprints: no patents, no theses


class EuropePmcOptions(BaseModel):
    """Europe PMC."""

    europe_pmc_url: str = Field(
        "https://www.ebi.ac.uk/europepmc/webservices/rest", description="Europe PMC, or a mirror of it"
    )


class EuropePmc(OnlineProvider):
    """See `SearchProvider` and `AbstractService`."""

    name = "europe-pmc"
    label = "Europe PMC"
    brings = "brings.europe_pmc"
    options = EuropePmcOptions

    @classmethod
    def make(cls, search: SearchSettings) -> Self:
        """See `OnlineProvider`."""
        return cls(open_service(search, search.of(EuropePmcOptions).europe_pmc_url, COURTEOUS), at_once=6)

    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:  # noqa: ARG002
        """All words first; any of them when nothing has all."""
        bound = f" AND FIRST_PDATE:[1800-01-01 TO {until.isoformat()}]" if until else ""

        def ask(words: str) -> list[JsonObject]:
            return self._records(f"({words}) AND {_KINDS}{bound}", limit, check, synonym="true")

        return first_hits((self._hit(record, query) for record in all_then_any(query, ask)), limit)

    def abstract(self, paper: Paper, check: Check) -> Abstract | None:
        """See `AbstractService`."""
        for record in self._records(_query(paper), 5, check):
            text = plain_abstract(string(record, "abstractText"))
            if text is not None and _is_of(record, paper):
                return Abstract(
                    service=self.label,
                    title=plain_line(string(record, "title")),
                    text=text,
                    published=parse_date(string(record, "firstPublicationDate")),
                    doi=string(record, "doi").lower() or None,
                    pmid=string(record, "pmid") or None,
                    notices=_notices(record),
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
            url=_link(record),
            published=parse_date(string(record, "firstPublicationDate")),
            doi=string(record, "doi") or None,
            notices=_notices(record),
        )


def _link(record: JsonObject) -> str:
    """The page that a reader and a program can both read: Europe PMC's own is built by script."""
    if pmid := string(record, "pmid"):
        return f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/"
    if pmcid := string(record, "pmcid"):
        return f"https://pmc.ncbi.nlm.nih.gov/articles/{pmcid}/"
    if doi := string(record, "doi"):
        return f"https://doi.org/{doi}"
    return f"https://europepmc.org/article/{string(record, 'source')}/{string(record, 'id')}"


def _query(paper: Paper) -> str:
    if paper.pmid:
        return f"EXT_ID:{paper.pmid} AND SRC:MED"
    if paper.doi:
        quoted = paper.doi.replace("\\", "").replace('"', "")
        return f'DOI:"{quoted}"'
    return f"PMCID:{paper.pmcid}"


def _is_of(record: JsonObject, paper: Paper) -> bool:
    """Whether the record is of that very paper, and not one that a loose search found."""
    if paper.pmid:
        return string(record, "pmid") == paper.pmid
    if paper.doi:
        return string(record, "doi").lower() == paper.doi
    return string(record, "pmcid").upper() == (paper.pmcid or "").upper()


def _notices(record: JsonObject) -> tuple[str, ...]:
    relations = records(record, "commentCorrectionList", "commentCorrection", may_lack=True)
    kinds = [*strings(record, "pubTypeList", "pubType"), *(string(relation, "type") for relation in relations)]
    return notices_of(kinds, PREPRINT if string(record, "source") == "PPR" else None)
