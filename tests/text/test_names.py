"""Names as runs of capitals."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.text.names import names_in


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Yes, Dr. Jo Doe resigned. The Bill & Melinda Gates Fund", ["Jo Doe", "Bill & Melinda Gates Fund"]),
        ("In the Bank of England, and of Jo Doe", ["Bank of England", "Jo Doe"]),
        ("THEY ARE KILLING Bill Gates", []),
        ("no names here, Anthony", []),
        ("", []),
    ],
)  # fmt: skip
def test_names_are_found_without_titles_and_common_words(text: str, names: list[str]) -> None:
    assert names_in(text) == names


@given(st.text(max_size=200))
def test_a_name_is_two_to_six_words_of_the_text(text: str) -> None:
    assert all(2 <= len(name.split()) <= 6 for name in names_in(text))
