"""Each rule: a note that fires it, and one that just misses it; and the status that all rules together give."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdnotes.bridging import rules
from crowdnotes.bridging.rules import RULES, decide, general_helpful
from crowdnotes.bridging.status import (
    IncorrectSignal,
    NotApplied,
    NoteSignals,
    NoteStatus,
    RuleName,
    RuleOutcome,
    Side,
    StatusResult,
)
from crowdnotes.settings import BridgingSettings
from crowdnotes.text.markdown import in_figures

LINES = BridgingSettings()
NMR, CRH, CRNH = NoteStatus.NEEDS_MORE_RATINGS, NoteStatus.HELPFUL, NoteStatus.NOT_HELPFUL
REJECT, HELP = NoteStatus.FIRM_REJECT, NoteStatus.NEEDS_YOUR_HELP
TAG, MILD = "notHelpfulIncorrect", "notHelpfulHardToUnderstand"
NOTE = NoteSignals(
    1,
    20,
    0.2,
    0.1,
    negative=Side(10, 0.6, 4),
    positive=Side(10, 0.6, 4),
    misleading=True,
    upper_bound=0.3,
    was_helpful=False,
)


def _said(answer: RuleOutcome | NotApplied) -> NoteStatus | None:
    assert isinstance(answer, RuleOutcome)
    assert bool(answer.reason) is answer.fired
    return answer.status


def test_every_note_begins_as_needing_more_ratings() -> None:
    assert _said(rules.initial(NOTE, NMR, LINES)) is NMR


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"intercept": 0.40}, NoteStatus.HELPFUL),
        ({"intercept": 0.3999}, None),
        ({"intercept": 0.40, "ratings": 5}, NoteStatus.HELPFUL),
        ({"intercept": 0.40, "ratings": 4}, None),
        ({"intercept": 0.40, "misleading": False}, None),
        ({"intercept": float("nan")}, None),
    ],
)
def test_general_helpful(change: dict[str, object], status: NoteStatus | None) -> None:
    assert _said(rules.general_helpful(_with(change), NMR, LINES)) is status


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"intercept": -0.131, "factor": 0.1}, NoteStatus.NOT_HELPFUL),
        ({"intercept": -0.129, "factor": 0.1}, None),
        ({"intercept": -0.131, "factor": -0.11}, None),
        ({"intercept": -0.06, "factor": 0.0, "ratings": 5}, NoteStatus.NOT_HELPFUL),
        ({"intercept": -0.06, "factor": 0.0, "ratings": 4}, None),
        ({"intercept": -0.06, "factor": 0.0, "misleading": False}, NoteStatus.NOT_HELPFUL),
        ({"intercept": float("nan")}, None),
    ],
)
def test_general_not_helpful_is_a_diamond(change: dict[str, object], status: NoteStatus | None) -> None:
    assert _said(rules.general_not_helpful(_with(change), NMR, LINES)) is status


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"upper_bound": -0.041}, NoteStatus.NOT_HELPFUL),
        ({"upper_bound": -0.04}, None),
        ({"upper_bound": -0.041, "ratings": 4}, None),
        ({"upper_bound": float("nan")}, None),
    ],
)
def test_upper_bound(change: dict[str, object], status: NoteStatus | None) -> None:
    assert _said(rules.upper_bound(_with(change), NMR, LINES)) is status


@pytest.mark.parametrize(
    ("negative", "positive", "ratings", "status"),
    [
        (Side(3, 0.4, 0), Side(3, 0.19, 0), 6, NoteStatus.NOT_HELPFUL),
        (Side(3, 0.41, 0), Side(3, 0.0, 0), 6, None),
        (Side(3, 0.4, 0), Side(3, 0.21, 0), 6, None),
        (Side(2, 0.0, 0), Side(9, 0.0, 0), 11, None),
        (Side(0), Side(9, 0.0, 0), 9, None),
        (Side(3, 0.0, 0), Side(3, 0.0, 0), 4, None),
    ],
)
def test_ratio(negative: Side, positive: Side, ratings: int, status: NoteStatus | None) -> None:
    note = replace(NOTE, negative=negative, positive=positive, ratings=ratings)
    assert _said(rules.ratio(note, NMR, LINES)) is status


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"misleading": False, "intercept": -0.151}, NoteStatus.NOT_HELPFUL),
        ({"misleading": False, "intercept": -0.15}, None),
        ({"misleading": True, "intercept": -0.151}, None),
    ],
)
def test_not_misleading(change: dict[str, object], status: NoteStatus | None) -> None:
    assert _said(rules.not_misleading(_with(change), NMR, LINES)) is status


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"was_helpful": True, "intercept": 0.3901}, NoteStatus.HELPFUL),
        ({"was_helpful": True, "intercept": 0.3899}, None),
        ({"was_helpful": False, "intercept": 0.3901}, None),
        ({"was_helpful": True, "intercept": 0.3901, "misleading": False}, None),
        ({"was_helpful": True, "intercept": 0.3901, "ratings": 4}, None),
    ],
)
def test_inertia(change: dict[str, object], status: NoteStatus | None) -> None:
    assert _said(rules.inertia(_with(change), NMR, LINES)) is status


@pytest.mark.parametrize(
    ("rule", "lack"),
    [
        (rules.general_helpful, "misleading"),
        (rules.upper_bound, "upper_bound"),
        (rules.not_misleading, "misleading"),
        (rules.inertia, "was_helpful"),
        (rules.tags, "tag_totals"),
        (rules.tags, "tag_lines"),
        (rules.incorrect, "incorrect"),
        (rules.low_diligence, "diligence_intercept"),
        (rules.high_volume, "intercept_without_high_volume"),
        (rules.correlated, "intercept_without_correlated"),
        (rules.explanation, "helpful_tags"),
    ],
)
def test_a_rule_without_its_input_is_not_applied(rule: object, lack: str) -> None:
    assert callable(rule)
    note = replace(SHOWN, misleading=True, upper_bound=0.5, was_helpful=True)
    answer = rule(replace(note, **{lack: None}), CRH, LINES)  # type: ignore[arg-type]
    assert isinstance(answer, NotApplied)
    assert answer.missing


def test_the_distance_to_the_line_is_told_fired_or_not() -> None:
    answer = rules.general_helpful(_with({"intercept": 0.31}), NMR, LINES)
    assert isinstance(answer, RuleOutcome)
    distance = answer.distances[1]
    assert (distance.value, distance.line, distance.met) == (0.31, 0.40, False)
    assert distance.gap == pytest.approx(-0.09)


def _with(change: dict[str, object]) -> NoteSignals:
    return replace(NOTE, **change)  # type: ignore[arg-type]


SHOWN = NoteSignals(
    1,
    40,
    0.45,
    0.1,
    negative=Side(20, 0.8, 12),
    positive=Side(20, 0.8, 12),
    tag_totals={TAG: 0.0, MILD: 0.0},
    tag_shares={TAG: 0.0, MILD: 0.0},
    tag_lines={TAG: 0.1, MILD: 0.1},
    incorrect=IncorrectSignal(0, 0, 0.0),
    diligence_intercept=0.0,
    intercept_without_high_volume=0.45,
    intercept_without_correlated=0.45,
    helpful_tags={"helpfulClear": 3, "helpfulGoodSources": 3},
    not_helpful_tags={},
)


@pytest.mark.parametrize(
    ("total", "share", "before", "status"),
    [
        (2.51, 0.11, CRH, REJECT),
        (2.51, 0.11, NMR, REJECT),
        (2.51, 0.11, CRNH, None),
        (2.5, 0.11, CRH, None),
        (2.51, 0.1, CRH, None),
    ],
)
def test_a_complaint_that_is_often_and_unusual_blocks(
    total: float, share: float, before: NoteStatus, status: NoteStatus | None
) -> None:
    note = replace(SHOWN, tag_totals={TAG: total}, tag_shares={TAG: share})
    assert _said(rules.tags(note, before, LINES)) is status


def test_unclear_language_alone_never_blocks() -> None:
    note = replace(SHOWN, tag_totals={MILD: 9.0}, tag_shares={MILD: 0.9})
    assert _said(rules.tags(note, CRH, LINES)) is None


@pytest.mark.parametrize(
    ("signal", "before", "status"),
    [
        (IncorrectSignal(3, 2, 1.2), CRH, REJECT),  # 2 / ln 2.2 = 2.54
        (IncorrectSignal(3, 2, 1.3), CRH, None),  # 2 / ln 2.3 = 2.40
        (IncorrectSignal(2, 2, 1.2), CRH, None),
        (IncorrectSignal(3, 1, 0.1), CRH, None),
        (IncorrectSignal(3, 2, 0.0), CRH, REJECT),
        (IncorrectSignal(3, 2, 1.2), CRNH, None),
    ],
)
def test_incorrect_by_raters_of_a_like_mind(
    signal: IncorrectSignal, before: NoteStatus, status: NoteStatus | None
) -> None:
    assert _said(rules.incorrect(replace(SHOWN, incorrect=signal), before, LINES)) is status


@pytest.mark.parametrize(
    ("intercept", "before", "status"), [(0.264, CRH, REJECT), (0.263, CRH, None), (0.264, CRNH, None)]
)
def test_low_diligence(intercept: float, before: NoteStatus, status: NoteStatus | None) -> None:
    assert _said(rules.low_diligence(replace(SHOWN, diligence_intercept=intercept), before, LINES)) is status


@pytest.mark.parametrize(
    ("factor", "before", "status"), [(0.501, CRH, REJECT), (-0.501, CRH, REJECT), (0.5, CRH, None), (0.9, NMR, None)]
)
def test_large_factor(factor: float, before: NoteStatus, status: NoteStatus | None) -> None:
    assert _said(rules.large_factor(replace(SHOWN, factor=factor), before, LINES)) is status


@pytest.mark.parametrize(
    ("intercept", "before", "status"),
    [(0.2999, NMR, REJECT), (0.30, NMR, None), (0.1, CRNH, None), (float("nan"), NMR, None)],
)
def test_low_intercept(intercept: float, before: NoteStatus, status: NoteStatus | None) -> None:
    assert _said(rules.low_intercept(replace(SHOWN, intercept=intercept), before, LINES)) is status


@pytest.mark.parametrize(("net", "before", "status"), [(3, CRH, HELP), (4, CRH, None), (-2, CRH, HELP), (3, NMR, None)])
def test_the_smaller_side_must_bring_four(net: int, before: NoteStatus, status: NoteStatus | None) -> None:
    assert _said(rules.minority(replace(SHOWN, positive=Side(9, 0.7, net)), before, LINES)) is status


@pytest.mark.parametrize(
    ("net", "others", "before", "status"),
    [
        (4, 71, CRH, HELP),  # 4 of 81
        (4, 70, CRH, None),  # 4 of 80
        (10, 500, CRH, None),
        (3, 500, CRH, None),  # for the rule before this one
        (4, 71, NMR, None),
    ],
)
def test_the_smaller_side_must_be_a_fair_share(
    net: int, others: int, before: NoteStatus, status: NoteStatus | None
) -> None:
    note = replace(SHOWN, negative=Side(others, 0.9, others), positive=Side(10, 0.7, net))
    assert _said(rules.balance(note, before, LINES)) is status


@pytest.mark.parametrize(
    ("intercept", "before", "status"),
    [(0.3699, CRH, HELP), (0.37, CRH, None), (0.1, NMR, None), (float("nan"), CRH, None)],
)
def test_it_must_hold_without_the_busiest_and_without_linked_raters(
    intercept: float, before: NoteStatus, status: NoteStatus | None
) -> None:
    busy, linked = (
        replace(SHOWN, intercept_without_high_volume=intercept),
        replace(SHOWN, intercept_without_correlated=intercept),
    )
    assert _said(rules.high_volume(busy, before, LINES)) is status
    assert _said(rules.correlated(linked, before, LINES)) is status


@pytest.mark.parametrize(
    ("helpful", "not_helpful", "before", "status"),
    [
        ({"a": 2, "b": 1}, {}, CRH, NMR),
        ({"a": 2, "b": 2}, {}, CRH, None),
        ({"a": 2, "b": 2}, {"c": 9}, CRNH, NMR),
        ({}, {"c": 2, "d": 2}, CRNH, None),
        ({}, {}, NMR, None),
    ],
)
def test_a_status_needs_two_reasons_of_two_raters_each(
    helpful: dict[str, int], not_helpful: dict[str, int], before: NoteStatus, status: NoteStatus | None
) -> None:
    note = replace(SHOWN, helpful_tags=helpful, not_helpful_tags=not_helpful)
    assert _said(rules.explanation(note, before, LINES)) is status


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
