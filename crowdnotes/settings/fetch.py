"""Bounds of reading one page."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class FetchSettings(BaseSettings):
    """Bounds of reading one page."""

    model_config = SettingsConfigDict(env_prefix="CROWDNOTES_FETCH_", frozen=True)

    max_redirects: int = Field(5, ge=0, description="a chain longer than this is a loop or a trap")
    max_bytes: int = Field(10_000_000, gt=0, description="counted after decompression: a bomb stops here")
    total_seconds: float = Field(20.0, gt=0, description="for the whole exchange, so a slow drip ends too")
    connect_seconds: float = Field(6.0, gt=0, description="a host that is up answers sooner")
    user_agent: str = Field(
        "CrowdNotes/0.1 (evidence reader for Community Notes)",
        description="says honestly who reads",
    )
    cache_mb: int = Field(
        256, ge=0, description="pages kept on disk for as long as their sites allow, a day at most; 0 keeps none"
    )
