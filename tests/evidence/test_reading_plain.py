"""Charsets, tidy text, kinds of document and lists of references."""

from __future__ import annotations

import codecs
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.errors import FetchError
from crowdnotes.evidence.reading.document import (
    HTML,
    PDF,
    PLAIN,
    READABLE,
    ContentType,
    parse_content_type,
    settle_kind,
    without_references,
)
from crowdnotes.evidence.reading.extract import read_body
from crowdnotes.evidence.reading.plain_text import decode, tidy_line, tidy_text

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
        (codecs.BOM_UTF32_BE + JAPANESE.encode("utf-32-be"), None, JAPANESE),
        (RUSSIAN.encode("cp1251"), "windows-1251", RUSSIAN),
        (codecs.BOM_UTF8 + GERMAN.encode(), "ascii", GERMAN),
        (RUSSIAN.encode("cp1251") * 4, None, RUSSIAN * 4),
        *(
            (text.encode(charset), None, text)
            for charset, text in (
                ("gb18030", "喝水治病"),
                ("gb18030", "这种疫苗非常危险，不要接种。"),
                ("big5", "這種疫苗非常危險，不要接種。"),
                ("cp932", "ﾜｸﾁﾝは危険"),
                ("cp932", "大気汚染"),
                ("euc_jp", "このワクチンはとても危険"),
                ("euc_jp", "出産，不妊"),
                ("cp949", "이 백신은 매우 위험하니"),
                ("cp1251", "Вода лечит рак"),
                ("koi8_r", "Эта вакцина очень опасна"),
                ("cp1253", "Το εμβόλιο είναι επικίνδυνο"),
                ("cp1255", "החיסון הזה מסוכן מאוד"),
                ("cp1256", "هذا اللقاح خطير جدا"),
                ("cp1252", "id,text\n1,café “fermé” à Genève\n"),
                ("cp1252", "naïve"),
                ("cp1252", "Tromsø"),
                ("cp1252", "Forsætisráðherra sagði þetta aldrei"),
                ("cp1252", "Wind at 5 m/s ± 1, £5m in all, 3½ cups, © Reuters"),
                ("cp1250", "Żółta kartka"),
                ("cp1250", "Očkování nezpůsobuje neplodnost."),
                ("iso8859_2", "Główny Urząd Statystyczny"),
                ("iso8859_2", "Šest lidí zemřelo v Plzni, řekl ministr."),
                ("iso8859_2", "Nincs rá bizonyíték, hogy az őszi eső mérgező"),
                ("cp1250", "Ministerul Sănătăţii"),
                ("cp1254", "Gıda fiyatları arttı."),
                ("iso8859_9", "Aşı kısırlığa yol açmaz."),
                ("cp1257", "Nelaimė įvyko Šiauliuose, o ne Vilniuje"),
                ("iso8859_2", "<style>p { color: red }</style><p>Ceny żywności<br>wzrosły.</p><a href='x'>Główna</a>"),
            )
        ),
    ],
)
def test_text_is_read_in_the_charset_it_is_really_in(body: bytes, declared: str | None, text: str) -> None:
    assert decode(body, declared) == text


def test_a_guessed_charset_is_named() -> None:
    page = read_body(
        "这种疫苗非常危险，不要接种。专家说这是假的。".encode("gb18030"), PLAIN, None, "https://e.example/a.txt"
    )
    assert "这种疫苗非常危险" in page.text
    assert "guessed its encoding: gb18030 (Chinese, simplified)." in page.remark
    assert read_body(GERMAN.encode(), PLAIN, None, "https://e.example/a.txt").remark == ""


def test_a_meta_tag_decides_when_the_header_is_silent_and_a_few_broken_bytes_do_not_spoil_the_page() -> None:
    page = f'<html><head><meta charset="windows-1251"></head><body>{RUSSIAN}'
    assert RUSSIAN in decode(page.encode("cp1251"))
    old = f'<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS">{JAPANESE}'
    assert JAPANESE in decode(old.encode("cp932"))
    assert decode((GERMAN * 5).encode() + b"\xff" + GERMAN.encode()) == GERMAN * 5 + "\ufffd" + GERMAN


@pytest.mark.parametrize("name", ["zip", "base64", "rot13", "punycode", "idna", "utf-7", "unicode_escape", "nonsense"])
def test_a_codec_that_is_no_charset_is_never_used(name: str) -> None:
    assert decode(b"+ADw-script+AD4- \\u0041", name) == "+ADw-script+AD4- \\u0041"


@given(st.binary(max_size=300), st.none() | st.text(max_size=20) | st.sampled_from(["utf-16", "big5", "iso-2022-kr"]))
def test_any_bytes_become_text(body: bytes, declared: str | None) -> None:
    assert isinstance(decode(body, declared), str)


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


