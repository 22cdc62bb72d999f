"""Europe PMC: papers, preprints and their abstracts, without a key.

GET {base}/search?query=&format=json&resultType=core&pageSize=&synonym=true, dates by the field
FIRST_PDATE. https://europepmc.org/RestfulWebService and https://europepmc.org/searchsyntax
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from crowdnotes.domain import Hit
from crowdnotes.evidence.search.answers import (
    PREPRINT,
    Record,
    dig,
    notice_of,
    parse_json,
    plain_line,
    records,
    string,
    strings,
    unexpected,
)
from crowdnotes.evidence.search.papers import Abstract, Paper, plain_abstract
from crowdnotes.evidence.search.provider import Check, all_of, any_of, make_hit, search_words
from crowdnotes.evidence.search.service import Service
from crowdnotes.text.dates import parse_date

_KINDS = "(SRC:MED OR SRC:PMC OR SRC:PPR)"  # papers and preprints: no patents, no theses
_FEW = 3  # words; looser than that finds everything


@dataclass(frozen=True, slots=True)
class EuropePmc:
    """See `SearchProvider`."""

    service: Service
    name: str = "europe-pmc"
    label: str = "Europe PMC"
    needs: str | None = None
    at_once: int = 6
    most_queries: int = 12

    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:  # noqa: ARG002
        """All words first; any of them when nothing has all."""
        words = search_words(query)
        if not words:
            return []
        found = self._ask(all_of(words), limit, until, check)
        if not found and len(words) >= _FEW:
            found = self._ask(any_of(words), limit, until, check)
        hits = (self._hit(record, query) for record in found[:limit])
        return [hit for hit in hits if hit is not None]

    def _ask(self, words: str, limit: int, until: date | None, check: Check) -> list[Record]:
        bound = f" AND FIRST_PDATE:[1800-01-01 TO {until.isoformat()}]" if until else ""
        params: dict[str, str | int] = {
            "query": f"({words}) AND {_KINDS}{bound}",
            "format": "json",
            "resultType": "core",
            "pageSize": limit,
            "synonym": "true",
        }
        answer = parse_json(self.service.get("/search", params, check))
        if dig(answer, "hitCount") is None:
            raise unexpected()
        return records(answer, "resultList", "result", may_lack=True)

    def _hit(self, record: Record, query: str) -> Hit | None:
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

    def abstract(self, paper: Paper, check: Check) -> Abstract | None:
        """See `AbstractService`."""
        params: dict[str, str | int] = {
            "query": _query(paper), "format": "json", "resultType": "core", "pageSize": 5
        }  # fmt: skip
        answer = parse_json(self.service.get("/search", params, check))
        if dig(answer, "hitCount") is None:
            raise unexpected()
        for record in records(answer, "resultList", "result", may_lack=True):
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


def _link(record: Record) -> str:
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


def _is_of(record: Record, paper: Paper) -> bool:
    """Whether the record is of that very paper, and not one that a loose search found."""
    if paper.pmid:
        return string(record, "pmid") == paper.pmid
    if paper.doi:
        return string(record, "doi").lower() == paper.doi
    return string(record, "pmcid").upper() == (paper.pmcid or "").upper()


def _notices(record: Record) -> tuple[str, ...]:
    relations = records(record, "commentCorrectionList", "commentCorrection", may_lack=True)
    kinds = [*strings(record, "pubTypeList", "pubType"), *(string(relation, "type") for relation in relations)]
    marks = [PREPRINT] if string(record, "source") == "PPR" else []
    return tuple(dict.fromkeys([*marks, *(notice for notice in map(notice_of, kinds) if notice is not None)]))
