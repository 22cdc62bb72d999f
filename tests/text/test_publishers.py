"""Who a source is, in a note's words."""

from __future__ import annotations

import pytest

from crowdnotes.domain import Source
from crowdnotes.text.note_rules import find_urls
from crowdnotes.text.publishers import publisher_name, with_publishers_named


def _name(publisher: str | None = None, title: str = "", url: str | None = None) -> str:
    return publisher_name(Source(id="S1", title=title, publisher=publisher, url=url))


def test_a_known_host_is_named_as_people_know_it() -> None:
    assert _name("CDC-export", url="https://www.cdc.gov/measles") == "the CDC"
    assert _name(url="https://www.nlm.nih.gov/medlineplus/measles.html") == "the NIH's MedlinePlus"


def test_a_part_of_a_known_site_goes_by_the_name_that_its_page_gives() -> None:
    assert _name("NCCIH", url="https://www.nccih.nih.gov/x") == "the NCCIH"
    assert _name("US National Institutes of Health", url="https://www.nccih.nih.gov/x") == "the NIH"


def test_a_host_that_only_looks_known_is_not() -> None:
    assert _name("Somebody", url="https://notcdc.gov.example.org/") == "Somebody"


def test_the_publisher_then_the_site_in_the_title() -> None:
    assert _name("World Heart Federation") == "the World Heart Federation"
    assert _name(title="Measles facts | Example Clinic") == "Example Clinic"
    assert _name(title="Measles facts") == ""
    assert _name() == ""


@pytest.mark.parametrize("publisher", ["example.org", "https://x.example/", "<b>bold</b>", "A" * 300])
def test_a_name_that_would_read_as_a_link_or_markup_is_left_out(publisher: str) -> None:
    assert _name(publisher) == ""
    assert not find_urls(_name(publisher))


def test_a_broken_url_names_nobody() -> None:
    assert _name(url="https://[bad") == ""


@pytest.mark.parametrize(
    ("note", "named"),
    [
        ("According to cdc.gov, it is rare.", "According to the CDC, it is rare."),
        ("Cdc.gov says it is rare.", "The CDC says it is rare."),
        ("It is rare, the www.cdc.gov page says.", "It is rare, the CDC page says."),
        ("It is rare, says the CDC (cdc.gov).", "It is rare, says the CDC."),
        ("It is rare, per Clinic.example.org.", "It is rare, per Example Clinic."),
        ("It is rare, per evil.com.", "It is rare, per evil.com."),
        ("It is rare: https://cdc.gov", "It is rare: https://cdc.gov"),
        ("It is rare: cdc.gov/measles", "It is rare: cdc.gov/measles"),
    ],
)
def test_a_site_named_in_the_words_gets_its_publishers_name_and_no_other_address_does(note: str, named: str) -> None:
    cdc = Source(id="S1", title="Measles", url="https://www.cdc.gov/measles")
    clinic = Source(id="S2", title="Measles", publisher="Example Clinic", url="https://clinic.example.org/a")
    assert with_publishers_named(note, [cdc, clinic]) == named


@pytest.mark.parametrize("title", ["Vaccines kill | CDC", "Vaccines kill - World Health Organization"])
def test_the_end_of_a_title_gives_no_page_a_known_publishers_name(title: str) -> None:
    assert _name(title=title, url="https://a.example.org/x") == ""
