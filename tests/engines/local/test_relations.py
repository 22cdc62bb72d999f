"""Kinds of statement."""

from __future__ import annotations

import pytest

from crowdnotes.engines.local.subjects import copula_at, denies_cures, relations_of, speak_to, tells_causes


@pytest.mark.parametrize(
    ("claim", "sentence", "speaks"),
    [
        ("Tea causes ulcers.", "Ulcers are linked to a bacterium.", True),
        ("Tea cures ulcers.", "Ulcers are treated with antibiotics.", True),
        ("Tea is dangerous.", "Tea is safe for most people.", True),
        ("Tea spreads cholera.", "Cholera is transmitted by water.", True),
        ("Tea is dangerous.", "Tea is sold in shops.", False),
        ("Tea spreads cholera.", "Tea is safe for most people.", False),
    ],
)
def test_a_claim_is_spoken_to_by_statements_of_its_kind(claim: str, sentence: str, speaks: bool) -> None:
    assert speak_to(relations_of(claim), relations_of(sentence)) is speaks


def test_a_link_is_of_the_kind_of_causes() -> None:
    assert relations_of("Tea is associated with ulcers.") == {"cause"}


def test_unknown_causes_and_missing_cures_are_told() -> None:
    assert tells_causes("The exact cause of ulcers is unknown.")
    assert not tells_causes("Common causes of headaches are colds.")
    assert denies_cures("There is no cure for ulcers.")
    assert not denies_cures("The cure is being studied.")


def test_where_is_stands() -> None:
    assert copula_at("Tea is a drink.") == 4
    assert copula_at("Tea helps.") == -1
