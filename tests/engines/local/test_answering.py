"""Whether a sentence answers a claim: the same subject, and what is claimed of it."""

from __future__ import annotations

import pytest

from crowdnotes.engines.local.subjects import subject_of
from crowdnotes.engines.local.writing import answers

NEAR = 0.6
FOIL = "Aluminum foil is one of the leading causes of cancer."


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        (FOIL, "There is no evidence that aluminum foil causes cancer."),
        (FOIL, "Aluminum does not cause any illness in cooks."),
        ("The MMR vaccine causes autism.", "Scientists are not certain what causes autism."),
        ("Polio was pesticide poisoning.", "Polio is an infectious disease caused by a virus."),
        ("Viruses do not exist!", "Viruses are capsules with genetic material inside."),
        ("Herb tea cures diabetes in a week.", "Diabetes cannot be cured, but it can be managed."),
        (
            "condoms do not prevent u from catching hiv",
            "Correct usage of latex condoms reduces the risk of catching STDs.",
        ),
        ("Cigarettes AREN’T bad for you", "Smoking is bad for your health."),
        ("Gardasil made you get cervical cancer.", "The human papillomavirus vaccine prevents cervical cancer."),
        (
            "Biden flew 320,000 migrants into Ohio on secret flights.",
            "About 320,000 people flew in on commercial flights under a program.",
        ),
        ("Cholera has struck 900 people of the camp.", "Cholera was found in 12 people of the camp."),
    ],
)
def test_a_sentence_on_the_subject_that_says_what_is_asked_answers(claim: str, sentence: str) -> None:
    assert answers(subject_of(claim), sentence, NEAR)


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        (FOIL, "Smoking is one of the leading causes of cancer."),
        (FOIL, "Foil is made of metal."),
        ("The MMR vaccine causes autism.", "Many children with autism live at home."),
        ("The new filters are giving our kids headaches.", "Common causes of headaches in children are colds."),
        ("Polio doesn't exist.", "There is no treatment to reverse the paralysis of polio."),
        ("A child just died of measles in Norwich.", "Measles can lead to serious problems."),
        ("Herb tea cures diabetes in a week.", "Herb tea is sold in many shops."),
        ("John Miller got blood clots from tea.", "Blood clots can be caused by surgery."),
        ("Cooks sold 1995 shells on secret flights.", "In 1995 shells were counted on flights."),
        ("Store bought formula is dangerous.", "If infants are not given a formula, they may get severe weight loss."),
    ],
)
def test_a_true_sentence_beside_the_claim_does_not(claim: str, sentence: str) -> None:
    assert not answers(subject_of(claim), sentence, NEAR)


def test_what_is_far_in_meaning_does_not_answer() -> None:
    assert not answers(subject_of(FOIL), "There is no evidence that aluminum foil causes cancer.", 0.2)


def test_a_title_may_name_whom_a_sentence_is_about() -> None:
    claim = subject_of("Lake Ostra is full of toxic algae.")
    sentence = "The toxic algae in the sample were below the guideline value."
    assert not answers(claim, sentence, NEAR)
    assert answers(claim, sentence, NEAR, "Lake Ostra: first sample")
