"""The demonstration pack is complete, marked as one, and reads like any other page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes import demonstration
from crowdnotes.demonstration import (
    Example,
    ExamplePage,
    WalkedPath,
    examples,
    is_demonstration_url,
)
from crowdnotes.domain import DecisionKind
from crowdnotes.errors import ConfigurationError
from crowdnotes.text.note_rules import NOTE_LIMIT, find_urls, note_length
from tests.demonstrated import EXAMPLES, PAGES, each_example, each_page, html_of


def _words(html: str) -> int:
    article = re.sub(r"<head>.*?</head>", " ", html, flags=re.DOTALL)
    return len(re.sub(r"<[^>]+>", " ", article).split())


def test_the_six_examples_walk_six_different_paths() -> None:
    assert {example.path for example in EXAMPLES} == set(WalkedPath)
    assert len(EXAMPLES) == len({example.id for example in EXAMPLES}) == 6


def test_abstaining_is_among_the_suggested_ends() -> None:
    ends = {example.path: example.suggested_decision for example in EXAMPLES}
    assert ends[WalkedPath.NOT_NEEDED] is DecisionKind.NOT_NEEDED
    assert ends[WalkedPath.INSUFFICIENT_EVIDENCE] is DecisionKind.INSUFFICIENT_EVIDENCE
    assert ends[WalkedPath.REFUTED_CLAIM] is DecisionKind.APPROVED


@each_example
def test_an_example_says_in_one_sentence_what_it_teaches_and_brings_two_pages_or_more(example: Example) -> None:
    assert re.fullmatch(r"[A-Z][^.]+\.", example.teaches)
    assert len(example.urls) >= 2
    assert example.post.url is None
    assert (example.post.author or "").startswith("demo_")


@each_example
def test_a_post_is_no_longer_than_a_post_and_younger_than_its_pages(example: Example) -> None:
    assert len(example.post.text) <= NOTE_LIMIT
    assert example.post.posted_at is not None
    assert max(page.published for page in example.pages) <= example.post.posted_at.date()


def test_only_the_overstated_source_tempts_with_a_note_and_it_has_the_form_of_a_note() -> None:
    tempting = {example.path: example.tempting_note for example in EXAMPLES if example.tempting_note}
    assert set(tempting) == {WalkedPath.OVERSTATED_SOURCE}
    note = tempting[WalkedPath.OVERSTATED_SOURCE]
    assert note is not None
    assert note_length(note) <= NOTE_LIMIT
    assert [found.url in PAGES for found in find_urls(note)] == [True]


@each_page
def test_a_page_is_marked_as_a_demonstration_at_its_top_and_bottom(page: ExamplePage) -> None:
    html = html_of(page)
    body = html[html.index("<body>") :]
    first, last = body.index("Demonstration page"), body.rindex("Demonstration page")
    assert first < body.index("<h1") < last
    assert '<meta name="robots" content="noindex">' in html


@each_page
def test_a_page_names_its_own_invented_address_and_loads_nothing_from_elsewhere(page: ExamplePage) -> None:
    html = html_of(page)
    assert f'<link rel="canonical" href="{page.url}">' in html
    assert is_demonstration_url(page.url)
    elsewhere = [url.url for url in find_urls(html) if url.has_scheme and not is_demonstration_url(url.url)]
    assert set(elsewhere) <= {"https://schema.org/NewsArticle"}
    assert "<script" not in html


@each_page
def test_a_page_is_long_enough_to_be_read_and_short_enough_for_a_demonstration(page: ExamplePage) -> None:
    assert 250 <= _words(html_of(page)) <= 600


@each_page
def test_a_deciding_sentence_leaves_room_for_its_attribution_in_a_note(page: ExamplePage) -> None:
    assert len(page.deciding) <= 180
    assert len(f"According to {page.publisher}: {page.deciding} ") + 1 <= NOTE_LIMIT


def test_no_page_lies_in_the_pack_unused() -> None:
    files = {path.name for path in (demonstration.ASSETS / "pages").iterdir()}
    assert files == {page.file for page in PAGES.values()}


@pytest.fixture
def own_assets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(demonstration, "ASSETS", tmp_path)
    examples.cache_clear()
    yield tmp_path
    examples.cache_clear()


def test_a_missing_pack_is_said_in_a_sentence_with_a_way_out(own_assets: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read") as caught:
        examples()
    assert "assets/demonstration" in caught.value.next_step


def test_a_damaged_pack_is_told_from_a_missing_one(own_assets: Path) -> None:
    (own_assets / "examples.json").write_text('{"examples": 3}', encoding="utf-8")
    with pytest.raises(ConfigurationError, match="damaged"):
        examples()


def test_a_missing_page_is_named(own_assets: Path) -> None:
    whole = Path(demonstration.__file__).parent.parent / "assets" / "demonstration" / "examples.json"
    (own_assets / "examples.json").write_bytes(whole.read_bytes())
    with pytest.raises(ConfigurationError, match=r"kettle-news\.html"):
        examples()


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://harbour-daily.example/a", True),
        ("HTTP://Harbour-Daily.EXAMPLE:8080/a?b#c", True),
        ("harbour-daily.example/a", True),
        ("https://harbour-daily.example./a", True),
        ("https://example.com/harbour-daily.example", False),
        ("https://notexample/", False),
        ("https://who.int/?from=harbour-daily.example", False),
        ("https://harbour-daily.example@who.int/", False),
        ("https://[harbour-daily.example", False),
        ("", False),
    ],
)
def test_a_demonstration_address_is_told_by_its_host_alone(url: str, expected: bool) -> None:
    assert is_demonstration_url(url) is expected


@given(st.text())
def test_any_text_can_be_asked_about(text: str) -> None:
    assert is_demonstration_url(text) in {True, False}
