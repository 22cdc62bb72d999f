"""What a claim is about, and whether a sentence speaks about that."""

from __future__ import annotations

import pytest

from crowdnotes.domain import Post
from crowdnotes.engines.local.subjects import (
    speaks_of_main_subject,
    subject_of,
    subjects_of,
    text_stems,
    what_is_missing,
)

FOIL = subject_of("Aluminum foil is one of the leading causes of cancer.")


def test_a_claim_has_its_own_terms_and_general_topics() -> None:
    assert list(FOIL.specific.values()) == ["Aluminum", "foil"]
    assert list(FOIL.topics.values()) == ["cancer"]
    assert FOIL.phrases == ("Aluminum foil",)


def test_a_lay_word_and_its_medical_name_are_one_term() -> None:
    claim = subject_of("Bird flu was made in a kitchen.")
    assert claim.is_named_by(text_stems("Avian influenza in the kitchen of a farm"))


def test_a_fragment_is_about_the_subject_of_the_best_claim() -> None:
    post = Post(text="Ozone baths are linked to brain damage in 10% of users. 23% higher risk of dementia in 2 years.")
    assert all("ozon" in subject.agents for subject in subjects_of(post))


def test_what_no_passage_names_is_told() -> None:
    assert (
        what_is_missing([FOIL], ["Cancer of the lung"]) == "None of the passages in use speaks about “Aluminum foil”."
    )
    assert "“Aluminum foil” and “cancer”" in what_is_missing([FOIL], ["Foil of aluminum", "Cancer"])
    assert what_is_missing([], [])


def test_a_brand_is_named_by_what_medicine_calls_it() -> None:
    claim = subject_of("Gardasil was covered up.")
    assert claim.is_named_by(text_stems("The human papillomavirus (HPV) vaccine is given to girls and boys."))


def test_adverbs_verb_forms_and_scorn_are_no_subjects() -> None:
    claim = subject_of("Oddly the crazy ozone baths unleashed on us are brainwashed nonsense.")
    assert set(claim.specific.values()) == {"ozone", "baths"}


def test_a_sentence_about_this_has_the_subject_of_the_claim_that_names_it() -> None:
    post = Post(text="Ozone baths cause brain damage. It is known to trigger dementia in 10% of users.")
    assert all("ozon" in subject.agents for subject in subjects_of(post))


def test_what_a_post_names_again_and_again_must_be_named() -> None:
    post = "Sepsis is not caused by microbes. Sepsis is fear. Antibiotics never help in sepsis."
    assert speaks_of_main_subject("Sepsis is treated with antibiotics.", post)
    assert not speaks_of_main_subject("Antibiotics can add to resistance.", post)
    assert speaks_of_main_subject("Antibiotics can add to resistance.", "Antibiotics never help.")


@pytest.mark.parametrize(
    ("claim", "phrases"),
    [
        ("Biden flew 320,000 migrants to Ohio so they can vote Democrat.", {"Biden", "migrants", "Ohio", "Democrat"}),
        ("The harvest festival of Lodz was CANCELLED.", {"harvest festival", "Lodz"}),
        ("Tea is SHOCKINGLY full of arsenic.", {"Tea", "arsenic"}),
        ("GARDASIL causes infertility.", {"GARDASIL", "infertility"}),
    ],
)
def test_verbs_and_shouts_name_no_subject(claim: str, phrases: set[str]) -> None:
    assert set(subject_of(claim).phrases) == phrases
