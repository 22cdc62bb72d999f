"""Health terms in a post, and what a post is about."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.engines.local.health_terms import find_terms, find_topics, medical_name, other_names


@pytest.mark.parametrize(
    ("text", "medical"),
    [
        ("blood clots everywhere", "thrombosis"),
        ("the Jab", "vaccine"),
        ("a heart attack", "myocardial infarction"),
        ("they have COPD", "chronic obstructive pulmonary disease"),
        ("Ozempic face", "semaglutide"),
        ("Lou Gehrig’s disease", "amyotrophic lateral sclerosis"),
    ],
)
def test_a_lay_word_brand_or_abbreviation_gets_its_medical_term(text: str, medical: str) -> None:
    assert medical in {term.medical for term in find_terms(text)}


def test_an_abbreviation_counts_in_capitals_only_and_not_in_a_text_that_shouts() -> None:
    assert find_terms("ms smith") == ()
    assert find_terms("MS SMITH") == ()
    assert find_terms("diagnosed with MS")[0].medical == "multiple sclerosis"


def test_of_overlapping_terms_the_longest_is_taken() -> None:
    assert [term.text for term in find_terms("high blood pressure")] == ["high blood pressure"]


def test_the_subject_comes_before_words_that_half_of_all_posts_hold() -> None:
    topics = find_topics("The virus made children sick, say people with Lyme disease")
    assert "lyme" in topics[0].text.casefold()


@given(st.text())
def test_any_text_can_be_searched_for_terms(text: str) -> None:
    for term in find_terms(text):
        assert text.replace("’", "'")[term.start : term.end] == term.text
    find_topics(text)


@pytest.mark.parametrize(
    ("word", "medical"),
    [
        ("jabs", "vaccine"),
        ("miscarriages", "pregnancy loss"),
        ("pot", "cannabis"),
        ("cancer", "neoplasm"),
        ("foil", None),
    ],
)
def test_a_lay_word_has_a_medical_name_in_the_plural_too(word: str, medical: str | None) -> None:
    assert medical_name(word) == medical


def test_names_that_serve_comparing_alone_are_not_searched_for() -> None:
    assert other_names()["cancer"] == "neoplasm"
    assert [topic.official for topic in find_topics("cancer")] == ["cancer"]
