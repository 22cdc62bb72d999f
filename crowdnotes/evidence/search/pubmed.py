"""PubMed by NCBI's E-utilities: which papers (esearch), then their records with abstracts (efetch).

GET {base}/esearch.fcgi (JSON) and {base}/efetch.fcgi (XML), 3 requests a second, 10 with a key; tool and
email are asked for. A DOI finds its record by the field [doi]. https://www.ncbi.nlm.nih.gov/books/NBK25499/,
https://www.ncbi.nlm.nih.gov/books/NBK25497/ and https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import Any, Self

from pydantic import BaseModel, Field, SecretStr

from crowdnotes.domain import Hit
from crowdnotes.evidence.reading.plain_text import plain_line
from crowdnotes.evidence.search.papers import Abstract, Paper, plain_abstract
from crowdnotes.evidence.search.provider import (
    OnlineProvider,
    dig,
    first_hits,
    make_hit,
    notices_of,
    parse_json,
    parse_xml,
    refused,
    search_words,
    string,
    strings,
    unexpected,
    xml_text,
)
from crowdnotes.evidence.search.service import Check, Pace, contact, open_service
from crowdnotes.settings_sections import SearchSettings
from crowdnotes.text.dates import first_day, month_number, settle
from crowdnotes.text.tokens import word_stems

_MAX_QUERY_WORDS = 8  # of one query: no abstract holds more of them all
_MAX_RECORDS = 40  # abstracts fetched at once; half a megabyte


class PubMedOptions(BaseModel):
    """PubMed."""

    ncbi_api_key: SecretStr | None = Field(None, description="PubMed then allows 10 requests a second, not 3")
    pubmed_url: str = Field("https://eutils.ncbi.nlm.nih.gov/entrez/eutils", description="NCBI E-utilities")


class PubMed(OnlineProvider):
    """See `SearchesTogether` and `AbstractService`.

    At three requests a second, one search for all queries is what its pace allows.
    """

    name = "pubmed"
    label = "PubMed"
    brings = "medical papers with abstracts"
    options = PubMedOptions

    @classmethod
    def make(cls, search: SearchSettings) -> Self:
        """See `OnlineProvider`."""
        own = search.of(PubMedOptions)
        key = {"api_key": own.ncbi_api_key.get_secret_value()} if own.ncbi_api_key else {}
        pace = Pace(10, 1.1, 5) if key else Pace(3, 1.1, 3)
        more = "" if key else "Set CROWDNOTES_SEARCH_NCBI_API_KEY (free) to search more often."
        service = open_service(search, own.pubmed_url, pace, {} if key else None, raise_limit=more)
        return cls(service, contact(search) | key)

    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:  # noqa: ARG002
        """Return the same as `search_together` with one query."""
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
        groups = [words[:_MAX_QUERY_WORDS] for words in map(search_words, queries) if words]
        if not groups:
            return []
        most = min(limit * min(len(groups), 3), _MAX_RECORDS)
        dates = {"datetype": "pdat", "mindate": "1800/01/01", "maxdate": until.strftime("%Y/%m/%d")} if until else {}
        ids = self._find(" OR ".join(f"({' '.join(words)})" for words in groups), most, check, **dates)
        every = list(dict.fromkeys(word for words in groups for word in words))
        if not ids and len(every) > 1:
            ids = self._find(" OR ".join(every[: _MAX_QUERY_WORDS * 3]), most, check, **dates)
        if not ids:
            return []
        by_id = {_read_pmid(article): article for article in self._records(ids, check)}
        found = (by_id[number] for number in ids if number in by_id)
        return first_hits((self._hit(article, queries, until) for article in found), most)

    def abstract(self, paper: Paper, check: Check) -> Abstract | None:
        """See `AbstractService`."""
        number = paper.pmid
        if number is None:
            found = self._find(f"{paper.doi}[doi]" if paper.doi else f"{paper.pmcid}[pmcid]", 2, check)
            if len(found) != 1:  # not guessed between two
                return None
            number = found[0]
        article = next(iter(self._records([number], check)), None)
        if article is None or _read_pmid(article) != number:
            return None
        doi = _read_doi(article)
        text = plain_abstract(_read_abstract(article))
        if text is None or (paper.pmid is None and paper.doi and doi != paper.doi):
            return None
        published, not_before = _read_first_published(article)
        return Abstract(
            service=self.label,
            title=plain_line(_read_title(_find(article, *_CITATIONS))),
            text=text,
            published=published,
            not_before=not_before,
            doi=doi,
            pmid=number,
            notices=_read_pubmed_notices(article),
        )

    def _find(self, term: str, most: int, check: Check, **dates: str) -> list[str]:
        """Return the PubMed ids that a search finds."""
        params: dict[str, str | int] = {
            "db": "pubmed", "term": term, "retmode": "json", "retmax": most, "sort": "relevance", **self.credentials
        }  # fmt: skip
        answer = parse_json(self.service.get("/esearch.fcgi", params | dates, check))
        if "rate limit" in string(answer, "error").lower():
            raise self.service.too_often()
        result = dig(answer, "esearchresult")
        if string(result, "ERROR"):
            raise refused(string(result, "ERROR"))
        if not isinstance(dig(result, "idlist"), list):
            raise unexpected()
        return [number for number in strings(result, "idlist") if re.fullmatch(r"[0-9]{1,9}", number)][:most]

    def _records(self, ids: Sequence[str], check: Check) -> list[Any]:
        params = {"db": "pubmed", "id": ",".join(ids), "rettype": "abstract", "retmode": "xml", **self.credentials}
        root = parse_xml(self.service.get("/efetch.fcgi", params, check))
        if root.tag != "PubmedArticleSet":
            raise unexpected()
        return list(root.iter("PubmedArticle", "PubmedBookArticle"))

    def _hit(self, article: Any, queries: Sequence[str], until: date | None) -> Hit | None:
        citation = _find(article, *_CITATIONS)
        day, not_before = _read_first_published(article)
        if citation is None or (until is not None and not_before is not None and not_before > until):
            return None
        title = _read_title(citation)
        abstract = _read_abstract(article)
        return make_hit(
            self.name,
            _choose_nearest_query(queries, f"{title} {abstract}"),
            title=title,
            snippet=abstract,
            url=f"https://pubmed.ncbi.nlm.nih.gov/{_read_pmid(article)}/",
            published=day,
            doi=_read_doi(article),
            notices=_read_pubmed_notices(article),
        )


# Of a paper, and of a book or a chapter of one: GeneReviews, StatPearls, the reports of agencies.
_CITATIONS = ("MedlineCitation/Article", "BookDocument")


def _find(article: Any, *places: str) -> Any:
    """Return the first of the elements that is there; None where none is."""
    return next((found for place in places if (found := article.find(place)) is not None), None)


def _read_title(citation: Any) -> str:
    """Return the title as it is in English, else in its own language; of a whole book, the book's."""
    if citation is None:
        return ""
    titles = (xml_text(citation.find(name)) for name in ("ArticleTitle", "VernacularTitle", "Book/BookTitle"))
    return next((title for title in titles if title), "")


