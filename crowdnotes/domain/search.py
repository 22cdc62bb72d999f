"""What a search asks for and gives: queries, hits, and how each provider did."""

from __future__ import annotations

from datetime import date
from enum import StrEnum

from crowdnotes.domain.base import Noun


class Query(Noun):
    """One search, and what it is meant to find that the others do not. `language` is an ISO 639-1 code."""

    text: str
    purpose: str
    language: str | None = None


class Aim(StrEnum):
    """What a search is for: judging the post, or seeing the best that speaks for its claim."""

    JUDGE = "judge the claim"
    OTHER_SIDE = "the other side"


class SourceCategory(StrEnum):
    """The seven kinds of source of CrowdNotes+ appendix B.1."""

    HEALTH_AUTHORITY = "health authority"
    RESEARCH = "research literature"
    NEWS = "news media"
    SOCIAL = "social media"
    HEALTH_PORTAL = "health portal"
    COMMERCIAL_ADVOCACY_NGO = "commercial, advocacy or NGO"
    OTHER = "other"


class Hit(Noun):
    """A search result, before anything is read. Title and snippet are plain text.

    `notices` are marks that a reader must see: "preprint", "retracted" and the like. `also_found_by`
    are the other providers that gave the same page. `category` is what `evidence/provenance` says of the
    page's host; the program sets it after the search. `rating` is what a fact-checker's review calls the
    claim, in the checker's own words.
    """

    provider: str
    title: str
    snippet: str
    query: str
    url: str | None = None
    published: date | None = None
    library: str | None = None
    record: int | None = None
    score: float = 0.0
    doi: str | None = None
    pmid: str | None = None
    language: str | None = None
    category: SourceCategory = SourceCategory.OTHER
    rating: str = ""
    notices: tuple[str, ...] = ()
    also_found_by: tuple[str, ...] = ()


class ProviderState(StrEnum):
    """How a search provider's part of a search ended; a failed search is not "nothing found"."""

    ANSWERED = "answered"
    FAILED = "failed"
    NOT_CONFIGURED = "not configured"
    RATE_LIMITED = "rate limited"
    TIMED_OUT = "timed out"
    CANCELLED = "cancelled"


class ProviderOutcome(Noun):
    """One provider's part of a search: how many distinct hits, how long, and a sentence for the user."""

    provider: str
    label: str
    state: ProviderState
    found: int = 0
    seconds: float = 0.0
    sentence: str = ""
