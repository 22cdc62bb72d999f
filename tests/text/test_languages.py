"""The language of a text, and when it is not told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.text.languages import language_of


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Doctors say that this vaccine causes autism in children"),
        ("es", "Las vacunas causan autismo en los niños"),
        ("fr", "Le vaccin provoque l’autisme chez les enfants"),
        ("de", "Impfungen verursachen Autismus"),
        ("pt", "As vacinas não são seguras para as crianças"),
        ("it", "Il vaccino non è sicuro per i bambini"),
        ("nl", "Vaccins veroorzaken autisme bij kinderen"),
        ("pl", "Szczepionki powodują autyzm u dzieci"),
        ("tr", "Aşılar otizme neden oluyor"),
        ("ru", "Прививки вызывают аутизм у детей"),
        ("ar", "اللقاحات تسبب التوحد عند الأطفال"),
        ("hi", "टीके से बच्चों में ऑटिज्म होता है"),
        ("ja", "ワクチンは自閉症を引き起こす"),
        ("sv", "Vaccinet orsakar autism hos små barn"),
    ],
)
def test_a_short_post_is_enough(language: str, text: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    "text",
    [
        "",
        "OK",
        "El Niño is back",
        "Thanks!",
        "COVID 2024",
        "@bob https://a.example/las-vacunas-causan-autismo",
        "😀" * 40,
    ],
)
def test_too_little_text_is_no_language(text: str) -> None:
    assert language_of(text) is None


@pytest.mark.parametrize(
    "text", ["The MMR vaccine causes autism", "Vaccines cause autism", "This raises four questions", "Claim is false"]
)
def test_a_short_english_claim_is_not_taken_for_another_language(text: str) -> None:
    assert language_of(text) in (None, "en")


@given(st.text())
def test_any_text_has_a_language_or_none(text: str) -> None:
    assert language_of(text) is None or len(language_of(text) or "") == 2


def test_a_language_is_told_by_the_plain_letters() -> None:
    assert language_of("𝗟𝗮 𝘃𝗮𝗰𝘂𝗻𝗮 𝗰𝗮𝘂𝘀𝗮 𝗮𝘂𝘁𝗶𝘀𝗺𝗼 𝗲𝗻 𝗹𝗼𝘀 𝗻𝗶ñ𝗼𝘀 𝗽𝗲𝗾𝘂𝗲ñ𝗼𝘀") == "es"
    assert language_of("Vаccinеs cаusе autіsm іn smаll сhіldrеn") == "en"
