"""Checkable statements of a post."""

from __future__ import annotations

import pytest

from crowdnotes.domain import ClaimKind, Post
from crowdnotes.engines.local.queries import find_claims, uncheckable_words


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


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("I think the new library is the ugliest building in town.", ClaimKind.OPINION, "I think"),
        ("𝗜 𝘁𝗵𝗶𝗻𝗸 the new library is the ugliest building in town.", ClaimKind.OPINION, "I think"),
        ("Unpopular opinion: that tower is awful.", ClaimKind.OPINION, "Unpopular opinion"),
        ("Mayor bans rain on Sundays. (Satire)", ClaimKind.SATIRE, "Satire"),
        ("Imagine a town without cars.", ClaimKind.PREDICTION, "Imagine"),
        ("Mark my words: the dollar will soon be gone.", ClaimKind.PREDICTION, "Mark my words"),
        ("By 2028, all who took the vaccine will be dead. Mark my words.", ClaimKind.PREDICTION, "Mark my words"),
        ("Bitcoin will hit 1 million by 2027. Calling it now.", ClaimKind.PREDICTION, "Calling it now"),
        ("By 2035 all cars will be electric.", ClaimKind.PREDICTION, "By 2035"),
        ("The new library is the ugliest building in town.", ClaimKind.OPINION, "ugliest building in town"),
        ("Pineapple on pizza is disgusting.", ClaimKind.OPINION, "is disgusting"),
        ("Taxes are too high. Enough is enough!", ClaimKind.OPINION, "are too high"),
    ],
)
def test_plain_words_of_opinion_satire_or_prediction_are_noticed(text: str, kind: ClaimKind, words: str) -> None:
    assert uncheckable_words(Post(text=text)) == (kind, words)


@pytest.mark.parametrize(
    "text",
    [
        "I think vaccines cause autism in children.",
        "Vaccines caused cancer in 38% of 2,000 patients. I think that is awful.",
        "This is not satire: the mayor banned rain.",
        "You can't imagine how cold it was in town.",
        "The dollar lost 5% of its value.",
        "Mark my words, the vaccine killed 20 million people in 2021.",
        "By 2021, 5 million people had died of the vaccine.",
        "By 2030 the WHO will control all nations under the treaty signed in May 2024.",
        "The worst vaccine ever: it killed 1,000 people.",
        "Sunscreen is disgusting poison that causes cancer.",
        "The mayor should resign. He stole 2 million dollars.",
    ],
)
def test_a_post_that_states_a_fact_is_not_called_an_opinion(text: str) -> None:
    assert uncheckable_words(Post(text=text)) is None
