"""Whom a sentence credits is told apart from what it states, before it or behind it."""

from __future__ import annotations

import pytest

from crowdnotes.engines.local.support import split_credit
from tests.engines.local.made import made_evidence

FACT = "using deodorant does not affect the risk of breast cancer"


@pytest.mark.parametrize(
    "sentence",
    [
        f"According to the National Cancer Institute, {FACT}.",
        f"The National Cancer Institute says that {FACT}.",
        f"{FACT}, according to the National Cancer Institute.",
    ],
)
def test_the_credit_is_no_part_of_what_is_stated(sentence: str) -> None:
    credited = split_credit(sentence, [])
    assert credited.claim.rstrip(".") == FACT
    assert sentence[credited.start :].startswith(FACT)
    span = credited.credit_span
    assert sentence[span.start : span.end] == credited.credit
    assert credited.credit.lower().removeprefix("the ") == "national cancer institute"


@pytest.mark.parametrize("verb", ["recommends", "says that", "advises", "reported"])
def test_a_publisher_that_is_known_is_told_apart_before_any_such_verb(verb: str) -> None:
    sentence = f"The CDC {verb} brushing every day with a fluoride toothpaste."
    evidence = made_evidence("Brush every day.", url="https://www.cdc.gov/teeth")
    assert split_credit(sentence, [evidence]).claim == "brushing every day with a fluoride toothpaste."


def test_a_sentence_that_is_all_credit_stays_whole() -> None:
    for sentence in ("True, according to the CDC.", "According to the CDC, yes."):
        assert split_credit(sentence, [made_evidence("Measles spreads easily.")]).claim == sentence
