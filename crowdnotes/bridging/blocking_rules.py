"""The rules that keep a note from being shown (8 to 16 of the scorer's final round, and explanation).

Source: the scorer's scoring_rules.py, tag_filter.py and incorrect_filter.py. 8 to 10 and 12 look at any
note that is not CURRENTLY_RATED_NOT_HELPFUL; 11 and 13 to 16 only at notes that are helpful so far.
"""

from __future__ import annotations

import math

from crowdnotes.bridging.rules import at_least, at_most, below, outcome
from crowdnotes.bridging.verdicts import Distance, NotApplied, NoteSignals, NoteStatus, RuleName, RuleOutcome, Side
from crowdnotes.settings import BridgingSettings

# "Typos or unclear language" can be mended and says nothing about truth: the scorer leaves it out.
_MILD_TAG = "notHelpfulHardToUnderstand"


def tags(note: NoteSignals, status: NoteStatus, s: BridgingSettings) -> RuleOutcome | NotApplied:
    """Rule 8: one complaint is unusually common among raters near the note's own viewpoint."""
    if note.tag_totals is None or note.tag_shares is None:
        return NotApplied(rule=RuleName.TAGS, missing="the raters' tags")
    if note.tag_lines is None:
        return NotApplied(rule=RuleName.TAGS, missing="tags on helpful notes, to compare with")
    unusual: list[str] = []
    distances: list[Distance] = []
    for tag, total in note.tag_totals.items():
        if tag == _MILD_TAG or tag not in note.tag_lines:
            continue
        often = at_most(f"weighted raters who chose {tag}", total, s.tag_total)
        share = at_most(f"weighted share who chose {tag}", note.tag_shares[tag], note.tag_lines[tag])
        if total > 0:
            distances += [often, share]
        if not often.met and not share.met:
            unusual.append(tag)
    return outcome(
        RuleName.TAGS,
        status is not NoteStatus.NOT_HELPFUL and bool(unusual),
        NoteStatus.FIRM_REJECT,
        f"Unusually many raters object: {', '.join(unusual)}.",
        *distances,
    )


def incorrect(note: NoteSignals, status: NoteStatus, s: BridgingSettings) -> RuleOutcome | NotApplied:
    """Rule 9: raters of a like mind call it incorrect, more than they usually do."""
    if note.incorrect is None:
        return NotApplied(rule=RuleName.INCORRECT, missing="the raters' tags")
    seen = note.incorrect
    usual = math.log1p(seen.usual)
    excess = seen.tags / usual if usual > 0 else (math.inf if seen.tags else 0.0)
    few_tags = below("'incorrect' tags by like-minded raters", seen.tags, s.incorrect_tags)
    few_raters = below("like-minded raters with a complaint", seen.raters, s.incorrect_raters)
    usual_rate = below("'incorrect' tags against the usual", min(excess, 1e6), s.incorrect_ratio)
    return outcome(
        RuleName.INCORRECT,
        status is not NoteStatus.NOT_HELPFUL and not (few_tags.met or few_raters.met or usual_rate.met),
        NoteStatus.FIRM_REJECT,
        f"{seen.tags} of {seen.raters} like-minded raters with a complaint say it has incorrect information.",
        few_tags,
        few_raters,
        usual_rate,
    )


def low_diligence(note: NoteSignals, status: NoteStatus, s: BridgingSettings) -> RuleOutcome | NotApplied:
    """Rule 10: the diligence model doubts its facts or sources."""
    if note.diligence_intercept is None:
        return NotApplied(rule=RuleName.LOW_DILIGENCE, missing="the diligence model's intercept")
    intercept = at_most("diligence intercept", note.diligence_intercept, s.low_diligence_intercept)
    return outcome(
        RuleName.LOW_DILIGENCE,
        status is not NoteStatus.NOT_HELPFUL and not intercept.met,
        NoteStatus.FIRM_REJECT,
        "Raters doubt its facts or its sources.",
        intercept,
    )


def large_factor(note: NoteSignals, status: NoteStatus, s: BridgingSettings) -> RuleOutcome:
    """Rule 11: one side carries the note."""
    factor = at_most("size of the note factor", abs(note.factor), s.max_factor)
    return outcome(
        RuleName.LARGE_FACTOR,
        status is NoteStatus.HELPFUL and not factor.met,
        NoteStatus.FIRM_REJECT,
        f"It speaks mostly to one side: factor {note.factor:+.2f}, at most {s.max_factor:.2f} either way.",
        factor,
    )


