"""Google Fact Check Tools: has this claim been checked already? Needs a free key.

GET {base}/claims:search?query=&pageSize= with the key in a header, so that it stands in no address. Nothing is
restricted by language: a check in another language is a check too. The service has no upper bound of
time. https://developers.google.com/fact-check/tools/api/reference/rest/v1alpha1/claims/search
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from crowdnotes.domain import Hit
from crowdnotes.evidence.search.answers import Record, parse_json, plain_line, records, string
from crowdnotes.evidence.search.provider import Check, make_hit, plain_query
from crowdnotes.evidence.search.service import Service
from crowdnotes.text.dates import parse_date

_MOST_CHARACTERS = 300
_MOST_OF_A_RATING = 120  # characters: some publishers put a paragraph there


@dataclass(frozen=True, slots=True)
class GoogleFactCheck:
    """See `SearchProvider`. A hit is one review of a claim by one publisher."""

    service: Service
    needs: str | None = None
    name: str = "google-fact-check"
    label: str = "Google Fact Check"
    at_once: int = 4
    most_queries: int = 12

    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:  # noqa: ARG002
        """Reviews of claims like the query, those dated after `until` left out."""
        asked = plain_query(query, _MOST_CHARACTERS)
        if not asked:
            return []
        answer = parse_json(self.service.get("/claims:search", {"query": asked, "pageSize": limit}, check))
        hits = (
            self._hit(claim, review, query)
            for claim in records(answer, "claims", may_lack=True)
            for review in records(claim, "claimReview", may_lack=True)
        )
        kept = [hit for hit in hits if hit is not None]
        return [hit for hit in kept if until is None or hit.published is None or hit.published <= until][:limit]

    def _hit(self, claim: Record, review: Record, query: str) -> Hit | None:
        publisher = string(review, "publisher", "name") or string(review, "publisher", "site") or "A fact-checker"
        rating = string(review, "textualRating")
        by = f", said by {string(claim, 'claimant')}" if string(claim, "claimant") else ""
        verdict = f" {publisher} rates it: {rating}." if rating else f" Checked by {publisher}."
        hit = make_hit(
            self.name,
            query,
            title=string(review, "title") or f"{publisher}: {rating or 'a fact-check'}",
            snippet=f"The claim “{string(claim, 'text')}”{by}.{verdict}",
            url=string(review, "url"),
            published=parse_date(string(review, "reviewDate")),
        )
        return hit.model_copy(update={"rating": plain_line(rating)[:_MOST_OF_A_RATING]}) if hit is not None else None
