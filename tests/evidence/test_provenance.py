from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.domain import SourceCategory as Kind
from crowdnotes.evidence.provenance import categorise, publisher_of


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://www.who.int/news", Kind.HEALTH_AUTHORITY),
        ("https://www.cdc.gov/flu", Kind.HEALTH_AUTHORITY),
        ("https://www.cdc.gov/mmwr/volumes/70", Kind.RESEARCH),
        ("https://www.england.nhs.uk/x", Kind.HEALTH_AUTHORITY),
        ("https://www.health.gov.au/", Kind.HEALTH_AUTHORITY),
        ("https://www.rki.de/", Kind.HEALTH_AUTHORITY),
        ("https://www.nih.gov/x", Kind.HEALTH_AUTHORITY),
        ("https://pubmed.ncbi.nlm.nih.gov/1/", Kind.RESEARCH),
        ("https://www.ncbi.nlm.nih.gov/pmc/articles/PMC1/", Kind.RESEARCH),
        ("https://www.ncbi.nlm.nih.gov/", Kind.HEALTH_AUTHORITY),
        ("https://doi.org/10.1/2", Kind.RESEARCH),
        ("https://bmjopen.bmj.com/x", Kind.RESEARCH),
        ("https://www.reuters.com/fact-check/x", Kind.NEWS),
        ("https://www.snopes.com/x", Kind.NEWS),
        ("https://amp.theguardian.com/x", Kind.NEWS),
        ("https://x.com/a/status/1", Kind.SOCIAL),
        ("https://someone.substack.com/p/x", Kind.SOCIAL),
        ("https://my.clevelandclinic.org/x", Kind.HEALTH_PORTAL),
        ("https://medlineplus.gov/x", Kind.HEALTH_PORTAL),
        ("https://www.pfizer.com/x", Kind.COMMERCIAL_ADVOCACY_NGO),
        ("https://en.m.wikipedia.org/wiki/X", Kind.OTHER),
        ("https://www.example.org/", Kind.OTHER),
        ("", Kind.OTHER),
    ],
)  # fmt: skip
def test_each_kind_of_source_is_recognised(url: str, kind: Kind) -> None:
    assert categorise(url) is kind


@pytest.mark.parametrize(
    "host", ["evilwho.int", "who.int.evil.example", "whoint", "cdc.gov.evil.example", "notx.com", "who-int.org"]
)
def test_a_look_alike_of_an_authority_is_not_one(host: str) -> None:
    assert categorise(f"https://{host}/") is Kind.OTHER
    assert publisher_of(f"https://{host}/") == host


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://doh.wa.gov/x", Kind.HEALTH_AUTHORITY),
        ("https://www.saude.sp.gov.br/", Kind.HEALTH_AUTHORITY),
        ("https://www.minsalud.gob.bo/", Kind.HEALTH_AUTHORITY),
        ("https://www.gov.uk/government/organisations/uk-health-security-agency", Kind.HEALTH_AUTHORITY),
        ("https://www.gov.uk/vehicle-tax", Kind.OTHER),
        ("https://oversight.house.gov/release/covid-hearing", Kind.OTHER),
        ("https://www.healthgov.example/", Kind.OTHER),
        ("https://healthylifestyle.com/", Kind.OTHER),
    ],
)
def test_a_government_site_is_a_health_authority_when_its_name_says_so(url: str, kind: Kind) -> None:
    assert categorise(url) is kind


def test_an_archived_page_counts_as_the_page_it_keeps() -> None:
    url = "https://web.archive.org/web/20200101000000/https://www.cdc.gov/flu"
    assert categorise(url) is Kind.HEALTH_AUTHORITY
    assert publisher_of(url) == "US Centers for Disease Control and Prevention"


def test_a_known_host_goes_by_its_known_name_whatever_the_page_says() -> None:
    assert publisher_of("https://www.who.int/x", "Some other name") == "World Health Organization"


def test_an_unknown_host_goes_by_the_name_that_the_page_gives() -> None:
    assert publisher_of("https://www.example.org/x", "The Example\n Gazette") == "The Example Gazette"
    assert publisher_of("https://www.example.org/x", None) == "example.org"
    assert publisher_of("") is None


@pytest.mark.parametrize("claimed", ["World Health Organization", "WORLD HEALTH ORGANIZATION (WHO)", "Reuters"])
def test_an_unknown_host_cannot_take_a_known_publishers_name(claimed: str) -> None:
    assert publisher_of("https://fake.example/x", claimed) == "fake.example"


def test_a_blog_on_a_platform_goes_by_its_own_host() -> None:
    assert publisher_of("https://someone.substack.com/p/x", "Substack") == "someone.substack.com"
    assert publisher_of("https://m.facebook.com/x") == "Facebook"


def test_hosts_of_ones_own_count_before_the_table() -> None:
    own = {"mysite.org": Kind.RESEARCH, "cdc.gov": Kind.NEWS, "hub.org/papers": Kind.RESEARCH}
    assert categorise("https://sub.mysite.org/x", own) is Kind.RESEARCH
    assert categorise("https://notmysite.org/x", own) is Kind.OTHER
    assert categorise("https://www.cdc.gov/mmwr/volumes/70", own) is Kind.NEWS
    assert categorise("https://hub.org/papers/1", own) is Kind.RESEARCH
    assert categorise("https://hub.org/blog/1", own) is Kind.OTHER


def test_the_demonstrations_publishers_have_their_names() -> None:
    assert publisher_of("https://northfield-health.example/x") == "Northfield Institute of Public Health"
    assert categorise("https://harbour-daily.example/x") is Kind.NEWS


@given(st.text() | st.text().map("https://{}".format) | st.text().map("https://web.archive.org/web/1/{}".format))
def test_any_text_has_a_kind(url: str) -> None:
    assert categorise(url) in Kind
    publisher_of(url, url)
