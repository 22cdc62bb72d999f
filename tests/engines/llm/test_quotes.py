"""A quote counts only where it stands, whatever the spaces and the kind of quotation marks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.engines.llm.quotes import find_quote, plain

TEXT = "The “review” of 12 studies — all small — found\n  no link; it's   old."


def test_spaces_dashes_quotation_marks_and_case_do_not_matter() -> None:
    span = find_quote(TEXT, '"the "review" of 12 studies - all small - found no link."')
    assert span is not None
    assert TEXT[span.start : span.end] == "The “review” of 12 studies — all small — found\n  no link"
    assert find_quote(TEXT, "it’s old") is not None


def test_another_word_or_number_is_no_quote() -> None:
    assert find_quote(TEXT, "The review of 13 studies") is None
    assert find_quote(TEXT, "found a link") is None


def test_a_quote_of_nothing_proves_nothing() -> None:
    assert find_quote(TEXT, "") is None
    assert find_quote(TEXT, " “ ” ... ") is None
    assert find_quote(TEXT, "of") is None


@given(st.text(max_size=60), st.text(max_size=30))
def test_what_is_found_holds_the_words_of_the_quote(text: str, quote: str) -> None:
    span = find_quote(text, quote)
    if span is not None:
        assert 0 <= span.start < span.end <= len(text)


@given(st.text(max_size=300), st.integers(10, 200))
def test_plain_words_are_one_printable_line_without_links_within_the_limit(text: str, limit: int) -> None:
    line = plain(f"{text} https://evil.example/x @someone", limit)
    assert len(line) <= limit
    assert line.isprintable()
    assert "evil.example" not in line
    assert "@someone" not in line
