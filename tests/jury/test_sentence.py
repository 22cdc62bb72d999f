"""One plain sentence."""

from __future__ import annotations

import pytest

from crowdnotes.domain import Influence, SideVotes, Span
from crowdnotes.jury.sentence import plain_sentence


def _side(name: str, helpful: int) -> SideVotes:
    return SideVotes(side=name, helpful=helpful, somewhat_helpful=0, not_helpful=100 - helpful)


@pytest.mark.parametrize(
    ("negative", "positive", "sentence"),
    [
        (80, 78, "Both sides would mostly find this note helpful."),
        (80, 65, "Both sides would mostly find this note helpful; side + less."),
        (20, 90, "Side + would mostly find this note helpful; side − would seldom."),
        (70, 50, "Side − would mostly find this note helpful; side + would about half the time."),
        (50, 52, "Each side is divided over this note."),
        (30, 50, "Neither side is won: side − finds this note helpful less often."),
        (20, 30, "Neither side would find this note helpful."),
    ],
)
def test_the_sentence_says_what_each_side_would_do(negative: int, positive: int, sentence: str) -> None:
    assert plain_sentence(_side("−", negative), _side("+", positive), ()) == sentence


def test_the_word_that_costs_the_harsher_side_most_is_named() -> None:
    words = [
        Influence(span=Span(start=0, end=4), words="liar", on_negative=-0.2, on_positive=0.1),
        Influence(span=Span(start=5, end=9), words="kind", on_negative=0.1, on_positive=-0.3),
    ]
    said = plain_sentence(_side("−", 30), _side("+", 90), words)
    assert said.endswith('side − would seldom, most of all because of "liar".')
