"""Apply the scorer's rules in order, to one note with reasons (`decide`) or to many (`decide_all`).

Each rule looks at one note and its status so far, and says whether it fires, what it sets, why, and how far the note is
from its lines. Rule 1: a note begins as NEEDS_MORE_RATINGS. 2 to 7 set a status; 8 to 16 and `explanation` keep a note
from being shown: 8 to 10 and 12 look at any note that is not CURRENTLY_RATED_NOT_HELPFUL, 11 and 13 to 16 at helpful
ones. `capture` takes every status away. Source: the scorer's scoring_rules.py, scorer.py, mf_base_scorer.py,
run_scoring.py, tag_filter.py, incorrect_filter.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from crowdnotes.bridging.model import (
    NOTE_INTERCEPT,
    Bools,
    Distance,
    ManySignals,
    NotApplied,
    NoteSignals,
    NoteStatus,
    RuleName,
    RuleOutcome,
    Side,
    StatusResult,
)
from crowdnotes.bridging.thresholds import Thresholds
from crowdnotes.wording import fill


def at_least(measure: str, value: float, line: float, **values: object) -> Distance:
    """Return a measure that should reach its line; NaN never does."""
    return _build_distance(fill(measure, **values), value, line, "at least", value >= line)


def at_most(measure: str, value: float, line: float, **values: object) -> Distance:
    """Return a measure that should not pass its line; NaN never grants it."""
    return _build_distance(fill(measure, **values), value, line, "at most", value <= line)


def below(measure: str, value: float, line: float, **values: object) -> Distance:
    """Return a measure that should stay under its line; NaN never grants it."""
    return _build_distance(fill(measure, **values), value, line, "below", value < line)


def _build_distance(measure: str, value: float, line: float, wish: str, met: bool) -> Distance:
    return Distance(measure=measure, value=value, line=line, wish=wish, met=met, gap=value - line)


def outcome(
    rule: RuleName,
    fired: bool,
    status: NoteStatus,
    words: str | tuple[str, str],
    *distances: Distance,
    **values: object,
) -> RuleOutcome:
    """Return a rule's word; its status and its reason, by name and values, are kept only when it fired."""
    reason = fill(words, **values) if fired else ""
    return RuleOutcome(rule=rule, fired=fired, status=status if fired else None, reason=reason, distances=distances)


def general_helpful(note: NoteSignals, status: NoteStatus, t: Thresholds) -> RuleOutcome | NotApplied:  # noqa: ARG001
    """Rule 2: a misleading-post note with enough ratings and intercept is helpful."""
    if note.misleading is None:
        return NotApplied(rule=RuleName.GENERAL_HELPFUL, missing="whether the note calls the post misleading")
    enough = at_least("ratings", note.ratings, t.min_ratings_for_status)
    intercept = at_least(NOTE_INTERCEPT, note.intercept, t.helpful_intercept)
    return outcome(
        RuleName.GENERAL_HELPFUL,
        note.misleading and enough.met and intercept.met,
        NoteStatus.HELPFUL,
        "People who usually disagree find it helpful: score {score:.2f}, {line:.2f} needed.",
        enough,
        intercept,
        score=note.intercept,
        line=t.helpful_intercept,
    )


def general_not_helpful(note: NoteSignals, status: NoteStatus, t: Thresholds) -> RuleOutcome:  # noqa: ARG001
    """Rule 3, the diamond: the more one-sided the note, the lower its intercept must be."""
    line = t.not_helpful_base - t.not_helpful_slope * abs(note.factor)
    enough = at_least("ratings", note.ratings, t.min_ratings_for_status)
    intercept = at_most(NOTE_INTERCEPT, note.intercept, line)
    return outcome(
        RuleName.GENERAL_NOT_HELPFUL,
        enough.met and intercept.met,
        NoteStatus.NOT_HELPFUL,
        "Its score {score:.2f} is at or below {line:.2f}, the line for a note this one-sided.",
        enough,
        intercept,
        score=note.intercept,
        line=line,
    )


