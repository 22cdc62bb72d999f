"""Words, stems and posts as prose."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.text.plain_letters import plain_letters
from crowdnotes.text.tokens import (
    content_stems,
    content_words,
    folded,
    plain_post,
    spaced,
    split_camel,
    stem,
    tokens,
    words,
)


@given(st.text(max_size=200))
def test_a_token_is_what_stands_at_its_offsets(text: str) -> None:
    for token in tokens(text):
        assert text[token.start : token.end] == token.text
        assert token.folded


@pytest.mark.parametrize(
    "family",
    [
        "prevent prevents preventing prevention preventive",
        "Vaccine vaccines vaccinated vaccination",
        "Émile emile",
        "disease diseases",
        "cause causes caused",
    ],
)
def test_forms_of_a_word_share_a_stem(family: str) -> None:
    assert len({stem(word) for word in family.split()}) == 1


@pytest.mark.parametrize(("one", "other"), [("lung", "lupus"), ("kidney", "kind"), ("virus", "vitamin")])
def test_different_words_keep_different_stems(one: str, other: str) -> None:
    assert stem(one) != stem(other)


def test_a_post_becomes_prose_without_links_and_mentions_and_a_hashtag_is_split_at_its_capitals() -> None:
    post = "Stop the jab &amp; think! @CDCgov https://t.co/abc #VaccineSafety"
    assert plain_post(post) == "Stop the jab & think! Vaccine Safety"
    assert split_camel("CovidVaccineSafety2021") == "Covid Vaccine Safety 2021"
    assert split_camel("nocapitals") == "nocapitals"


def test_zalgo_text_folds_to_its_letters_and_words_of_other_scripts_are_found() -> None:
    assert [token.folded for token in tokens("z̷̧̢a̷l̴g̶o̵ café")] == ["zalgo", "cafe"]
    assert words("L'été, vaccins!") == ["L", "été", "vaccins"]
    assert words("新冠") == ["新", "冠"]
    assert words("टीका सुरक्षित है") == ["टीका", "सुरक्षित", "है"]


def test_stop_words_go_by_the_texts_own_language_and_a_text_of_them_alone_keeps_them() -> None:
    assert content_words("Die Impfung ist nicht gefährlich") == ["impfung", "gefährlich"]
    assert content_words("Patients die of the flu") == ["patients", "die", "flu"]
    assert content_words("Who is it?") == ["who", "is", "it"]


@given(st.text())
def test_no_letter_is_lost_between_words(text: str) -> None:
    assert spaced(text).replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize(
    "text",
    [
        "𝗩𝗮𝗰𝗰𝗶𝗻𝗲𝘀 𝗰𝗮𝘂𝘀𝗲 𝗮𝘂𝘁𝗶𝘀𝗺",
        "𝓥𝓪𝓬𝓬𝓲𝓷𝓮𝓼 𝔠𝔞𝔲𝔰𝔢 𝕒𝕦𝕥𝕚𝕤𝕞",
        "ⓥⓐⓒⓒⓘⓝⓔⓢ 🅒🅐🅤🅢🅔 🅰🆄🆃🅸🆂🅼",
        "Ｖａｃｃｉｎｅｓ　ｃａｕｓｅ　ａｕｔｉｓｍ",
        "ᴠᴀᴄᴄɪɴᴇꜱ ᶜᵃᵘˢᵉ ⒜⒰⒯⒤⒮⒨",
        "Vаccinеs cаuse аutіsm",
        "vαccιnεs ςαυsε αutisм",
        "ᐯᗩᑕᑕIᑎEᔕ cause Ꭺutism",
        "v̶a̶c̶c̶i̶n̶e̶s̶ c̲a̲u̲s̲e̲ a̷̡̛̽u̸̢͝t̴̰̽ism",
        "vac\u200bcines ca\u00aduse au\u2060tism",
        "\u202avaccines\u202c cause autism",
        "ⅴaⅽⅽines c҉a҉u҉se autisⅿ",
    ],
    ids=range(12),
)
def test_words_in_other_letters_are_found_by_their_plain_ones(text: str) -> None:
    plain = "vaccines cause autism"
    assert plain_letters(text).casefold() == plain_post(text).casefold() == folded(text) == plain
    assert content_words(text) == plain.split()
    assert content_stems(text) == content_stems(plain)


@pytest.mark.parametrize(
    "text",
    [
        "Путин сказал, что COVID-19 опасен",
        "Ελλάδα και COVID",
        "TNFα, IFNγ, NFκB, 5 µg, α-tocopherol",
        "10² H₂O ½ №5 ℃ ① ℹ 👩‍👩‍👧 🇺🇸",
        "ワクチン、安全！（重要）",
        "می‌خواهم",
        "हिन्दी टीका Việt Nam résumé",
        "“Quoted” — it’s…",
    ],
)
def test_other_scripts_numbers_and_emoji_stay_as_they_are(text: str) -> None:
    assert plain_letters(text) == text


def test_digits_in_other_forms_are_one_number_and_a_numbered_list_keeps_its_words() -> None:
    assert plain_letters("𝟵𝟱% ９５％ 9️⃣5️⃣% ⑨⑤%") == "95% 95% 95% 95%"
    assert plain_letters("1️⃣Vaccines") == "1 Vaccines"
    assert plain_letters("ﾜｸﾁﾝは５Ｇ！") == "ワクチンは5G！"


@given(st.text(max_size=200))
def test_any_text_has_plain_letters_and_they_stay(text: str) -> None:
    assert plain_letters(text.encode("ascii", "ignore").decode()).isascii()
    assert plain_post(text) is not None
