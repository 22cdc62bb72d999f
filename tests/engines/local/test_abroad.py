"""Posts in other languages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.domain import Post
from crowdnotes.engines.local.abroad import in_english, language_of_post
from crowdnotes.engines.local.claims import find_claims
from crowdnotes.engines.local.queries import build_queries

POSTS = {
    "es": "Las vacunas causan autismo en los niños, no es casualidad",
    "fr": "Le vaccin contre la rougeole provoque l’autisme chez les enfants",
    "de": "Der Impfstoff verursacht Herzinfarkt und ist nicht sicher",
    "pt": "As vacinas não são seguras para as crianças e causam câncer",
    "it": "Il vaccino non è sicuro per i bambini e causa il cancro",
}


@pytest.mark.parametrize(("language", "text"), POSTS.items())
def test_a_post_is_searched_in_its_own_language_and_in_english(language: str, text: str) -> None:
    post = Post(text=text)
    queries = build_queries(post, find_claims(post), 8)
    assert {query.language for query in queries} == {language, "en"}
    assert any("vaccine" in query.text for query in queries if query.language == "en")


@pytest.mark.parametrize("text", ["Vaccines cause autism", "Thanks, Covid vaccine!", "El Niño is back", ""])
def test_english_is_not_taken_for_another_language(text: str) -> None:
    assert language_of_post(text) is None


def test_accents_case_and_elision_do_not_hide_a_word() -> None:
    assert in_english("SARAMPION y cancer", "es") == ["measles", "cancer"]
    assert in_english("l'autisme", "fr") == ["autism"]


@given(st.text())
def test_any_text_can_be_asked_for_its_language(text: str) -> None:
    language = language_of_post(text)
    assert language is None or in_english(text, language) is not None
