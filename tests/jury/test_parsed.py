"""A note taken apart."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from crowdnotes.jury.parsed import parsed


def test_links_and_words_are_apart() -> None:
    read = parsed("NNN. Biden said so: https://www.example.org/harris-lied")
    assert [link.url for link in read.links] == ["https://www.example.org/harris-lied"]
    assert [token.word for token in read.tokens] == ["nnn", "biden", "said", "so"]
    assert [name.group for name in read.names] == ["biden_harris"]
    assert [topic.group for topic in read.topics] == ["not_needed"]


@settings(max_examples=60)
@given(st.text(max_size=300))
def test_names_and_phrases_of_any_text_lie_among_its_words(text: str) -> None:
    read = parsed(text)
    assert all(0 <= match.first <= match.last < len(read.tokens) for match in (*read.names, *read.topics))
    assert all(read.plain[token.start : token.end].startswith(token.word) for token in read.tokens)
