"""Whom a note speaks of, defends or attacks, and whose sources it cites."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.jury.stance import stance_names, stances


def _row(note: str) -> dict[str, float]:
    return dict(zip(stance_names(), stances([note])[0], strict=True))


@pytest.mark.parametrize(
    ("note", "side"),
    [("Republicans did not vote for this.", "right"), ("Democrats did not vote for this.", "left")],
)
def test_a_denial_after_a_name_speaks_for_its_side(note: str, side: str) -> None:
    row = _row(note)
    assert row[f"{side} denied of"] > 0
    assert row["lean of the defended"] == (0.5 if side == "right" else -0.5)


def test_a_charge_after_a_name_speaks_against_its_side() -> None:
    row = _row("The senators say that Democrats lied about the bill.")
    assert row["left blamed"] > 0
    assert row["lean of the attacked"] < 0


def test_what_is_said_in_the_next_sentence_is_not_said_of_the_name() -> None:
    assert _row("This is about Republicans. It never happened.")["right denied of"] == 0


def test_sources_count_by_their_lean_and_official_ones_by_themselves() -> None:
    row = _row("See https://www.foxnews.com/a https://www.uscourts.gov/b https://x.com/GOP/status/1")
    assert row["hosts of lean +2"] == 0.5
    assert row["official hosts"] == 0.5
    assert row["account of the right"] == 1
    assert row["account of the left"] == 0


def test_names_in_a_link_count_as_such() -> None:
    row = _row("A look at the vote. https://example.com/republicans-win-vote")
    assert row["link named right_groups"] == 0.5
    assert row["named right_groups"] == 0


def test_a_note_that_wants_no_note_is_read_the_other_way_round() -> None:
    row = _row("NNN. Democrats said so.")
    assert row["lean of names, not needed"] == row["lean of names"] < 0
    assert _row("Democrats said so.")["lean of names, not needed"] == 0


def test_hyphens_and_curly_apostrophes_make_no_difference() -> None:
    assert _row("A pro-life view; Biden didn’t sign.") == _row("A pro life view; Biden didn't sign.")


def test_no_notes_are_no_rows() -> None:
    assert stances([]).shape == (0, len(stance_names()))


@given(st.text(max_size=300))
def test_any_text_gives_bounded_numbers(text: str) -> None:
    rows = stances([text])
    assert np.isfinite(rows).all()
    assert np.abs(rows).max(initial=0) <= 4
