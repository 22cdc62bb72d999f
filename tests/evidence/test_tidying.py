from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.evidence.reading.plain import tidy_line, tidy_text


@pytest.mark.parametrize(
    ("raw", "tidy"),
    [
        ("a\u202egnp.exe", "agnp.exe"),
        ("a\u2066b\u2069", "ab"),
        ("vac\u00adcine\u200b s", "vaccine s"),
        ("a\x00\x07\x1bb", "ab"),
        ("cafe\u0301", "café"),
        ("a\u00a0 \t b", "a b"),
        ("a\r\nb\rc\u2028d", "a\nb\nc\nd"),
        ("a\n\n \n\nb", "a\n\nb"),
        ("hidden\U000e0041\U000e0042 words", "hidden words"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("z" + "\u0335" * 50, "z" + "\u0335" * 3),
    ],
)
def test_invisible_and_reordering_characters_are_removed(raw: str, tidy: str) -> None:
    assert tidy_text(raw) == tidy


@given(st.text())
def test_tidy_text_is_normal_visible_and_stays_as_it_is(raw: str) -> None:
    tidy = tidy_text(raw)
    assert unicodedata.is_normalized("NFC", tidy)
    assert tidy == tidy.strip()
    assert "\n\n\n" not in tidy
    assert not any(unicodedata.category(character) in ("Cc", "Cs", "Co") for character in tidy if character != "\n")
    assert tidy_text(tidy) == tidy


@given(st.text(), st.integers(1, 40))
def test_a_line_is_one_line_within_its_limit(raw: str, limit: int) -> None:
    line = tidy_line(raw, limit)
    assert "\n" not in line
    assert len(line) <= limit
