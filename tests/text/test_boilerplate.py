import pytest

from crowdnotes.text.boilerplate import is_boilerplate, split_evidence


@pytest.mark.parametrize(
    "words",
    [
        "Top of Page",
        "back to top ↑",
        "Skip to main content",
        "Images and logos on this website which are trademarked are not in the public domain.",
        "© 2024 Acme Health. All rights reserved.",
        "Copyright 2019 by the Society",
        "The materials on this website may be used without seeking further permission.",
        "Reprinted with permission of the publisher.",
        "Please click on the link to access this resource.",
        "For more information about diabetes, visit the institute's page.",
        "(See the PDQ summary on Late Effects for more information).",
        "Read more about quitting smoking",
        "Related links",
        "This content is copyrighted by Acme Health.",
        "Reproduction in whole or in part is prohibited.",
        "Republication without written consent is not allowed.",
        "Image credit: Jane Doe / Acme",
        "Share this article on Facebook",
        "Alle Rechte vorbehalten.",
        "© Diario, todos los derechos reservados",
        "Privacy policy",
        "Vaccines: A Safe Choice Parents Guide to Immunizations For Parents: How Vaccines Prevent Diseases",
        "----",
    ],
)
def test_notices_navigation_calls_and_lists_of_links_say_nothing_of_the_subject(words: str) -> None:
    assert is_boilerplate(words)


@pytest.mark.parametrize(
    "words",
    [
        "The film's copyright ended in 2019.",
        "The court found that the logos on the cans were the same.",
        "The agency gave its permission for the trial in 2021.",
        "Click beetles do not bite people.",
        "Tap water is safe to drink in Flint since 2019.",
        "Insulin.",
        "Reproduction of banknotes is prohibited in Norway.",
        "Photos by satellites show that the ice grew.",
        "People share this article on Facebook as proof of a cure.",
        "12 of 30",
        "CDC Confirms First Human Case of Bird Flu in Texas",
        "Parents, Teachers, Doctors And Nurses Of Every School Say That Vaccines Prevented The Outbreak.",
        "疫苗不会导致自闭症",
    ],
)
def test_what_says_something_is_kept(words: str) -> None:
    assert not is_boilerplate(words)


def test_navigation_inside_a_line_parts_it_and_is_left_out() -> None:
    text = "Vaccines are safe. Top of page What is it? - A virus.   - A germ. All rights reserved."
    assert [text[piece.start : piece.end].strip("- ") for piece in split_evidence(text)] == [
        "Vaccines are safe.",
        "What is it?",
        "A virus.",
        "A germ.",
    ]
    assert split_evidence("") == ()
