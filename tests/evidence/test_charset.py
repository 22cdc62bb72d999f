from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.evidence.reading.plain import decode

GERMAN = "Die Prüfung der Impfstoffe dauert länger, als viele glauben; sie heißt „klinische Prüfung“."
JAPANESE = "ワクチンは多くの人で試験されてから使われます。"
RUSSIAN = "Вакцины проверяются на многих людях, прежде чем их применяют."


@pytest.mark.parametrize(
    ("body", "declared", "text"),
    [
        (GERMAN.encode(), None, GERMAN),
        (GERMAN.encode(), "iso-8859-1", GERMAN),  # a header that is wrong
        (GERMAN.encode("cp1252"), "iso-8859-1", GERMAN),
        (GERMAN.encode("cp1252"), "utf-8", GERMAN),  # and wrong the other way
        (JAPANESE.encode("shift_jis"), "Shift_JIS", JAPANESE),
        (JAPANESE.encode("iso-2022-jp"), "iso-2022-jp", JAPANESE),
        (JAPANESE.encode("utf-16"), None, JAPANESE),
        (RUSSIAN.encode("cp1251"), "windows-1251", RUSSIAN),
        (codecs.BOM_UTF8 + GERMAN.encode(), "ascii", GERMAN),
        (RUSSIAN.encode("cp1251") * 4, None, RUSSIAN * 4),
    ],
)
def test_text_is_read_in_the_charset_it_is_really_in(body: bytes, declared: str | None, text: str) -> None:
    assert decode(body, declared) == text


def test_a_meta_tag_decides_when_the_header_is_silent() -> None:
    page = f'<html><head><meta charset="windows-1251"></head><body>{RUSSIAN}'
    assert RUSSIAN in decode(page.encode("cp1251"))
    old = f'<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS">{JAPANESE}'
    assert JAPANESE in decode(old.encode("cp932"))


def test_a_few_broken_bytes_do_not_spoil_the_page() -> None:
    assert decode((GERMAN * 5).encode() + b"\xff" + GERMAN.encode()) == GERMAN * 5 + "\ufffd" + GERMAN


@pytest.mark.parametrize("name", ["zip", "base64", "rot13", "punycode", "idna", "utf-7", "unicode_escape", "nonsense"])
def test_a_codec_that_is_no_charset_is_never_used(name: str) -> None:
    assert decode(b"+ADw-script+AD4- \\u0041", name) == "+ADw-script+AD4- \\u0041"


@given(st.binary(max_size=300), st.none() | st.text(max_size=20) | st.sampled_from(["utf-16", "big5", "iso-2022-kr"]))
def test_any_bytes_become_text(body: bytes, declared: str | None) -> None:
    assert isinstance(decode(body, declared), str)
