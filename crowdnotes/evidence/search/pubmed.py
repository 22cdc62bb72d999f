"""PubMed by NCBI's E-utilities: which papers (esearch), then their abstracts (efetch).

GET {base}/esearch.fcgi (JSON) and {base}/efetch.fcgi (XML), 3 requests a second, 10 with a key; tool and
email are asked for. https://www.ncbi.nlm.nih.gov/books/NBK25499/ and
https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from crowdnotes.domain import Hit, ProviderState
from crowdnotes.errors import SearchError
from crowdnotes.evidence.search.answers import (
    dig,
    notice_of,
    parse_json,
    parse_xml,
    plain_line,
    string,
    strings,
    unexpected,
    xml_text,
)
from crowdnotes.evidence.search.papers import Abstract, Paper, plain_abstract
from crowdnotes.evidence.search.provider import Check, all_of, any_of, make_hit, search_words
from crowdnotes.evidence.search.service import Service
from crowdnotes.text.dates import first_day, month_number, settle
from crowdnotes.text.stems import short_stems

_MOST_WORDS = 8  # of one query: no abstract holds more of them all
_MOST_RECORDS = 40  # abstracts fetched at once; half a megabyte


@dataclass(frozen=True, slots=True)
class PubMed:
    """See `SearchesTogether`: at three requests a second, one search for all queries is what its pace allows.

    `credentials` are the parameters that say who asks: tool, email, api_key.
    """

    service: Service
    credentials: dict[str, str] = field(default_factory=dict, repr=False)
    name: str = "pubmed"
    label: str = "PubMed"
    needs: str | None = None
    at_once: int = 1
    most_queries: int = 12

    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:  # noqa: ARG002
        """The same as `search_together` with one query."""
        return self.search_together([query], post="", limit=limit, until=until, check=check)

    def search_together(
        self,
        queries: Sequence[str],
        *,
        post: str,  # noqa: ARG002
        limit: int,
        until: date | None,
        check: Check,
    ) -> list[Hit]:
        """Papers that hold all words of any query; any of the words when there are none."""
        groups = [words[:_MOST_WORDS] for words in map(search_words, queries) if words]
        if not groups:
            return []
        most = min(limit * min(len(groups), 3), _MOST_RECORDS)
        ids = self._find(" OR ".join(f"({all_of(words)})" for words in groups), most, until, check)
        if not ids:
            every = list(dict.fromkeys(word for words in groups for word in words))
            ids = self._find(any_of(every[: _MOST_WORDS * 3]), most, until, check) if len(every) > 1 else []
        if not ids:
            return []
        params = {"db": "pubmed", "id": ",".join(ids), "rettype": "abstract", "retmode": "xml", **self.credentials}
        root = parse_xml(self.service.get("/efetch.fcgi", params, check))
        if root.tag != "PubmedArticleSet":
            raise unexpected()
        by_id = {xml_text(article.find("MedlineCitation/PMID")): article for article in root.iter("PubmedArticle")}
        hits = (self._hit(by_id[number], number, queries, until) for number in ids if number in by_id)
        return [hit for hit in hits if hit is not None]

    def _find(self, term: str, most: int, until: date | None, check: Check) -> list[str]:
        params: dict[str, str | int] = {
            "db": "pubmed", "term": term, "retmode": "json", "retmax": most, "sort": "relevance", **self.credentials
        }  # fmt: skip
        if until is not None:
            params |= {"datetype": "pdat", "mindate": "1800/01/01", "maxdate": until.strftime("%Y/%m/%d")}
        answer = parse_json(self.service.get("/esearch.fcgi", params, check))
        if "rate limit" in string(answer, "error").lower():
            raise SearchError("It was asked too often.", ProviderState.RATE_LIMITED)
        result = dig(answer, "esearchresult")
        if string(result, "ERROR"):
            raise SearchError("It could not search just now.", ProviderState.FAILED)
        if not isinstance(dig(result, "idlist"), list):
            raise unexpected()
        return [number for number in strings(result, "idlist") if re.fullmatch(r"[0-9]{1,9}", number)][:most]

    def _hit(self, article: Any, number: str, queries: Sequence[str], until: date | None) -> Hit | None:
        citation = article.find("MedlineCitation/Article")
        if citation is None:
            return None
        day, not_before = first_published(article)
        if until is not None and not_before is not None and not_before > until:
            return None
        title = xml_text(citation.find("ArticleTitle")) or xml_text(citation.find("VernacularTitle"))
        abstract = " ".join(filter(None, (_labelled(part) for part in citation.iterfind("Abstract/AbstractText"))))
        kinds = [xml_text(kind) for kind in citation.iterfind("PublicationTypeList/PublicationType")]
        relations = article.iterfind("MedlineCitation/CommentsCorrectionsList/CommentsCorrections")
        kinds += [relation.get("RefType", "") for relation in relations]
        return make_hit(
            self.name,
            _nearest(queries, f"{title} {abstract}"),
            title=title,
            snippet=abstract,
            url=f"https://pubmed.ncbi.nlm.nih.gov/{number}/",
            published=day,
            doi=xml_text(article.find("PubmedData/ArticleIdList/ArticleId[@IdType='doi']")) or None,
            notices=[notice for notice in map(notice_of, kinds) if notice is not None],
        )

    def abstract(self, paper: Paper, check: Check) -> Abstract | None:
        """See `AbstractService`."""
        number = paper.pmid or self._number(paper, check)
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

    def _number(self, paper: Paper, check: Check) -> str | None:
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


def _nearest(queries: Sequence[str], text: str) -> str:
    """The query that shares most of its words with the text; the first of equals."""
    held = set(short_stems(text))

    def share(query: str) -> float:
        wanted = {stem for word in search_words(query) for stem in short_stems(word)}
        return len(wanted & held) / len(wanted) if wanted else 0.0

    return max(queries, key=share)


def first_published(article: Any) -> tuple[date | None, date | None]:
    """The first day it could be read, online or printed, None when it is not known, and the first day that can be."""
    online = article.find("MedlineCitation/Article/ArticleDate")
    printed = article.find("MedlineCitation/Article/Journal/JournalIssue/PubDate")
    entered = [
        day
        for element in article.iterfind("PubmedData/History/PubMedPubDate")
        if element.get("PubStatus") in ("pubmed", "entrez") and (day := settle(*_parts(element))) is not None
    ]
    stated = [parts for parts in (_parts(online), _parts(printed)) if parts[0] is not None]
    days = [day for day in (settle(*parts, registered=entered) for parts in stated) if day is not None]
    if days:
        return min(days), min(days)
    firsts = [first for year, month, _ in stated if (first := first_day(year, month)) is not None]
    return None, min(firsts, default=None)


def _parts(element: Any) -> tuple[int | None, int | None, int | None]:
    if element is None:
        return None, None, None
    year = re.match(r"(?:1[89]|20)[0-9]{2}", xml_text(element.find("Year")) or xml_text(element.find("MedlineDate")))
    month = month_number(xml_text(element.find("Month")))
    day = re.fullmatch(r"[0-9]{1,2}", xml_text(element.find("Day")))
    return int(year.group()) if year else None, month, int(day.group()) if day and month else None
