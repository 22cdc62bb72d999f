"""The simulated jury's size and the scale that its raters live on."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class JurySettings(BaseSettings):
    """How many jurors, from which pool, and the constants of the algorithm that the public data do not fix."""

    model_config = SettingsConfigDict(env_prefix="CROWDNOTES_JURY_", frozen=True)

    jurors: int = Field(1_000, ge=1, le=100_000, description="as in Supernotes; its intercept then moves by about 0.02")
    repeats: int = Field(40, ge=10, le=1_000, description="juries behind the interval; fewer make its ends jump")
    seed: int = Field(0, ge=0, description="the same text then gets the same verdict")
    raters: Path | None = Field(
        None, description="a Parquet file of raters (rater_intercept, rater_factor) in place of the shipped pool"
    )
    model: Path | None = Field(
        None, description="a folder written by `crowdnotes train jury` in place of the shipped one"
    )
    global_intercept: float = Field(
        0.17, description="of production fits: 0.172 in the official evaluator's notebook of 2025; the pool brings none"
    )
    ratings_per_note: float = Field(
        37.0, gt=0, description="rho of production: 29.4 million ratings of 0.8 million notes (diligence model's code)"
    )
    like_minded: float = Field(
        2.0, ge=0, description="who would see it: log odds per unit of factor by which a like-minded viewer is likelier"
    )
    short_words: int = Field(5, ge=1, description="notes with fewer words carry a caution: the model has seen few")
    familiar_words: float = Field(
        0.69,
        ge=0,
        le=1,
        description="share of known words and pairs below which numbers mean nothing; 1 % of real notes",
    )
    max_characters: int = Field(10_000, gt=0, description="a note has 280 characters; a longer text is a mistake")
