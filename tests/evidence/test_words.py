from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.evidence.words import content_words, spaced, stem, words


def test_words_of_other_scripts_are_found() -> None:
    assert words("L'été, vaccins!") == ["L", "été", "vaccins"]
    assert words("新冠") == ["新", "冠"]
    assert words("टीका सुरक्षित है") == ["टीका", "सुरक्षित", "है"]


def test_stop_words_go_by_the_texts_own_language() -> None:
    assert content_words("Die Impfung ist nicht gefährlich") == ["impfung", "gefährlich"]
    assert content_words("Patients die of the flu") == ["patients", "die", "flu"]


def test_a_text_of_stop_words_alone_keeps_them() -> None:
    assert content_words("Who is it?") == ["who", "is", "it"]


def test_forms_of_a_word_share_a_stem() -> None:
    assert stem("Vaccinated") == stem("vaccination") == stem("vaccine")
    assert stem("Émile") == stem("emile")


@given(st.text())
def test_no_letter_is_lost_between_words(text: str) -> None:
    assert spaced(text).replace(" ", "") == text.replace(" ", "")
