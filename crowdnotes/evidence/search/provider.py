"""The boundary to search providers, what online ones share, and how their records become hits."""

from __future__ import annotations

import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import ClassVar, Protocol, Self, TypeVar, runtime_checkable

from pydantic import BaseModel

from crowdnotes.domain import Hit
from crowdnotes.errors import FetchError, InputError
from crowdnotes.evidence.guard import check_url
from crowdnotes.evidence.search.answers import plain_line, plain_text
from crowdnotes.evidence.search.service import Check, Service
from crowdnotes.settings import SearchSettings
from crowdnotes.text.stems import content_words

_MAX_SNIPPET = 2_000  # characters: an abstract; more is read from the page itself
_MOST_WORDS = 24
_OPERATORS = frozenset({"and", "or", "not", "near"})
_SYNTAX = re.compile(r"(?:^|(?<=\s))[!:?<>+\-|*~^]+(?=\S)|[\"\u201c\u201d()\[\]{}\\]")

Found = TypeVar("Found")


class SearchProvider(Protocol):
    """One place to search. Implementations are safe to share between threads and hold no case."""

    @property
    def name(self) -> str:
        """Stands in hits, settings and JSON, e.g. "europe-pmc"."""
        ...

    @property
    def label(self) -> str:
        """As a person knows it, e.g. "Europe PMC"."""
        ...

    @property
    def needs(self) -> str | None:
        """What is missing before it can be asked, as a sentence; None when nothing is."""
        ...

    @property
    def at_once(self) -> int:
        """How many of one case's searches may wait for it side by side."""
        ...

    @property
    def most_queries(self) -> int:
        """How many of a case's queries it is asked: the first ones."""
        ...

    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:
        """At most `limit` hits, best first, bounded by `until` (inclusive) where the service can do that.

        `language` is the post's ISO 639-1 code, where the service has editions. `check` is called
        often; what it raises passes through. Raises SearchError for whatever the service does wrong.
        """
        ...


@runtime_checkable
class SearchesTogether(SearchProvider, Protocol):
    """A provider that is better asked once for all queries than once for each."""

    def search_together(
        self, queries: Sequence[str], *, post: str, limit: int, until: date | None, check: Check
    ) -> list[Hit]:
        """At most `limit` hits a query, merged, best first; each names the query that it fits best."""
        ...


@dataclass(frozen=True)
class OnlineProvider(ABC):
    """A service that is searched over the web: a subclass in a file of its own, and one line in `registry`.

    `options` are what can be set of it, as CROWDNOTES_SEARCH_ and the field's name; `make` reads them.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    options: ClassVar[type[BaseModel]]
    free: ClassVar[bool] = True  # False: it can be asked only once somebody set its key or address
    searches_web: ClassVar[bool] = False  # the whole web, not one collection

    service: Service
    credentials: Mapping[str, str] = field(default_factory=dict, repr=False)  # parameters that say who asks
    needs: str | None = None
    at_once: int = 1
    most_queries: int = 12
    stands_in: bool = False  # it searches the web without a key, for want of a web search that somebody set up

    @classmethod
    @abstractmethod
    def make(cls, search: SearchSettings) -> Self:
        """The provider as the settings have it, whether it can be asked or not (`needs` tells)."""

    @abstractmethod
    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:
        """See `SearchProvider`."""


def needed(variable: str, what: str) -> str:
    """What a provider says that waits for a key or an address."""
    return f"Set CROWDNOTES_SEARCH_{variable} to {what}."


def make_hit(
    provider: str,
    query: str,
    *,
    title: str,
    snippet: str,
    url: str,
    published: date | None = None,
    doi: str | None = None,
    notices: Sequence[str] = (),
) -> Hit | None:
    """A hit of plain text, or None when the record has no words or no link that may be read.

    Markup is stripped and entities undone; links must be public http(s) ones, as in `guard`.
    """
    try:
        link = check_url(url).url
    except (InputError, FetchError):
        return None
    words = plain_text(snippet, _MAX_SNIPPET)
    heading = plain_line(title) or words[:80]
    if not heading:
        return None
    return Hit(
        provider=provider,
        title=heading,
        snippet=words,
        query=query,
        url=link,
        published=published,
        doi=doi.lower() if doi else None,
        notices=tuple(dict.fromkeys(notices)),
    )


def first_hits(hits: Iterable[Hit | None], limit: int, until: date | None = None) -> list[Hit]:
    """The first `limit` hits that there are, those dated after `until` left out."""
    there = (hit for hit in hits if hit is not None)
    return [hit for hit in there if until is None or hit.published is None or hit.published <= until][:limit]


def search_words(query: str) -> list[str]:
    """The query's content words, once each, without what a service could take for an operator.

    What a person typed must never become a service's search syntax.
    """
    found = dict.fromkeys(content_words(unicodedata.normalize("NFC", query)))
    return [word for word in found if word not in _OPERATORS][:_MOST_WORDS]


def all_then_any(query: str, ask: Callable[[str], list[Found]], few: int = 3) -> list[Found]:
    """What `ask` finds with all words of a query; when that is nothing and there are `few` words or more, with any.

    Fewer words than that, taken loosely, find everything.
    """
    words = search_words(query)
    found = ask(" ".join(words)) if words else []
    return found or (ask(" OR ".join(words)) if len(words) >= few else [])


def plain_query(query: str, limit: int, most_words: int = 50) -> str:
    """The query as a person would type it, without marks that web search engines obey, cut at a word."""
    text = " ".join(_SYNTAX.sub(" ", query).split()[:most_words])
    return text if len(text) <= limit else (text[:limit].rsplit(" ", 1)[0] or text[:limit])
