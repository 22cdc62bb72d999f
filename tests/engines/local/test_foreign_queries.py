"""Searches for posts in other languages: in theirs and in English."""

from __future__ import annotations

import pytest

from crowdnotes.domain import Aim, Post, Query
from crowdnotes.engines.local.queries import build_queries, find_claims

POSTS = {
    "es": "Las vacunas causan autismo en los niños, no es casualidad",
    "fr": "Le vaccin contre la rougeole provoque l’autisme chez les enfants",
    "de": "Der Impfstoff verursacht Herzinfarkte und ist nicht sicher",
    "pt": "As vacinas não são seguras para as crianças e causam câncer",
    "it": "Il vaccino non è sicuro per i bambini e causa il cancro",
    "nl": "Vaccins veroorzaken autisme bij kinderen",
    "pl": "Szczepionki powodują autyzm u dzieci",
    "tr": "Aşılar otizme neden oluyor",
    "ru": "Прививки вызывают аутизм у детей",
    "ar": "اللقاحات تسبب التوحد عند الأطفال",
    "hi": "टीके से बच्चों में ऑटिज्म होता है",
    "ja": "ワクチンは子どもの自閉症を引き起こす",
}
MORE = "Studies of more than a million children found no link between vaccines and autism."


def _queries(text: str, **asked: object) -> list[Query]:
    post = Post(text=text, language=asked.pop("language", None))
    return build_queries(post, find_claims(post), 8, **asked)  # type: ignore[arg-type]


@pytest.mark.parametrize(("language", "text"), POSTS.items())
@pytest.mark.parametrize("aim", Aim)
def test_a_post_is_searched_in_its_own_language_and_in_english(language: str, text: str, aim: Aim) -> None:
    queries = _queries(text, aim=aim)
    assert {query.language for query in queries} == {language, "en"}
    assert queries[0].language == language
    english = [query.text for query in queries if query.language == "en"]
    assert any("vaccine" in text for text in english)
    assert all(text.isascii() for text in english)
    assert len({query.text for query in queries}) == len(queries)


def test_the_other_side_is_searched_without_denials() -> None:
    texts = [query.text for query in _queries(POSTS["es"], aim=Aim.OTHER_SIDE)]
    assert not any("no hay evidencia" in text or "bulo" in text or "does not" in text for text in texts)
    assert any("estudios" in text for text in texts)


def test_the_language_that_a_post_is_said_to_have_is_followed() -> None:
    assert _queries("La vacuna mata", language="es")[0].language == "es"
    assert _queries("Le vaccin tue", language="fr-CA")[0].language == "fr"


def test_a_language_without_a_table_is_searched_in_its_words_and_by_the_names_it_shares() -> None:
    queries = _queries("Ivermectin botar cancer hos barn, säger en svensk läkare i en ny studie")
    assert queries[0].language == "sv"
    assert any(query.language == "en" and "ivermectin" in query.text.lower() for query in queries)


@pytest.mark.parametrize(
    ("like", "language"),
    [(MORE, "en"), ("Los estudios no encontraron relación entre la vacuna triple vírica y el autismo.", "es")],
)
def test_more_like_a_passage_is_searched_in_the_passages_language(like: str, language: str) -> None:
    for post in (POSTS["es"], POSTS["ja"]):
        queries = _queries(post, like=like)
        assert queries[0].language == language
        assert all("more" in query.purpose for query in queries)


def test_a_passage_in_another_language_is_not_searched_as_english() -> None:
    queries = _queries("The vaccine causes autism in small children", like=POSTS["de"])
    assert {query.language for query in queries if "Impfstoff" in query.text} == {"de"}
