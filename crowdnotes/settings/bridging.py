"""Thresholds of the Community Notes algorithm."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class BridgingSettings(BaseSettings):
    """Thresholds of the Community Notes algorithm, as the production scorer has them (July 2026).

    Reasons are the scorer's own where it states them. Change them only to study the algorithm.
    """

    model_config = SettingsConfigDict(env_prefix="CROWDNOTES_BRIDGING_", frozen=True)

    min_raters_per_note: int = Field(5, ge=1, description="notes with fewer tell too little to be fitted")
    min_ratings_per_rater: int = Field(10, ge=1, description="raters with fewer have no reliable viewpoint")
    min_ratings_for_status: int = Field(5, ge=1, description="no status other than 'needs more ratings' below it")
    helpful_intercept: float = Field(0.40, description="note intercept from which a note is shown")
    inertia: float = Field(
        0.01, ge=0, description="a shown note may lose this much first, so that statuses do not flap"
    )
    not_helpful_base: float = Field(-0.05, description="not helpful at or below this, minus slope times size of factor")
    not_helpful_slope: float = Field(
        0.8, ge=0, description="a one-sided note must be rated worse to be called not helpful"
    )
    not_helpful_upper_bound: float = Field(
        -0.04, description="even one more helpful rating by an extreme rater would not lift it above"
    )
    ratio_min_raters: int = Field(3, ge=1, description="per side, for the rule on mean ratings to say anything")
    ratio_side_mean: float = Field(0.4, description="mean rating on each side at or below which a note is not helpful")
    ratio_mean_of_sides: float = Field(0.3, description="and the average of the two sides")
    not_misleading_intercept: float = Field(-0.15, description="notes that call a post fine fail only far below zero")
    tag_total: float = Field(2.5, description="weighted raters with the same complaint; fewer may be chance")
    tag_percentile: int = Field(95, ge=1, le=99, description="of that complaint's share among helpful notes")
    tag_distance_percentile: int = Field(40, ge=1, le=99, description="a rater at this distance counts half")
    incorrect_tags: int = Field(2, description="'incorrect' tags by like-minded raters that start to count")
    incorrect_raters: int = Field(3, description="like-minded raters with a complaint before the rule looks")
    incorrect_ratio: float = Field(2.5, description="tags against what these raters tag anyway")
    incorrect_interval: float = Field(0.3, description="half width of 'like-minded', in factors clipped to 0.4")
    incorrect_clip: float = Field(0.4, description="beyond it, viewpoints count as equally far out")
    low_diligence_intercept: float = Field(0.263, description="of the diligence model; above it sources are in doubt")
    max_factor: float = Field(0.5, description="size of the factor above which one side carries the note")
    reject_intercept: float = Field(0.3, description="below it no other model may show the note")
    minority_net_helpful: int = Field(4, description="helpful minus not helpful, on each side of the viewpoint")
    balance_free: int = Field(10, description="net helpful on each side from which balance is not asked for")
    balance_share: float = Field(0.05, description="the smaller side's net helpful, as a share of the ratings")
    refit_intercept: float = Field(0.37, description="what a shown note must keep without the busiest or linked raters")
    high_volume_share: float = Field(0.001, gt=0, lt=1, description="the busiest raters, by 7 or 28 days")
    explanation_tags: int = Field(2, description="different tags that explain a status to readers")
    explanation_raters: int = Field(2, description="raters that must have chosen each")
    rater_helpfulness: float = Field(
        0.66, description="share of a rater's early ratings that the crowd came to agree with"
    )
    author_ratio_difference: float = Field(0.0, description="share of helpful notes minus 5 times that of not helpful")
    author_mean_intercept: float = Field(0.05, description="mean intercept of a rater's own notes")
