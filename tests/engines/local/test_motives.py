"""What people hide and what they gain is looked at after what a post states."""

from __future__ import annotations

import pytest

from crowdnotes.domain import Post
from crowdnotes.engines.local.claims import find_claims, is_motive, stands_alone

STATED_AND_MOTIVE = [
    ("Dandelion root cures leukemia.", "Doctors hide it because they earn on chemo."),
    ("Garlic lowers blood pressure.", "Big Pharma doesn't want you to know because they make money on pills."),
    ("Celery juice heals the gut.", "They are hiding this to sell you drugs."),
    ("Measles is harmless in children.", "The media keeps this quiet since Merck pays for its ads."),
    ("Fluoride lowers IQ in kids.", "The government covers it up."),
    ("Vitamin D prevents covid.", "Hospitals refuse it because they get paid for every ventilator."),
    ("5G towers weaken the immune system.", "The CDC knows and says nothing."),
    ("Sunscreen is toxic.", "The dermatology industry profits from 5 million cancer patients and hides the truth."),
    ("Ivermectin works against covid.", "Pharma banned it because there is no profit in a drug that kills the virus."),
    ("Raw milk strengthens bones.", "The FDA bans it because the vaccine lobby pays them 3 million a year."),
    ("Statins damage the liver.", "Doctors prescribe them because they get kickbacks from Pfizer."),
    ("The shots contain microchips.", "Bill Gates made 20 billions on vaccines."),
    ("Cancer is a fungus.", "The medical industry kills 500 patients a day for profit and hides the cure."),
    ("Honey cures asthma.", "My doctor never told me because he would lose 40 patients to cancer clinics."),
    ("Seed oils cause heart disease.", "The American Heart Association was bribed to promote them."),
    ("Apple seeds shrink tumours.", "The cancer industry suppresses it because it cannot patent a seed."),
    ("Turmeric reverses dementia.", "Neurologists laugh at it since Pfizer pays for their 2 trips a year."),
    ("Ozempic causes blindness.", "Drug companies hide the side effects to protect their profits from diabetes."),
    ("No one has ever isolated the virus.", "Scientists invented covid so that 300 labs got grants."),
    ("Bananas cure depression.", "Psychiatrists won't tell you, as patients with depression make them rich."),
    ("MMR causes autism.", "Doctors are paid to stay silent about 90% of vaccine injuries."),
    ("Dandelion root cures leukemia.", "Doctors hide it because they earn on it."),
    ("Garlic cures asthma.", "They lie to us about it and want control."),
    ("Statins cause dementia.", "Doctors are covering up their own vaccine deaths."),
    ("Zinc cures flu.", "Doctors won't say it."),
    ("Iodine cures cancer.", "Pharma buried the study because it can't be patented."),
    ("Vitamin C cures sepsis.", "Hospitals refuse it because they get paid $39,000 for every ventilator."),
    ("Wi-Fi causes infertility.", "Tech companies keep it quiet because 90% of infertility clinics pay them."),
]


@pytest.mark.parametrize(("stated", "motive"), STATED_AND_MOTIVE)
def test_what_is_stated_comes_before_a_motive_wherever_it_stands(stated: str, motive: str) -> None:
    for text in (f"{stated} {motive}", f"{motive} {stated}"):
        assert find_claims(Post(text=text))[0].text == stated


@pytest.mark.parametrize(
    "text",
    [
        "Pfizer hid the deaths of 1,200 people in its vaccine trial.",
        "Doctors hide the truth about cancer because they earn on chemo.",
    ],
)
def test_an_accusation_alone_is_the_claim(text: str) -> None:
    assert [claim.text for claim in find_claims(Post(text=text))] == [text]


