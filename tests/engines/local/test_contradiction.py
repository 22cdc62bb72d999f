"""A sentence that a passage says the other way round is not supported, whatever else seems to carry it."""

from __future__ import annotations

import pytest

from crowdnotes.domain import GateStatus, Support
from crowdnotes.engines.local import LocalEngine
from crowdnotes.engines.local.differences import find_contradiction
from crowdnotes.settings import GateSettings
from crowdnotes.testing import HashingEmbedder, make_evidence

PASSAGE = (
    "Is the season cancelled? The season has not been cancelled, and no decision about the summer has been made. "
    "Heat cannot make it out of something else. The trust says that we have not yet tested the water for toxins."
)


@pytest.mark.parametrize(
    "note",
    [
        "The season has been cancelled.",
        "Heat can make it out of something else.",
        "The trust has tested the water for toxins.",
    ],
)
def test_the_opposite_of_a_passage_is_found_and_fails_correctness(note: str) -> None:
    evidence = [make_evidence(1, text=PASSAGE)]
    engine = LocalEngine(HashingEmbedder(), GateSettings())
    support = engine.support(note, evidence)
    assert support[0].support is Support.UNSUPPORTED
    assert "says the opposite" in support[0].doubts[0]
    assert engine.correctness(note, evidence, support).status is GateStatus.FAIL


@pytest.mark.parametrize("note", ["The season has not been cancelled.", "We have not yet tested the water for toxins."])
def test_saying_it_as_the_passage_does_is_no_contradiction(note: str) -> None:
    assert find_contradiction(note, [make_evidence(1, text=PASSAGE)]) is None


def test_passages_that_say_both_settle_nothing() -> None:
    both = [make_evidence(1, text=PASSAGE), make_evidence(2, text="The season has been cancelled.")]
    assert find_contradiction("The season has been cancelled.", both) is None


FLIGHTS = "They came on commercial flights. The flights were not secret: the government published monthly figures."


@pytest.mark.parametrize(
    "note",
    [
        "The flights were not secret and monthly figures were published.",
        "The flights were not secret, as the government published monthly figures.",
        "The government published monthly figures of the flights, which were not secret.",
    ],
)
def test_what_the_passage_denies_before_its_colon_is_not_denied_of_what_stands_behind(note: str) -> None:
    assert find_contradiction(note, [make_evidence(1, text=FLIGHTS)]) is None


def test_not_reaches_no_further_than_the_clause_with_its_own_verb() -> None:
    split = make_evidence(1, text="Every trip was listed. The government published monthly figures of all flights.")
    note = "The trips were not secret and monthly figures of the flights were published."
    assert find_contradiction(note, [split]) is None
    joined = make_evidence(1, text="The trips were not secret and monthly figures were published.")
    assert find_contradiction("Monthly figures were published.", [joined]) is None


@pytest.mark.parametrize(
    "note", ["The flights were secret.", "The flights were not secret and the government has not published figures."]
)
def test_a_denial_elsewhere_in_the_sentence_hides_no_contradiction(note: str) -> None:
    found = find_contradiction(note, [make_evidence(1, text=FLIGHTS)])
    assert found is not None
