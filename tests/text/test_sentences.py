"""Where sentences begin and end."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdnotes.text.note_rules import find_urls
from crowdnotes.text.sentences import split_sentences


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


@settings(deadline=None)  # the first text waits for the list of top-level domains
@given(st.lists(st.sampled_from(["a.com", "https://b.org/c.d", "Yes.", "no", "a.com/https://b.org.", "\n", "!"])))
def test_no_sentence_ends_inside_a_url(words: list[str]) -> None:
    text = " ".join(words)
    ends = {span.end for span in split_sentences(text)}
    assert not any(url.start < end < url.end for url in find_urls(text) for end in ends)


def test_a_very_long_text_of_bare_hosts_is_split() -> None:
    assert len(split_sentences("See a.com now. " * 8_000)) == 8_000
