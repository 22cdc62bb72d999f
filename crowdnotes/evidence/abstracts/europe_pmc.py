"""Europe PMC: GET {base}/search?query=DOI:"…"&resultType=core&format=json, or EXT_ID:… AND SRC:MED, or PMCID:PMC….

https://europepmc.org/RestfulWebService and https://europepmc.org/searchsyntax
"""

from __future__ import annotations

from dataclasses import dataclass

from crowdnotes.evidence.abstracts.base import Abstract, plain_abstract
from crowdnotes.evidence.abstracts.paper import Paper
from crowdnotes.evidence.search.answers import Record, dig, iso_day, parse_json, records, string, strings, unexpected
from crowdnotes.evidence.search.base import Check
from crowdnotes.evidence.search.http import Service
from crowdnotes.evidence.search.notices import PREPRINT, notice_of
from crowdnotes.evidence.search.plain import plain_line


@dataclass(frozen=True, slots=True)
class EuropePmcAbstracts:
    """See `AbstractService`."""

    service: Service
    label: str = "Europe PMC"

    def abstract(self, paper: Paper, check: Check) -> Abstract | None:
        """See `AbstractService.abstract`."""
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
                    published=iso_day(string(record, "firstPublicationDate")),
                    doi=string(record, "doi").lower() or None,
                    pmid=string(record, "pmid") or None,
                    notices=_notices(record),
                )
        return None


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