def upper_bound(note: NoteSignals, status: NoteStatus, t: Thresholds) -> RuleOutcome | NotApplied:  # noqa: ARG001
    """Rule 4: not helpful even with an extreme helpful rater added."""
    if note.upper_bound is None:
        return NotApplied(rule=RuleName.UPPER_BOUND, missing="the score's upper bound")
    enough = at_least("ratings", note.ratings, t.min_ratings_for_status)
    bound = below("upper bound of the intercept", note.upper_bound, t.not_helpful_upper_bound)
    return outcome(
        RuleName.UPPER_BOUND,
        enough.met and bound.met,
        NoteStatus.NOT_HELPFUL,
        "Even one more extreme helpful rating would leave its score at {score:.2f}, below {line:.2f}.",
        enough,
        bound,
        score=note.upper_bound,
        line=t.not_helpful_upper_bound,
    )


def ratio(note: NoteSignals, status: NoteStatus, t: Thresholds) -> RuleOutcome:  # noqa: ARG001
    """Rule 5: both sides rate it low on average."""
    enough = at_least("ratings", note.ratings, t.min_ratings_for_status)
    raters = at_least("raters on the smaller side", min(note.negative.raters, note.positive.raters), t.ratio_min_raters)
    side = at_most("mean rating of the kinder side", max(note.negative.mean, note.positive.mean), t.ratio_side_mean)
    both = at_most(
        "mean of the sides' mean ratings", (note.negative.mean + note.positive.mean) / 2, t.ratio_mean_of_sides
    )
    return outcome(
        RuleName.RATIO,
        enough.met and raters.met and side.met and both.met,
        NoteStatus.NOT_HELPFUL,
        "Both sides rate it low: {one:.2f} and {other:.2f} of 1 on average.",
        enough,
        raters,
        side,
        both,
        one=note.negative.mean,
        other=note.positive.mean,
    )


def not_misleading(note: NoteSignals, status: NoteStatus, t: Thresholds) -> RuleOutcome | NotApplied:  # noqa: ARG001
    """Rule 6: a note that calls the post fine, and is rated low."""
    if note.misleading is None:
        return NotApplied(rule=RuleName.NOT_MISLEADING, missing="whether the note calls the post misleading")
    intercept = below(NOTE_INTERCEPT, note.intercept, t.not_misleading_intercept)
    return outcome(
        RuleName.NOT_MISLEADING,
        not note.misleading and intercept.met,
        NoteStatus.NOT_HELPFUL,
        "It says the post is not misleading, and its score {score:.2f} is below {line:.2f}.",
        intercept,
        score=note.intercept,
        line=t.not_misleading_intercept,
    )


def inertia(note: NoteSignals, status: NoteStatus, t: Thresholds) -> RuleOutcome | NotApplied:  # noqa: ARG001
    """Rule 7: a note that was helpful in the last run stays so a little below the line."""
    if note.was_helpful is None:
        return NotApplied(rule=RuleName.INERTIA, missing="the note's status in the last run")
    if note.misleading is None:
        return NotApplied(rule=RuleName.INERTIA, missing="whether the note calls the post misleading")
    line = t.helpful_intercept - t.inertia
    enough = at_least("ratings", note.ratings, t.min_ratings_for_status)
    intercept = at_least(NOTE_INTERCEPT, note.intercept, line)
    return outcome(
        RuleName.INERTIA,
        note.was_helpful and note.misleading and enough.met and intercept.met,
        NoteStatus.HELPFUL,
        "It was helpful in the last run and its score {score:.2f} is still at least {line:.2f}.",
        enough,
        intercept,
        score=note.intercept,
        line=line,
    )


# "Typos or unclear language" can be mended and says nothing about truth: the scorer leaves it out.
MILD_TAG = "notHelpfulHardToUnderstand"


