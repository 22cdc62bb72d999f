"""Google Fact Check Tools: has this claim been checked already? Needs a free key.

GET {base}/claims:search?query=&pageSize= with the key in a header, so that no address holds it. Nothing is
restricted by language: a check in another language is a check too. The service has no upper bound of
time. https://developers.google.com/fact-check/tools/api/reference/rest/v1alpha1/claims/search
"""

from __future__ import annotations

from datetime import date
from typing import Self

from pydantic import BaseModel, Field, SecretStr

from crowdnotes.domain import FactCheck, Hit
from crowdnotes.evidence.claim_review import MAX_VERDICT_CHARACTERS
from crowdnotes.evidence.reading.plain_text import plain_line
from crowdnotes.evidence.search.provider import (
    JsonObject,
    OnlineProvider,
    first_hits,
    make_hit,
    needed,
    parse_json,
    plain_query,
    records,
    string,
)
from crowdnotes.evidence.search.service import COURTEOUS, Check, open_service
from crowdnotes.settings_sections import SearchSettings
from crowdnotes.text.dates import parse_date


class GoogleFactCheckOptions(BaseModel):
    """Google Fact Check."""

    google_fact_check_key: SecretStr | None = Field(None, description="switches Google Fact Check Tools on")
    google_fact_check_url: str = Field(
        "https://factchecktools.googleapis.com/v1alpha1", description="Google Fact Check Tools"
    )


class GoogleFactCheck(OnlineProvider):
    """See `SearchProvider`. A hit is one review of a claim by one publisher."""

    name = "google-fact-check"
    label = "Google Fact Check"
    brings = "published fact-checks of the claim"
    options = GoogleFactCheckOptions
    free = False

    @classmethod
    def make(cls, search: SearchSettings) -> Self:
        """See `OnlineProvider`."""
        own = search.of(GoogleFactCheckOptions)
        key = own.google_fact_check_key.get_secret_value() if own.google_fact_check_key else ""
        return cls(
            open_service(search, own.google_fact_check_url, COURTEOUS, {"X-Goog-Api-Key": key}),
            needs=None if key else needed("GOOGLE_FACT_CHECK_KEY", "a key with the Fact Check Tools API switched on"),
            at_once=4,
        )

    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:  # noqa: ARG002
        """Reviews of claims like the query, those dated after `until` left out."""
        asked = plain_query(query, 300)
        if not asked:
            return []
        answer = parse_json(self.service.get("/claims:search", {"query": asked, "pageSize": limit}, check))
        hits = (
            self._hit(claim, review, query)
            for claim in records(answer, "claims", may_lack=True)
            for review in records(claim, "claimReview", may_lack=True)
        )
        return first_hits(hits, limit, until)

    def _hit(self, claim: JsonObject, review: JsonObject, query: str) -> Hit | None:
        check = FactCheck(
            claim=string(claim, "text"),
            claimant=string(claim, "claimant"),
            verdict=plain_line(string(review, "textualRating"))[:MAX_VERDICT_CHARACTERS],
            publisher=string(review, "publisher", "name") or string(review, "publisher", "site"),
            published=parse_date(string(review, "reviewDate")),
            url=string(review, "url"),
        )
        by = check.publisher or "A fact-checker"
        hit = make_hit(
            self.name,
            query,
            title=string(review, "title") or f"{by}: {check.verdict or 'a fact-check'}",
            snippet=check.sentence,
            url=check.url or "",
            published=check.published,
        )
        return hit.replace(rating=check.verdict, check=check) if hit is not None else None
