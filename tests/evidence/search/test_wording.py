"""What a person typed never becomes a service's search syntax."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.evidence.search.provider import any_of, plain_query, search_words


def test_operators_and_fields_of_a_post_are_only_words() -> None:
    words = search_words('vaccines[au] OR "autism" AND (SRC:MED) NOT safe*')
    assert words == ["vaccines", "au", "autism", "src", "med", "safe"]
    assert any_of(words[:2]) == "vaccines OR au"


@given(st.text(max_size=200))
def test_search_words_hold_nothing_but_letters_and_digits(text: str) -> None:
    assert all(re.fullmatch(r"[^\s\"\[\]():*^~]+", word) for word in search_words(text))


@pytest.mark.parametrize(
    ("query", "plain"),
    [
        ("!g covid", "g covid"),
        (":de -site:who.int", "de site:who.int"),
        ('"exact" (phrase)', "exact phrase"),
        ("is it 3:1?", "is it 3:1?"),
    ],
)
def test_marks_that_web_engines_obey_are_taken_away(query: str, plain: str) -> None:
    assert plain_query(query, 100) == plain


@given(st.text(max_size=300), st.integers(1, 60))
def test_a_plain_query_keeps_its_bounds(text: str, limit: int) -> None:
    assert len(plain_query(text, limit)) <= limit
    assert len(plain_query(text, 300, 5).split()) <= 5