_TEXT_BY_COMPLAINT = {
    "notHelpfulOther": "another reason",
    "notHelpfulIncorrect": "incorrect information",
    "notHelpfulSourcesMissingOrUnreliable": "sources missing or unreliable",
    "notHelpfulOpinionSpeculationOrBias": "opinion, speculation or bias",
    "notHelpfulMissingKeyPoints": "misses key points or irrelevant",
    "notHelpfulOutdated": "outdated information",
    "notHelpfulArgumentativeOrBiased": "argumentative or biased language",
    "notHelpfulOffTopic": "off topic",
    "notHelpfulSpamHarassmentOrAbuse": "harassment or abuse",
    "notHelpfulIrrelevantSources": "sources do not support the note",
    "notHelpfulOpinionSpeculation": "opinion or speculation",
    "notHelpfulNoteNotNeeded": "note not needed on this post",
}
"""What raters chose, in X's own words."""


def tags(note: NoteSignals, status: NoteStatus, t: Thresholds) -> RuleOutcome | NotApplied:
    """Rule 8: one complaint is unusually common among raters near the note's own viewpoint."""
    if note.tag_totals is None or note.tag_shares is None:
        return NotApplied(rule=RuleName.TAGS, missing="the raters' tags")
    if note.tag_lines is None:
        return NotApplied(rule=RuleName.TAGS, missing="tags on helpful notes, to compare with")
    unusual: list[str] = []
    distances: list[Distance] = []
    for tag, total in note.tag_totals.items():
        if tag == MILD_TAG or tag not in note.tag_lines:
            continue
        often = at_most("weighted raters who chose {tag}", total, t.tag_total, tag=tag)
        share = at_most("weighted share who chose {tag}", note.tag_shares[tag], note.tag_lines[tag], tag=tag)
        if total > 0:
            distances += [often, share]
        if not often.met and not share.met:
            unusual.append(tag)
    return outcome(
        RuleName.TAGS,
        status is not NoteStatus.NOT_HELPFUL and bool(unusual),
        NoteStatus.FIRM_REJECT,
        "Unusually many raters object: {tags}.",
        *distances,
        tags="; ".join(_TEXT_BY_COMPLAINT[tag] for tag in unusual),
    )


def incorrect(note: NoteSignals, status: NoteStatus, t: Thresholds) -> RuleOutcome | NotApplied:
    """Rule 9: raters of a like mind call it incorrect, more than they usually do."""
    if note.incorrect is None:
        return NotApplied(rule=RuleName.INCORRECT, missing="the raters' tags")
    seen = note.incorrect
    usual = math.log1p(seen.usual)
    excess = seen.tags / usual if usual > 0 else (math.inf if seen.tags else 0.0)
    few_tags = below("'incorrect' tags by like-minded raters", seen.tags, t.incorrect_tags)
    few_raters = below("like-minded raters with a complaint", seen.raters, t.incorrect_raters)
    usual_rate = below("'incorrect' tags against the usual", min(excess, 1e6), t.incorrect_ratio)
    return outcome(
        RuleName.INCORRECT,
        status is not NoteStatus.NOT_HELPFUL and not (few_tags.met or few_raters.met or usual_rate.met),
        NoteStatus.FIRM_REJECT,
        "{n} of {all} like-minded raters with a complaint say it has incorrect information.",
        few_tags,
        few_raters,
        usual_rate,
        n=seen.tags,
        all=seen.raters,
    )


def low_diligence(note: NoteSignals, status: NoteStatus, t: Thresholds) -> RuleOutcome | NotApplied:
    """Rule 10: the diligence model doubts its facts or sources."""
    if note.diligence_intercept is None:
        return NotApplied(rule=RuleName.LOW_DILIGENCE, missing="the diligence model, not computed here")
    intercept = at_most("diligence intercept", note.diligence_intercept, t.low_diligence_intercept)
    return outcome(
        RuleName.LOW_DILIGENCE,
        status is not NoteStatus.NOT_HELPFUL and not intercept.met,
        NoteStatus.FIRM_REJECT,
        "Raters doubt its facts or its sources.",
        intercept,
    )


