"""Searching widely: providers side by side, each shown as it ended, their hits merged."""

from crowdnotes.evidence.search.provider import SearchesTogether, SearchProvider
from crowdnotes.evidence.search.registry import chosen_at_first, make_providers
from crowdnotes.evidence.search.run import SearchReport, check_providers, search_all

__all__ = [
    "SearchProvider",
    "SearchReport",
    "SearchesTogether",
    "check_providers",
    "chosen_at_first",
    "make_providers",
    "search_all",
]
