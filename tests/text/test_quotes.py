"""Quoted words are found letter for letter, whatever the marks, dashes, spaces and capitals."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.text.quotes import find_quote, holds_quote, tells_enough

TEXT = "The “review” of 12 studies — all small — found\n  no link; it's   old."


def test_spaces_dashes_quotation_marks_and_case_do_not_matter() -> None:
    span = find_quote(TEXT, '"the "review" of 12 studies - all small - found no link."')
    assert span is not None
    assert TEXT[span.start : span.end] == "The “review” of 12 studies — all small — found\n  no link"
    assert find_quote(TEXT, "it’s old") is not None


@pytest.mark.parametrize("quote", ["The review of 13 studies", "found a link", "", " “ ” ... ", "of"])
def test_another_word_or_number_is_no_quote_and_one_of_nothing_proves_nothing(quote: str) -> None:
    assert find_quote(TEXT, quote) is None


@given(st.text(max_size=60), st.text(max_size=30))
def test_what_is_found_holds_the_words_of_the_quote(text: str, quote: str) -> None:
    span = find_quote(text, quote)
    if span is not None:
        assert 0 <= span.start < span.end <= len(text)


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ('the "review" … all small', "The “review” of 12 studies — all small"),
        ('“…The "review" [...] studies . . . found no link…”', TEXT.rpartition(";")[0].rstrip()),
        ('found no link … The "review"', None),
        ('the "review" … no such words', None),
        ("the … of", None),
    ],
)
def test_words_may_be_left_out_and_the_span_holds_them(quote: str, found: str | None) -> None:
    span = find_quote(TEXT, quote)
    assert (None if span is None else TEXT[span.start : span.end]) == found


def test_parts_of_a_quote_stand_near_each_other() -> None:
    text = f"It was found {'and found ' * 60} to be harmless."
    assert find_quote(text, "It was found … be harmless") is None
    span = find_quote(text, "and found … be harmless")
    assert span is not None
    assert len(text) - span.start < 450


@pytest.mark.parametrize(
    ("text", "quote", "found"),
    [
        ("Ein Cafe\u0301, sagt er.", "café", "Cafe\u0301"),
        ("Ein Café, sagt er.", "Cafe\u0301,", "Café"),
        ("the o\ufb03cial word", "official", "o\ufb03cial"),
        ("a vac\u00adcine works", "vaccine", "vac\u00adcine"),
    ],
)
def test_ways_to_write_a_letter_do_not_matter(text: str, quote: str, found: str) -> None:
    span = find_quote(text, quote)
    assert span is not None
    assert text[span.start : span.end] == found
    assert holds_quote(text, quote)


@given(st.text(max_size=60), st.text(max_size=30).filter(lambda quote: "…" not in quote and "..." not in quote))
def test_what_is_found_is_held(text: str, quote: str) -> None:
    assert find_quote(text, quote) is None or holds_quote(text, quote)


@pytest.mark.parametrize("quote", ["the", "of the", "it is", "7", "and also there"])
def test_a_few_empty_words_show_nothing(quote: str) -> None:
    assert not tells_enough(quote)


@pytest.mark.parametrize("quote", ["no link between the drink and illness", "7 of 100", "kein Impfstoff", "没有疫苗"])
def test_words_that_carry_meaning_do(quote: str) -> None:
    assert tells_enough(quote)


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("had had COVID- 19 within", "had had COVID-19 within"),
        ("had had COVID-19 within", "had had COVID-\n19 within"),
        ("a wellknown test of longterm harm", "a well-known test of long-term harm"),
        ("a well-known test", "a well-\nknown test"),
        ("in those infected by it", "in those in-\nfected by it"),
        ("in 5,000 participants of it", "in 5,000 [12] participants of it"),
        ("Of them, 8 [3] fell ill.", "of them, 8 fell ill"),
        ("limit.[4] Then it fell", "limit. Then it fell"),
        ("some 10⁶ particles", "some 10^6 particles"),
        ("some 10⁻⁹ of them", "some 10^-9 of them"),
        ("it takes 3½ cups", "it takes 3 1/2 cups"),
        ("« Est-ce sûr\u202f? » — 5 % d’eux", '"Est-ce sûr?" - 5% d\'eux'),
        ("it was −5 degrees", "it was -5 degrees"),
        ("zero\u200bwidth words", "zerowidth words"),
        ("with p < 0.05 in all", "with p<0.05 in all"),
        ("of 10 °C or ≤ 5", "of 10°C or <=5"),
        ("it rose 2·5 times", "it rose 2.5 times"),
        ("it fell† by half*.", "it fell by half."),
        ("studies—all small—found no link", "all small"),
        ("a well-known test", "known test"),
        ("of 10 [3]were infected", "were infected"),
        ("その水は安全です", "水は安全"),
    ],
)
def test_two_prints_of_the_same_words_are_the_same(text: str, quote: str) -> None:
    assert find_quote(text, quote) is not None
    assert holds_quote(text, quote)


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("in those of 10-20 years", "in those of 1020 years"),
        ("some 10⁶ particles", "some 106 particles"),
        ("Of them, 8³ fell ill", "Of them, 83 fell ill"),
        ("it takes 3½ cups", "it takes 31/2 cups"),
        ("it was -5 degrees", "it was 5 degrees or"),
        ("of 5,000 [12] participants", "of 5,00012 participants"),
        ("a dose of 15 mg is safe", "5 mg is safe"),
        ("a dose of 1.5 mg is safe", "5 mg is safe"),
        ("a dose of 150 mg", "a dose of 15"),
        ("a dose of 15.5 mg", "a dose of 15"),
        ("it fell by 15%", "it fell by 15"),
        ("some 10⁶ particles", "some 10"),
        ("it was -5 degrees", "5 degrees"),
        ("in 10–20 years", "20 years"),
        ("±5 of them fell", "5 of them fell"),
        ("it is unsafe to drink", "safe to drink"),
        ("in non-smokers it fell", "smokers it fell"),
        ("it is risk-free", "it is risk"),
        ("COVID-19 cases", "19 cases"),
        ("the catalogue of it", "the cat"),
        ("the un\u00adsafe water", "safe water"),
    ],
)
def test_other_numbers_are_others_whatever_their_print(text: str, quote: str) -> None:
    assert find_quote(text, quote) is None
    assert not holds_quote(text, quote)


@pytest.mark.parametrize(
    ("quote", "found"),
    [("safe to dri", "safe to dri"), ("safe to dri … filter", "safe to drink, even after you filter")],
)
def test_what_only_points_at_a_place_may_end_within_a_word(quote: str, found: str) -> None:
    text = "It is unsafe to drink, even after you filtered it."
    span = find_quote(text, quote, whole=False)
    assert span is not None
    assert text[span.start : span.end] == found


def test_the_span_of_a_quote_ends_with_its_last_letter() -> None:
    text = "It was well- known, and 8 [3] fell."
    span = find_quote(text, "was well")
    assert span is not None
    assert text[span.start : span.end] == "was well"
