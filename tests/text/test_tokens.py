"""Words, stems and posts as prose."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.text.tokens import content_words, plain_post, spaced, split_camel, stem, tokens, words


@given(st.text(max_size=200))
def test_a_token_is_what_stands_at_its_offsets(text: str) -> None:
    for token in tokens(text):
        assert text[token.start : token.end] == token.text
        assert token.folded


@pytest.mark.parametrize(
    "family",
    [
        "prevent prevents preventing prevention preventive",
        "Vaccine vaccines vaccinated vaccination",
        "Émile emile",
        "disease diseases",
        "cause causes caused",
    ],
)
def test_forms_of_a_word_share_a_stem(family: str) -> None:
    assert len({stem(word) for word in family.split()}) == 1


@pytest.mark.parametrize(("one", "other"), [("lung", "lupus"), ("kidney", "kind"), ("virus", "vitamin")])
def test_different_words_keep_different_stems(one: str, other: str) -> None:
    assert stem(one) != stem(other)


def test_a_post_becomes_prose_without_links_and_mentions_and_a_hashtag_is_split_at_its_capitals() -> None:
    post = "Stop the jab &amp; think! @CDCgov https://t.co/abc #VaccineSafety"
    assert plain_post(post) == "Stop the jab & think! Vaccine Safety"
    assert split_camel("CovidVaccineSafety2021") == "Covid Vaccine Safety 2021"
    assert split_camel("nocapitals") == "nocapitals"


def test_zalgo_text_folds_to_its_letters_and_words_of_other_scripts_are_found() -> None:
    assert [token.folded for token in tokens("z̷̧̢a̷l̴g̶o̵ café")] == ["zalgo", "cafe"]
    assert words("L'été, vaccins!") == ["L", "été", "vaccins"]
    assert words("新冠") == ["新", "冠"]
    assert words("टीका सुरक्षित है") == ["टीका", "सुरक्षित", "है"]


def test_stop_words_go_by_the_texts_own_language_and_a_text_of_them_alone_keeps_them() -> None:
    assert content_words("Die Impfung ist nicht gefährlich") == ["impfung", "gefährlich"]
    assert content_words("Patients die of the flu") == ["patients", "die", "flu"]
    assert content_words("Who is it?") == ["who", "is", "it"]


@given(st.text())
def test_no_letter_is_lost_between_words(text: str) -> None:
    assert spaced(text).replace(" ", "") == text.replace(" ", "")
