"""Checkable statements of a post."""

from __future__ import annotations

import pytest

from crowdnotes.domain import Post
from crowdnotes.engines.local.queries import find_claims


def test_a_causal_statement_is_a_claim_with_its_span() -> None:
    post = Post(text="Good morning! The jab causes heart attacks in 38% of kids. What do you think?")
    (claim,) = find_claims(post)
    assert claim.text == "The jab causes heart attacks in 38% of kids."
    assert post.text[claim.span.start : claim.span.end] == claim.text


def test_the_most_checkable_statement_comes_first() -> None:
    claims = find_claims(
        Post(text="Vaccines are bad news for health. Vaccines caused cancer in 38% of 2,000 patients.")
    )
    assert claims[0].text.startswith("Vaccines caused cancer")


@pytest.mark.parametrize(
    "text", ["Do vaccines cause cancer?", "Hello everyone!", "#NoVax", "https://t.co/abc", "😀", ""]
)
def test_questions_greetings_tags_links_and_nothing_are_no_claims(text: str) -> None:
    assert find_claims(Post(text=text)) == []


def test_a_thread_gives_at_most_eight() -> None:
    text = "\n".join(f"Vaccine number {n} causes cancer in {n}% of children." for n in range(2, 60))
    assert len(find_claims(Post(text=text))) == 8


def test_a_row_of_tags_is_no_claim() -> None:
    assert find_claims(Post(text="#health #HIV #AIDS #truth")) == []


@pytest.mark.parametrize(
    ("text", "is_claim"),
    [
        ("Cigarettes AREN’T bad for you", True),
        ("Did you know Gardasil made you more likely to get cervical cancer?", True),
        ("Could a cure for cancer already exist?😳", False),
    ],
)
def test_a_short_denial_is_a_claim(text: str, is_claim: bool) -> None:
    assert bool(find_claims(Post(text=text))) is is_claim


@pytest.mark.parametrize(
    ("stated", "trifle"),
    [
        ("Hospitals get paid $39,000 for each patient put on a ventilator.", "My grandmother had covid this morning."),
        ("Corn silk cures prostate cancer in 3 months.", "I just heard today that the king has prostate cancer."),
    ],
)
def test_what_is_stated_comes_before_what_happened_to_somebody_that_day(stated: str, trifle: str) -> None:
    for text in (f"{stated} {trifle}", f"{trifle} {stated}"):
        assert find_claims(Post(text=text))[0].text == stated


@pytest.mark.parametrize(
    "text",
    [
        "Pfizer hid the deaths of 1,200 people in its vaccine trial.",
        "Doctors hide the truth about cancer because they earn on chemo.",
    ],
)
def test_an_accusation_alone_is_the_claim(text: str) -> None:
    assert [claim.text for claim in find_claims(Post(text=text))] == [text]
