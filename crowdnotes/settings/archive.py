"""Whether and where archived copies of pages are looked for."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class ArchiveSettings(BaseSettings):
    """Copies in the Wayback Machine of pages that could not be read, and of a note's links that are dead."""

    model_config = SettingsConfigDict(env_prefix="CROWDNOTES_ARCHIVE_", frozen=True)

    ask: bool = Field(
        True,
        description="archive.org is told the public address (none with a query) of a page that could not be read, and "
        "nothing of the "
        "post; false tells it nothing, and no copy is known",
    )
    url: str = Field("https://archive.org", description="the Internet Archive, or a mirror of its availability API")
    seconds: float = Field(6.0, gt=0, description="for asking about one page, which has been waited for already")
