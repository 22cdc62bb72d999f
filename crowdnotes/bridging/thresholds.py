"""The numbers that decide over a note's status, as X's scorer has them.

Source: github.com/twitter/communitynotes at 273c895 (17 July 2026), scoring/src/scoring: mf_base_scorer.py and
run_scoring.py (the Core scorer), scoring_rules.py, tag_filter.py, incorrect_filter.py, constants.py. The name in a
comment is the scorer's own. A study passes other numbers: `replace(THRESHOLDS, helpful_intercept=0.35)`.
"""

from __future__ import annotations

from dataclasses import dataclass

from crowdnotes.settings_sections import RatersWanted


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Whose ratings count, and the lines of the rules."""

    raters: RatersWanted = RatersWanted.CORE
    core_share: float = 0.5  # captureThreshold: share of a note's ratings by Core's raters from which Core decides

    # Before the fit.
    min_raters_per_note: int = 5  # minNumRatersPerNote
    min_ratings_per_rater: int = 10  # minNumRatingsPerRater

    # Whose ratings enter the second fit.
    rater_helpfulness: float = 0.66  # minRaterAgreeRatio: share of early ratings that the crowd came to agree with
    author_ratio_difference: float = 0.0  # minCRHVsCRNHRatio: share of helpful notes minus 5 times that of not helpful
    author_mean_intercept: float = 0.05  # minMeanNoteScore: of a rater's own notes

    # Shown, or rated not helpful.
    min_ratings_for_status: int = 5  # minRatingsNeeded
    helpful_intercept: float = 0.40  # crhThreshold
    inertia: float = 0.01  # inertiaDelta: a shown note may lose this much first
    not_helpful_base: float = -0.05  # crnhThresholdIntercept
    not_helpful_slope: float = 0.8  # minus crnhThresholdNoteFactorMultiplier: times the size of the factor
    not_helpful_upper_bound: float = -0.04  # crnhThresholdUCBIntercept
    not_misleading_intercept: float = -0.15  # crnhThresholdNMIntercept
    ratio_min_raters: int = 3  # RatioCRNH: on each side
    ratio_side_mean: float = 0.4  # RatioCRNH: mean rating on each side
    ratio_mean_of_sides: float = 0.3  # RatioCRNH: mean of the two sides

    # Rejected.
    tag_total: float = 2.5  # tag_filter.py: weighted raters with the same complaint
    tag_percentile: int = 95  # tagFilterPercentile: of that complaint's share among helpful notes
    tag_distance_percentile: int = 40  # tag_filter.py: a rater at this distance counts half
    incorrect_tags: int = 2  # incorrect_filter.py: "incorrect" tags by like-minded raters
    incorrect_raters: int = 3  # incorrect_filter.py: like-minded raters with a complaint
    incorrect_ratio: float = 2.5  # incorrectFilterThreshold: tags against what these raters tag anyway
    incorrect_interval: float = 0.3  # incorrect_filter.py: how near a like-minded rater's factor is, after clipping
    incorrect_clip: float = 0.4  # incorrect_filter.py: factors are clipped to plus and minus this
    low_diligence_intercept: float = 0.263  # lowDiligenceThreshold
    max_factor: float = 0.5  # factorThreshold: size of the factor above which one side carries the note
    reject_intercept: float = 0.3  # firmRejectThreshold: below it no other model may show the note

    # Needs your help.
    minority_net_helpful: int = 4  # minMinorityNetHelpfulRatings: helpful minus not helpful, on each side
    balance_free: int = 10  # RaterBalance: from this many on each side, balance is not asked for
    balance_share: float = 0.05  # minMinorityNetHelpfulRatio: of the smaller side, as a share of the ratings
    refit_intercept: float = 0.37  # crhThresholdNoHighVol and crhThresholdNoCorrelated
    high_volume_share: float = 0.001  # constants.py: the busiest raters, by 7 or 28 days

    # Needs more ratings.
    sampled_ratings: int = 8  # PopulationSampledIntercept: ratings that X asked people drawn at random for
    sampled_per_side: int = 2
    sampled_intercept: float = 0.30  # by these ratings alone
    sampled_gap: float = 0.15  # and at least this much under the intercept by all ratings
    sampled_ratings_per_note: float = 10.0  # populationSampledRatingPerNoteLossRatio
    explanation_tags: int = 2  # InsufficientExplanation: different tags of the status's side
    explanation_raters: int = 2  # raters who chose each


THRESHOLDS = Thresholds()
