"""The status of many notes at once: what `rules.decide` says of each, without its sentences.

One by one, two million notes take minutes. A test holds both together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crowdnotes.bridging.model import Floats
from crowdnotes.bridging.ratings import Bools
from crowdnotes.bridging.rules import MILD_TAG
from crowdnotes.bridging.status import NoteStatus, RuleName
from crowdnotes.settings import BridgingSettings

Whole = npt.NDArray[np.int64]
STATUSES, RULE_NAMES = tuple(NoteStatus), tuple(RuleName)


@dataclass(frozen=True)
class ManySignals:
    """What `NoteSignals` tells of one note, of n: (n,) each, of the two sides (2, n), by tag (n,) each.

    raters, means, net: of the sides, negative first. incorrect (3, n): like-minded raters with a complaint, their
    "incorrect" tags, and the usual rates summed. helpful_tags, not_helpful_tags: how many tags enough raters chose.
    """

    ratings: Whole
    intercept: Floats
    factor: Floats
    upper_bound: Floats
    misleading: Bools
    was_helpful: Bools
    raters: Floats
    means: Floats
    net: Floats
    tag_totals: dict[str, Floats]
    tag_shares: dict[str, Floats]
    tag_lines: dict[str, float] | None
    incorrect: Floats
    without_busy: Floats
    helpful_tags: Whole
    not_helpful_tags: Whole


def decide_all(notes: ManySignals, s: BridgingSettings) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Each note's inner status and the rule that decided it, as places in STATUSES and RULE_NAMES, (n,) each."""
    status = np.full(len(notes.ratings), STATUSES.index(NoteStatus.NEEDS_MORE_RATINGS), dtype=np.uint8)
    decided = np.full(len(notes.ratings), RULE_NAMES.index(RuleName.INITIAL), dtype=np.uint8)

    def sets(rule: RuleName, fires: Bools, to: NoteStatus) -> None:
        status[fires], decided[fires] = STATUSES.index(to), RULE_NAMES.index(rule)

    def stands(at: NoteStatus) -> Bools:
        return np.asarray(status == STATUSES.index(at))

    helpful, not_helpful, reject = NoteStatus.HELPFUL, NoteStatus.NOT_HELPFUL, NoteStatus.FIRM_REJECT
    enough = notes.ratings >= s.min_ratings_for_status
    intercept, away = notes.intercept, np.abs(notes.factor)
    sets(RuleName.GENERAL_HELPFUL, notes.misleading & enough & (intercept >= s.helpful_intercept), helpful)
    low = intercept <= s.not_helpful_base - s.not_helpful_slope * away
    sets(RuleName.GENERAL_NOT_HELPFUL, enough & low, not_helpful)
    sets(RuleName.UPPER_BOUND, enough & (notes.upper_bound < s.not_helpful_upper_bound), not_helpful)
    disliked = notes.raters.min(axis=0) >= s.ratio_min_raters
    disliked &= (notes.means <= s.ratio_side_mean).all(axis=0)
    disliked &= notes.means.sum(axis=0) / 2 <= s.ratio_mean_of_sides
    sets(RuleName.RATIO, enough & disliked, not_helpful)
    sets(RuleName.NOT_MISLEADING, ~notes.misleading & (intercept < s.not_misleading_intercept), not_helpful)
    stays = notes.was_helpful & notes.misleading & enough & (intercept >= s.helpful_intercept - s.inertia)
    sets(RuleName.INERTIA, stays, helpful)
    unusual = np.zeros(len(status), dtype=bool)
    for tag, line in (notes.tag_lines or {}).items():
        if tag != MILD_TAG:
            unusual |= (notes.tag_totals[tag] > s.tag_total) & (notes.tag_shares[tag] > line)
    sets(RuleName.TAGS, ~stands(not_helpful) & unusual, reject)
    complaining, said, usual = notes.incorrect
    often = (said >= s.incorrect_tags) & (complaining >= s.incorrect_raters)
    # Without a usual rate any tag is without measure more than usual.
    often &= np.where(usual > 0, said >= s.incorrect_ratio * np.log1p(usual), said > 0)
    sets(RuleName.INCORRECT, ~stands(not_helpful) & often, reject)
    sets(RuleName.LARGE_FACTOR, stands(helpful) & (away > s.max_factor), reject)
    sets(RuleName.LOW_INTERCEPT, ~stands(not_helpful) & (intercept < s.reject_intercept), reject)
    net, raters = np.maximum(notes.net, 0).min(axis=0), notes.raters.sum(axis=0)
    sets(RuleName.MINORITY, stands(helpful) & (net < s.minority_net_helpful), NoteStatus.NEEDS_YOUR_HELP)
    asked = (net >= s.minority_net_helpful) & (net < s.balance_free)
    share = np.divide(net, raters, out=np.zeros(len(status)), where=raters > 0)
    sets(RuleName.BALANCE, stands(helpful) & asked & (share < s.balance_share), NoteStatus.NEEDS_YOUR_HELP)
    falls = notes.without_busy < s.refit_intercept
    sets(RuleName.HIGH_VOLUME, stands(helpful) & falls, NoteStatus.NEEDS_YOUR_HELP)
    chosen = np.where(stands(not_helpful), notes.not_helpful_tags, notes.helpful_tags)
    unexplained = (stands(helpful) | stands(not_helpful)) & (chosen < s.explanation_tags)
    sets(RuleName.EXPLANATION, unexplained, NoteStatus.NEEDS_MORE_RATINGS)
    return status, decided
