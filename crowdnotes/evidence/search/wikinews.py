"""Wikinews: reports of events, without a key; by the same programming interface as Wikipedia, and with its rules."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, Field

from crowdnotes.evidence.search.service import open_service
from crowdnotes.evidence.search.wikipedia import PACE, Wikipedia
from crowdnotes.settings import SearchSettings


class WikinewsOptions(BaseModel):
    """Wikinews."""

    wikinews_url: str = Field(
        "https://{language}.wikinews.org/w", description="its folder of scripts; {language} is filled in"
    )


class Wikinews(Wikipedia):
    """See `Wikipedia`."""

    name = "wikinews"
    label = "Wikinews"
    brings = "brings.wikinews"
    options = WikinewsOptions
    site = "wikinews.org"

    @classmethod
    def make(cls, search: SearchSettings) -> Self:
        """Two queries of a case: it has few reports."""
        return cls(open_service(search, search.of(WikinewsOptions).wikinews_url, PACE), most_queries=2)
