"""Text from outside shows as the characters it is."""

from __future__ import annotations

import re
from datetime import date
from urllib.parse import unquote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from crowdnotes.text.markdown import (
    clip,
    controls_shown,
    count,
    day,
    escaped,
    exact,
    host,
    lines,
    title,
    web_url,
    without_marks,
)

PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"


@pytest.mark.parametrize("mark", PUNCTUATION)
def test_every_punctuation_mark_is_escaped(mark: str) -> None:
    assert escaped(f"a{mark}b").startswith(f"a\\{mark}")


@given(st.text())
def test_no_markdown_character_stands_unescaped(text: str) -> None:
    assume("://" not in text)  # an address is shown as code
    shown = escaped(text)
    position = 0
    while position < len(shown):
        if shown[position] == "\\":
            assert shown[position + 1] in PUNCTUATION
            position += 2
        else:
            assert shown[position] not in PUNCTUATION
            position += 1


@given(st.text(alphabet=st.characters(blacklist_categories=["Cc", "Cf", "Cs", "Zs", "Zl", "Zp"])))
def test_the_words_themselves_are_all_there(text: str) -> None:
    assume("://" not in text)
    unescaped = escaped(text).replace("\u2060", "").replace("\u2068", "").replace("\u2069", "")
    for mark in PUNCTUATION:
        unescaped = unescaped.replace(f"\\{mark}", mark) if mark != "\\" else unescaped
    assert unescaped.replace("\\\\", "\\") == text.replace("\u2060", "")


def test_links_emoji_and_icons_that_escapes_do_not_stop_are_broken_up() -> None:
    for active in (":material/home:", ":smile:", "ftp://evil.example", "a@b.example", "xmpp:a@b.example"):
        bare = escaped(active).replace("\\", "")
        assert active not in bare
        assert bare.replace("\u2060", "") == active


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("See https://a.example/x_y?b=[1]&c, and more.", r"See `https://a.example/x_y?b=[1]&c`\, and more\."),
        ("(www.a.example)", r"\(`www.a.example`\)"),
        ("HTTP://A.example/it's*", r"`HTTP://A.example/it's`\*"),
        ("https://a.example/`b`", "``  https://a.example/`b` ``".replace("``  ", "`` ")),
        ("https://", "https\\:\u2060\\/\\/"),
    ],
)
def test_an_address_among_words_is_code_so_that_it_is_copied_as_it_is(text: str, shown: str) -> None:
    assert escaped(text) == shown


@given(st.text(alphabet="[]\\a`!(:", max_size=30))
def test_no_bracket_of_an_address_closes_what_stands_around_it(rest: str) -> None:
    """Streamlit's `:small[…]` counts brackets in code too, and skips one behind a backslash."""
    for shown in (exact(f"https://a.example/{rest}"), escaped(f"https://a.example/{rest}")):
        depth, is_escaped = 0, False
        for character in shown:
            if is_escaped:
                is_escaped = False
                continue
            is_escaped = character == "\\"
            depth += (character == "[") - (character == "]")
            assert depth >= 0
        assert depth == 0


@given(st.text(alphabet="htps:/w.[]()!`*_ \\xמ", max_size=60))
def test_around_addresses_too_no_markdown_character_stands_unescaped(text: str) -> None:
    outside = re.sub(r"(?<!\\)(`+)(?!`).*?(?<!`)\1(?!`)", "", escaped(text))
    assert not re.search(r"(?<!\\)(?:\\\\)*[\[\]()!*_`]", outside)


def test_words_from_right_to_left_are_kept_to_themselves() -> None:
    assert escaped("חיסון 2021") == "\u2068חיסון 2021\u2069"
    assert "\u2068" not in escaped("Café 2021")


def test_a_label_is_one_line_without_direction_overrides() -> None:
    assert "\n" not in escaped("one\ntwo\r\nthree")
    assert "\u202e" not in escaped("safe\u202eexe.txt")
    assert "\u2067" not in escaped("a\u2067b")


def test_a_label_that_is_only_read_aloud_has_neither_markdown_nor_backslashes() -> None:
    hostile = "![x](//evil.example/i.png)\n:red[loud] <b>bold</b> `code` $x$ 2*3*4 \\[ \u202e"
    assert without_marks(hostile) == "! x (//evil.example/i.png) :\u2060red loud b bold /b code x 2 3 4 \ufffd"
    assert without_marks("It's 5.2 % (not 2); Dr. O'Neil said so!") == "It's 5.2 % (not 2); Dr. O'Neil said so!"


def test_a_direction_override_is_made_visible_and_a_line_break_is_kept() -> None:
    assert controls_shown("a\u202eb\r\nc\x00") == "a\ufffdb\nc\ufffd"


@given(st.text(), st.integers(min_value=1, max_value=80))
def test_a_clipped_text_is_never_longer_than_its_limit(text: str, limit: int) -> None:
    assert len(clip(text, limit)) <= limit


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "data:text/html,x", "ftp://a.example", "//a.example", "", None, "http://", "http://["],
)
def test_only_web_addresses_become_links(url: str | None) -> None:
    assert web_url(url) is None


def test_hosts_days_counts_and_lines_read_well_and_a_web_address_stays_as_it_is() -> None:
    assert web_url("HTTPS://CDC.gov/a?b#c") == "HTTPS://CDC.gov/a?b#c"
    assert host("https://www.cdc.gov/flu") == "cdc.gov"
    assert host("http://[") == ""
    assert day(date(2026, 3, 4)) == "4 March 2026"
    assert count(1, "source") == "1 source"
    assert count(1200, "copy", "copies") == "1,200 copies"
    assert lines(" a \n\nb\na") == ["a", "b"]


@pytest.mark.parametrize("text", ["", "  ", "\n", "\u200b", "\u00a0"])
def test_a_title_without_a_letter_to_see_is_replaced_by_words(text: str) -> None:
    assert title(text, "Without a title") == "**Without a title**"


@given(st.text())
def test_a_title_is_bold_disarmed_and_never_a_rule(text: str) -> None:
    assert title("A *page*", "Without a title") == r"**A \*page\***"
    assert title(text, "Without a title").strip("*").strip()


@given(st.text(alphabet=st.characters(blacklist_categories=["Cc", "Cf", "Cs", "Zs", "Zl", "Zp"])))
def test_an_address_can_be_copied_letter_by_letter(address: str) -> None:
    shown = exact(address)
    fence = shown[: len(shown) - len(shown.lstrip("`"))]
    assert "\u2060" not in exact(address.replace("\u2060", ""))
    as_shown = shown.removeprefix(fence).removesuffix(fence).strip(" ")
    assert as_shown == address or (unquote(as_shown) == unquote(address) and re.search(r"[\[\]\\]", address))
    assert fence not in address or not address


def test_an_address_of_two_lines_or_with_overrides_is_shown_on_one_line_and_plainly() -> None:
    assert exact("https://a.example/\nb\u202e") == "`https://a.example/ b\ufffd`"
    assert exact("") == ""
