"""What is pasted into one box is taken for what it is, and none of it is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.text.pasted import Pasted, parse_pasted, post_from_address, post_number

POST = "https://x.com/someone/status/1790000000000000000?s=20"
CDC, BBC = "https://www.cdc.gov/flu", "bbc.co.uk/news/health-1"
WORDS = "Vitamin C cures a cold. Read https://a.example.org/x and share."


@pytest.mark.parametrize(
    ("text", "is_taken_for"),
    [
        ("", Pasted("")),
        (f"  {WORDS}\n", Pasted(WORDS)),
        (POST, Pasted("", POST)),
        ("twitter.com/i/web/status/17", Pasted("", "twitter.com/i/web/status/17")),
        (f"{CDC}\r\n\r\n{BBC}", Pasted("", None, (CDC, BBC))),
        (f"{WORDS}\n{POST}\n\n{CDC}\n- {BBC}\n1. <{CDC}>,", Pasted(WORDS, POST, (CDC, BBC))),
        (f"{CDC} {BBC}", Pasted("", None, (CDC, BBC))),
        (f"{POST}\nhttps://x.com/b/status/2", Pasted("", POST, ("https://x.com/b/status/2",))),
        (f"{WORDS} {POST}\n{CDC}", Pasted(WORDS, POST, (CDC,))),
        (f"{POST} {WORDS}", Pasted(WORDS, POST)),
        (f"A {POST} B", Pasted(f"A {POST} B")),
        (f"Look at x.com/b/status/2\n{POST}", Pasted("Look at x.com/b/status/2", POST)),
        (f"See: {CDC}", Pasted(f"See: {CDC}")),
        ("Amazon.com", Pasted("Amazon.com")),
        ("Look!\nhttps://t.co/AbC\npic.x.com/AbC", Pasted("Look!\nhttps://t.co/AbC\npic.x.com/AbC")),
        ("https://example.jpを見て", Pasted("https://example.jpを見て")),
        ("https://ja.wikipedia.org/wiki/新型", Pasted("", None, ("https://ja.wikipedia.org/wiki/新型",))),
        ("https://[::1\n2. Second", Pasted("https://[::1\n2. Second")),
    ],
    ids=str,
)
def test_words_the_posts_address_and_links_are_told_apart(text: str, is_taken_for: Pasted) -> None:
    assert parse_pasted(text) == is_taken_for


def test_a_post_with_an_address_of_its_own_keeps_the_one_that_it_ends_in() -> None:
    assert parse_pasted(f"Look at {POST}", has_address=True) == Pasted(f"Look at {POST}")


_PIECES = st.sampled_from(
    [WORDS, POST, CDC, BBC, f"- {CDC}", f"{CDC}, {BBC}", "x.com/b/status/2", "- a list", "1.", ""]
)


@given(st.lists(_PIECES | st.text(max_size=30)).map("\n".join))
def test_nothing_that_was_pasted_is_lost_and_the_words_stay_as_they_are(text: str) -> None:
    found = parse_pasted(text)
    taken = {found.words, found.address, *found.links}
    kept = set(found.words.split()) | {item for item in taken if item}
    missing = {part for part in text.split() if part not in kept and part.strip("<>,;.") not in kept}
    assert missing <= {"-", "*", "•", "–", "·", *(part for part in missing if part[:-1].isdigit())}
    lines = text.replace("\r\n", "\n").split("\n")
    assert all(line.strip() in {each.strip() for each in lines} for line in found.words.split("\n") if line.strip())


@given(st.text())
def test_what_is_no_address_of_a_post_has_no_number(text: str) -> None:
    assert post_number(text) is None
    assert post_number(f"https://evil.example/x.com/a/status/1{text}") is None


@pytest.mark.parametrize(
    ("path", "number"),
    [
        ("17", 17),
        ("17/photo/1", 17),
        ("17?s=20", 17),
        ("17.", 17),
        ("1.35E+18", None),
        ("1,35E+18", None),
        ("1E+18", None),
    ],
)
def test_a_number_that_a_spreadsheet_rounded_is_none_of_a_post(path: str, number: int | None) -> None:
    assert post_number(f"https://x.com/a/status/{path}") == number


@pytest.mark.parametrize(
    ("words", "url", "stands_in_the_box"),
    [
        ("Vitamin C cures a cold.", POST, f"Vitamin C cures a cold.\n\n{POST}"),
        ("x" * 100, "", "x" * 40),
        ("A post.", "https://x.com/home", "A post."),
        ("A post.", "https://a.example.org/x\nIgnore this.", "A post.\n\nhttps://a.example.org/xIgnorethis."),
        ("", "https://[::1", "https://[::1"),
    ],
    ids=["both", "too long", "a timeline", "more than an address", "no address"],
)
def test_a_post_that_a_link_brought_is_bounded_and_comes_with_its_address(
    words: str, url: str, stands_in_the_box: str
) -> None:
    assert post_from_address(words, url, 40) == stands_in_the_box
    assert len(post_from_address("", f"https://a.org/{'x' * 9000}", 40)) < 5000
