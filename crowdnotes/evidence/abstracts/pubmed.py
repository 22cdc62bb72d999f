"""PubMed by NCBI's E-utilities: the record by its id (efetch), which a DOI finds first (esearch, field [doi]).

https://www.ncbi.nlm.nih.gov/books/NBK25499/ and https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from crowdnotes.evidence.abstracts.base import Abstract, plain_abstract
from crowdnotes.evidence.abstracts.paper import Paper
from crowdnotes.evidence.search.answers import dig, parse_json, parse_xml, strings, unexpected, xml_text
from crowdnotes.evidence.search.base import Check
from crowdnotes.evidence.search.http import Service
from crowdnotes.evidence.search.notices import notice_of
from crowdnotes.evidence.search.plain import plain_line
from crowdnotes.evidence.search.pubmed import first_published


@dataclass(frozen=True, slots=True)
class PubMedAbstracts:
    """See `AbstractService`. `credentials` are the parameters that say who asks: tool, email, api_key."""

    service: Service
    credentials: Mapping[str, str] = field(default_factory=dict, repr=False)
    label: str = "PubMed"

    def abstract(self, paper: Paper, check: Check) -> Abstract | None:
        """See `AbstractService.abstract`."""
        number = paper.pmid or self._find(paper, check)
        if number is None:
            return None
        params = {"db": "pubmed", "id": number, "rettype": "abstract", "retmode": "xml", **self.credentials}
        root = parse_xml(self.service.get("/efetch.fcgi", params, check))
        if root.tag != "PubmedArticleSet":
            raise unexpected()
        article = root.find("PubmedArticle")
        if article is None or xml_text(article.find("MedlineCitation/PMID")) != number:
            return None
        doi = xml_text(article.find("PubmedData/ArticleIdList/ArticleId[@IdType='doi']")).lower() or None
        text = plain_abstract(
            " ".join(filter(None, map(_labelled, article.iterfind("MedlineCitation/Article/Abstract/AbstractText"))))
        )
        if text is None or (paper.pmid is None and paper.doi and doi != paper.doi):
            return None
        kinds = [
            *(xml_text(kind) for kind in article.iterfind("MedlineCitation/Article/PublicationTypeList/*")),
            *(found.get("RefType", "") for found in article.iterfind("MedlineCitation/CommentsCorrectionsList/*")),
        ]
        published, not_before = first_published(article)
        return Abstract(
            service=self.label,
            title=plain_line(xml_text(article.find("MedlineCitation/Article/ArticleTitle"))),
            text=text,
            published=published,
            not_before=not_before,
            doi=doi,
            pmid=number,
            notices=tuple(dict.fromkeys(notice for notice in map(notice_of, kinds) if notice is not None)),
        )

    def _find(self, paper: Paper, check: Check) -> str | None:
        """The PubMed id of a paper; None unless exactly one has its DOI or PMC id."""
        term = f"{paper.doi}[doi]" if paper.doi else f"{paper.pmcid}[pmcid]"
        params = {"db": "pubmed", "term": term, "retmode": "json", "retmax": "2", **self.credentials}
        answer = parse_json(self.service.get("/esearch.fcgi", params, check))
        if not isinstance(dig(answer, "esearchresult", "idlist"), list):
            raise unexpected()
        found = [number for number in strings(answer, "esearchresult", "idlist") if re.fullmatch(r"[0-9]{1,9}", number)]
        return found[0] if len(found) == 1 else None


def _labelled(part: Any) -> str:
    label, text = part.get("Label"), xml_text(part)
    return f"{label.capitalize()}: {text}" if label and text else text
