"""Fact-checks of a claim become hits that say who rates it how."""

from __future__ import annotations

from datetime import date
from typing import Any

from pytest_httpserver import HTTPServer

from crowdnotes.evidence.fetching import no_check
from crowdnotes.evidence.search.google_fact_check import GoogleFactCheck
from tests.evidence.search.conftest import MakeService


def _review(day: str) -> dict[str, Any]:
    return {
        "publisher": {"name": "Full Fact", "site": "fullfact.org"}, "url": f"https://fullfact.org/{day or 'x'}",
        "title": "MMR does not cause autism", "reviewDate": day, "textualRating": "False", "languageCode": "en",
    }  # fmt: skip


def test_a_review_becomes_a_hit_and_the_key_stays_out_of_the_address(
    httpserver: HTTPServer, make_service: MakeService
) -> None:
    claim = {"text": "MMR causes autism", "claimant": "A post", "claimReview": [_review("2024-05-06T00:00:00Z")]}
    httpserver.expect_request("/claims:search", headers={"X-Goog-Api-Key": "k"}).respond_with_json({"claims": [claim]})
    provider = GoogleFactCheck(make_service(headers={"X-Goog-Api-Key": "k"}))
    (hit,) = provider.search("MMR autism", limit=5, until=None, language="de", check=no_check)
    assert hit.snippet == "The claim “MMR causes autism”, said by A post. Full Fact rates it: False."
    assert (hit.title, hit.published, hit.rating) == ("MMR does not cause autism", date(2024, 5, 6), "False")
    assert dict(httpserver.log[0][0].args) == {"query": "MMR autism", "pageSize": "5"}


def test_reviews_after_the_cutoff_are_left_out_and_undated_ones_stay(
    httpserver: HTTPServer, make_service: MakeService
) -> None:
    reviews = [_review("2024-05-06T00:00:00Z"), _review("2026-01-01T00:00:00Z"), _review("")]
    httpserver.expect_request("/claims:search").respond_with_json({"claims": [{"text": "x", "claimReview": reviews}]})
    provider = GoogleFactCheck(make_service())
    hits = provider.search("x", limit=5, until=date(2025, 1, 1), language=None, check=no_check)
    assert [hit.published for hit in hits] == [date(2024, 5, 6), None]


def test_a_claim_that_nobody_checked_is_no_error(httpserver: HTTPServer, make_service: MakeService) -> None:
    httpserver.expect_request("/claims:search").respond_with_json({})
    assert GoogleFactCheck(make_service()).search("x", limit=5, until=None, language=None, check=no_check) == []
