"""The rules in their order: who decides, what blocks, what could not be asked."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdnotes.bridging.rules import RULES, decide, general_helpful
from crowdnotes.bridging.status import NoteSignals, NoteStatus, RuleName, Side, StatusResult, in_figures
from crowdnotes.settings import BridgingSettings

LINES = BridgingSettings()
BRIDGE = NoteSignals(
    2**60 + 1, 30, 0.45, 0.1, negative=Side(15, 0.8, 9), positive=Side(15, 0.8, 9), misleading=True, upper_bound=0.5
)


def test_a_note_that_both_sides_find_helpful_is_shown() -> None:
    result = decide(BRIDGE, LINES)
    assert result.status is NoteStatus.HELPFUL
    assert result.decided_by is RuleName.GENERAL_HELPFUL
    assert result.blocked_by == ()
    assert "0.45 of 0.40" in result.reason


def test_a_later_rule_overwrites_an_earlier_one_and_blocks() -> None:
    result = decide(replace(BRIDGE, factor=0.6, positive=Side(15, 0.6, 2)), LINES)
    assert result.status is NoteStatus.NEEDS_MORE_RATINGS
    assert result.internal_status is NoteStatus.FIRM_REJECT
    assert result.decided_by is RuleName.LARGE_FACTOR
    assert [said.rule for said in result.blocked_by] == [RuleName.LARGE_FACTOR]


def test_a_note_just_below_the_line_is_blocked_by_it_with_its_distance() -> None:
    result = decide(replace(BRIDGE, intercept=0.37), LINES)
    assert result.decided_by is RuleName.INITIAL
    (blocking,) = result.blocked_by
    assert blocking.rule is RuleName.GENERAL_HELPFUL
    assert blocking.distances[1].gap == pytest.approx(-0.03)
    assert blocking.reason == "Note intercept 0.37, at least 0.40 needed."


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"intercept": 0.3999}, "Note intercept 0.3999, at least 0.40 needed."),
        ({"ratings": 4}, "Ratings 4, at least 5 needed."),
        ({"intercept": float("nan")}, "Note intercept not known."),
        ({"misleading": False}, "It calls the post not misleading, and only notes on misleading posts are shown."),
    ],
)
def test_what_keeps_a_note_from_being_shown_is_a_sentence(change: dict[str, object], reason: str) -> None:
    result = decide(replace(BRIDGE, **change), LINES)  # type: ignore[arg-type]
    assert result.blocked_by[0].reason == reason


def test_every_distance_stands_in_the_json_with_its_gap() -> None:
    told = json.loads(decide(replace(BRIDGE, intercept=0.37), LINES).model_dump_json())
    distances = {
        d["measure"]: d for said in told["outcomes"] if said["rule"] == "GeneralCRH" for d in said["distances"]
    }
    assert distances["note intercept"]["gap"] == pytest.approx(-0.03)
    assert distances["ratings"]["gap"] == 25


@pytest.mark.parametrize(
    ("value", "line", "told"), [(0.37, 0.4, "0.37"), (0.4, 0.4, "0.40"), (0.397, 0.4, "0.397"), (3.0, 5.0, "3")]
)
def test_a_number_never_looks_like_its_line_unless_it_is(value: float, line: float, told: str) -> None:
    assert in_figures(value, line) == told


def test_a_note_between_sides_needs_your_help_and_is_shown_as_needing_ratings() -> None:
    result = decide(replace(BRIDGE, positive=Side(15, 0.6, 3)), LINES)
    assert result.internal_status is NoteStatus.NEEDS_YOUR_HELP
    assert result.status is NoteStatus.NEEDS_MORE_RATINGS
    assert result.decided_by is RuleName.MINORITY


def test_rules_without_inputs_are_listed_as_not_applied() -> None:
    missing = {entry.rule for entry in decide(BRIDGE, LINES).not_applied}
    assert missing == {
        RuleName.INERTIA,
        RuleName.TAGS,
        RuleName.INCORRECT,
        RuleName.LOW_DILIGENCE,
        RuleName.HIGH_VOLUME,
        RuleName.CORRELATED,
        RuleName.EXPLANATION,
    }


def test_a_note_without_a_score_needs_more_ratings() -> None:
    nan = float("nan")
    result = decide(replace(BRIDGE, intercept=nan, factor=nan, upper_bound=nan), LINES)
    assert result.decided_by is RuleName.INITIAL
    assert result.note_intercept is None
    assert StatusResult.model_validate_json(result.model_dump_json()) == result


def test_every_rule_speaks_or_is_not_applied_once() -> None:
    result = decide(BRIDGE, LINES)
    spoken = [said.rule for said in result.outcomes] + [entry.rule for entry in result.not_applied]
    assert sorted(spoken) == sorted(RuleName)
    assert len(spoken) == len(RULES)


def test_an_order_that_decides_nothing_is_a_fault() -> None:
    with pytest.raises(ValueError, match="always fires"):
        decide(replace(BRIDGE, intercept=0.0), LINES, (general_helpful,))


@given(
    intercept=st.floats(-1, 1),
    factor=st.floats(-1, 1),
    ratings=st.integers(0, 100),
    misleading=st.booleans(),
    net=st.tuples(st.integers(-20, 40), st.integers(-20, 40)),
)
@settings(max_examples=200, deadline=None)
def test_only_notes_above_the_line_with_both_sides_are_ever_shown(
    intercept: float, factor: float, ratings: int, misleading: bool, net: tuple[int, int]
) -> None:
    note = replace(
        BRIDGE,
        intercept=intercept,
        factor=factor,
        ratings=ratings,
        misleading=misleading,
        negative=Side(50, 0.5, net[0]),
        positive=Side(50, 0.5, net[1]),
    )
    result = decide(note, LINES)
    assert result.status in {NoteStatus.HELPFUL, NoteStatus.NOT_HELPFUL, NoteStatus.NEEDS_MORE_RATINGS}
    if result.status is NoteStatus.HELPFUL:
        assert misleading
        assert ratings >= 5
        assert intercept >= 0.4
        assert abs(factor) <= 0.5
        assert min(net) >= 4
