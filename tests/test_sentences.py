"""Where sentences begin and end."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.sentences import split_sentences


def _split(text: str) -> list[str]:
    return [text[span.start : span.end] for span in split_sentences(text)]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        ("One. Two!", ["One.", "Two!"]),
        ("He said “no.” Then he left.", ["He said “no.”", "Then he left."]),
        ("Dr. Smith of the U.S. agency agreed.", ["Dr. Smith of the U.S. agency agreed."]),
        ("See https://a.org/b.c?d. Next.", ["See https://a.org/b.c?d.", "Next."]),
        ("About 3.5 mg a day. Fine.", ["About 3.5 mg a day.", "Fine."]),
        ("A line\nanother", ["A line", "another"]),
        ("一つ。二つ。", ["一つ。", "二つ。"]),
        ("no stop at all", ["no stop at all"]),
    ],
)
def test_sentences_end_where_a_reader_would_end_them(text: str, sentences: list[str]) -> None:
    assert _split(text) == sentences


@given(st.text(max_size=300))
def test_sentences_are_in_order_and_hold_every_visible_character(text: str) -> None:
    spans = split_sentences(text)
    assert all(a.end <= b.start for a, b in pairwise(spans))
    inside = "".join(text[span.start : span.end] for span in spans)
    assert "".join(inside.split()) == "".join(text.split())