@pytest.mark.parametrize(
    "text",
    [
        "They hide that MMR causes autism.",
        "The FDA doesn't want you to know that baking soda kills tumors.",
        "The FDA doesn't want you to know this, but raw milk is safe.",
        "Smoking causes cancer because tar damages the lungs.",
        "Doctors recommend 30 minutes of exercise because it lowers blood pressure.",
        "Surgeons wear masks to keep their patients safe from covid.",
        "Statins suppress the immune system.",
        "The FDA approved the drug in 2019.",
        "COVID vaccines are designed to kill billions, says a pharma executive.",
        "Sugar hides in most bread.",
        "Moderna patented the spike protein in 2016.",
        "Scientists earned a Nobel prize for showing that vitamin D cures cancer.",
        "They cover up burns with honey and it cures infections in 2 days.",
        "Hospitals get paid $39,000 for each patient put on a ventilator.",
        "Doctors are paid $50,000 for every Covid death certificate.",
        "Fauci lied to Congress about research on the virus in 2021.",
        "The agency found that magnesium deficiency is buried in the bone.",
        "Doctors suppress the immune system with steroids after a transplant.",
        "Scientists found a virus that hides in nerve cells for 20 years.",
        "Researchers silenced 3 genes in mice with cancer.",
        "Doctors keep measles from spreading with 2 doses.",
        "The FDA grants approval to 3 vaccines a year.",
        "The FDA allowed Pfizer to sell the drug in 2019.",
        "Hospitals lose patients to sepsis.",
        "The government pays for 3 doses of the vaccine.",
        "Doctors do not want you to smoke because smoking kills 500,000 a year.",
        "Doctors won't admit vaccines cause autism.",
        "Doctors never tell patients to stop taking statins.",
        "Experts never say raw milk is safe.",
        "Pfizer made $37 billion with the vaccine in 2021.",
    ],
)
def test_a_statement_on_health_is_no_motive_whoever_is_named(text: str) -> None:
    assert not is_motive(text)


@pytest.mark.parametrize(
    ("claim", "trifle"),
    [
        ("Moderna patented the spike protein in 2016.", "The vaccine made my arm sore yesterday."),
        (
            "Scientists earned a Nobel prize for showing that vitamin D cures cancer.",
            "I take vitamin pills in the morning.",
        ),
        (
            "They cover up burns with honey and it cures infections in 2 days.",
            "My nurse said the hospital was quiet today.",
        ),
        (
            "Hospitals get paid $39,000 for each patient put on a ventilator.",
            "My grandmother was in the hospital with covid.",
        ),
        (
            "Doctors are paid to stay silent about 90% of vaccine injuries.",
            "My grandmother was in the hospital with covid.",
        ),
        ("Doctors are paid to stay silent about 90% of vaccine injuries.", "A hospital serves lunch."),
    ],
)
def test_what_can_be_looked_up_comes_before_a_trifle_wherever_it_stands(claim: str, trifle: str) -> None:
    for text in (f"{claim} {trifle}", f"{trifle} {claim}"):
        assert find_claims(Post(text=text))[0].text == claim


def test_what_the_writer_says_was_cured_comes_before_why_it_is_hidden() -> None:
    told = "I cured my leukemia with dandelion root in 2 weeks."
    claims = find_claims(Post(text=f"{told} Doctors are paid to stay silent about 90% of vaccine injuries."))
    assert claims[0].text == told


@pytest.mark.parametrize(
    ("motive", "alone"),
    [
        ("Pfizer hid the deaths of 1,200 people.", True),
        ("Pharma kills people for profit.", True),
        ("Pharma banned it for profit.", False),
        ("Doctors hide the truth because they earn 20 millions.", False),
    ],
)
def test_a_motive_stands_alone_by_what_it_says_before_its_reason(motive: str, alone: bool) -> None:
    assert is_motive(motive)
    assert stands_alone(motive) is alone


def test_without_a_motive_beside_it_a_vague_sentence_is_no_claim() -> None:
    assert find_claims(Post(text="Garlic lowers blood pressure. What a day!")) == []
