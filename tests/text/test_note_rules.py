"""The 280 rule."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.cli.notes import length
from crowdnotes.errors import InputError
from crowdnotes.text.note_rules import NOTE_LIMIT, find_urls, note_length, truncate, without_urls, x_storage_form

_WORDS = [
    "word ",
    "https://a.org/b?c=d ",
    "cdc.gov ",
    "false.The ",
    "\n",
    "中文",
    "👩‍👩‍👧 ",
    "e\u0301",
    "(",
    ")",
    ".",
    "www.x",
    " ",
]
_PIECES = st.sampled_from(_WORDS)
NOTES = st.one_of(st.text(max_size=400), st.lists(_PIECES, max_size=120).map("".join))


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("", 0),
        ("https://a.org/very/long/path?with=query", 1),
        ("See https://a.org/x, and http://b.org/y", 12),
        ("a\nb", 3),
        ("a\r\nb", 3),
        ("cdc.gov/flu says so", 9),
        ("write to me@cdc.gov", 19),
        ("(https://en.wikipedia.org/wiki/Salt_(chemistry))", 3),
        ("見よhttps://a.org/b。終", 5),
        ("👍🏽", 2),
    ],
)
def test_each_url_counts_one_and_everything_else_a_character(text: str, length: int) -> None:
    assert note_length(text) == length


def test_exactly_280_is_within_the_limit_whatever_the_links_length() -> None:
    note = "x" * 278 + " https://example.org/" + "y" * 500
    assert note_length(note) == NOTE_LIMIT


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("https://www.who.int/news/2021を見てください。", ["https://www.who.int/news/2021"]),
        ("https://a.org/x?b=cを見て", ["https://a.org/x?b=c"]),
        ("https://a.org/x를 보세요, https://a.org/yไทย", ["https://a.org/x", "https://a.org/y"]),
        (
            "https://a.org/xو😀 https://a.org/αβ https://a.org/x’s",
            ["https://a.org/x", "https://a.org/", "https://a.org/x"],
        ),
        ("https://example.jpを見て http://example.comだよね.comtest/a", ["https://example.jp", "http://example.com"]),
        ("これは日本語です。cdc.gov/flu中国語who.intです", ["cdc.gov/flu", "who.int"]),
        (
            "http://ああ.com/x https://ru.wikipedia.org/wiki/Москва",
            ["http://ああ.com/x", "https://ru.wikipedia.org/wiki/Москва"],
        ),
        ("https://news24.co.za/x. news24.co.za/y", ["https://news24.co.za/x", "news24.co.za/y"]),
        ("https://a.org/x(v=1.0).aspx https://a.org/x_(b", ["https://a.org/x(v=1.0).aspx", "https://a.org/x_"]),
        ("https://www.gov.example/x http://localhost:8501/x", ["https://www.gov.example/x", "http://localhost:8501/x"]),
        ("$ABBV.com $TVI.CA #tag.com ＃tag.com/x @a.com $http://a.com #https://a.com", []),
    ],
)
def test_a_url_ends_at_the_first_letter_that_cannot_be_in_it_and_no_tag_is_one(text: str, urls: list[str]) -> None:
    assert [url.url for url in find_urls(text)] == urls


@pytest.mark.parametrize("text", ["drowning.In a pool", "e.g. this", "3.5 mg", "U.S. law", "..."])
def test_a_forgotten_space_or_an_abbreviation_is_not_a_url(text: str) -> None:
    assert find_urls(text) == ()


def test_a_url_inside_a_url_is_one_url_words_are_left_without_and_the_storage_form_of_x_is_undone() -> None:
    text = "https://web.archive.org/web/2020/https://a.org/b"
    assert [url.url for url in find_urls(text)] == [text]
    assert x_storage_form("A &amp;amp; B  https://a.org/?x=1&amp;y=2") == "A & B\nhttps://a.org/?x=1&y=2"
    assert without_urls("No evidence. https://a.org/x\nhttps://b.org") == "No evidence."


@given(NOTES)
def test_urls_are_slices_of_the_text_in_order_and_apart(text: str) -> None:
    end = 0
    for url in find_urls(text):
        assert text[url.start : url.end] == url.url
        assert url.start >= end
        end = url.end


@given(NOTES)
def test_a_note_never_counts_more_than_its_characters_and_truncation_changes_nothing_that_fits(text: str) -> None:
    assert 0 <= note_length(text) <= len(text)
    if note_length(text) <= NOTE_LIMIT:
        assert truncate(text) == text


@given(NOTES, st.integers(0, 300))
def test_truncation_keeps_a_beginning_within_the_limit_and_cuts_no_word_or_url(text: str, limit: int) -> None:
    cut = truncate(text, limit)
    assert text.startswith(cut)
    assert note_length(cut) <= limit
    if cut == text:
        return
    assert not any(url.start < len(cut) < url.end for url in find_urls(text))
    before, after = cut[-1:], text[len(cut) : len(cut) + 1]
    assert not (before.isascii() and before.isalnum() and after.isascii() and after.isalnum())


def test_truncation_keeps_as_many_words_as_fit_and_a_negative_limit_is_a_mistake_of_the_caller() -> None:
    assert truncate("one two three", 9) == "one two"
    assert truncate("x" * 300) == ""
    assert truncate("中" * 300) == "中" * 280
    assert truncate("see https://a.org/" + "b" * 300 + " now", 5) == "see https://a.org/" + "b" * 300
    with pytest.raises(ValueError, match="negative"):
        truncate("a", -1)


def test_hundred_thousand_characters_of_anything_are_counted() -> None:
    for piece in ("a", "a.", "https://", "(", "\u0301", "a@b.", "𝕏 "):
        text = piece * (100_000 // len(piece))
        assert note_length(text) <= len(text)


@pytest.mark.parametrize("line", ["[" * 100_000, '{"note": ' + "9" * 5_000 + "}", "no", '{"other": "x"}', "[1]"])
def test_a_line_that_holds_no_note_ends_the_length_command_with_its_number(line: str, tmp_path: Path) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_text(f'{{"note": "fine"}}\n{line}\n', encoding="utf-8")
    with pytest.raises(InputError, match="Line 2"):
        length(jsonl=file, field="note")