def low_intercept(note: NoteSignals, status: NoteStatus, s: BridgingSettings) -> RuleOutcome:
    """Rule 12: so far below the line that no other model may show it. The status readers see stays."""
    intercept = at_least("note intercept", note.intercept, s.reject_intercept)
    return outcome(
        RuleName.LOW_INTERCEPT,
        status is not NoteStatus.NOT_HELPFUL and note.intercept < s.reject_intercept,
        NoteStatus.FIRM_REJECT,
        f"Its intercept {note.intercept:.2f} is below {s.reject_intercept:.2f}: no other model may show it.",
        intercept,
    )


def minority(note: NoteSignals, status: NoteStatus, s: BridgingSettings) -> RuleOutcome:
    """Rule 13: the side that likes it less must still bring enough helpful ratings."""
    net = at_least("net helpful ratings of the smaller side", _smaller_net(note), s.minority_net_helpful)
    return outcome(
        RuleName.MINORITY,
        status is NoteStatus.HELPFUL and not net.met,
        NoteStatus.NEEDS_YOUR_HELP,
        f"One side brings only {_smaller_net(note)} helpful ratings beyond its not-helpful ones; it takes "
        f"{s.minority_net_helpful}.",
        net,
    )


def balance(note: NoteSignals, status: NoteStatus, s: BridgingSettings) -> RuleOutcome:
    """Rule 14: among very many ratings, the smaller side must be a fair share."""
    net = _smaller_net(note)
    total = note.negative.raters + note.positive.raters
    share = at_least("smaller side's net helpful, of all", net / total if total else 0.0, s.balance_share)
    in_question = s.minority_net_helpful <= net < s.balance_free
    return outcome(
        RuleName.BALANCE,
        status is NoteStatus.HELPFUL and in_question and not share.met,
        NoteStatus.NEEDS_YOUR_HELP,
        f"The smaller side's helpful ratings are {share.value:.1%} of all; it takes {s.balance_share:.0%}.",
        share,
    )


def high_volume(note: NoteSignals, status: NoteStatus, s: BridgingSettings) -> RuleOutcome | NotApplied:
    """Rule 15: it would fall without the busiest raters. An unknown refit (NaN) passes."""
    if note.intercept_without_high_volume is None:
        return NotApplied(rule=RuleName.HIGH_VOLUME, missing="the intercept without the busiest raters")
    return _refit(RuleName.HIGH_VOLUME, "without the busiest raters", note.intercept_without_high_volume, status, s)


def correlated(note: NoteSignals, status: NoteStatus, s: BridgingSettings) -> RuleOutcome | NotApplied:
    """Rule 16: it would fall without raters who act together. An unknown refit (NaN) passes."""
    if note.intercept_without_correlated is None:
        return NotApplied(rule=RuleName.CORRELATED, missing="which raters act together")
    return _refit(RuleName.CORRELATED, "without raters who act together", note.intercept_without_correlated, status, s)


def explanation(note: NoteSignals, status: NoteStatus, s: BridgingSettings) -> RuleOutcome | NotApplied:
    """Of the meta rules: a status needs two different tags, each from two raters, to be explained to readers."""
    if note.helpful_tags is None or note.not_helpful_tags is None:
        return NotApplied(rule=RuleName.EXPLANATION, missing="the raters' tags")
    chosen = note.not_helpful_tags if status is NoteStatus.NOT_HELPFUL else note.helpful_tags
    explained = sum(1 for raters in chosen.values() if raters >= s.explanation_raters)
    enough = at_least(f"tags chosen by {s.explanation_raters} raters or more", explained, s.explanation_tags)
    return outcome(
        RuleName.EXPLANATION,
        status in {NoteStatus.HELPFUL, NoteStatus.NOT_HELPFUL} and not enough.met,
        NoteStatus.NEEDS_MORE_RATINGS,
        f"Only {explained} of the {s.explanation_tags} reasons it takes were chosen by {s.explanation_raters} raters.",
        enough,
    )


def _refit(rule: RuleName, words: str, intercept: float, status: NoteStatus, s: BridgingSettings) -> RuleOutcome:
    known = at_least(f"note intercept {words}", intercept, s.refit_intercept)
    return outcome(
        rule,
        status is NoteStatus.HELPFUL and intercept < s.refit_intercept,
        NoteStatus.NEEDS_YOUR_HELP,
        f"Its intercept {words} is {intercept:.2f}; it takes {s.refit_intercept:.2f}.",
        known,
    )


def _smaller_net(note: NoteSignals) -> int:
    return min(_net(note.negative), _net(note.positive))


def _net(side: Side) -> int:
    return max(side.net_helpful, 0)
