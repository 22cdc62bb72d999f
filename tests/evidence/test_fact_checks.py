"""A check of a claim is known by who publishes it, whichever service found it."""

from __future__ import annotations

import pytest

from crowdnotes.domain import Hit
from crowdnotes.evidence.fact_checks import fact_checker, fact_checks


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://www.snopes.com/fact-check/vaccine-chips/", "Snopes"),
        ("https://fullfact.org/health/vitamin-c/", "Full Fact"),
        ("https://factcheck.afp.com/doc.afp.com.34ZB", "AFP Fact Check"),
        ("https://hindi.boomlive.in/fact-check/x-1", "BOOM"),
        ("https://apnews.com/article/fact-check-measles-123", "Associated Press Fact Check"),
        ("https://www.reuters.com/fact-check/a-claim-2024-03-05/", "Reuters Fact Check"),
    ],
)
def test_a_known_fact_checker_is_named(url: str, name: str) -> None:
    assert fact_checker(url) == name


@pytest.mark.parametrize(
    "url",
    [
        "https://www.snopes.com/",
        "https://snopes.com.evil.example/fact-check/x",
        "https://notsnopes.com/fact-check/x",
        "https://www.reuters.com/world/fact-check",
        "https://apnews.com/article/fact-checkers-lose-funding",
        "http://[",
        "",
        None,
    ],
)
def test_other_pages_are_no_fact_checks(url: str | None) -> None:
    assert fact_checker(url) is None


def test_checks_of_every_provider_are_gathered_those_with_a_rating_first() -> None:
    def hit(provider: str, url: str, rating: str = "", also: tuple[str, ...] = ()) -> Hit:
        return Hit(provider=provider, title=url, snippet="", query="q", url=url, rating=rating, also_found_by=also)

    found = [
        hit("brave", "https://news.example.org/x"),
        hit("brave", "https://www.snopes.com/fact-check/x"),
        hit("brave", "https://unknown.example.org/check", also=("google-fact-check",)),
        hit("google-fact-check", "https://another.example.org/check", "False"),
    ]
    assert fact_checks(found) == [found[3], found[1], found[2]]
