"""A local library as a provider among the others; nothing leaves the machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from crowdnotes.domain import Hit, ProviderState
from crowdnotes.errors import LibraryError, SearchError
from crowdnotes.evidence.library import Libraries
from crowdnotes.evidence.library.earlier_notes import LeaveOut, none_left_out
from crowdnotes.evidence.search.service import Check

_MAX_HITS = 40  # of all queries together, unless more are asked for: as many as a library reads by meaning


@dataclass(frozen=True, slots=True)
class LocalLibrary:
    """See `SearchesTogether`: its own order weighs all queries against the post."""

    libraries: Libraries
    library: str
    leave_out: LeaveOut = none_left_out  # earlier notes that a search must not go by: those on the very post
    needs: str | None = None
    at_once: int = 1
    most_queries: int = 12

    @property
    def name(self) -> str:
        """As its hits name it."""
        return f"library:{self.library}"

    @property
    def label(self) -> str:
        """As a person knows it."""
        return f"Library {self.library}"

    def sites(self) -> Counter[str]:
        """See `Libraries.sites`; none of a library that cannot be read, which its search reports."""
        try:
            return self.libraries.sites(self.library)
        except LibraryError:
            return Counter()

    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:  # noqa: ARG002
        """Return the same as `search_together` with one query and no post."""
        return self.search_together([query], post="", limit=limit, until=until, check=check)

    def search_together(
        self, queries: Sequence[str], *, post: str, limit: int, until: date | None, check: Check
    ) -> list[Hit]:
        """At most `limit` for each query, those dated after `until` left out; see `search_index`.

        Raises SearchError when the library cannot be read.
        """
        check()
        most = max(limit, min(limit * len(queries), _MAX_HITS))
        try:
            return self.libraries.search_many(self.library, queries, most, post or None, until, self.leave_out)
        except LibraryError as error:
            raise SearchError(error.message, ProviderState.FAILED, error.next_step) from error
