"""Search providers, one file each; a search asks them side by side and merges what they find."""

from crowdnotes.evidence.search.provider import SearchesTogether, SearchProvider
from crowdnotes.evidence.search.registry import chosen_at_first, make_online, make_providers
from crowdnotes.evidence.search.run import SearchReport, check_providers, search_all

__all__ = [
    "SearchProvider",
    "SearchReport",
    "SearchesTogether",
    "check_providers",
    "chosen_at_first",
    "make_online",
    "make_providers",
    "search_all",
]
