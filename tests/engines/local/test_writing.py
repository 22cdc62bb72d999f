"""Notes by quotation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.domain import Post
from crowdnotes.engines.local import LocalEngine
from crowdnotes.engines.local.quotable import is_usable, lower_first, shorter_forms, standing_alone
from crowdnotes.settings import GateSettings
from crowdnotes.testing import HashingEmbedder
from crowdnotes.text.note_rules import find_urls, note_length
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
def test_no_note_exceeds_its_budget_or_holds_a_link(budget: int) -> None:
    engine = LocalEngine(HashingEmbedder(), GateSettings())
    text = MEASLES + " Read www.example.org/measles which says that measles vaccines do not cause autism."
    for note in engine.write(POST, [made_evidence(text)], budget, 3).candidates:
        assert note_length(note.text) <= budget
        assert not [url for url in find_urls(note.text) if "example.org" in url.url]


def test_it_abstains_with_a_reason_when_nothing_bears_on_the_post(engine: LocalEngine) -> None:
    answer = engine.write(Post(text="Football results tonight"), [made_evidence(WATER)], 278, 2)
    assert answer.candidates == ()
    assert "“Football”" in answer.abstained


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
    assert lower_first("Borrelia spreads by ticks.", "") is None
    assert lower_first("Zika spreads by mosquitoes.", "") == "Zika spreads by mosquitoes."
    assert lower_first("Lassa fever spreads.", "People with Lassa fever get ill.") == "Lassa fever spreads."


def test_an_ordinary_word_loses_its_capital() -> None:
    assert lower_first("Millions of people have it.", "") == "millions of people have it."
    assert lower_first("A warning was shared.", "") == "a warning was shared."


def _abstained(engine: LocalEngine, post: str, *passages: str) -> str:
    evidence = [made_evidence(text, f"E{n}") for n, text in enumerate(passages, start=1)]
    answer = engine.write(Post(text=post), evidence, 278, 2)
    assert answer.candidates == ()
    return answer.abstained


def test_it_abstains_and_names_the_subject_that_only_the_post_speaks_of(engine: LocalEngine) -> None:
    passage = "Avoiding the causes of cancer may help prevent cancer. Skin cancer is one of the leading cancers."
    reason = _abstained(engine, "Aluminum foil is one of the leading causes of cancer.", passage)
    assert "None of the passages in use speaks about “Aluminum foil”." in reason


def test_a_side_fact_about_what_the_claim_names_is_no_answer(engine: LocalEngine) -> None:
    passages = ("Some children with autism grow up to live alone.", "Vaccines prevent measles in many children.")
    assert "“autism” and “Vaccines”" in _abstained(engine, "Vaccines cause autism.", *passages)


def test_an_opinion_needs_no_note(engine: LocalEngine) -> None:
    assert "No checkable claim" in _abstained(engine, "Good morning! I love this.", MEASLES)


def test_passages_that_only_say_the_claim_again_give_no_note(engine: LocalEngine) -> None:
    post = "The lifeguards have patrols on Ellery Beach until 30 September."
    assert "say again" in _abstained(engine, post, "The lifeguards have patrols on Ellery Beach until 30 September.")


def test_an_answer_is_quoted_and_the_rumour_is_not(engine: LocalEngine) -> None:
    passage = (
        "A warning that kettle water boiled twice makes arsenic has been shared. "
        "Kettle water boiled twice does not make arsenic."
    )
    notes = engine.write(Post(text="Kettle water boiled twice makes arsenic!"), [made_evidence(passage)], 278, 3)
    assert [note.text for note in notes.candidates if "shared" in note.text] == []
    assert "does not make arsenic" in notes.candidates[0].text


def test_of_satire_only_the_sentence_that_says_so_is_quoted(engine: LocalEngine) -> None:
    passage = (
        "The council will bill each raindrop on a roof twice, but umbrellas are free. "
        "The Soggy Gazette is a satirical newspaper, and the council has not approved a charge for each raindrop."
    )
    evidence = [made_evidence(passage, publisher="The Soggy Gazette")]
    notes = engine.write(Post(text="The council approved a charge for each raindrop on a roof."), evidence, 278, 3)
    assert notes.candidates
    assert all("umbrellas" not in note.text for note in notes.candidates)


@pytest.mark.parametrize(
    "sentence",
    [
        "Food safety in Port Ellery: report for 2024",
        "Beach flags and what they mean.",
        "Start using a small amount of toothpaste with fluoride.",
    ],
)
def test_headings_and_orders_are_not_quoted(sentence: str) -> None:
    assert not is_usable(sentence)


def test_a_post_in_another_language_is_left_to_the_person(engine: LocalEngine) -> None:
    answer = engine.write(Post(text="La vacuna causa autismo", language="es"), [made_evidence(MEASLES)], 270, 3)
    assert not answer.candidates
    assert "English only" in (answer.abstained or "")


def test_a_denial_is_no_repetition_though_the_post_says_never_elsewhere(engine: LocalEngine) -> None:
    post = Post(text="Vitamin C CURES the common cold!!! Take 5 grams a day and you will never catch one.")
    answer = engine.write(post, [made_evidence("No vitamin, vitamin C included, cures the common cold.")], 270, 3)
    assert answer.candidates