def large_factor(note: NoteSignals, status: NoteStatus, t: Thresholds) -> RuleOutcome:
    """Rule 11: one side carries the note."""
    factor = at_most("size of the note factor", abs(note.factor), t.max_factor)
    return outcome(
        RuleName.LARGE_FACTOR,
        status is NoteStatus.HELPFUL and not factor.met,
        NoteStatus.FIRM_REJECT,
        "It speaks mostly to one side: viewpoint {factor:+.2f}, at most {most:.2f} either way.",
        factor,
        factor=note.factor,
        most=t.max_factor,
    )


def low_intercept(note: NoteSignals, status: NoteStatus, t: Thresholds) -> RuleOutcome:
    """Rule 12: so far below the line that no other model may show it. The status readers see stays."""
    intercept = at_least(NOTE_INTERCEPT, note.intercept, t.reject_intercept)
    return outcome(
        RuleName.LOW_INTERCEPT,
        status is not NoteStatus.NOT_HELPFUL and note.intercept < t.reject_intercept,
        NoteStatus.FIRM_REJECT,
        "Below {line:.2f}, none of X's other models can show it.",
        intercept,
        score=note.intercept,
        line=t.reject_intercept,
    )


def minority(note: NoteSignals, status: NoteStatus, t: Thresholds) -> RuleOutcome:
    """Rule 13: the side that likes it less must still bring enough helpful ratings."""
    net = at_least("net helpful ratings of the smaller side", _count_smaller_net(note), t.minority_net_helpful)
    return outcome(
        RuleName.MINORITY,
        status is NoteStatus.HELPFUL and not net.met,
        NoteStatus.NEEDS_YOUR_HELP,
        (
            "One side brings only 1 helpful rating beyond its not-helpful ones; it takes {needed}.",
            "One side brings only {n} helpful ratings beyond its not-helpful ones; it takes {needed}.",
        ),
        net,
        n=_count_smaller_net(note),
        needed=t.minority_net_helpful,
    )


def balance(note: NoteSignals, status: NoteStatus, t: Thresholds) -> RuleOutcome:
    """Rule 14: among very many ratings, the smaller side must be a fair share."""
    net = _count_smaller_net(note)
    total = note.negative.raters + note.positive.raters
    share = at_least("smaller side's net helpful, of all", net / total if total else 0.0, t.balance_share)
    in_question = t.minority_net_helpful <= net < t.balance_free
    return outcome(
        RuleName.BALANCE,
        status is NoteStatus.HELPFUL and in_question and not share.met,
        NoteStatus.NEEDS_YOUR_HELP,
        "The smaller side's helpful ratings are {share:.1%} of all; it takes {needed:.0%}.",
        share,
        share=share.value,
        needed=t.balance_share,
    )


def high_volume(note: NoteSignals, status: NoteStatus, t: Thresholds) -> RuleOutcome | NotApplied:
    """Rule 15: it would fall without the busiest raters. An unknown refit (NaN) passes."""
    if note.intercept_without_high_volume is None:
        return NotApplied(rule=RuleName.HIGH_VOLUME, missing="the score without the busiest raters")
    return _check_refit(
        RuleName.HIGH_VOLUME,
        "note intercept without the busiest raters",
        "Its score without the busiest raters is {score:.2f}; it takes {line:.2f}.",
        note.intercept_without_high_volume,
        status,
        t,
    )


def correlated(note: NoteSignals, status: NoteStatus, t: Thresholds) -> RuleOutcome | NotApplied:
    """Rule 16: it would fall without raters who act together. An unknown refit (NaN) passes."""
    if note.intercept_without_correlated is None:
        return NotApplied(rule=RuleName.CORRELATED, missing="which raters act together, not computed here")
    return _check_refit(
        RuleName.CORRELATED,
        "note intercept without raters who act together",
        "Its score without raters who act together is {score:.2f}; it takes {line:.2f}.",
        note.intercept_without_correlated,
        status,
        t,
    )


