"""Bounds of asking whether a cited link answers."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class LinkSettings(BaseSettings):
    """Bounds of the live check of a note's links."""

    model_config = SettingsConfigDict(env_prefix="CROWDNOTES_LINK_", frozen=True)

    tries: int = Field(3, ge=1, le=5, description="X's evaluator too asks a few times before it calls a link dead")
    request_seconds: float = Field(6.0, gt=0, description="for one try; a page that is slower loses its readers")
    total_seconds: float = Field(15.0, gt=0, description="for all links of a note together, which are asked at once")
