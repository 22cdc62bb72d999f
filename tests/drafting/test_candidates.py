"""Candidate notes: the engine's words, our links, our length."""

from __future__ import annotations

import pytest

from crowdnotes.domain import Post
from crowdnotes.drafting import write_candidates
from crowdnotes.engines import WriterAnswer, Written
from crowdnotes.errors import EngineError
from crowdnotes.testing import FixedClock, ScriptedEngine, make_evidence
from crowdnotes.text.note_rules import note_length

POST = Post(text="This drink makes you ill!")


def _drafted(*written: Written, evidence: int = 3) -> list[str]:
    engine = ScriptedEngine()
    engine.answer = WriterAnswer(written)
    items = [make_evidence(n, url=f"https://h{n}.example.org/") for n in range(1, evidence + 1)]
    return [draft.text for draft in write_candidates(engine, POST, items, FixedClock()).candidates]


def test_links_come_from_the_evidence_that_a_candidate_cites() -> None:
    assert _drafted(Written("No link was found.", ("E2",))) == ["No link was found. https://h2.example.org/"]


def test_a_candidate_carries_at_most_two_links_each_once() -> None:
    (text,) = _drafted(Written("No link.", ("E1", "E2", "E1", "E3")))
    assert text == "No link. https://h1.example.org/ https://h2.example.org/"


def test_the_same_note_twice_is_one_candidate() -> None:
    assert len(_drafted(Written("Same.", ("E1",)), Written("Same.", ("E1",)))) == 1


def test_a_note_of_the_whole_budget_fits_with_its_links() -> None:
    (text,) = _drafted(Written("x" * 276, ("E1", "E2")))
    assert note_length(text) == 280


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        (Written("See https://invented.example.net/", ("E1",)), "link of its own"),
        (Written("See invented.org/story for more.", ("E1",)), "link of its own"),
        (Written("Fine.", ("E9",)), "E9"),
        (Written("x" * 300, ("E1",)), "more than fits"),
    ],
)
def test_an_engine_that_breaks_its_contract_is_refused(written: Written, sentence: str) -> None:
    with pytest.raises(EngineError, match=sentence):
        _drafted(written)


def test_without_passages_nothing_is_written() -> None:
    drafted = write_candidates(ScriptedEngine(), POST, [], FixedClock())
    assert drafted.candidates == ()
    assert drafted.abstained


def test_abstaining_is_passed_on() -> None:
    engine = ScriptedEngine()
    engine.answer = WriterAnswer((), "The passages do not speak about the claim.")
    assert write_candidates(engine, POST, [make_evidence(1)], FixedClock()).abstained.startswith("The passages")
