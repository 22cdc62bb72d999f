"""Health words in other languages and their English."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.engines.local import health_terms
from crowdnotes.engines.local.health_terms import known_words, search_words

LANGUAGES = ("es", "fr", "de", "pt", "it", "nl", "pl", "tr", "ru", "ar", "hi", "ja")


def _english(text: str, language: str) -> list[str]:
    return [word.english for word in known_words(text, language)]


@pytest.mark.parametrize(
    ("language", "text", "english"),
    [
        ("es", "Tomar agua con limón cura el cáncer", ["water", "lemon", "cures", "cancer"]),
        ("fr", "Le lait cru guérit l’asthme et les allergies", ["raw milk", "cures", "asthma", "allergy"]),
        ("de", "Die Coronaimpfung führt zu Fehlgeburten", ["vaccine", "causes", "miscarriage"]),
        ("pt", "Chá de alho cura a dengue", ["tea", "garlic", "cures", "dengue"]),
        ("it", "Il bicarbonato cura i tumori", ["cures", "cancer"]),
        ("nl", "Rauwe melk geneest astma", ["raw milk", "cures", "asthma"]),
        ("pl", "Sieć 5G powoduje raka mózgu", ["5g", "causes", "cancer", "brain"]),
        ("tr", "Limonlu su kanseri tedavi ediyor", ["lemon", "cancer", "treatment"]),
        ("ru", "Ивермектин вылечивает коронавирус", ["ivermectin", "cures", "covid-19"]),
        ("ar", "لقاح كورونا يسبب العقم للنساء", ["vaccine", "covid-19", "causes", "infertility", "women"]),
        ("hi", "नींबू पानी से डायबिटीज ठीक हो जाती है", ["lemon", "water", "diabetes", "cures"]),
        ("ja", "新型コロナワクチンで心筋炎になり死亡した", ["covid-19", "vaccine", "myocarditis", "death"]),
    ],
)
def test_inflected_words_are_known_in_their_order(language: str, text: str, english: list[str]) -> None:
    assert _english(text, language) == english


def test_accents_case_and_what_is_written_to_a_word_do_not_hide_it() -> None:
    assert _english("SARAMPION", "es") == ["measles"]
    assert _english("l'autisme", "fr") == ["autism"]
    assert _english("وللقاحات", "ar") == ["vaccine"]
    assert _english("KANSERİ", "tr") == ["cancer"]


def test_the_longest_name_counts_and_a_word_is_given_as_the_post_has_it() -> None:
    [word] = known_words("El CÁNCER DE MAMA", "es")
    assert (word.text, word.english) == ("CÁNCER DE MAMA", "breast cancer")


def test_names_that_languages_share_are_known_without_a_table() -> None:
    assert _english("Fenbendazole botar cancer", "sv") == ["Fenbendazole".lower(), "cancer"]


def test_what_is_said_of_things_is_no_subject() -> None:
    assert [word.text for word in known_words("Impfstoff verursacht Krebs", "de") if word.is_subject] == [
        "Impfstoff",
        "Krebs",
    ]


def test_every_language_has_most_words_and_all_kinds_of_searches() -> None:
    file = Path(health_terms.__file__).with_name("foreign_terms.tsv")
    lines = [line for line in file.read_text("utf-8").splitlines() if not line.startswith("#")]
    rows = list(csv.DictReader(lines, delimiter="\t"))
    assert tuple(rows[0])[1:] == LANGUAGES
    assert len({row["english"] for row in rows}) == len(rows) > 250
    for language in LANGUAGES:
        assert sum(bool(row[language]) for row in rows) > 0.95 * len(rows)
        assert all(search_words(kind, language) for kind in ("denial", "check", "support"))


@given(st.text(), st.sampled_from([*LANGUAGES, "sv"]))
def test_known_words_stand_in_the_text(text: str, language: str) -> None:
    assert all(word.text in text for word in known_words(text, language))
