"""Notes by quotation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from crowdnotes.domain import Post
from crowdnotes.engines.local import LocalEngine
from crowdnotes.engines.local.sentence_quality import is_usable
from crowdnotes.engines.local.shortening import lower_first, shorter_forms, standing_alone
from crowdnotes.note_text import find_urls, note_length
from crowdnotes.settings import GateSettings
from crowdnotes.testing import HashingEmbedder
from tests.engines.local.made import MEASLES, WATER, made_evidence

POST = Post(text="The measles vaccine causes autism in children.")


def test_a_note_says_what_the_evidence_says_and_whose_words_they_are(engine: LocalEngine) -> None:
    note = engine.write(POST, [made_evidence(MEASLES)], 278, 1).candidates[0]
    assert "Example Health Agency" in note.text
    assert "does not cause autism" in note.text
    assert note.text.endswith(".")
    assert note.evidence_ids == ("E1",)


def test_only_evidence_that_is_quoted_is_listed(engine: LocalEngine) -> None:
    evidence = [made_evidence(WATER, "E1"), made_evidence(MEASLES, "E2")]
    for note in engine.write(POST, evidence, 278, 3).candidates:
        assert note.evidence_ids == ("E2",)


def test_candidates_differ(engine: LocalEngine) -> None:
    notes = engine.write(POST, [made_evidence(MEASLES)], 278, 3).candidates
    assert len({note.text for note in notes}) == len(notes)


@given(budget=st.integers(0, 300))
@hypothesis_settings(max_examples=60, deadline=None)
def test_no_note_exceeds_its_budget_or_holds_a_link(budget: int) -> None:
    engine = LocalEngine(HashingEmbedder(), GateSettings())
    text = MEASLES + " Read www.example.org/measles which says that measles vaccines do not cause autism."
    for note in engine.write(POST, [made_evidence(text)], budget, 3).candidates:
        assert note_length(note.text) <= budget
        assert not [url for url in find_urls(note.text) if "example.org" in url.url]


def test_it_abstains_with_a_reason_when_nothing_bears_on_the_post(engine: LocalEngine) -> None:
    answer = engine.write(Post(text="Football results tonight"), [made_evidence(WATER)], 278, 2)
    assert answer.candidates == ()
    assert "speaks to what the post says" in answer.abstained


def test_it_abstains_when_all_sentences_are_too_long(engine: LocalEngine) -> None:
    assert "longer than the 20 characters" in engine.write(POST, [made_evidence(MEASLES)], 20, 2).abstained


def test_it_abstains_without_evidence_or_words(engine: LocalEngine) -> None:
    assert engine.write(POST, [], 278, 2).abstained
    assert engine.write(Post(text="😀"), [made_evidence(MEASLES)], 278, 2).abstained


@pytest.mark.parametrize(
    "sentence",
    [
        "This is a serious problem for many children.",
        "They may also have a rash on their skin.",
        "Does the measles vaccine cause autism in children?",
        "substances that are usually not harmful to people.",
        "Immune responses to substances that are usually not harmful.",
        "Symptoms of the disease include the following:",
        "MEASLES VACCINES DO NOT CAUSE AUTISM IN CHILDREN.",
        "Key Points",
    ],
)
def test_fragments_questions_headings_and_dangling_words_are_not_quoted(sentence: str) -> None:
    assert not is_usable(sentence)


def test_a_plain_statement_may_be_quoted() -> None:
    assert is_usable("The measles vaccine does not cause autism.")


def test_leading_connectives_citations_and_empty_brackets_go() -> None:
    text = standing_alone("However, the vaccine (also called MMR) is safe for children.[1][2]")
    assert text == "The vaccine is safe for children."


def test_brackets_with_numbers_stay() -> None:
    assert "(5%)" in standing_alone("Some children (5%) get a rash.")


@pytest.mark.parametrize(
    "sentence",
    [
        "Vaccines protect children, which is not true of vitamins.",
        "Doctors treat it with drugs such as aspirin, but only in adults.",
        "It causes a rash; about 5% of children get one.",
    ],
)
def test_a_tail_that_limits_is_never_cut(sentence: str) -> None:
    assert shorter_forms(sentence) == [sentence]


def test_a_list_of_examples_may_be_cut() -> None:
    assert shorter_forms("Vaccines protect children from serious diseases, such as measles and polio.")[-1] == (
        "Vaccines protect children from serious diseases."
    )


def test_a_name_keeps_its_capital() -> None:
    assert lower_first("The vaccine works.", "") == "the vaccine works."
    assert lower_first("NIH researchers found it.", "") == "NIH researchers found it."
    assert lower_first("Alzheimer's disease is common.", "") == "Alzheimer's disease is common."
    assert lower_first("Measles spreads.", "People with measles cough.") == "measles spreads."
    assert lower_first("Zika spreads by mosquitoes.", "") is None
