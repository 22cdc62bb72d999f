"""Kinds of source, publishers, archived copies and fact-checkers, by address alone."""

from __future__ import annotations

import re
import tomllib
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.domain import EarlierNote, Hit, SourceCategory
from crowdnotes.evidence import source_types
from crowdnotes.evidence.source_types import (
    categorise,
    fact_checker,
    fact_checks,
    is_archived,
    original_of,
    publisher_of,
)


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://www.who.int/news", SourceCategory.HEALTH_AUTHORITY),
        ("https://www.cdc.gov/flu", SourceCategory.HEALTH_AUTHORITY),
        ("https://www.cdc.gov/mmwr/volumes/70", SourceCategory.RESEARCH),
        ("https://www.health.gov.au/", SourceCategory.HEALTH_AUTHORITY),
        ("https://pubmed.ncbi.nlm.nih.gov/1/", SourceCategory.RESEARCH),
        ("https://www.ncbi.nlm.nih.gov/pmc/articles/PMC1/", SourceCategory.RESEARCH),
        ("https://bmjopen.bmj.com/x", SourceCategory.RESEARCH),
        ("https://www.reuters.com/fact-check/x", SourceCategory.NEWS),
        ("https://amp.theguardian.com/x", SourceCategory.NEWS),
        ("https://someone.substack.com/p/x", SourceCategory.SOCIAL),
        ("https://my.clevelandclinic.org/x", SourceCategory.HEALTH_PORTAL),
        ("https://www.pfizer.com/x", SourceCategory.COMMERCIAL_ADVOCACY_NGO),
        ("https://en.m.wikipedia.org/wiki/X", SourceCategory.OTHER),
        ("https://www.example.org/", SourceCategory.OTHER),
        ("", SourceCategory.OTHER),
        ("https://harbour-daily.example/x", SourceCategory.NEWS),  # of the demonstration
        ("https://web.archive.org/web/20200101000000/https://www.cdc.gov/flu", SourceCategory.HEALTH_AUTHORITY),
        # a government site is one when its name says so
        ("https://doh.wa.gov/x", SourceCategory.HEALTH_AUTHORITY),
        ("https://www.saude.sp.gov.br/", SourceCategory.HEALTH_AUTHORITY),
        ("https://www.gov.uk/government/organisations/uk-health-security-agency", SourceCategory.HEALTH_AUTHORITY),
        ("https://www.gov.uk/vehicle-tax", SourceCategory.OTHER),
        ("https://oversight.house.gov/release/covid-hearing", SourceCategory.OTHER),
        ("https://www.healthgov.example/", SourceCategory.OTHER),
        ("https://healthylifestyle.com/", SourceCategory.OTHER),
    ],
)
def test_each_kind_of_source_is_recognised(url: str, kind: SourceCategory) -> None:
    assert categorise(url) is kind


@pytest.mark.parametrize(
    "host", ["evilwho.int", "who.int.evil.example", "whoint", "cdc.gov.evil.example", "notx.com", "who-int.org"]
)
def test_a_look_alike_of_an_authority_is_not_one(host: str) -> None:
    assert categorise(f"https://{host}/") is SourceCategory.OTHER
    assert publisher_of(f"https://{host}/") == host


@pytest.mark.parametrize(
    ("url", "claimed", "publisher"),
    [
        ("https://www.who.int/x", "Some other name", "World Health Organization"),
        (
            "https://web.archive.org/web/2020/https://www.cdc.gov/flu",
            None,
            "US Centers for Disease Control and Prevention",
        ),
        ("https://www.example.org/x", "The Example\n Gazette", "The Example Gazette"),
        ("https://www.example.org/x", None, "example.org"),
        ("https://www.nccih.nih.gov/x", "NCCIH", "NCCIH"),
        ("https://www.nccih.nih.gov/x", None, "US National Institutes of Health"),
        ("https://www.nccih.nih.gov/x", "National Institutes of Health", "US National Institutes of Health"),
        ("https://www.nccih.nih.gov/x", "Reuters", "US National Institutes of Health"),
        ("https://fake.example/x", "World Health Organization", "fake.example"),
        ("https://fake.example/x", "WORLD HEALTH ORGANIZATION (WHO)", "fake.example"),
        ("https://fake.example/x", "Reuters", "fake.example"),
        ("https://someone.substack.com/p/x", "Substack", "someone.substack.com"),
        ("https://m.facebook.com/x", None, "Facebook"),
        ("https://northfield-health.example/x", None, "Northfield Institute of Public Health"),
        ("", None, None),
    ],
)
def test_a_known_host_goes_by_its_known_name_and_an_unknown_one_by_its_pages_unless_that_is_anothers(
    url: str, claimed: str | None, publisher: str | None
) -> None:
    assert publisher_of(url, claimed) == publisher


def test_hosts_of_ones_own_count_before_the_table() -> None:
    own = {
        "mysite.org": SourceCategory.RESEARCH,
        "cdc.gov": SourceCategory.NEWS,
        "hub.org/papers": SourceCategory.RESEARCH,
    }
    assert categorise("https://sub.mysite.org/x", own) is SourceCategory.RESEARCH
    assert categorise("https://notmysite.org/x", own) is SourceCategory.OTHER
    assert categorise("https://www.cdc.gov/mmwr/volumes/70", own) is SourceCategory.NEWS
    assert categorise("https://hub.org/papers/1", own) is SourceCategory.RESEARCH
    assert categorise("https://hub.org/blog/1", own) is SourceCategory.OTHER


