"""The stages that the program works through, and the record of a finished one."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from crowdnotes.domain.base import Noun


class StageName(StrEnum):
    """The stages that the program works through; each is saved before the next starts."""

    QUERIES = "queries"
    SEARCH = "search"
    READ = "read"
    PASSAGES = "passages"
    DRAFT = "draft"
    ASSESS = "assess"
    JURY = "jury"
    LINKS = "links"


class Stage(Noun):
    """A finished stage: when, how long, and what came of it in one line."""

    name: StageName
    finished_at: datetime
    seconds: float
    summary: str
    engine: str
