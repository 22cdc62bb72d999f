"""Each rule that sets a status: a note that fires it, and one that just misses it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crowdnotes.bridging import rules
from crowdnotes.bridging.status import NotApplied, NoteSignals, NoteStatus, RuleOutcome, Side
from crowdnotes.settings import BridgingSettings

LINES = BridgingSettings()
NMR = NoteStatus.NEEDS_MORE_RATINGS
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
    ],
)
def test_a_rule_without_its_input_is_not_applied(rule: object, lack: str) -> None:
    assert callable(rule)
    answer = rule(_with({lack: None}), NMR, LINES)
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