@given(st.text() | st.text().map("https://{}".format) | st.text().map("https://web.archive.org/web/1/{}".format))
def test_any_text_has_a_kind(url: str) -> None:
    assert categorise(url) in SourceCategory
    publisher_of(url, url)


PAGE = "https://www.who.int/news/measles?x=1"


@pytest.mark.parametrize(
    "copy",
    [
        f"https://web.archive.org/web/20200101000000/{PAGE}",
        f"http://web.archive.org/web/2020id_/{PAGE}",
        f"https://web.archive.org/web/*/{PAGE}",
        "https://web.archive.org/web/2020/https:/www.who.int/news/measles?x=1",
        f"https://archive.ph/20200101/{PAGE}",
        f"https://archive.is/newest/{PAGE}",
        f"https://archive.today/o/AbCdE/{PAGE}",
        "https://archive.md/20200101/https%3A%2F%2Fwww.who.int%2Fnews%2Fmeasles?x=1",
    ],
)
def test_a_copy_names_its_original(copy: str) -> None:
    assert is_archived(copy)
    assert original_of(copy) == PAGE


def test_a_copy_without_a_scheme_is_completed_and_a_short_one_stays() -> None:
    assert original_of("https://web.archive.org/web/2020/who.int/x") == "http://who.int/x"
    assert is_archived("https://archive.ph/AbCdE")
    assert original_of("https://archive.ph/AbCdE") == "https://archive.ph/AbCdE"


@pytest.mark.parametrize("url", [PAGE, "https://archive.org/details/x", "https://web.archive.org/", "http://[", ""])
def test_anything_else_is_no_copy(url: str) -> None:
    assert not is_archived(url)
    assert original_of(url) == url


@given(st.text() | st.text().map("https://web.archive.org/web/2020/{}".format))
def test_any_text_has_an_original(url: str) -> None:
    assert original_of(url) or not url


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://www.snopes.com/fact-check/vaccine-chips/", "Snopes"),
        ("https://factcheck.afp.com/doc.afp.com.34ZB", "AFP Fact Check"),
        ("https://apnews.com/article/fact-check-measles-123", "Associated Press Fact Check"),
        ("https://www.reuters.com/fact-check/a-claim-2024-03-05/", "Reuters Fact Check"),
        ("https://www.dw.com/de/faktencheck-impfung/a-1", "DW Faktencheck"),
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
        "https://www.reuters.com/world/fact-check",
        "https://apnews.com/article/fact-checkers-lose-funding",
        "https://www.reuters.com/fact-check",
        "https://www.snopes.com/tag/vaccines/",
        "https://x.com/snopes/status/1",
        "https://blog.example.org/?quoted=https://www.snopes.com/fact-check/x",
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
    assert fact_checks(found, "") == [found[3], found[1], found[2]]


def test_a_check_that_earlier_notes_alone_led_to_counts_where_its_address_speaks_of_the_same() -> None:
    note = EarlierNote(note=1, text="See https://a.org", written=date(2023, 1, 1))
    said = "Polio is not caused by an infectious virus, and no vaccine helps!"
    other, same = (
        Hit(provider="library:x", title=f"snopes.com: {words}", snippet="", query="q", notes=(note,))
        for words in ("covid vaccine heart attacks", "does a virus cause polio")
    )
    url = "https://www.snopes.com/fact-check/x"
    found = [hit.replace(url=url) for hit in (other, same)]
    assert fact_checks(found, said) == found[1:]
    found_by_words_too = found[0].replace(snippet="On vaccines")
    assert fact_checks([found_by_words_too], said) == [found_by_words_too]
    of_no_words = other.replace(url=url, title="snopes.com: fact check 34ZQ8KX")
    assert fact_checks([of_no_words], f"Let us fact check this: {said}") == [of_no_words]
    assert fact_checks(found, "La polio no es causada por un virus infeccioso, y ninguna vacuna ayuda a nadie") == found
    assert fact_checks(found[:1], f"Let us fact check this: {said}") == []


def test_a_post_that_quotes_a_check_is_none() -> None:
    quoting = Hit(
        provider="brave", title="Snopes fact-check: FALSE", query="q", url="https://x.com/somebody/status/1",
        snippet="https://www.snopes.com/fact-check/x says that this claim is false", category=SourceCategory.SOCIAL,
    )  # fmt: skip
    assert fact_checks([quoting, quoting.replace(provider="google-fact-check")], "") == []


def test_the_table_holds_hosts_without_www_and_folders_without_a_slash_at_the_end() -> None:
    table = tomllib.loads(Path(source_types.__file__).with_name("fact_checkers.toml").read_text("utf-8"))
    assert len(table) > 150
    for key, name in table.items():
        assert re.fullmatch(r"(?!www\.)[a-z0-9-]+(\.[a-z0-9-]+)+(/[a-z0-9-]+)*", key), key
        assert name.strip() == name != ""
