"""What is wrong with a note's form."""

from __future__ import annotations

import pytest
from hypothesis import given

from crowdnotes.domain import LintLevel
from crowdnotes.text.lint import blocking, lint, without_tracking
from tests.text.test_note_rules import NOTES

_GOOD = "The agency found no link between the two. https://health.example.net/report"


def _codes(text: str) -> set[str]:
    return {warning.code for warning in lint(text)}


def test_a_sound_note_has_nothing_to_mend() -> None:
    assert lint(_GOOD) == ()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "empty"),
        ("No link here.", "no-url"),
        ("Only a bare cdc.gov/flu here.", "no-url"),
        ("This is false.The agency says no. https://a.org/x", "phantom-url"),
        ("Compare vs.Biden here https://a.org/x", "phantom-url"),
        ("Pain.https://a.org/x", "glued-url"),
        ("Write to press@cdc.gov https://a.org/x", "email"),
        ("[insert source] https://a.org/x", "placeholder"),
        ("See https://example.com/article", "placeholder"),
        ("w " * 150 + "https://a.org/x", "over-limit"),
    ],
)
def test_what_x_would_refuse_or_misread_blocks(text: str, code: str) -> None:
    assert code in {warning.code for warning in blocking(lint(text))}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("See https://a.org/x?utm_source=post&id=3", "tracking"),
        ("See cdc.gov/flu and https://a.org/x", "bare-url"),
        ("Read https://ja.wikipedia.org/wiki/新型", "cut-link"),
        ("No link found #health https://a.org/x", "hashtag"),
        ("No link found. https://northfield.example/page", "invented-host"),
        ("x" * 258 + " https://a.org/x", "near-limit"),
    ],
)
def test_what_is_merely_unwise_warns(text: str, code: str) -> None:
    assert {warning.level for warning in lint(text) if warning.code == code} == {LintLevel.WARNS}


@pytest.mark.parametrize(
    ("link", "clean"),
    [
        ("https://a.org/x?utm_source=post&id=3", "https://a.org/x?id=3"),
        ("https://a.org/x?id=3&fbclid=Q&page=2#part", "https://a.org/x?id=3&page=2#part"),
        ("https://a.org/x?gclid=1", "https://a.org/x"),
        ("https://a.org/x?gclid=1#top", "https://a.org/x#top"),
        ("https://a.org/x?q=utm_source", "https://a.org/x?q=utm_source"),
        ("https://a.org/x?b=%20&a=+", "https://a.org/x?b=%20&a=+"),
        ("https://a.org/x?%75tm_source=1&id=3", "https://a.org/x?id=3"),
        ("https://a.org/x", "https://a.org/x"),
    ],
)
def test_tracking_is_cut_out_of_a_link_and_nothing_else(link: str, clean: str) -> None:
    assert without_tracking(f"See {link}, and {link}.") == f"See {clean}, and {clean}."
    assert "tracking" not in _codes(without_tracking(link))


def test_the_advice_names_only_the_tracking() -> None:
    [warning] = lint("See https://a.org/x?utm_source=post&id=3&fbclid=2")
    assert warning.message == "Remove tracking from the link: fbclid, utm_source."


@given(NOTES)
def test_cutting_the_tracking_twice_is_cutting_it_once(text: str) -> None:
    once = without_tracking(text)
    assert without_tracking(once) == once
    assert not any(warning.code == "tracking" for warning in lint(once))


@pytest.mark.parametrize(
    "text",
    ["U.S. and e.g. and 3.5 mg", "a https://web.archive.org/web/1/https://b.org/c", "Fig.2", "$ABBV.com, #tag.com"],
)
def test_ordinary_full_stops_and_archived_links_are_left_alone(text: str) -> None:
    assert _codes(text) & {"phantom-url", "glued-url", "email"} == set()


@given(NOTES)
def test_any_text_gets_warnings_that_point_into_it(text: str) -> None:
    for warning in lint(text):
        if warning.span is not None:
            assert 0 <= warning.span.start < warning.span.end <= len(text)


@pytest.mark.deep
def test_a_very_long_text_is_linted_at_once() -> None:
    """Quadratic, each of these took tens of seconds: the tests' own time limit is the check."""
    assert "over-limit" in _codes("a" * 400_000)
    assert "bare-url" in _codes("a.com " * 15_000)
    assert "hashtag" in _codes("https://a.com #b " * 5_000)


def test_an_address_of_mail_is_found_between_others_and_after_marks() -> None:
    found = [w.message for w in lint("(ann.lee+x@a.example.org),bob@b.example.org") if w.code == "email"]
    assert [message.split("“")[1].split("”")[0] for message in found] == [
        "ann.lee+x@a.example.org",
        "bob@b.example.org",
    ]
