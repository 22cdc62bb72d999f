"""One plain sentence, cautions, and what an edit changed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.domain import Influence, Interval, SideVotes, Span
from crowdnotes.errors import InputError
from crowdnotes.jury.raters import Floats
from crowdnotes.jury.verdict import best_change, cautions, changes, check_note, like_any_note, plain_sentence
from crowdnotes.settings_sections import JurySettings
from crowdnotes.text.note_rules import NOTE_LIMIT
from tests.jury.models import small_jury

_ABOVE, _BELOW, _ACROSS = Interval(low=0.41, high=0.45), Interval(low=0.3, high=0.35), Interval(low=0.38, high=0.42)
_LIAR = Influence(span=Span(start=0, end=4), words="liar", on_negative=-0.2, on_positive=0.1)
_KIND = Influence(span=Span(start=5, end=9), words="kind", on_negative=0.1, on_positive=-0.3)


def _side(name: str, helpful: int) -> SideVotes:
    return SideVotes(side=name, helpful=helpful, somewhat_helpful=0, not_helpful=100 - helpful)


def _said(
    negative: int, positive: int, interval: Interval, splits: float | None = None, words: tuple[Influence, ...] = ()
) -> str:
    return plain_sentence(
        _side("−", negative), _side("+", positive), words, interval=interval, line=0.40, splits=splits
    )


_ONE, _OTHER = "people on side A", "people on side B"
_NEITHER = "The words favour neither side, but do not show whether people find it helpful."


@pytest.mark.parametrize(
    ("negative", "positive", "interval", "sentence"),
    [
        (80, 78, _ABOVE, "Both sides would mostly find this note helpful."),
        (80, 70, _ABOVE, "Both sides would mostly find this note helpful."),
        (80, 65, _ABOVE, f"Both sides would mostly find this note helpful; {_OTHER} would find it helpful less often."),
        (68, 67, _BELOW, _NEITHER),
        (20, 90, _BELOW, f"{_OTHER.replace('p', 'P', 1)} would mostly find this note helpful; {_ONE} would seldom."),
        (
            70,
            50,
            _BELOW,
            f"{_ONE.replace('p', 'P', 1)} would mostly find this note helpful; {_OTHER} would about half the time.",
        ),
        (50, 52, _BELOW, "Each side is divided over this note."),
        (30, 50, _BELOW, f"Neither side would mostly find it helpful; {_ONE} would find it helpful less often."),
        (20, 30, _BELOW, "Neither side would find this note helpful."),
    ],
)
def test_the_sentence_says_what_each_side_would_do(
    negative: int, positive: int, interval: Interval, sentence: str
) -> None:
    assert _said(negative, positive, interval) == sentence


def test_an_interval_across_the_line_is_too_close_to_call() -> None:
    said = _said(80, 78, _ACROSS)
    assert said == "Too close to call: with some simulated readers X would show this note, with others not."
    assert "Both sides" not in _said(80, 78, _ACROSS, splits=0.1)


@pytest.mark.parametrize(("low", "high", "open_"), [(0.38, 0.40, True), (0.38, 0.3999, False), (0.40, 0.45, False)])
def test_just_reaching_the_line_is_across_and_just_missing_it_is_not(low: float, high: float, open_: bool) -> None:
    assert _said(80, 78, Interval(low=low, high=high)).startswith("Too close") is open_


@pytest.mark.parametrize(("splits", "average"), [(0.3, True), (0.6, True), (0.29, False), (0.61, False), (None, False)])
def test_a_note_like_any_other_is_said_to_be_one(splits: float | None, average: bool) -> None:
    assert like_any_note(splits) is average
    said = _said(66, 65, _BELOW, splits)
    assert (said == "To simulated readers this is an average note.") is average


def test_the_word_that_costs_the_harsher_side_most_is_named_a_link_by_its_host_and_none_when_sides_are_alike() -> None:
    assert _said(30, 90, _BELOW, words=(_LIAR, _KIND)).endswith(f'{_ONE} would seldom, most of all because of "liar".')
    assert _said(65, 80, _ACROSS, words=(_LIAR, _KIND)).endswith('less often, most of all because of "liar".')
    link = _LIAR.replace(words="https://www.example.org/fact-check/photo")
    assert _said(30, 90, _BELOW, words=(link,)).endswith("most of all because of the link to www.example.org.")
    assert "because" not in _said(70, 71, _BELOW, words=(_LIAR, _KIND))


def test_a_jury_of_one_side_says_so() -> None:
    nobody = SideVotes(side="+", helpful=0, somewhat_helpful=0, not_helpful=0)
    said = plain_sentence(_side("−", 80), nobody, (), interval=_ABOVE, line=0.40, splits=None)
    assert said == f"These simulated readers are only {_ONE}. They would mostly find this note helpful."


_PLAIN = "The photo was taken in 2019 in Brazil and shows a football match, not a protest."


def _warned(text: str, *, vectors: bool = True, familiar: float = 0.9) -> str:
    return " ".join(cautions(text, JurySettings(), vectors=vectors, familiar=familiar))


def test_an_ordinary_note_needs_no_caution_but_of_unknown_words_or_without_vectors_it_does() -> None:
    assert _warned(_PLAIN) == ""
    assert "their numbers mean nothing here" in _warned(_PLAIN, familiar=0.5)
    assert "only words and links" in _warned(_PLAIN, vectors=False)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("False claim here.", "only 3 different words"),
        ("banana " * 30, "only 1 different word "),
        (_PLAIN * 5, "Too long for X: 400"),
        ("Das Foto wurde 2019 in Berlin aufgenommen und zeigt keine Demonstration, sondern ein Fest.", "(de)"),
        ("この写真は2019年にブラジルで撮影されたもので、デモではなくサッカーの試合です。", "another script"),
        (_PLAIN + " Only idiots believe it.", '"idiots"'),
    ],
)
def test_an_unusual_note_says_what_is_unusual(text: str, words: str) -> None:
    assert words in _warned(text)


@given(st.text(max_size=400))
def test_any_text_is_taken_or_refused_with_a_sentence(text: str) -> None:
    try:
        check_note(text)
    except InputError as error:
        assert error.message
        assert error.next_step
    else:
        assert all(said.endswith(".") for said in cautions(text, JurySettings(), vectors=True, familiar=0.9))


def test_a_better_version_says_what_rose() -> None:
    jury = small_jury()
    after = jury.verdict(None, "A lovely note on the clinic.")
    said = changes(jury.verdict(None, "A divisive plus note on the clinic."), after)
    assert said[0].startswith("The simulated score rose from")
    assert "A low chance before, a good chance now." in said
    assert any(line.startswith("People on side A: ") for line in said)
    assert changes(after, after) == ("Simulated readers see no difference.",)


_LINK = "https://who.int/lead"


def _calm(texts: Sequence[str]) -> Floats:
    """A made head: each second site is worth 0.2, and each word of blame, guess, "we", mark or question costs 0.1."""
    costs = ("disgusting", "probably", "We ", "!", "?", "NEVER")
    return np.asarray([0.4 + 0.2 * ("example.org" in text) - 0.1 * sum(it in text for it in costs) for text in texts])


def _full(words: str) -> str:
    """A note with a link that has room for no other."""
    return f"{words} {'x' * (NOTE_LIMIT - len(words) - 3)} {_LINK}"


@pytest.mark.parametrize(
    ("note", "what", "chance"),
    [
        (f"Lead is a poison. {_LINK}", "A link to another source", 0.6),
        ("Lead is a poison.", "A link to a source", 0.6),
        (_full("A disgusting claim."), "Plain words in the place of “disgusting”", 0.4),
        (_full("It is probably so."), "To leave out guesses such as “probably”", 0.4),
        (_full("We counted it."), "To leave out “We”", 0.4),
        (_full("Lead is NEVER EVER safe."), "Calm letters and marks in the place of “NEVER EVER”", 0.4),
        (_full("Is lead safe?"), "A statement in the place of the question", 0.4),
    ],
)
def test_what_would_raise_a_notes_chance_most_is_told_of_its_sources_and_manner(
    note: str, what: str, chance: float
) -> None:
    found = best_change(note, float(_calm([note])[0]), _calm)
    assert found is not None
    assert found.what == what
    assert found.chance_of_shown == pytest.approx(chance)


def test_nothing_is_advised_that_a_person_would_not_see_or_x_would_not_take() -> None:
    note = f"Lead is a poison. {_LINK}"
    assert best_change(note, 0.4, lambda texts: np.full(len(texts), 0.41)) is None
    assert best_change(_full("Lead is a poison."), 0.3, _calm) is None
