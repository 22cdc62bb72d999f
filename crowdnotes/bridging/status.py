"""From what is known of a note to its status, with the rule that decided and those that block it."""

from __future__ import annotations

from collections.abc import Callable

from crowdnotes.bridging import blocking_rules, rules
from crowdnotes.bridging.verdicts import NotApplied, NoteSignals, NoteStatus, RuleName, RuleOutcome, StatusResult
from crowdnotes.settings import BridgingSettings

Rule = Callable[[NoteSignals, NoteStatus, BridgingSettings], RuleOutcome | NotApplied]

RULES: tuple[Rule, ...] = (
    rules.initial,
    rules.general_helpful,
    rules.general_not_helpful,
    rules.upper_bound,
    rules.ratio,
    rules.not_misleading,
    rules.inertia,
    blocking_rules.tags,
    blocking_rules.incorrect,
    blocking_rules.low_diligence,
    blocking_rules.large_factor,
    blocking_rules.low_intercept,
    blocking_rules.minority,
    blocking_rules.balance,
    blocking_rules.high_volume,
    blocking_rules.correlated,
    blocking_rules.explanation,
)
# Prescoring knows neither the sides' means nor the upper bound.
PRESCORING_RULES: tuple[Rule, ...] = (
    rules.initial,
    rules.general_helpful,
    rules.general_not_helpful,
    rules.not_misleading,
)


def decide(note: NoteSignals, settings: BridgingSettings, order: tuple[Rule, ...] = RULES) -> StatusResult:
    """Run the rules in order; the last one that fires decides."""
    status = NoteStatus.NEEDS_MORE_RATINGS
    decided: RuleOutcome | None = None
    outcomes: list[RuleOutcome] = []
    not_applied: list[NotApplied] = []
    for rule in order:
        said = rule(note, status, settings)
        if isinstance(said, NotApplied):
            not_applied.append(said)
            continue
        outcomes.append(said)
        if said.status is not None:
            status, decided = said.status, said
    if decided is None:
        raise ValueError("the order of rules must begin with one that always fires")
    return StatusResult(
        note_id=note.note_id,
        status=status.shown,
        internal_status=status,
        decided_by=decided.rule,
        reason=decided.reason,
        note_intercept=note.intercept,
        note_factor=note.factor,
        ratings=note.ratings,
        blocked_by=_blocked_by(status, outcomes),
        outcomes=tuple(outcomes),
        not_applied=tuple(not_applied),
    )


def _blocked_by(status: NoteStatus, outcomes: list[RuleOutcome]) -> tuple[RuleOutcome, ...]:
    """What keeps the note from being shown: each rule that took it away, and the main one when it was not reached."""
    if status is NoteStatus.HELPFUL:
        return ()
    helpful_rules = {RuleName.GENERAL_HELPFUL, RuleName.INERTIA}
    reached = any(said.fired for said in outcomes if said.rule in helpful_rules)
    return tuple(
        said if said.fired else said.model_copy(update={"reason": _what_is_short(said)})
        for said in outcomes
        if (said.rule is RuleName.GENERAL_HELPFUL and not reached)
        or (said.fired and said.rule is not RuleName.INITIAL and said.rule not in helpful_rules)
    )


def _what_is_short(said: RuleOutcome) -> str:
    """Why the main rule did not fire: it gives no reason of its own then."""
    short = "; ".join(distance.in_words() for distance in said.distances if not distance.met)
    if not short:
        return "It calls the post not misleading, and only notes on misleading posts are shown."
    return f"{short[0].upper()}{short[1:]}."