def capture(note: NoteSignals, status: NoteStatus, t: Thresholds) -> RuleOutcome:  # noqa: ARG001
    """Core says nothing of a note that is rated mostly by raters whom it leaves out (scorer.py, captureThreshold)."""
    if note.left_out is None:
        return outcome(RuleName.CAPTURE, False, NoteStatus.NEEDS_MORE_RATINGS, "")
    together = note.ratings + note.left_out
    share = at_least("share of ratings by raters whom Core takes", note.ratings / max(together, 1), t.core_share)
    return outcome(
        RuleName.CAPTURE,
        not share.met,
        NoteStatus.NEEDS_MORE_RATINGS,
        "X's Core model does not decide on it: it takes only {n} of its {all} ratings.",
        share,
        n=note.ratings,
        all=together,
    )


def sampled(note: NoteSignals, status: NoteStatus, t: Thresholds) -> RuleOutcome | NotApplied:
    """Of the meta rules: people whom X drew at random and asked like it much less. Too few of them say nothing."""
    if note.sampled is None:
        return NotApplied(rule=RuleName.SAMPLED, missing="which ratings X asked people drawn at random for")
    seen, n = note.sampled, note.sampled.negative + note.sampled.positive
    if n < t.sampled_ratings or min(seen.negative, seen.positive) < t.sampled_per_side:
        return outcome(RuleName.SAMPLED, False, NoteStatus.NEEDS_MORE_RATINGS, "")
    low = at_least("note intercept by people drawn at random", seen.intercept, t.sampled_intercept)
    drop = below("note intercept above that", note.intercept - seen.intercept, t.sampled_gap)
    return outcome(
        RuleName.SAMPLED,
        status is NoteStatus.HELPFUL and seen.intercept < t.sampled_intercept and not drop.met,
        NoteStatus.NEEDS_MORE_RATINGS,
        "People whom X drew at random ({n} ratings) give it only {score:.2f}, not {by_all:.2f}.",
        low,
        drop,
        n=n,
        score=seen.intercept,
        by_all=note.intercept,
    )


def explanation(note: NoteSignals, status: NoteStatus, t: Thresholds) -> RuleOutcome | NotApplied:
    """Of the meta rules: a status needs two different tags, each from two raters, to be explained to readers."""
    if note.helpful_tags is None or note.not_helpful_tags is None:
        return NotApplied(rule=RuleName.EXPLANATION, missing="the raters' tags")
    chosen = note.not_helpful_tags if status is NoteStatus.NOT_HELPFUL else note.helpful_tags
    enough = at_least("tags chosen by {raters} raters or more", chosen, t.explanation_tags, raters=t.explanation_raters)
    return outcome(
        RuleName.EXPLANATION,
        status in {NoteStatus.HELPFUL, NoteStatus.NOT_HELPFUL} and not enough.met,
        NoteStatus.NEEDS_MORE_RATINGS,
        "Only {n} of the {needed} reasons it takes were chosen by {raters} raters.",
        enough,
        n=chosen,
        needed=t.explanation_tags,
        raters=t.explanation_raters,
    )


def _check_refit(
    rule: RuleName, measure: str, words: str, intercept: float, status: NoteStatus, t: Thresholds
) -> RuleOutcome:
    known = at_least(measure, intercept, t.refit_intercept)
    return outcome(
        rule,
        status is NoteStatus.HELPFUL and intercept < t.refit_intercept,
        NoteStatus.NEEDS_YOUR_HELP,
        words,
        known,
        score=intercept,
        line=t.refit_intercept,
    )


def _count_smaller_net(note: NoteSignals) -> int:
    return min(_count_net_helpful(note.negative), _count_net_helpful(note.positive))


def _count_net_helpful(side: Side) -> int:
    return max(side.net_helpful, 0)


_INITIAL_OUTCOME = outcome(RuleName.INITIAL, True, NoteStatus.NEEDS_MORE_RATINGS, "No rule has found enough to decide.")
Rule = Callable[[NoteSignals, NoteStatus, Thresholds], RuleOutcome | NotApplied]

