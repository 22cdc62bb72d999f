"""All notes at once get the status, and by the rule, that each gets alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdnotes.bridging.columns import NOT_HELPFUL_TAGS
from crowdnotes.bridging.model import ManySignals, NoteStatus, RuleName
from crowdnotes.bridging.rules import RULE_NAMES, STATUSES, decide, decide_all
from crowdnotes.bridging.thresholds import THRESHOLDS

_NOTES = 1_500


def _made(chance: np.random.Generator) -> ManySignals:
    """Notes near every line: on it, beside it, and without a number."""
    intercept = chance.choice([-0.3, -0.16, -0.05, 0.1, 0.29, 0.3, 0.36, 0.39, 0.4, 0.5, np.nan], _NOTES)
    raters = chance.integers(0, 90, (2, _NOTES)) * (chance.random((2, _NOTES)) < 0.9)
    total = {tag: chance.choice([0.0, 2.5, 2.6], _NOTES, p=[0.9, 0.05, 0.05]) for tag in NOT_HELPFUL_TAGS}
    return ManySignals(
        ratings=chance.integers(3, 60, _NOTES),
        intercept=intercept,
        factor=chance.choice([-0.6, -0.5, 0.0, 0.2, 0.5, 0.51], _NOTES),
        upper_bound=intercept + chance.choice([0.0, 0.01, 0.3], _NOTES),
        misleading=chance.random(_NOTES) < 0.8,
        was_helpful=chance.random(_NOTES) < 0.3,
        raters=raters.astype(np.float64),
        means=np.where(raters > 0, chance.choice([0.1, 0.2, 0.4, 0.41, 0.9], (2, _NOTES)), np.nan),
        net=np.round(raters * chance.choice([-0.1, 0.05, 0.3, 0.9], (2, _NOTES))),
        tag_totals=total,
        tag_shares={tag: chance.choice([0.1, 0.2, 0.3], _NOTES) for tag in NOT_HELPFUL_TAGS},
        tag_lines=dict.fromkeys(NOT_HELPFUL_TAGS, 0.2),
        incorrect=np.array([chance.integers(2, 5, _NOTES), chance.integers(0, 4, _NOTES), chance.random(_NOTES) * 2])
        * (chance.random((3, _NOTES)) < 0.8),
        without_busy=intercept - chance.choice([0.0, 0.05], _NOTES),
        left_out=chance.choice([0, 0, 5, 60], _NOTES),
        sampled=np.array(
            [
                intercept - chance.choice([0.0, 0.14, 0.25, 0.3, np.nan], _NOTES),
                chance.integers(0, 12, _NOTES),
                chance.integers(0, 12, _NOTES),
            ]
        ),
        helpful_tags=chance.integers(0, 4, _NOTES),
        not_helpful_tags=chance.integers(0, 4, _NOTES),
    )


def test_all_notes_at_once_are_decided_as_each_alone() -> None:
    lines = THRESHOLDS
    seen: set[RuleName] = set()
    made = _made(np.random.default_rng(0))
    unknown = "misleading was_helpful tag_totals tag_lines incorrect without_busy left_out sampled helpful_tags".split()
    for lacking in ([], ["tag_lines", "left_out"], *([name] for name in unknown)):
        many = replace(made, **dict.fromkeys(lacking))  # type: ignore[arg-type]
        status, decided = decide_all(many, lines)
        alone = [decide(many.note(n, n), lines) for n in range(_NOTES if lacking == [] else _NOTES // 10)]
        assert [STATUSES[place] for place in status.tolist()[: len(alone)]] == [one.internal_status for one in alone]
        assert [RULE_NAMES[place] for place in decided.tolist()[: len(alone)]] == [one.decided_by for one in alone]
        seen |= {one.decided_by for one in alone}
    assert seen == set(RuleName) - {RuleName.LOW_DILIGENCE, RuleName.CORRELATED}
    assert NoteStatus.NEEDS_MORE_RATINGS in STATUSES
