"""All notes at once get the status, and by the rule, that each gets alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdnotes.bridging.columns import NOT_HELPFUL_TAGS
from crowdnotes.bridging.model import IncorrectSignal, NoteSignals, NoteStatus, RuleName, SampledSignal, Side
from crowdnotes.bridging.rules import RULE_NAMES, STATUSES, ManySignals, decide, decide_all
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


def _one(many: ManySignals, n: int) -> NoteSignals:
    negative, positive = (
        Side(int(many.raters[side, n]), float(many.means[side, n]), int(many.net[side, n])) for side in range(2)
    )
    complaining, said, usual = many.incorrect[:, n].tolist()
    return NoteSignals(
        note_id=n,
        ratings=int(many.ratings[n]),
        intercept=float(many.intercept[n]),
        factor=float(many.factor[n]),
        negative=negative,
        positive=positive,
        misleading=bool(many.misleading[n]),
        upper_bound=float(many.upper_bound[n]),
        was_helpful=bool(many.was_helpful[n]),
        tag_totals={tag: float(values[n]) for tag, values in many.tag_totals.items()},
        tag_shares={tag: float(values[n]) for tag, values in many.tag_shares.items()},
        tag_lines=many.tag_lines,
        incorrect=IncorrectSignal(int(complaining), int(said), usual),
        intercept_without_high_volume=float(many.without_busy[n]),
        left_out=None if many.left_out is None else int(many.left_out[n]),
        sampled=SampledSignal(float(many.sampled[0, n]), int(many.sampled[1, n]), int(many.sampled[2, n])),
        helpful_tags={str(tag): 2 for tag in range(many.helpful_tags[n])},
        not_helpful_tags={str(tag): 2 for tag in range(many.not_helpful_tags[n])},
    )


def test_all_notes_at_once_are_decided_as_each_alone() -> None:
    lines = THRESHOLDS
    seen: set[RuleName] = set()
    made = _made(np.random.default_rng(0))
    for many in (made, replace(made, tag_lines=None, left_out=None)):
        status, decided = decide_all(many, lines)
        alone = [decide(_one(many, n), lines) for n in range(_NOTES)]
        assert [STATUSES[place] for place in status.tolist()] == [one.internal_status for one in alone]
        assert [RULE_NAMES[place] for place in decided.tolist()] == [one.decided_by for one in alone]
        seen |= {one.decided_by for one in alone}
    assert seen == set(RuleName) - {RuleName.LOW_DILIGENCE, RuleName.CORRELATED}
    assert NoteStatus.NEEDS_MORE_RATINGS in STATUSES
