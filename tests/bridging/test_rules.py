"""Each rule: a note that fires it, and one that just misses it; and the status that all rules together give."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from types import FunctionType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.bridging import rules
from crowdnotes.bridging.model import (
    IncorrectSignal,
    NotApplied,
    NoteSignals,
    NoteStatus,
    RuleName,
    RuleOutcome,
    SampledSignal,
    Side,
    StatusResult,
)
from crowdnotes.bridging.rules import RULES, decide
from crowdnotes.bridging.thresholds import THRESHOLDS, Thresholds
from crowdnotes.text.markdown import in_figures

Rule = Callable[[NoteSignals, NoteStatus, Thresholds], RuleOutcome | NotApplied]
LINES = THRESHOLDS
NMR, CRH, CRNH = NoteStatus.NEEDS_MORE_RATINGS, NoteStatus.HELPFUL, NoteStatus.NOT_HELPFUL
REJECT, HELP = NoteStatus.FIRM_REJECT, NoteStatus.NEEDS_YOUR_HELP
TAG, MILD = "notHelpfulIncorrect", "notHelpfulHardToUnderstand"
NOTE = NoteSignals(
    1, 20, 0.2, 0.1, negative=Side(10, 0.6, 4), positive=Side(10, 0.6, 4), misleading=True, upper_bound=0.3,
    was_helpful=False,
)  # fmt: skip


def _with(change: dict[str, object]) -> NoteSignals:
    return replace(NOTE, **change)  # type: ignore[arg-type]


def _said(answer: RuleOutcome | NotApplied) -> NoteStatus | None:
    assert isinstance(answer, RuleOutcome)
    assert bool(answer.reason) is answer.fired
    return answer.status


def _name(value: object) -> str | None:
    return value.__name__ if isinstance(value, FunctionType) else None


def _sides(negative: Side, positive: Side, ratings: int = 40) -> dict[str, object]:
    return {"negative": negative, "positive": positive, "ratings": ratings}


def _tag(name: str, total: float, share: float) -> dict[str, object]:
    return {"tag_totals": {name: total}, "tag_shares": {name: share}}


NAN = float("nan")
BY_SCORE: list[tuple[Rule, dict[str, object], NoteStatus | None]] = [
    (rules.general_helpful, {"intercept": 0.40}, CRH),
    (rules.general_helpful, {"intercept": 0.3999}, None),
    (rules.general_helpful, {"intercept": 0.40, "ratings": 5}, CRH),
    (rules.general_helpful, {"intercept": 0.40, "ratings": 4}, None),
    (rules.general_helpful, {"intercept": 0.40, "misleading": False}, None),
    (rules.general_helpful, {"intercept": NAN}, None),
    # the region of notes that are not helpful is a diamond
    (rules.general_not_helpful, {"intercept": -0.131, "factor": 0.1}, CRNH),
    (rules.general_not_helpful, {"intercept": -0.129, "factor": 0.1}, None),
    (rules.general_not_helpful, {"intercept": -0.131, "factor": -0.11}, None),
    (rules.general_not_helpful, {"intercept": -0.06, "factor": 0.0, "ratings": 5}, CRNH),
    (rules.general_not_helpful, {"intercept": -0.06, "factor": 0.0, "ratings": 4}, None),
    (rules.general_not_helpful, {"intercept": -0.06, "factor": 0.0, "misleading": False}, CRNH),
    (rules.general_not_helpful, {"intercept": NAN}, None),
    (rules.upper_bound, {"upper_bound": -0.041}, CRNH),
    (rules.upper_bound, {"upper_bound": -0.04}, None),
    (rules.upper_bound, {"upper_bound": -0.041, "ratings": 4}, None),
    (rules.upper_bound, {"upper_bound": NAN}, None),
    (rules.ratio, _sides(Side(3, 0.4, 0), Side(3, 0.19, 0), 6), CRNH),
    (rules.ratio, _sides(Side(3, 0.41, 0), Side(3, 0.0, 0), 6), None),
    (rules.ratio, _sides(Side(3, 0.4, 0), Side(3, 0.21, 0), 6), None),
    (rules.ratio, _sides(Side(2, 0.0, 0), Side(9, 0.0, 0), 11), None),
    (rules.ratio, _sides(Side(0), Side(9, 0.0, 0), 9), None),
    (rules.ratio, _sides(Side(3, 0.0, 0), Side(3, 0.0, 0), 4), None),
    (rules.not_misleading, {"misleading": False, "intercept": -0.151}, CRNH),
    (rules.not_misleading, {"misleading": False, "intercept": -0.15}, None),
    (rules.not_misleading, {"misleading": True, "intercept": -0.151}, None),
    (rules.inertia, {"was_helpful": True, "intercept": 0.3901}, CRH),
    (rules.inertia, {"was_helpful": True, "intercept": 0.3899}, None),
    (rules.inertia, {"was_helpful": False, "intercept": 0.3901}, None),
    (rules.inertia, {"was_helpful": True, "intercept": 0.3901, "misleading": False}, None),
    (rules.inertia, {"was_helpful": True, "intercept": 0.3901, "ratings": 4}, None),
]


@pytest.mark.parametrize(("rule", "change", "status"), BY_SCORE, ids=_name)
def test_a_rule_that_sets_a_status_fires_at_its_line_and_just_misses_beside_it(
    rule: Rule, change: dict[str, object], status: NoteStatus | None
) -> None:
    assert _said(rule(_with(change), NMR, LINES)) is status


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
        (rules.sampled, "sampled"),
        (rules.explanation, "helpful_tags"),
    ],
)
def test_a_rule_without_its_input_is_not_applied(rule: Rule, lack: str) -> None:
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
    helpful_tags=2,
    not_helpful_tags=0,
)


STOPS: list[tuple[Rule, dict[str, object], NoteStatus, NoteStatus | None]] = [
    # a complaint that is often made and unusual
    (rules.tags, _tag(TAG, 2.51, 0.11), CRH, REJECT),
    (rules.tags, _tag(TAG, 2.51, 0.11), NMR, REJECT),
    (rules.tags, _tag(TAG, 2.51, 0.11), CRNH, None),
    (rules.tags, _tag(TAG, 2.5, 0.11), CRH, None),
    (rules.tags, _tag(TAG, 2.51, 0.1), CRH, None),
    (rules.tags, _tag(MILD, 9.0, 0.9), CRH, None),  # unclear language alone never blocks
    # "incorrect" by raters of a like mind
    (rules.incorrect, {"incorrect": IncorrectSignal(3, 2, 1.2)}, CRH, REJECT),  # 2 / ln 2.2 = 2.54
    (rules.incorrect, {"incorrect": IncorrectSignal(3, 2, 1.3)}, CRH, None),  # 2 / ln 2.3 = 2.40
    (rules.incorrect, {"incorrect": IncorrectSignal(2, 2, 1.2)}, CRH, None),
    (rules.incorrect, {"incorrect": IncorrectSignal(3, 1, 0.1)}, CRH, None),
    (rules.incorrect, {"incorrect": IncorrectSignal(3, 2, 0.0)}, CRH, REJECT),
    (rules.incorrect, {"incorrect": IncorrectSignal(3, 2, 1.2)}, CRNH, None),
    (rules.low_diligence, {"diligence_intercept": 0.264}, CRH, REJECT),
    (rules.low_diligence, {"diligence_intercept": 0.263}, CRH, None),
    (rules.low_diligence, {"diligence_intercept": 0.264}, CRNH, None),
    (rules.large_factor, {"factor": 0.501}, CRH, REJECT),
    (rules.large_factor, {"factor": -0.501}, CRH, REJECT),
    (rules.large_factor, {"factor": 0.5}, CRH, None),
    (rules.large_factor, {"factor": 0.9}, NMR, None),
    (rules.low_intercept, {"intercept": 0.2999}, NMR, REJECT),
    (rules.low_intercept, {"intercept": 0.30}, NMR, None),
    (rules.low_intercept, {"intercept": 0.1}, CRNH, None),
    (rules.low_intercept, {"intercept": NAN}, NMR, None),
    # the smaller side must bring four
    (rules.minority, {"positive": Side(9, 0.7, 3)}, CRH, HELP),
    (rules.minority, {"positive": Side(9, 0.7, 4)}, CRH, None),
    (rules.minority, {"positive": Side(9, 0.7, -2)}, CRH, HELP),
    (rules.minority, {"positive": Side(9, 0.7, 3)}, NMR, None),
    # and be a fair share
    (rules.balance, _sides(Side(71, 0.9, 71), Side(10, 0.7, 4)), CRH, HELP),  # 4 of 81
    (rules.balance, _sides(Side(70, 0.9, 70), Side(10, 0.7, 4)), CRH, None),  # 4 of 80
    (rules.balance, _sides(Side(500, 0.9, 500), Side(10, 0.7, 10)), CRH, None),
    (rules.balance, _sides(Side(500, 0.9, 500), Side(10, 0.7, 3)), CRH, None),  # for the rule before this one
    (rules.balance, _sides(Side(71, 0.9, 71), Side(10, 0.7, 4)), NMR, None),
    # it must hold without the busiest and without linked raters
    (rules.high_volume, {"intercept_without_high_volume": 0.3699}, CRH, HELP),
    (rules.high_volume, {"intercept_without_high_volume": 0.37}, CRH, None),
    (rules.high_volume, {"intercept_without_high_volume": 0.1}, NMR, None),
    (rules.high_volume, {"intercept_without_high_volume": NAN}, CRH, None),
    (rules.correlated, {"intercept_without_correlated": 0.3699}, CRH, HELP),
    (rules.correlated, {"intercept_without_correlated": 0.37}, CRH, None),
    (rules.correlated, {"intercept_without_correlated": 0.1}, NMR, None),
    (rules.correlated, {"intercept_without_correlated": NAN}, CRH, None),
    # a status needs two reasons of two raters each
    (rules.explanation, {"helpful_tags": 1}, CRH, NMR),
    (rules.explanation, {"helpful_tags": 2}, CRH, None),
    (rules.explanation, {"helpful_tags": 2, "not_helpful_tags": 1}, CRNH, NMR),
    (rules.explanation, {"helpful_tags": 0, "not_helpful_tags": 2}, CRNH, None),
    (rules.explanation, {"helpful_tags": 0}, NMR, None),
]


@pytest.mark.parametrize(("rule", "change", "before", "status"), STOPS, ids=_name)
def test_a_rule_that_holds_a_status_back_fires_past_its_line_and_from_the_statuses_that_it_is_for(
    rule: Rule, change: dict[str, object], before: NoteStatus, status: NoteStatus | None
) -> None:
    assert _said(rule(replace(SHOWN, **change), before, LINES)) is status  # type: ignore[arg-type]


BRIDGE = NoteSignals(
    2**60 + 1, 30, 0.45, 0.1, negative=Side(15, 0.8, 9), positive=Side(15, 0.8, 9), misleading=True, upper_bound=0.5
)


def test_a_note_that_both_sides_find_helpful_is_shown() -> None:
    result = decide(BRIDGE, LINES)
    assert result.status is NoteStatus.HELPFUL
    assert result.decided_by is RuleName.GENERAL_HELPFUL
    assert result.blocked_by == ()
    assert "0.45, 0.40 needed" in result.reason


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
    assert blocking.reason == "Score 0.37, at least 0.40 needed."


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"intercept": 0.3999}, "Score 0.3999, at least 0.40 needed."),
        ({"ratings": 4}, "Ratings 4, at least 5 needed."),
        ({"intercept": float("nan")}, "Score not known."),
        ({"misleading": False}, "It calls the post not misleading; only notes on misleading posts are shown."),
    ],
)
def test_what_keeps_a_note_from_being_shown_is_a_sentence(change: dict[str, object], reason: str) -> None:
    result = decide(replace(BRIDGE, **change), LINES)  # type: ignore[arg-type]
    assert result.blocked_by[0].reason == reason


@pytest.mark.parametrize(
    ("intercept", "sampled", "status"),
    [
        (0.45, SampledSignal(0.29, 4, 4), NMR),
        (0.45, SampledSignal(0.30, 4, 4), None),  # at least 0.30 is enough
        (0.40, SampledSignal(0.25, 4, 4), NMR),  # as far apart as the line
        (0.40, SampledSignal(0.26, 4, 4), None),
        (0.45, SampledSignal(0.1, 3, 4), None),  # seven
        (0.45, SampledSignal(0.1, 6, 2), NMR),
        (0.45, SampledSignal(0.1, 7, 1), None),
        (0.45, SampledSignal(NAN, 0, 0), None),
    ],
)
def test_a_shown_note_that_people_drawn_at_random_like_much_less_needs_more_ratings(
    intercept: float, sampled: SampledSignal, status: NoteStatus | None
) -> None:
    note = _with({"intercept": intercept, "sampled": sampled})
    assert _said(rules.sampled(note, CRH, LINES)) is status
    assert _said(rules.sampled(note, NMR, LINES)) is None
    assert _said(rules.sampled(note, CRNH, LINES)) is None


def test_a_note_rated_mostly_by_raters_whom_core_leaves_out_gets_no_status_from_core() -> None:
    assert decide(replace(BRIDGE, left_out=BRIDGE.ratings), LINES).status is CRH
    found = decide(replace(BRIDGE, left_out=BRIDGE.ratings + 1), LINES)
    assert (found.status, found.decided_by) == (NMR, RuleName.CAPTURE)
    assert f"takes only {BRIDGE.ratings} of its {2 * BRIDGE.ratings + 1} ratings" in found.reason
    low = decide(replace(NOTE, intercept=-0.5, left_out=100), LINES)
    assert (low.status, low.decided_by) == (NMR, RuleName.CAPTURE)


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
    missing = {entry.rule.name for entry in decide(BRIDGE, LINES).not_applied}
    assert missing == set("INERTIA TAGS INCORRECT LOW_DILIGENCE HIGH_VOLUME CORRELATED SAMPLED EXPLANATION".split())


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
    assert len(spoken) == len(RULES) + 1


@given(
    intercept=st.floats(-1, 1),
    factor=st.floats(-1, 1),
    ratings=st.integers(0, 100),
    misleading=st.booleans(),
    net=st.tuples(st.integers(-20, 40), st.integers(-20, 40)),
)
def test_only_notes_above_the_line_with_both_sides_are_ever_shown(
    intercept: float, factor: float, ratings: int, misleading: bool, net: tuple[int, int]
) -> None:
    note = replace(BRIDGE, intercept=intercept, factor=factor, ratings=ratings, misleading=misleading)
    result = decide(replace(note, negative=Side(50, 0.5, net[0]), positive=Side(50, 0.5, net[1])), LINES)
    assert result.status in {CRH, CRNH, NMR}
    if result.status is CRH:
        assert misleading
        assert ratings >= 5
        assert intercept >= 0.4
        assert abs(factor) <= 0.5
        assert min(net) >= 4
