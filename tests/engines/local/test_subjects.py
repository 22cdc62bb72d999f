"""What a claim is about, and whether a sentence speaks about that."""

from __future__ import annotations

import pytest

from crowdnotes.domain import Post
from crowdnotes.engines.local.subjects import subject_of, subjects_of, text_stems, what_is_missing

FOIL = subject_of("Aluminum foil is one of the leading causes of cancer.")


def test_a_claim_has_its_own_terms_and_general_topics() -> None:
    assert list(FOIL.specific.values()) == ["Aluminum", "foil"]
    assert list(FOIL.topics.values()) == ["cancer"]
    assert FOIL.phrases == ("Aluminum foil",)


@pytest.mark.parametrize(
    ("sentence", "met"),
    [
        ("Smoking is one of the leading causes of cancer.", False),
        ("Foil is made of metal.", False),
        ("There is no evidence that aluminum foil causes cancer.", True),
        ("Aluminum does not cause any illness in cooks.", True),
    ],
)
def test_a_sentence_speaks_to_a_claim_only_if_it_says_something_of_its_subject(sentence: str, met: bool) -> None:
    assert FOIL.is_met_by(sentence, 0.6) is met


def test_what_is_far_in_meaning_does_not_speak_to_a_claim() -> None:
    assert not FOIL.is_met_by("There is no evidence that aluminum foil causes cancer.", 0.2)


def test_another_cause_of_the_same_illness_is_an_answer() -> None:
    claim = subject_of("The MMR vaccine causes autism.")
    assert claim.is_met_by("Scientists are not certain what causes autism.", 0.5)
    assert not claim.is_met_by("Many children with autism live at home.", 0.5)


def test_a_lay_word_and_its_medical_name_are_one_term() -> None:
    claim = subject_of("Bird flu was made in a kitchen.")
    assert claim.is_named_by(text_stems("Avian influenza in the kitchen of a farm"))


def test_a_fragment_is_about_the_subject_of_the_best_claim() -> None:
    post = Post(text="Ozone baths are linked to brain damage in 10% of users. 23% higher risk of dementia in 2 years.")
    assert all("ozon" in subject.agents for subject in subjects_of(post))


def test_what_no_passage_names_is_told() -> None:
    assert what_is_missing([FOIL], ["Cancer of the lung"]) == "No passage speaks about “Aluminum foil”."
    assert "“Aluminum foil” and “cancer”" in what_is_missing([FOIL], ["Foil of aluminum", "Cancer"])
    assert what_is_missing([], [])