RULES: tuple[Rule, ...] = (
    general_helpful,
    general_not_helpful,
    upper_bound,
    ratio,
    not_misleading,
    inertia,
    tags,
    incorrect,
    low_diligence,
    large_factor,
    low_intercept,
    minority,
    balance,
    high_volume,
    correlated,
    capture,
    sampled,
    explanation,
)


def decide(note: NoteSignals, thresholds: Thresholds, order: tuple[Rule, ...] = RULES) -> StatusResult:
    """Run the rules in order; the last one that fires decides, or rule 1: every note begins as in need of ratings."""
    status, decided = NoteStatus.NEEDS_MORE_RATINGS, _INITIAL_OUTCOME
    outcomes = [_INITIAL_OUTCOME]
    not_applied: list[NotApplied] = []
    for rule in order:
        said = rule(note, status, thresholds)
        if isinstance(said, NotApplied):
            not_applied.append(said)
            continue
        outcomes.append(said)
        if said.status is not None:
            status, decided = said.status, said
    return StatusResult(
        note_id=note.note_id,
        status=status.shown,
        internal_status=status,
        decided_by=decided.rule,
        reason=decided.reason,
        note_intercept=note.intercept,
        note_factor=note.factor,
        ratings=note.ratings,
        blocked_by=_find_blocking_outcomes(status, outcomes),
        outcomes=tuple(outcomes),
        not_applied=tuple(not_applied),
    )


def _find_blocking_outcomes(status: NoteStatus, outcomes: list[RuleOutcome]) -> tuple[RuleOutcome, ...]:
    """Return what keeps the note from being shown: each rule that acted, and the main one when not reached."""
    if status is NoteStatus.HELPFUL:
        return ()
    helpful_rules = {RuleName.GENERAL_HELPFUL, RuleName.INERTIA}
    reached = any(said.fired for said in outcomes if said.rule in helpful_rules)
    return tuple(
        said if said.fired else said.replace(reason=_explain_unmet_lines(said))
        for said in outcomes
        if (said.rule is RuleName.GENERAL_HELPFUL and not reached)
        or (said.fired and said.rule is not RuleName.INITIAL and said.rule not in helpful_rules)
    )


def _explain_unmet_lines(said: RuleOutcome) -> str:
    """Return why the main rule did not fire: it gives no reason of its own then."""
    short = "; ".join(distance.for_readers for distance in said.distances if not distance.met)
    if not short:
        return "It calls the post not misleading; only notes on misleading posts are shown."
    return f"{short[0].upper()}{short[1:]}."


STATUSES, RULE_NAMES = tuple(NoteStatus), tuple(RuleName)