def _read_pmid(article: Any) -> str:
    return xml_text(_find(article, "MedlineCitation/PMID", "BookDocument/PMID"))


def _read_doi(article: Any) -> str | None:
    lists = ("PubmedData", "PubmedBookData", "BookDocument")
    found = _find(article, *(f"{place}/ArticleIdList/ArticleId[@IdType='doi']" for place in lists))
    return xml_text(found).lower() or None


def _read_abstract(article: Any) -> str:
    """Return the abstract's parts, each with its label."""
    parts = [
        (part.get("Label"), xml_text(part))
        for place in _CITATIONS
        for part in article.iterfind(f"{place}/Abstract/AbstractText")
    ]
    return " ".join(f"{label.capitalize()}: {text}" if label else text for label, text in parts if text)


def _read_pubmed_notices(article: Any) -> tuple[str, ...]:
    places = ("MedlineCitation/Article/PublicationTypeList/PublicationType", "BookDocument/PublicationType")
    kinds = [xml_text(kind) for place in places for kind in article.iterfind(place)]
    relations = article.iterfind("MedlineCitation/CommentsCorrectionsList/CommentsCorrections")
    return notices_of([*kinds, *(relation.get("RefType", "") for relation in relations)])


def _choose_nearest_query(queries: Sequence[str], text: str) -> str:
    """Return the query that shares most of its words with the text; the first of equals."""
    held = set(word_stems(text))

    def share(query: str) -> float:
        wanted = {stem for word in search_words(query) for stem in word_stems(word)}
        return len(wanted & held) / len(wanted) if wanted else 0.0

    return max(queries, key=share)


def _read_first_published(article: Any) -> tuple[date | None, date | None]:
    """Return the first day it was online or in print, None if not known, and the first day that it can be."""
    online = _find(article, "MedlineCitation/Article/ArticleDate", "BookDocument/ContributionDate")
    printed = _find(article, "MedlineCitation/Article/Journal/JournalIssue/PubDate", "BookDocument/Book/PubDate")
    entered = [
        day
        for place in ("PubmedData", "PubmedBookData")
        for element in article.iterfind(f"{place}/History/PubMedPubDate")
        if element.get("PubStatus") in ("pubmed", "entrez")
        and (day := settle(*_parse_date_element(element))) is not None
    ]
    stated = [parts for parts in (_parse_date_element(online), _parse_date_element(printed)) if parts[0] is not None]
    days = [day for day in (settle(*parts, registered=entered) for parts in stated) if day is not None]
    if days:
        return min(days), min(days)
    firsts = [first for year, month, _ in stated if (first := first_day(year, month)) is not None]
    return None, min(firsts, default=None)


def _parse_date_element(element: Any) -> tuple[int | None, int | None, int | None]:
    if element is None:
        return None, None, None
    year = re.match(r"(?:1[89]|20)[0-9]{2}", xml_text(element.find("Year")) or xml_text(element.find("MedlineDate")))
    month = month_number(xml_text(element.find("Month")))
    day = re.fullmatch(r"[0-9]{1,2}", xml_text(element.find("Day")))
    return int(year.group()) if year else None, month, int(day.group()) if day and month else None
