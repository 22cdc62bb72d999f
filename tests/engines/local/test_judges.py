"""The relevance and correctness gates."""

from __future__ import annotations

import pytest

from crowdnotes.domain import GateStatus, Post
from crowdnotes.embedding import MiniLMEmbedder
from crowdnotes.engines.local import LocalEngine
from crowdnotes.settings import GateSettings
from tests.engines.local.made import MEASLES, WATER, made_evidence
from tests.shared import minilm

POST = Post(text="The measles vaccine causes autism in children.")


def _correctness(engine: LocalEngine, note: str) -> GateStatus:
    evidence = [made_evidence(MEASLES)]
    return engine.correctness(note, evidence, engine.support(note, evidence)).status


def test_one_relevant_passage_is_enough_and_each_has_its_finding(engine: LocalEngine) -> None:
    far = made_evidence("Football scores of tonight and tomorrow.", "E1")
    result = engine.relevance(POST, [far, made_evidence(MEASLES, "E2")])
    assert result.status is GateStatus.PASS
    assert [(finding.evidence_id, finding.ok) for finding in result.findings] == [("E1", False), ("E2", True)]
    assert result.threshold == MiniLMEmbedder.thresholds.relevant


def test_evidence_about_something_else_fails(engine: LocalEngine) -> None:
    result = engine.relevance(POST, [made_evidence("Football scores of tonight and tomorrow.")])
    assert result.status is GateStatus.FAIL


def test_the_general_topic_alone_is_not_relevant_and_the_subject_is_named(engine: LocalEngine) -> None:
    post = Post(text="Aluminum foil is one of the leading causes of cancer.")
    result = engine.relevance(post, [made_evidence("Smoking is one of the leading causes of cancer of the lung.")])
    assert result.status is GateStatus.FAIL
    assert "“Aluminum foil”" in result.reason
    assert "“Aluminum foil”" in result.findings[0].message


def test_a_true_fact_on_the_subject_that_is_silent_on_the_claim_is_not_relevant(engine: LocalEngine) -> None:
    post = Post(text="The measles vaccine causes autism in children.")
    result = engine.relevance(
        post, [made_evidence("Every clinic keeps its doses of the measles vaccine in a locked fridge at four degrees.")]
    )
    assert result.status is GateStatus.FAIL
    assert "does not speak of what the post says of it" in result.findings[0].message


def test_satire_that_does_not_say_so_in_the_passage_is_not_relevant(engine: LocalEngine) -> None:
    item = made_evidence("The measles vaccine causes autism in children.", publisher="Soggy Gazette, a satirical paper")
    result = engine.relevance(POST, [item])
    assert result.status is GateStatus.FAIL
    assert "satire" in result.findings[0].message


def test_relevance_is_not_run_without_evidence_or_words(engine: LocalEngine) -> None:
    for result in (engine.relevance(POST, []), engine.relevance(Post(text="😀"), [made_evidence(MEASLES)])):
        assert result.status is GateStatus.NOT_RUN
        assert result.score is None


def test_a_faithful_note_is_correct(engine: LocalEngine) -> None:
    assert _correctness(engine, "The measles vaccine does not cause autism.") is GateStatus.PASS


@pytest.mark.parametrize(
    "note",
    [
        "The measles vaccine does not cause autism. Bananas grow fastest under blue lamps.",
        "The vaccine may cause a mild rash in about 38% of children.",
        "The measles vaccine does cause autism.",
    ],
)
def test_one_unsupported_or_distorted_sentence_fails_the_note(engine: LocalEngine, note: str) -> None:
    assert _correctness(engine, note) is GateStatus.FAIL


def test_correctness_points_at_the_words(engine: LocalEngine) -> None:
    note = "The vaccine may cause a mild rash in about 38% of children. https://a.example.org/"
    evidence = [made_evidence(MEASLES)]
    result = engine.correctness(note, evidence, engine.support(note, evidence))
    (finding,) = [finding for finding in result.findings if not finding.ok]
    assert finding.span is not None
    assert note[finding.span.start : finding.span.end] == "38%"
    assert finding.evidence_id == "E1"


@pytest.mark.parametrize(
    ("note", "status"),
    [
        ("False. The measles vaccine does not cause autism.", GateStatus.PASS),
        ("Measles is a disease that spreads easily. The measles vaccine does not cause autism. Fake.", GateStatus.PASS),
        ("This is false. Measles is a disease that spreads easily.", GateStatus.FAIL),
        ("Nope. Measles is a disease that spreads easily.", GateStatus.FAIL),
        ("This claim is false. https://health.example.org/vaccines", GateStatus.FAIL),
        ("False. Fake.", GateStatus.FAIL),
    ],
)
def test_a_bare_verdict_needs_a_sentence_that_says_what_is_wrong(
    engine: LocalEngine, note: str, status: GateStatus
) -> None:
    assert _correctness(engine, note) is status


def test_false_in_front_of_what_the_evidence_says_fails_at_the_verdict(engine: LocalEngine) -> None:
    note = "False. Smoking causes lung cancer. https://health.example.org/smoking"
    evidence = [made_evidence("Smoking causes lung cancer. Tobacco smoke harms the heart.")]
    result = engine.correctness(note, evidence, engine.support(note, evidence))
    (finding,) = [finding for finding in result.findings if not finding.ok]
    assert result.status is GateStatus.FAIL
    assert finding.message == "Nothing in the note says what is wrong; add what the evidence says instead."
    assert finding.span is not None
    assert note[finding.span.start : finding.span.end] == "False."


@pytest.mark.parametrize(
    "note",
    [
        "False: {}.",
        "No. {}.",
        "It is a myth that {}.",
        "The claim that {} is false.",
    ],
)
def test_false_inside_a_sentence_is_compared_with_what_the_evidence_says(engine: LocalEngine, note: str) -> None:
    assert _correctness(engine, note.format("Measles spreads easily")) is GateStatus.FAIL
    assert _correctness(engine, note.format("The measles vaccine causes autism")) is GateStatus.PASS


def test_numbers_that_stand_alone_are_compared(engine: LocalEngine) -> None:
    assert _correctness(engine, "95%. 1 in 3. Measles is a disease that spreads easily.") is GateStatus.FAIL
    assert _correctness(engine, "Measles is a disease that spreads easily. 5%.") is GateStatus.PASS


def test_a_bare_verdict_does_not_save_what_follows(engine: LocalEngine) -> None:
    assert _correctness(engine, "False. Bananas grow fastest under blue lamps.") is GateStatus.FAIL


def test_correctness_is_not_run_without_evidence_or_sentences(engine: LocalEngine) -> None:
    assert engine.correctness("Measles spreads.", [], ()).status is GateStatus.NOT_RUN
    assert engine.correctness("", [made_evidence(MEASLES)], ()).status is GateStatus.NOT_RUN


@pytest.mark.model
def test_the_real_model_tells_relevant_from_other_health_pages() -> None:
    engine = LocalEngine(minilm(), GateSettings())
    assert engine.relevance(POST, [made_evidence(MEASLES)]).status is GateStatus.PASS
    assert engine.relevance(POST, [made_evidence(WATER)]).status is GateStatus.FAIL