def decide_all(  # noqa: PLR0915 - one rule after the other
    notes: ManySignals, t: Thresholds
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Each note's inner status and the rule that decided it, as places in STATUSES and RULE_NAMES, (n,) each."""
    status = np.full(len(notes.ratings), STATUSES.index(NoteStatus.NEEDS_MORE_RATINGS), dtype=np.uint8)
    decided = np.full(len(notes.ratings), RULE_NAMES.index(RuleName.INITIAL), dtype=np.uint8)

    def sets(rule: RuleName, fires: Bools, to: NoteStatus) -> None:
        status[fires], decided[fires] = STATUSES.index(to), RULE_NAMES.index(rule)

    def has_status(wanted: NoteStatus) -> Bools:
        return np.asarray(status == STATUSES.index(wanted))

    helpful, not_helpful, reject = NoteStatus.HELPFUL, NoteStatus.NOT_HELPFUL, NoteStatus.FIRM_REJECT
    enough = notes.ratings >= t.min_ratings_for_status
    intercept, away = notes.intercept, np.abs(notes.factor)
    misleading = notes.misleading
    if misleading is not None:
        sets(RuleName.GENERAL_HELPFUL, misleading & enough & (intercept >= t.helpful_intercept), helpful)
    low = intercept <= t.not_helpful_base - t.not_helpful_slope * away
    sets(RuleName.GENERAL_NOT_HELPFUL, enough & low, not_helpful)
    sets(RuleName.UPPER_BOUND, enough & (notes.upper_bound < t.not_helpful_upper_bound), not_helpful)
    disliked = notes.raters.min(axis=0) >= t.ratio_min_raters
    disliked &= (notes.means <= t.ratio_side_mean).all(axis=0)
    disliked &= notes.means.sum(axis=0) / 2 <= t.ratio_mean_of_sides
    sets(RuleName.RATIO, enough & disliked, not_helpful)
    if misleading is not None:
        sets(RuleName.NOT_MISLEADING, ~misleading & (intercept < t.not_misleading_intercept), not_helpful)
    if misleading is not None and notes.was_helpful is not None:
        stays = notes.was_helpful & misleading & enough & (intercept >= t.helpful_intercept - t.inertia)
        sets(RuleName.INERTIA, stays, helpful)
    if notes.tag_totals is not None and notes.tag_shares is not None:
        unusual = np.zeros(len(status), dtype=bool)
        for tag, line in (notes.tag_lines or {}).items():
            if tag != MILD_TAG:
                unusual |= (notes.tag_totals[tag] > t.tag_total) & (notes.tag_shares[tag] > line)
        sets(RuleName.TAGS, ~has_status(not_helpful) & unusual, reject)
    if notes.incorrect is not None:
        complaining, said, usual = notes.incorrect
        often = (said >= t.incorrect_tags) & (complaining >= t.incorrect_raters)
        # Without a usual rate any tag is without measure more than usual.
        often &= np.where(usual > 0, said >= t.incorrect_ratio * np.log1p(usual), said > 0)
        sets(RuleName.INCORRECT, ~has_status(not_helpful) & often, reject)
    sets(RuleName.LARGE_FACTOR, has_status(helpful) & (away > t.max_factor), reject)
    sets(RuleName.LOW_INTERCEPT, ~has_status(not_helpful) & (intercept < t.reject_intercept), reject)
    net, raters = np.maximum(notes.net, 0).min(axis=0), notes.raters.sum(axis=0)
    sets(RuleName.MINORITY, has_status(helpful) & (net < t.minority_net_helpful), NoteStatus.NEEDS_YOUR_HELP)
    asked = (net >= t.minority_net_helpful) & (net < t.balance_free)
    share = np.divide(net, raters, out=np.zeros(len(status)), where=raters > 0)
    sets(RuleName.BALANCE, has_status(helpful) & asked & (share < t.balance_share), NoteStatus.NEEDS_YOUR_HELP)
    if notes.without_busy is not None:
        falls = notes.without_busy < t.refit_intercept
        sets(RuleName.HIGH_VOLUME, has_status(helpful) & falls, NoteStatus.NEEDS_YOUR_HELP)
    if notes.left_out is not None:
        together = np.maximum(notes.ratings + notes.left_out, 1)
        sets(RuleName.CAPTURE, notes.ratings / together < t.core_share, NoteStatus.NEEDS_MORE_RATINGS)
    if notes.sampled is not None:
        score, *asked_of = notes.sampled
        liked_less = (score < t.sampled_intercept) & (intercept - score >= t.sampled_gap)
        liked_less &= (np.sum(asked_of, axis=0) >= t.sampled_ratings) & (np.min(asked_of, axis=0) >= t.sampled_per_side)
        sets(RuleName.SAMPLED, has_status(helpful) & liked_less, NoteStatus.NEEDS_MORE_RATINGS)
    if notes.helpful_tags is not None and notes.not_helpful_tags is not None:
        chosen = np.where(has_status(not_helpful), notes.not_helpful_tags, notes.helpful_tags)
        unexplained = (has_status(helpful) | has_status(not_helpful)) & (chosen < t.explanation_tags)
        sets(RuleName.EXPLANATION, unexplained, NoteStatus.NEEDS_MORE_RATINGS)
    return status, decided
