"""Each rule that takes a status away: a note that fires it, and one that just misses it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crowdnotes.bridging import rules
from crowdnotes.bridging.status import IncorrectSignal, NotApplied, NoteSignals, NoteStatus, RuleOutcome, Side
from crowdnotes.settings import BridgingSettings

LINES = BridgingSettings()
NMR, CRH, CRNH = NoteStatus.NEEDS_MORE_RATINGS, NoteStatus.HELPFUL, NoteStatus.NOT_HELPFUL
REJECT, HELP = NoteStatus.FIRM_REJECT, NoteStatus.NEEDS_YOUR_HELP
TAG, MILD = "notHelpfulIncorrect", "notHelpfulHardToUnderstand"
NOTE = NoteSignals(
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


def _said(answer: RuleOutcome | NotApplied) -> NoteStatus | None:
    assert isinstance(answer, RuleOutcome)
    assert bool(answer.reason) is answer.fired
    return answer.status


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
    note = replace(NOTE, tag_totals={TAG: total}, tag_shares={TAG: share})
    assert _said(rules.tags(note, before, LINES)) is status


def test_unclear_language_alone_never_blocks() -> None:
    note = replace(NOTE, tag_totals={MILD: 9.0}, tag_shares={MILD: 0.9})
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
    assert _said(rules.incorrect(replace(NOTE, incorrect=signal), before, LINES)) is status


@pytest.mark.parametrize(
    ("intercept", "before", "status"), [(0.264, CRH, REJECT), (0.263, CRH, None), (0.264, CRNH, None)]
)
def test_low_diligence(intercept: float, before: NoteStatus, status: NoteStatus | None) -> None:
    assert _said(rules.low_diligence(replace(NOTE, diligence_intercept=intercept), before, LINES)) is status


@pytest.mark.parametrize(
    ("factor", "before", "status"), [(0.501, CRH, REJECT), (-0.501, CRH, REJECT), (0.5, CRH, None), (0.9, NMR, None)]
)
def test_large_factor(factor: float, before: NoteStatus, status: NoteStatus | None) -> None:
    assert _said(rules.large_factor(replace(NOTE, factor=factor), before, LINES)) is status


@pytest.mark.parametrize(
    ("intercept", "before", "status"),
    [(0.2999, NMR, REJECT), (0.30, NMR, None), (0.1, CRNH, None), (float("nan"), NMR, None)],
)
def test_low_intercept(intercept: float, before: NoteStatus, status: NoteStatus | None) -> None:
    assert _said(rules.low_intercept(replace(NOTE, intercept=intercept), before, LINES)) is status


@pytest.mark.parametrize(("net", "before", "status"), [(3, CRH, HELP), (4, CRH, None), (-2, CRH, HELP), (3, NMR, None)])
def test_the_smaller_side_must_bring_four(net: int, before: NoteStatus, status: NoteStatus | None) -> None:
    assert _said(rules.minority(replace(NOTE, positive=Side(9, 0.7, net)), before, LINES)) is status


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
    note = replace(NOTE, negative=Side(others, 0.9, others), positive=Side(10, 0.7, net))
    assert _said(rules.balance(note, before, LINES)) is status


@pytest.mark.parametrize(
    ("intercept", "before", "status"),
    [(0.3699, CRH, HELP), (0.37, CRH, None), (0.1, NMR, None), (float("nan"), CRH, None)],
)
def test_it_must_hold_without_the_busiest_and_without_linked_raters(
    intercept: float, before: NoteStatus, status: NoteStatus | None
) -> None:
    busy, linked = (
        replace(NOTE, intercept_without_high_volume=intercept),
        replace(NOTE, intercept_without_correlated=intercept),
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
    note = replace(NOTE, helpful_tags=helpful, not_helpful_tags=not_helpful)
    assert _said(rules.explanation(note, before, LINES)) is status


@pytest.mark.parametrize(
    ("rule", "lack"),
    [
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
    answer = rule(replace(NOTE, **{lack: None}), CRH, LINES)  # type: ignore[arg-type]
    assert isinstance(answer, NotApplied)
    assert answer.missing
