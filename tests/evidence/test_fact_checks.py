"""A check of a claim is known by who publishes it, whichever service found it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from crowdnotes.domain import Hit, SourceCategory
from crowdnotes.evidence import provenance
from crowdnotes.evidence.provenance import fact_checker, fact_checks


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://www.snopes.com/fact-check/vaccine-chips/", "Snopes"),
        ("https://fullfact.org/health/vitamin-c/", "Full Fact"),
        ("https://factcheck.afp.com/doc.afp.com.34ZB", "AFP Fact Check"),
        ("https://hindi.boomlive.in/fact-check/x-1", "BOOM"),
        ("https://apnews.com/article/fact-check-measles-123", "Associated Press Fact Check"),
        ("https://www.reuters.com/fact-check/a-claim-2024-03-05/", "Reuters Fact Check"),
        ("https://sprawdzam.afp.com/doc.afp.com.34ZB", "AFP Sprawdzam"),
        ("https://www.dw.com/de/faktencheck-impfung/a-1", "DW Faktencheck"),
        ("https://www.factcheckcenter.jp/fact-check/health/x/", "Japan Fact-check Center"),
        ("https://noticias.uol.com.br/confere/ultimas-noticias/x.htm", "UOL Confere"),
        ("https://web.archive.org/web/20230304050607/https://www.snopes.com/fact-check/x", "Snopes"),
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
        "https://www.reuters.com/fact-check",
        "https://www.snopes.com/tag/vaccines/",
        "https://fullfact.org/about/",
        "https://x.com/snopes/status/1",
        "https://www.facebook.com/fullfact.org/posts/1",
        "https://blog.example.org/?quoted=https://www.snopes.com/fact-check/x",
        "https://blog.example.org/www.snopes.com/fact-check/x",
        "https://www.dw.com/en/fact-checkers-at-work/a-1",
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


def test_a_post_that_quotes_a_check_is_none() -> None:
    quoting = Hit(
        provider="brave",
        title="Snopes fact-check: FALSE",
        snippet="https://www.snopes.com/fact-check/x says that this claim is false",
        query="q",
        url="https://x.com/somebody/status/1",
        category=SourceCategory.SOCIAL,
    )
    assert fact_checks([quoting, quoting.model_copy(update={"provider": "google-fact-check"})]) == []


def test_the_table_holds_hosts_without_www_and_folders_without_a_slash_at_the_end() -> None:
    table = tomllib.loads(Path(provenance.__file__).with_name("fact_checkers.toml").read_text("utf-8"))
    assert len(table) > 150
    for key, name in table.items():
        assert re.fullmatch(r"(?!www\.)[a-z0-9-]+(\.[a-z0-9-]+)+(/[a-z0-9-]+)*", key), key
        assert name.strip() == name != ""
