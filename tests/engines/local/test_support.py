"""Which passage carries each sentence, and what differs."""

from __future__ import annotations

from pathlib import Path

import pytest

from crowdnotes.domain import SentenceSupport, Support
from crowdnotes.engines.local import LocalEngine
from crowdnotes.engines.local.support import note_sentences
from crowdnotes.settings import GateSettings
from tests.engines.local.made import MEASLES, WATER, made_evidence
from tests.shared import minilm


def _one(engine: LocalEngine, note: str, *passages: str) -> SentenceSupport:
    evidence = [made_evidence(text, f"E{n}") for n, text in enumerate(passages or (MEASLES,), start=1)]
    (sentence,) = engine.support(note, evidence)
    return sentence


def test_a_quoted_sentence_is_supported_by_where_it_stands(engine: LocalEngine) -> None:
    note = "Fluoride in drinking water helps prevent tooth decay."
    sentence = _one(engine, note, MEASLES, WATER)
    assert sentence.support is Support.SUPPORTED
    assert sentence.evidence_id == "E2"
    assert sentence.carrier is not None
    assert WATER[sentence.carrier.start : sentence.carrier.end] == note
    assert sentence.doubts == ()


def test_an_attribution_does_not_weaken_a_quotation(engine: LocalEngine) -> None:
    note = "According to Example Health Agency, the measles vaccine does not cause autism."
    assert _one(engine, note).support is Support.SUPPORTED


def test_a_wrong_credit_is_doubted(engine: LocalEngine) -> None:
    sentence = _one(engine, "According to Harvard University, the measles vaccine does not cause autism.")
    assert "The note credits “Harvard University”" in sentence.doubts[0]
    assert sentence.support is not Support.SUPPORTED


@pytest.mark.parametrize(
    ("note", "doubt"),
    [
        ("The vaccine may cause a mild rash in about 38% of children.", "The note says “38%”, the passage says “5%”."),
        ("The measles vaccine does cause autism.", "The passage says “not”"),
        ("Measles is not a disease that spreads easily.", "The note says “not”"),
        (
            "The vaccine causes a mild rash in about 5% of children.",
            "The passage says “may”; the note states it as certain.",
        ),
        ("The vaccine may cause a mild rash in all children.", "The note says “all”; the passage says"),
        ("The vaccine may cause a mild tumor in about 5% of children.", "The passage does not mention “tumor”."),
    ],
)
def test_a_distortion_is_named_at_its_words(engine: LocalEngine, note: str, doubt: str) -> None:
    sentence = _one(engine, note)
    assert any(doubt in found for found in sentence.doubts), sentence.doubts
    assert len(sentence.doubted) == len(sentence.doubts)
    assert sentence.score < _one(engine, "The vaccine may cause a mild rash in about 5% of children.").score


def test_an_opposite_is_a_doubt(engine: LocalEngine) -> None:
    sentence = _one(engine, "Fluoride in drinking water is unsafe for most people.", WATER)
    assert sentence.doubts
    assert sentence.support is not Support.SUPPORTED


def test_a_link_told_as_a_cause_is_a_doubt(engine: LocalEngine) -> None:
    passage = "Drinking coffee is associated with better sleep in older adults."
    sentence = _one(engine, "Drinking coffee causes better sleep in older adults.", passage)
    assert "only says “associated”" in sentence.doubts[0]


LAKE = (
    "One sample from the north beach of the lake was below the guideline value for algae. "
    "The sample says nothing about the south beach."
)


@pytest.mark.parametrize(
    ("note", "doubt"),
    [
        ("Samples prove that the north beach of the lake was below the guideline value for algae.", "“prove”"),
        ("Samples from every beach of the lake were below the guideline value for algae.", "“every”"),
        ("The entire lake was below the guideline value for algae.", "The passage limits this"),
    ],
)
def test_a_limit_of_the_source_that_a_sweeping_note_drops_is_a_doubt(
    engine: LocalEngine, note: str, doubt: str
) -> None:
    sentence = _one(engine, note, LAKE)
    assert any(doubt in found for found in sentence.doubts), sentence.doubts
    assert sentence.support is not Support.SUPPORTED


@pytest.mark.parametrize(
    "note",
    ["Not all beaches of the lake are open.", "All kinds of beaches are open.", "All beaches of the lake are open."],
)
def test_a_universal_is_let_off_when_it_is_denied_idle_or_the_passages_own(engine: LocalEngine, note: str) -> None:
    assert not [d for d in _one(engine, note, "All beaches of the lake are open.").doubts if "“all”" in d.lower()]


def test_what_no_passage_says_is_unsupported(engine: LocalEngine) -> None:
    sentence = _one(engine, "Bananas grow fastest under blue lamps.")
    assert sentence.support is Support.UNSUPPORTED
    assert sentence.doubts


def test_without_passages_nothing_is_supported(engine: LocalEngine) -> None:
    (sentence,) = engine.support("Measles spreads easily.", [])
    assert (sentence.support, sentence.score, sentence.evidence_id) == (Support.UNSUPPORTED, 0.0, None)


def test_links_and_their_labels_are_not_sentences() -> None:
    note = "Measles spreads. Vaccines help https://a.example.org/x\nSources:\nhttps://b.example.org/y"
    assert [note[span.start : span.end] for span in note_sentences(note)] == ["Measles spreads.", "Vaccines help"]


def test_numbers_are_sentences_but_the_marks_of_links_are_not() -> None:
    note = "95%. 1 in 3. Vaccines help. [1] https://a.example.org/x\n2: https://b.example.org/y"
    assert [note[span.start : span.end] for span in note_sentences(note)] == ["95%.", "1 in 3.", "Vaccines help."]


@pytest.mark.model
def test_the_real_model_tells_a_paraphrase_from_a_distortion(tmp_path: Path) -> None:
    engine = LocalEngine(minilm(), GateSettings())
    faithful = _one(engine, "Big studies have found no link of the measles vaccine with autism.")
    distorted = _one(engine, "Big studies have found a link of the measles vaccine with autism.")
    unrelated = _one(engine, "Bananas grow fastest under blue lamps.")
    assert faithful.support is Support.SUPPORTED
    assert distorted.score < faithful.score
    assert distorted.doubts
    assert unrelated.support is Support.UNSUPPORTED


def test_the_publishers_name_inside_a_sentence_is_no_doubt_and_another_name_is(engine: LocalEngine) -> None:
    text = "To help prevent cavities, brush your teeth every day with a fluoride toothpaste."
    evidence = made_evidence(text, url="https://www.cancer.gov/teeth")
    note = "To help prevent cavities, the {} recommends brushing every day with a fluoride toothpaste."
    (own,) = engine.support(note.format("National Cancer Institute"), [evidence])
    (other,) = engine.support(note.format("Royal Zanzibar Society"), [evidence])
    assert own.doubts == ()
    assert any("Zanzibar" in doubt for doubt in other.doubts)


def test_a_denied_cause_is_no_overstatement_of_a_denied_risk(engine: LocalEngine) -> None:
    passage = "The study of 657,461 children found no increased risk for autism after the measles vaccine."
    sentence = _one(engine, "The measles vaccine does not cause autism in children.", passage)
    assert not any("only says" in doubt for doubt in sentence.doubts)
