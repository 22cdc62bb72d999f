"""Gate 2 by a model, and the gates together: a verdict with its reason, and words that are really there."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

import pytest

from crowdnotes.domain import GateStatus, PrincipleName, Support
from crowdnotes.errors import AnswerUnreadableError
from tests.engines.llm.made import NOTE, PASSAGE, QUOTE, assessed, correctness_of, engine_over, evidence
from tests.llm_server import Body, form_of, honest


def _correctness(verdict: str, *distortions: Mapping[str, str]) -> str:
    carried = [{"sentence": 1, "evidence_id": "E1", "quote": "found no link between the drink and the illness"}]
    answer = {"carried": carried, "distortions": list(distortions), "reason": "Because.", "faithful": verdict}
    return json.dumps(answer)


def _misread(note_words: str, passage_words: str, evidence_id: str = "E1") -> dict[str, str]:
    words = {"note_words": note_words, "evidence_id": evidence_id, "passage_words": passage_words}
    return {"kind": "misread", "explanation": "Another number.", **words}


def test_without_evidence_or_a_sentence_nothing_is_asked() -> None:
    with engine_over(honest) as (engine, server):
        assert engine.correctness(NOTE, [], ()).status is GateStatus.NOT_RUN
        assert engine.correctness("", [evidence()], ()).status is GateStatus.NOT_RUN
        assert server.requests == []


def test_a_faithful_note_passes_with_the_reason_and_the_words_that_carry_it() -> None:
    result = correctness_of(lambda _: _correctness("yes"))
    assert (result.status, result.reason) == (GateStatus.PASS, "Because.")
    (sentence,) = result.sentences
    assert sentence.carrier is not None
    assert PASSAGE[sentence.carrier.start : sentence.carrier.end] == f"{QUOTE} and the illness"
    assert (sentence.support, sentence.by) == (Support.SUPPORTED, "the model")


def test_a_distortion_is_named_and_pointed_to_in_the_note_with_the_words_of_the_passage() -> None:
    note = NOTE.replace("12 studies", "120 studies")
    result = correctness_of(lambda _: _correctness("no", _misread("120 studies", "12 studies")), note)
    assert result.status is GateStatus.FAIL
    finding = result.findings[0]
    assert finding.span is not None
    assert note[finding.span.start : finding.span.end] == "120 studies"
    assert "E1 says: “12 studies”" in finding.message
    assert [item.support for item in result.sentences] == [Support.PARTLY]


@pytest.mark.parametrize(
    "distortion",
    [
        _misread("13 studies", "12 studies"),
        _misread("12 studies", "14 studies"),
        _misread("12 studies", "12 studies", "E5"),
        _misread("", ""),
    ],
    ids=["not in the note", "not in the passage", "no such passage", "nothing"],
)
def test_a_distortion_whose_words_are_not_there_is_dropped(distortion: dict[str, str]) -> None:
    assert correctness_of(lambda _: _correctness("yes", distortion)).status is GateStatus.PASS
    with pytest.raises(AnswerUnreadableError):
        correctness_of(lambda _: _correctness("no", distortion))


def test_a_yes_beside_a_shown_distortion_fails_and_with_a_sentence_that_nothing_was_shown_to_carry() -> None:
    shown = _misread("12 studies", "12 studies")
    assert correctness_of(lambda _: _correctness("yes", shown)).status is GateStatus.FAIL
    note = f"{NOTE} Bananas cure every disease known to doctors worldwide."
    result = correctness_of(lambda _: _correctness("yes"), note)
    assert result.status is GateStatus.FAIL
    assert "Bananas" in result.reason


def _shown(note: str, passage: str, quote: str) -> GateStatus:
    """The verdict when a model calls the note faithful and shows this quote for its sentence."""
    carried = [{"sentence": 1, "evidence_id": "E1", "quote": quote}]
    told = {"carried": carried, "distortions": [], "reason": "It says so.", "faithful": "yes"}
    return correctness_of(lambda _: json.dumps(told), note, evidence(passage)).status


@pytest.mark.parametrize(
    ("note", "quote"),
    [
        ("The drink causes illness.", "may cause a mild rash"),
        ("Acme knew for years that its juice caused leukaemia.", "The review of 12 studies found no link"),
        ("Bananas cure every disease known to doctors worldwide.", "The review of 12 studies found no link"),
        ("A review found that vaccines stop measles.", "The review of 12 studies found no link"),  # two words of many
    ],
)
def test_a_true_quote_of_something_else_carries_nothing(note: str, quote: str) -> None:
    assert _shown(note, PASSAGE, quote) is GateStatus.FAIL
    assert _shown(NOTE, PASSAGE, QUOTE) is GateStatus.PASS


def test_a_sum_shares_few_words_with_the_figures_that_it_is_made_of() -> None:
    quote = "Adults should cut back their intake by 500 calories a day"
    by_figures = "At that rate 10 times as long saves 5,000 calories of intake."
    assert _shown(by_figures, f"{quote}.", quote) is GateStatus.PASS
    assert _shown(re.sub(r"[\d,]+", "many", by_figures), f"{quote}.", quote) is GateStatus.FAIL


def test_a_passage_in_another_language_may_carry_a_sentence_by_words_that_the_model_shows() -> None:
    note = "A trial found that the drink caused illness in none of the children who took part."
    passage = "Im Versuch zeigte das Getränk bei den teilnehmenden Kindern keine Erkrankung, sagen die Ärzte."
    assert _shown(note, passage, "bei den teilnehmenden Kindern keine Erkrankung") is GateStatus.PASS
    assert _shown(note, passage, "bei allen Kindern eine Erkrankung") is GateStatus.FAIL


def test_garbage_at_a_gate_leaves_it_not_run_with_a_clear_sentence_and_keeps_the_rest() -> None:
    assessment = assessed(lambda body: "lorem ipsum" if form_of(body) == "faithful" else honest(body))
    assert [gate.status.value for gate in assessment.gates] == ["PASS", "NOT_RUN", "NOT_RUN"]
    assert "not in the form asked for" in assessment.gates[1].reason
    assert assessment.engine == "llm:small"
    assert assessment.prompt_version


def test_three_calls_side_by_side_judge_a_note() -> None:
    asked: list[str] = []

    def answer(body: Body) -> str:
        asked.append(form_of(body))
        return honest(body)

    assessment = assessed(answer, cache_mb=1)
    assert sorted(asked) == ["faithful", "helpful", "passages"]
    assert {gate.status for gate in assessment.gates} == {GateStatus.PASS}
    failed = [item.principle for item in assessment.principles if item.status is not GateStatus.PASS]
    assert failed == [PrincipleName.SOURCES_SUPPORT]  # the note has no link
