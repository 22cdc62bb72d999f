"""Names that a single letter tells apart."""

from __future__ import annotations

import pytest

from crowdnotes.domain import GateStatus, Post
from crowdnotes.engines.local import LocalEngine
from crowdnotes.engines.local.lexicon import vitamin_names
from crowdnotes.engines.local.subjects import subject_of, what_is_missing
from crowdnotes.engines.local.writing import answers
from tests.engines.local.made import made_evidence

CLAIM = subject_of("Vitamin C prevents the common cold.")
ON_B = "B vitamins do not prevent the common cold in adults."
ON_C = "Vitamin C does not prevent the common cold in adults."


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Vitamin C", ["vitamin c"]),
        ("vitamins A, C and E", ["vitamin a", "vitamin c", "vitamin e"]),
        ("vitamin B12 and folate", ["vitamin b"]),
        ("B-group vitamins", ["vitamin b"]),
        ("hepatitis B or C", ["hepatitis b", "hepatitis c"]),
        ("a vitamin a day", []),
        ("vitamins and minerals", []),
    ],
)
def test_a_letter_belongs_to_its_name(text: str, names: list[str]) -> None:
    assert list(vitamin_names(text)) == names


def test_a_sentence_on_another_vitamin_does_not_answer() -> None:
    assert not answers(CLAIM, ON_B, 0.7)
    assert answers(CLAIM, ON_C, 0.7)
    assert answers(CLAIM, "Neither vitamin B nor vitamin C prevents the common cold.", 0.7)


def test_a_passage_on_another_vitamin_is_not_relevant_and_the_one_missing_is_named(engine: LocalEngine) -> None:
    result = engine.relevance(Post(text=CLAIM.text), [made_evidence(ON_B, title="Colds")])
    assert result.status is GateStatus.FAIL
    assert result.reason == "None of the passages in use speaks about “vitamin C”."
    assert what_is_missing([CLAIM], [ON_B, ON_C]) != result.reason
