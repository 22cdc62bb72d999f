"""What is searched for, and in which edition of a service."""

from __future__ import annotations

from crowdnotes.domain import Query
from crowdnotes.evidence.search.run import languages_of


def test_a_query_goes_to_the_edition_of_its_language() -> None:
    queries = [
        Query(text="les vaccins causent l'autisme", purpose="the claim", language="fr"),
        Query(text="vaccines cause autism", purpose="the claim"),
        Query(text="вакцины вызывают аутизм у детей и взрослых людей", purpose="the claim"),
    ]
    assert list(languages_of(queries).values()) == ["fr", None, "ru"]
