"""The three gates: a verdict with its reason, its probability where one is known, and words that are really there."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from crowdnotes.domain import GateStatus, Post
from crowdnotes.engines.llm.helpfulness import read_final_decision
from crowdnotes.errors import AnswerUnreadableError, EngineError, ModelAnswerError
from tests.engines.llm.made import (
    NOTE,
    PASSAGE,
    POST,
    assessed,
    correctness_of,
    engine_over,
    evidence,
    relevance_answer,
)
from tests.llm_server import Body, Say, data_of, form_of, honest


def _correctness(verdict: str, *distortions: Mapping[str, str]) -> str:
    carried = [{"sentence": 1, "evidence_id": "E1", "quote": "found no link between the drink and the illness"}]
    answer = {"carried": carried, "distortions": list(distortions), "reason": "Because.", "faithful": verdict}
    return json.dumps(answer)


def _misread(note_words: str, passage_words: str, evidence_id: str = "E1") -> dict[str, str]:
    words = {"note_words": note_words, "evidence_id": evidence_id, "passage_words": passage_words}
    return {"kind": "misread", "explanation": "Another number.", **words}


def test_relevance_asks_of_each_passage_and_one_that_helps_is_enough() -> None:
    def answer(body: Body) -> str:
        return relevance_answer("yes" if "passage E2" in data_of(body) else "no")

    with engine_over(answer) as (engine, server):
        result = engine.relevance(POST, [evidence(), evidence(number=2), evidence(number=3)])
        assert len(server.requests) == 3
        assert all(len(data_of(body)) == 2 for body in server.requests)
    assert result.status is GateStatus.PASS
    assert [(item.evidence_id, item.ok) for item in result.findings] == [("E1", False), ("E2", True), ("E3", False)]


def test_a_yes_without_words_of_the_passage_does_not_count() -> None:
    with engine_over(lambda _: relevance_answer("yes", "vaccines are safe")) as (engine, _):
        result = engine.relevance(POST, [evidence()])
    assert result.status is GateStatus.FAIL
    assert "could not show" in result.findings[0].message


@pytest.mark.parametrize("verdict", ["no", "yes"])
def test_a_passage_that_could_not_be_judged_is_not_a_no_and_stops_no_other_that_helps(verdict: str) -> None:
    def answer(body: Body) -> Say:
        return Say("no", status=500) if "passage E2" in data_of(body) else Say(relevance_answer(verdict))

    with engine_over(answer) as (engine, _):
        if verdict == "no":
            with pytest.raises(EngineError, match="status 500"):
                engine.relevance(POST, [evidence(), evidence(number=2)])
            return
        result = engine.relevance(POST, [evidence(), evidence(number=2)])
    assert result.status is GateStatus.PASS
    assert "could not be judged" in result.findings[1].message


def test_without_evidence_or_words_nothing_is_asked() -> None:
    with engine_over(honest) as (engine, server):
        assert engine.relevance(POST, []).status is GateStatus.NOT_RUN
        assert engine.relevance(Post(text=" "), [evidence()]).status is GateStatus.NOT_RUN
        assert engine.correctness(NOTE, [], ()).status is GateStatus.NOT_RUN
        assert engine.helpfulness(POST, "https://a.example.org").status is GateStatus.NOT_RUN
        assert server.requests == []


def test_a_faithful_note_passes_with_the_reason() -> None:
    result = correctness_of(lambda _: _correctness("yes"))
    assert (result.status, result.reason) == (GateStatus.PASS, "Because.")


def test_a_distortion_is_named_and_pointed_to_in_the_note_with_the_words_of_the_passage() -> None:
    note = NOTE.replace("12 studies", "120 studies")
    result = correctness_of(lambda _: _correctness("no", _misread("120 studies", "12 studies")), note)
    assert result.status is GateStatus.FAIL
    finding = result.findings[0]
    assert finding.span is not None
    assert note[finding.span.start : finding.span.end] == "120 studies"
    assert "E1 says: “12 studies”" in finding.message


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


def test_helpfulness_judges_the_words_without_links_and_points_at_the_note() -> None:
    objections = [{"quote": "found no link", "objection": "Unclear."}, {"quote": "not there", "objection": "Gone."}]
    answer = {"objections": objections, "reason": "It is vague.", "helpful": "no"}
    note = f"{NOTE} https://health.example.org/review-1"
    with engine_over(lambda _: json.dumps(answer)) as (engine, server):
        result = engine.helpfulness(POST, note)
        assert data_of(server.requests[0])["note"] == NOTE
    assert (result.status, result.reason) == (GateStatus.FAIL, "It is vague.")
    assert [note[f.span.start : f.span.end] for f in result.findings if f.span] == ["found no link"]


def test_a_judge_of_its_own_is_asked_on_its_own_server_with_its_own_key_in_its_own_form() -> None:
    with (
        engine_over(lambda _: "The note is clear.\nFinal decision: yes") as (_, judge),
        engine_over(
            honest,
            judge_base_url=judge.base_url,
            judge_model="healthjudge",
            judge_form="final decision",
            api_key="sk-main-key-12345",
            judge_api_key="sk-judge-key-12345",
        ) as (engine, server),
    ):
        result = engine.helpfulness(POST, NOTE)
        assert server.requests == []
        assert judge.requests[0]["model"] == "healthjudge"
        assert "response_format" not in judge.requests[0]
        assert judge.headers[0]["authorization"] == "Bearer sk-judge-key-12345"
    assert (result.status, result.reason) == (GateStatus.PASS, "The note is clear.")


@pytest.mark.parametrize(
    ("words", "verdict"),
    [
        ("Final decision: yes", "yes"),
        ("**Final decision: No.**", "no"),
        ("Final decision: yes\nOn reflection it argues.\nFinal decision: no\n", "no"),
        ("<think>Final decision: yes</think>\nFinal decision: no", "no"),
    ],
)
def test_only_the_last_line_decides(words: str, verdict: str) -> None:
    assert read_final_decision(words).helpful == verdict


def test_without_a_decision_in_the_last_line_there_is_none() -> None:
    for words in ("", "yes", "Final decision: maybe", "Final decision: yes, said the note. I disagree."):
        with pytest.raises(ModelAnswerError):
            read_final_decision(words)


def test_what_stands_behind_a_failed_gate_is_held_back_while_the_principles_are_not() -> None:
    def answer(body: Body) -> str:
        return relevance_answer("no") if form_of(body) == "relevant" else honest(body)

    assessment = assessed(answer)
    assert [gate.status.value for gate in assessment.gates] == ["FAIL", "NOT_RUN", "NOT_RUN"]
    assert [gate.status for gate in assessment.held] == [GateStatus.PASS] * 2
    assert all(result.status is GateStatus.PASS for result in assessment.principles)


def test_garbage_at_a_gate_leaves_it_not_run_with_a_clear_sentence_and_keeps_the_rest() -> None:
    assessment = assessed(lambda body: "lorem ipsum" if form_of(body) == "faithful" else honest(body))
    assert [gate.status.value for gate in assessment.gates] == ["PASS", "NOT_RUN", "NOT_RUN"]
    assert "not in the form asked for" in assessment.gates[1].reason
    assert assessment.engine == "llm:small"
    assert assessment.prompt_version


def _shown(note: str, passage: str, quote: str) -> GateStatus:
    carried = [{"sentence": 1, "evidence_id": "E1", "quote": quote}]
    told = {"carried": carried, "distortions": [], "reason": "It says so.", "faithful": "yes"}
    with engine_over(lambda _: json.dumps(told)) as (engine, _):
        support = engine.support(note, [evidence(passage)])
        return engine.correctness(note, [evidence(passage)], support).status


def test_a_passage_in_another_language_may_carry_a_sentence_by_words_that_the_model_shows() -> None:
    note = "A trial found that the drink caused illness in none of the children who took part."
    passage = "Im Versuch zeigte das Getränk bei den teilnehmenden Kindern keine Erkrankung, sagen die Ärzte."
    assert _shown(note, passage, "bei den teilnehmenden Kindern keine Erkrankung") is GateStatus.PASS
    assert _shown(note, passage, "bei allen Kindern eine Erkrankung") is GateStatus.FAIL
    unlike = "Bananas cure every disease known to doctors worldwide."  # words that share nothing with it carry nothing
    assert _shown(unlike, PASSAGE, "The review of 12 studies found no link") is GateStatus.FAIL