@pytest.mark.parametrize(
    ("header", "essence", "charset"),
    [
        ("text/html; charset=utf-8", "text/html", "utf-8"),
        ('Text/HTML ;Charset = "ISO-8859-1"', "text/html", "iso-8859-1"),
        ("application/pdf", "application/pdf", None),
        ("text/plain; charset=", "text/plain", None),
        (None, "", None),
    ],
)
def test_a_header_is_read_leniently(header: str | None, essence: str, charset: str | None) -> None:
    assert parse_content_type(header) == ContentType(essence, charset)


@pytest.mark.parametrize(
    ("declared", "body", "kind"),
    [
        ("text/html", b"anything", HTML),
        ("application/xhtml+xml", b"<html/>", HTML),
        ("text/markdown", b"# Title", PLAIN),
        ("", b"<!DOCTYPE html><p>x", HTML),
        ("", b"\n<!-- a --> <HTML><body>", HTML),
        ("application/octet-stream", b"%PDF-1.7\n", PDF),
        ("application/octet-stream", b"just words", PLAIN),
        ("text/html", b"%PDF-1.4", PDF),
        ("application/pdf", b"<html>please log in</html>", HTML),
    ],
)
def test_the_bytes_overrule_a_missing_or_wrong_header(declared: str, body: bytes, kind: str) -> None:
    assert settle_kind(ContentType(declared), body) == kind


@pytest.mark.parametrize(
    ("declared", "body"),
    [
        ("", b""),
        ("application/octet-stream", b"PK\x03\x04\x00\x00"),
        ("text/plain", b"MZ\x00\x01"),
        ("application/pdf", b"no"),
    ],
)
def test_bytes_that_are_no_readable_kind_are_refused(declared: str, body: bytes) -> None:
    with pytest.raises(FetchError):
        settle_kind(ContentType(declared), body)


@given(st.text(), st.binary())
def test_any_header_and_bytes_give_a_kind_or_a_labelled_error(header: str, body: bytes) -> None:
    try:
        declared = parse_content_type(header)
        declared.refuse_unreadable()
        assert settle_kind(declared, body) in READABLE
    except FetchError as error:
        assert error.message


def test_comments_before_a_page_do_not_hide_what_it_is() -> None:
    assert settle_kind(parse_content_type(None), b"<!---->" * 150 + b"words") == PLAIN
    assert settle_kind(parse_content_type(None), b"<!-- a --> <!-- b -->\n<html>") == HTML


PROSE = "\n".join(
    f"Paragraph {number} says what the study found in several hundred patients over two years, in full sentences."
    for number in range(12)
)
LISTED = "\n".join(
    f"{number}. Smith J, Jones K. A trial of something. Lancet. 2019;3:{number}. doi:10.1/{number}"
    for number in range(8)
)


HEADINGS = (
    "References|REFERENCES:|## References|7. References|Bibliography|Works cited|Sources|Further reading|External links"
    "|See also|Footnotes|Notes|Einzelnachweise|Références|Referencias|参考文献"
)


@pytest.mark.parametrize("heading", HEADINGS.split("|"))
def test_a_closing_list_is_dropped_with_its_heading(heading: str) -> None:
    assert without_references(f"{PROSE}\n{heading}\n{LISTED}") == PROSE


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        (f"Title\n{{}}\n{PROSE}", ["References", "Sources", "Notes", "See also"]),
        (f"{PROSE}\n{PROSE}\n{{}}\n{PROSE}", ["Sources", "Notes", "See also"]),
    ],
    ids=["any heading near the start", "prose under an ordinary one, even at the end"],
)
def test_a_heading_that_closes_nothing_is_kept(text: str, headings: list[str]) -> None:
    for heading in headings:
        assert without_references(text.format(heading)) == text.format(heading)


NO_HEADINGS = "References to earlier work were checked by two people.\nSources say so."


@pytest.mark.parametrize(
    ("after", "kept"),
    [
        (NO_HEADINGS, NO_HEADINGS),
        (f"References\n{LISTED}\n{LISTED}\n{LISTED}", ""),
        (f"References\n{LISTED}\nAppendix A: Doses\nEach got 5 mg.", "Appendix A: Doses\nEach got 5 mg."),
        (f"See also\nVaccine\nTrial\nReferences\n{LISTED}\nExternal links\nWHO page", ""),
    ],
    ids=["the word inside a sentence", "a long list that starts early", "an appendix", "several closing sections"],
)
def test_of_what_follows_the_prose_lists_go_and_the_rest_stays(after: str, kept: str) -> None:
    assert without_references(f"{PROSE}\n{after}") == f"{PROSE}\n{kept}".strip()


_LINES = ["References", "Sources", "Appendix", PROSE.split("\n")[0], "[1] https://a.example", "", "See also"]


@given(st.lists(st.sampled_from(_LINES)))
def test_what_is_left_is_always_made_of_lines_that_were_there(lines: list[str]) -> None:
    text = "\n".join(lines)
    left = without_references(text)
    assert len(left) <= len(text)
    assert set(left.split("\n")) <= set(lines) | {""}
