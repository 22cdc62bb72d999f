"""Names as runs of capitals."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.text.names import figures_in, names_in


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Yes, Dr. Jo Doe resigned. The Bill & Melinda Gates Fund", ["Jo Doe", "Bill & Melinda Gates Fund"]),
        ("In the Bank of England, and of Jo Doe", ["Bank of England", "Jo Doe"]),
        ("THEY ARE KILLING Bill Gates", []),
        ("Well, THREE YEARS AGO TODAY Facebook BANNED a nurse who had said this of it", []),
        ("It is HIV AIDS again. FDA's Peter Marks knew, PaulBrandITV There", ["Peter Marks"]),
        ("no names here, Anthony", []),
        ("", []),
    ],
)  # fmt: skip
def test_names_are_found_without_titles_and_common_words(text: str, names: list[str]) -> None:
    assert names_in(text) == names


@given(st.text(max_size=200))
def test_a_name_is_two_to_six_words_of_the_text(text: str) -> None:
    assert all(2 <= len(name.split()) <= 6 for name in names_in(text))


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("A review of 29 trials with 11,306 people", ["11,306 people"]),
        ("a 4070% increase, and 80 % increase", ["4070% increase", "80 % increase"]),
        ("80% were fine, 100% safe and 500 videos", []),
        ("It cost $35.7 billion; 1.3 million deaths", ["$35.7 billion", "1.3 million deaths"]),
        ("On December 10, 1974 and 3 May 2022", ["December 10, 1974", "3 May 2022"]),
        ("In 2020 COVID-19 took 2 years, 1984 was a book and 5 of 10 said so", []),
        ("https://a.example/123456/x 10.1000/456 things", []),
        ("", []),
    ],
)  # fmt: skip
def test_figures_are_found_with_what_they_count_and_dates_whole(text: str, figures: list[str]) -> None:
    assert figures_in(text) == figures


@given(st.text(alphabet="0123456789,.%$ abc", max_size=200))
def test_figures_stand_in_the_text(text: str) -> None:
    assert all(figure in " ".join(text.split()) for figure in figures_in(text))
