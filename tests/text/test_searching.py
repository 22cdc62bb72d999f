"""What is typed into a search, word by word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.text.tokens import folded, search_parts


@pytest.mark.parametrize(
    ("search", "parts"),
    [
        ("Zoë  kettle", ["zoe", "kettle"]),
        ("„Vitamin  C“ cold cold", ["vitamin c", "cold"]),
        ('a "b c', ["a", "b", "c"]),
        ('"" "  "', []),
        ("Ёлка й", ["елка", "и"]),
        ("がか", ["がか"]),
        ("ﬁne ＡＢ", ["fine", "ab"]),
        ("AѶ", ["av"]),
    ],
)
def test_words_stand_alone_and_quoted_ones_together(search: str, parts: list[str]) -> None:
    assert search_parts(search) == parts


@given(st.text())
def test_a_text_is_found_by_each_part_of_itself_and_is_folded_once(text: str) -> None:
    assert all(part in folded(text) for part in search_parts(text) if '"' not in folded(text))
    assert folded(folded(text)) == folded(text)
