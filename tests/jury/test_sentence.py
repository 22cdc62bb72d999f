"""One plain sentence, which claims no more than the simulation shows."""

from __future__ import annotations

import pytest

from crowdnotes.domain import Influence, Interval, SideVotes, Span
from crowdnotes.jury.sentence import like_any_note, plain_sentence

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


@pytest.mark.parametrize(
    ("negative", "positive", "interval", "sentence"),
    [
        (80, 78, _ABOVE, "Both sides would mostly find this note helpful."),
        (80, 65, _ABOVE, "Both sides would mostly find this note helpful; side + finds it helpful less often."),
        (68, 67, _BELOW, "Nothing in the words divides the two sides; whether they like it, words alone hardly tell."),
        (20, 90, _BELOW, "Side + would mostly find this note helpful; side − would seldom."),
        (70, 50, _BELOW, "Side − would mostly find this note helpful; side + would about half the time."),
        (50, 52, _BELOW, "Each side is divided over this note."),
        (30, 50, _BELOW, "Neither side is won; side − finds it helpful less often."),
        (20, 30, _BELOW, "Neither side would find this note helpful."),
    ],
)
def test_the_sentence_says_what_each_side_would_do(
    negative: int, positive: int, interval: Interval, sentence: str
) -> None:
    assert _said(negative, positive, interval) == sentence


def test_an_interval_across_the_line_is_too_close_to_call() -> None:
    said = _said(80, 78, _ACROSS)
    assert said == "Too close to call: some of the simulated juries would show this note, others would not."
    assert "Both sides" not in _said(80, 78, _ACROSS, splits=0.1)


@pytest.mark.parametrize(("low", "high", "open_"), [(0.38, 0.40, True), (0.38, 0.3999, False), (0.40, 0.45, False)])
def test_just_reaching_the_line_is_across_and_just_missing_it_is_not(low: float, high: float, open_: bool) -> None:
    assert _said(80, 78, Interval(low=low, high=high)).startswith("Too close") is open_


@pytest.mark.parametrize(("splits", "average"), [(0.3, True), (0.6, True), (0.29, False), (0.61, False), (None, False)])
def test_a_note_like_any_other_is_said_to_be_one(splits: float | None, average: bool) -> None:
    assert like_any_note(splits) is average
    said = _said(66, 65, _BELOW, splits)
    assert (said == "The simulation cannot tell this note from an average one.") is average


def test_the_word_that_costs_the_harsher_side_most_is_named() -> None:
    assert _said(30, 90, _BELOW, words=(_LIAR, _KIND)).endswith('side − would seldom, most of all because of "liar".')
    assert _said(65, 80, _ACROSS, words=(_LIAR, _KIND)).endswith('less often, most of all because of "liar".')


def test_a_link_is_named_by_its_host() -> None:
    link = _LIAR.model_copy(update={"words": "https://www.example.org/fact-check/photo"})
    assert _said(30, 90, _BELOW, words=(link,)).endswith("most of all because of the link to www.example.org.")


def test_no_word_is_blamed_when_the_sides_are_alike() -> None:
    assert "because" not in _said(70, 71, _BELOW, words=(_LIAR, _KIND))


def test_a_jury_of_one_side_says_so() -> None:
    nobody = SideVotes(side="+", helpful=0, somewhat_helpful=0, not_helpful=0)
    said = plain_sentence(_side("−", 80), nobody, (), interval=_ABOVE, line=0.40, splits=None)
    assert said == "Only side − sits on this jury, and it would mostly find this note helpful."
