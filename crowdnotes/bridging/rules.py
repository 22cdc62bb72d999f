"""The rules that give a note its status: those that set one (1 to 7 of the scorer's final round).

Each looks at one note and its status so far, and says whether it fires, what it sets, why, and how
far the note is from its lines. Source: the scorer's scoring_rules.py and mf_base_scorer.py.
Rules that take a status away again are in `blocking_rules`.
"""

from __future__ import annotations

from crowdnotes.bridging.verdicts import Distance, NotApplied, NoteSignals, NoteStatus, RuleName, RuleOutcome
from crowdnotes.settings import BridgingSettings


def at_least(measure: str, value: float, line: float) -> Distance:
    """A measure that should reach its line; NaN never does."""
    return _distance(measure, value, line, "at least", value >= line)


def at_most(measure: str, value: float, line: float) -> Distance:
    """A measure that should not pass its line; NaN never grants it."""
    return _distance(measure, value, line, "at most", value <= line)


def below(measure: str, value: float, line: float) -> Distance:
    """A measure that should stay under its line; NaN never grants it."""
    return _distance(measure, value, line, "below", value < line)


def _distance(measure: str, value: float, line: float, wish: str, met: bool) -> Distance:
    return Distance(measure=measure, value=value, line=line, wish=wish, met=met, gap=value - line)


def outcome(rule: RuleName, fired: bool, status: NoteStatus, reason: str, *distances: Distance) -> RuleOutcome:
    """A rule's word; the status is kept only when it fired."""
    return RuleOutcome(
        rule=rule, fired=fired, status=status if fired else None, reason=reason if fired else "", distances=distances
    )


def initial(note: NoteSignals, status: NoteStatus, s: BridgingSettings) -> RuleOutcome:  # noqa: ARG001
    """Rule 1: every note begins as NEEDS_MORE_RATINGS."""
    return outcome(RuleName.INITIAL, True, NoteStatus.NEEDS_MORE_RATINGS, "No rule has found enough to decide.")


def general_helpful(note: NoteSignals, status: NoteStatus, s: BridgingSettings) -> RuleOutcome | NotApplied:  # noqa: ARG001
    """Rule 2: a misleading-post note with enough ratings and intercept is helpful."""
    if note.misleading is None:
        return NotApplied(rule=RuleName.GENERAL_HELPFUL, missing="whether the note calls the post misleading")
    enough = at_least("ratings", note.ratings, s.min_ratings_for_status)
    intercept = at_least("note intercept", note.intercept, s.helpful_intercept)
    return outcome(
        RuleName.GENERAL_HELPFUL,
        note.misleading and enough.met and intercept.met,
        NoteStatus.HELPFUL,
        f"People who usually disagree find it helpful: intercept {note.intercept:.2f} of {s.helpful_intercept:.2f}.",
        enough,
        intercept,
    )


def general_not_helpful(note: NoteSignals, status: NoteStatus, s: BridgingSettings) -> RuleOutcome:  # noqa: ARG001
    """Rule 3, the diamond: the more one-sided the note, the lower its intercept must be."""
    line = s.not_helpful_base - s.not_helpful_slope * abs(note.factor)
    enough = at_least("ratings", note.ratings, s.min_ratings_for_status)
    intercept = at_most("note intercept", note.intercept, line)
    return outcome(
        RuleName.GENERAL_NOT_HELPFUL,
        enough.met and intercept.met,
        NoteStatus.NOT_HELPFUL,
        f"Its intercept {note.intercept:.2f} is at or below {line:.2f}, the line for a note this one-sided.",
        enough,
        intercept,
    )


def upper_bound(note: NoteSignals, status: NoteStatus, s: BridgingSettings) -> RuleOutcome | NotApplied:  # noqa: ARG001
    """Rule 4: not helpful even with an extreme helpful rater added."""
    if note.upper_bound is None:
        return NotApplied(rule=RuleName.UPPER_BOUND, missing="the intercept's upper bound")
    enough = at_least("ratings", note.ratings, s.min_ratings_for_status)
    bound = below("upper bound of the intercept", note.upper_bound, s.not_helpful_upper_bound)
    return outcome(
        RuleName.UPPER_BOUND,
        enough.met and bound.met,
        NoteStatus.NOT_HELPFUL,
        f"Even one more helpful rating from an extreme rater would leave its intercept at {note.upper_bound:.2f}, "
        f"below {s.not_helpful_upper_bound:.2f}.",
        enough,
        bound,
    )


def ratio(note: NoteSignals, status: NoteStatus, s: BridgingSettings) -> RuleOutcome:  # noqa: ARG001
    """Rule 5: both sides rate it low on average."""
    enough = at_least("ratings", note.ratings, s.min_ratings_for_status)
    raters = at_least("raters on the smaller side", min(note.negative.raters, note.positive.raters), s.ratio_min_raters)
    side = at_most("mean rating of the kinder side", max(note.negative.mean, note.positive.mean), s.ratio_side_mean)
    both = at_most(
        "mean of the sides' mean ratings", (note.negative.mean + note.positive.mean) / 2, s.ratio_mean_of_sides
    )
    return outcome(
        RuleName.RATIO,
        enough.met and raters.met and side.met and both.met,
        NoteStatus.NOT_HELPFUL,
        f"Both sides rate it low: {note.negative.mean:.2f} and {note.positive.mean:.2f} of 1 on average.",
        enough,
        raters,
        side,
        both,
    )


def not_misleading(note: NoteSignals, status: NoteStatus, s: BridgingSettings) -> RuleOutcome | NotApplied:  # noqa: ARG001
    """Rule 6: a note that calls the post fine, and is rated low."""
    if note.misleading is None:
        return NotApplied(rule=RuleName.NOT_MISLEADING, missing="whether the note calls the post misleading")
    intercept = below("note intercept", note.intercept, s.not_misleading_intercept)
    return outcome(
        RuleName.NOT_MISLEADING,
        not note.misleading and intercept.met,
        NoteStatus.NOT_HELPFUL,
        f"It says the post is not misleading, and its intercept {note.intercept:.2f} is below "
        f"{s.not_misleading_intercept:.2f}.",
        intercept,
    )


def inertia(note: NoteSignals, status: NoteStatus, s: BridgingSettings) -> RuleOutcome | NotApplied:  # noqa: ARG001
    """Rule 7: a note that was helpful in the last run stays so a little below the line."""
    if note.was_helpful is None:
        return NotApplied(rule=RuleName.INERTIA, missing="the note's status in the last run")
    if note.misleading is None:
        return NotApplied(rule=RuleName.INERTIA, missing="whether the note calls the post misleading")
    line = s.helpful_intercept - s.inertia
    enough = at_least("ratings", note.ratings, s.min_ratings_for_status)
    intercept = at_least("note intercept", note.intercept, line)
    return outcome(
        RuleName.INERTIA,
        note.was_helpful and note.misleading and enough.met and intercept.met,
        NoteStatus.HELPFUL,
        f"It was helpful in the last run and its intercept {note.intercept:.2f} is still at least {line:.2f}.",
        enough,
        intercept,
    )
