"""What makes a verdict weaker."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.errors import InputError
from crowdnotes.jury.cautions import cautions, check_note
from crowdnotes.settings import JurySettings

_PLAIN = "The photo was taken in 2019 in Brazil and shows a football match, not a protest."


def _said(text: str, *, vectors: bool = True, familiar: float = 0.9) -> str:
    return " ".join(cautions(text, JurySettings(), vectors=vectors, familiar=familiar))


def test_an_ordinary_note_needs_no_caution() -> None:
    assert _said(_PLAIN) == ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("False claim here.", "only 3 different words"),
        ("banana " * 30, "only 1 different word:"),
        (_PLAIN * 5, "X would not take it"),
        ("Das Foto wurde 2019 in Berlin aufgenommen und zeigt keine Demonstration, sondern ein Fest.", "(de)"),
        ("この写真は2019年にブラジルで撮影されたもので、デモではなくサッカーの試合です。", "another script"),
        (_PLAIN + " Only idiots believe it.", '"idiots"'),
    ],
)
def test_an_unusual_note_says_what_is_unusual(text: str, words: str) -> None:
    assert words in _said(text)


def test_a_text_of_unknown_words_gets_numbers_that_mean_nothing() -> None:
    assert "its numbers mean nothing here" in _said(_PLAIN, familiar=0.5)


def test_reading_without_vectors_says_so() -> None:
    assert "words and links only" in _said(_PLAIN, vectors=False)


@given(st.text(max_size=400))
def test_any_text_is_taken_or_refused_with_a_sentence(text: str) -> None:
    try:
        check_note(text, JurySettings())
    except InputError as error:
        assert error.message
        assert error.next_step
    else:
        assert all(said.endswith(".") for said in cautions(text, JurySettings(), vectors=True, familiar=0.9))
