"""The boundary to search providers, and what online ones share: reading what a service answered, and making hits of it.

Nothing here trusts the shape of an answer. A wrong one as a whole raises SearchError; a wrong record is passed over.
"""

from __future__ import annotations

import json
import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from itertools import accumulate, islice
from typing import Any, ClassVar, Protocol, Self, TypeVar, runtime_checkable

from lxml import etree  # type: ignore[import-untyped]  # its stubs cover too little to bring them
from pydantic import BaseModel

from crowdnotes.domain import Hit, ProviderState
from crowdnotes.errors import FetchError, InputError, SearchError
from crowdnotes.evidence.duplicates import PREPRINT
from crowdnotes.evidence.reading.plain_text import plain_line, plain_text
from crowdnotes.evidence.reading.printed_signs import element_text
from crowdnotes.evidence.search.service import Check, Service
from crowdnotes.evidence.search.when_to_ask import is_register
from crowdnotes.evidence.ssrf_guard import check_url
from crowdnotes.settings_sections import SearchSettings
from crowdnotes.text.dates import parse_date
from crowdnotes.text.tokens import content_words

_MAX_SNIPPET_CHARACTERS = 2_000  # characters: an abstract; more is read from the page itself
_MAX_REFUSAL_CHARACTERS = 200
_MAX_QUERY_WORDS = 24
_PHRASE_PATTERN = re.compile(r'"(\w[^"]*\s[^"]*\w)"(?=\s|$)')
_OPERATOR_WORDS = frozenset({"and", "or", "not", "near"})
_SYNTAX_PATTERN = re.compile(r"(?:^|(?<=\s))[!:?<>+\-|*~^]+(?=\S)|[\"\u201c\u201d()\[\]{}\\]")

Found = TypeVar("Found")


class SearchProvider(Protocol):
    """One place to search. Implementations are safe to share between threads and hold no case."""

    @property
    def name(self) -> str:
        """The name in hits, settings and JSON, e.g. "europe-pmc"."""
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
    """A service that is searched over the web: a subclass in a file of its own, and one line in `ONLINE`.

    `options` are what can be set of it, as CROWDNOTES_SEARCH_ and the field's name; `make` reads them.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    options: ClassVar[type[BaseModel]]
    free: ClassVar[bool] = True  # False: it can be asked only once its key or address is set
    searches_web: ClassVar[bool] = False  # the whole web, not one collection
    brings: ClassVar[str] = ""  # what it brings, in a line
    gives_entries: ClassVar[bool] = False  # what it finds is read as it gives it: the page is built by script

    service: Service
    credentials: Mapping[str, str] = field(default_factory=dict, repr=False)  # parameters that say who asks
    needs: str | None = None
    at_once: int = 1
    most_queries: int = 12
    leave_out: tuple[str, ...] = ()  # hosts of which nothing it finds is taken
    is_fallback: bool = False  # it searches the web without a key, where no other web search is set up

    @property
    def is_register(self) -> bool:
        """Whether it is asked only where the claim calls for it; see when_to_ask.toml."""
        return is_register(self.name)

    @classmethod
    @abstractmethod
    def make(cls, search: SearchSettings) -> Self:
        """Return the provider as the settings have it, whether it can be asked or not (see `needs`)."""

    @abstractmethod
    def search(self, query: str, *, limit: int, until: date | None, language: str | None, check: Check) -> list[Hit]:
        """See `SearchProvider`."""


def needed(variable: str, what: str) -> str:
    """Return what a provider says that waits for a key or an address."""
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
    """Return a hit of plain text, or None when the record has no words or no link that may be read.

    Markup is stripped and entities undone; links must be public http(s) ones, as in `ssrf_guard`.
    """
    try:
        link = check_url(url).url
    except (InputError, FetchError):
        return None
    words = plain_text(snippet, _MAX_SNIPPET_CHARACTERS)
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


def web_hits(
    provider: str, query: str, pages: Iterable[JsonObject], *, snippet: str, published: str
) -> Iterator[Hit | None]:
    """Hits of pages as web searches list them, with a title and a url; the fields of snippet and date are named."""
    for page in pages:
        yield make_hit(
            provider,
            query,
            title=string(page, "title"),
            snippet=string(page, snippet),
            url=string(page, "url"),
            published=parse_date(string(page, published)),
        )


def first_hits(hits: Iterable[Hit | None], limit: int, until: date | None = None) -> list[Hit]:
    """Return the first `limit` hits that there are, those dated after `until` left out."""
    there = (hit for hit in hits if hit is not None)
    return [hit for hit in there if until is None or hit.published is None or hit.published <= until][:limit]


def search_words(query: str) -> list[str]:
    """Return the query's content words, once each, without what a service could take for an operator.

    What a person typed must never become a service's search syntax.
    """
    found = dict.fromkeys(content_words(unicodedata.normalize("NFC", query)))
    return [word for word in found if word not in _OPERATOR_WORDS][:_MAX_QUERY_WORDS]


def all_then_any(
    query: str, ask: Callable[[str], list[Found]], few: int = 3, most_characters: int | None = None
) -> list[Found]:
    """Return what `ask` finds with all words of a query; if nothing, and there are `few` words or more, with any.

    Fewer words than that, taken loosely, find everything. A name in quotation marks is first asked for unchanged.
    `most_characters` of a search are sent, the last words left out.
    """
    phrase, rest = phrase_of(query)
    named = [f'"{phrase}"', *search_words(rest)] if phrase else []
    if (terms := _join_within(named, " ", most_characters)) and (exact := ask(terms)):
        return exact
    words = search_words(query)
    terms = _join_within(words, " ", most_characters)
    found = ask(terms) if terms else []
    terms = _join_within(words, " OR ", most_characters)
    return found or (ask(terms) if terms and len(words) >= few else [])


def _join_within(words: Sequence[str], between: str, most: int | None) -> str:
    """Return the first of the words that fit, whole; "" where not even the first does."""
    lengths = accumulate(len(word) + len(between) for word in words)
    fitting = sum(length - len(between) <= most for length in lengths) if most is not None else len(words)
    return between.join(words[:fitting])


def phrase_of(query: str) -> tuple[str, str]:
    """Return the two or more quoted words with which a query begins, and the rest; "" where there are none.

    They hold no marks of their own, so they may be put in quotation marks again.
    """
    match = _PHRASE_PATTERN.match(query)
    return (" ".join(_SYNTAX_PATTERN.sub(" ", match[1]).split()), query[match.end() :]) if match else ("", query)


def plain_query(query: str, limit: int, most_words: int = 50) -> str:
    """Return the query as a person would type it, without marks that web search engines obey, cut at a word.

    A name in quotation marks at its beginning keeps them where they fit.
    """
    phrase, rest = phrase_of(query)
    left, words = limit - len(phrase) - 3, most_words - len(phrase.split())
    if phrase and left >= 0 and words >= 0:
        return f'"{phrase}" {plain_query(rest, left, words)}'.strip()
    text = " ".join(_SYNTAX_PATTERN.sub(" ", query).split()[:most_words])
    return text if len(text) <= limit else (text[:limit].rsplit(" ", 1)[0] or text[:limit])


JsonObject = Mapping[str, Any]


def parse_json(body: bytes) -> JsonObject:
    """Return the body as a JSON object. Raises SearchError for anything else.

    What is not strict JSON is read where it is clear what was meant: control characters in a text, and escapes that
    JSON does not know. One of those must not lose a whole list.
    """
    try:
        value = _read_json(body)
    except (ValueError, RecursionError) as error:
        raise _build_unreadable_error(body, "JSON") from error
    if not isinstance(value, dict):
        raise unexpected()
    return value


def _read_json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return json.loads(_mend_escapes(body.decode("utf-8-sig")), strict=False)


def _mend_escapes(text: str) -> str:
    return _UNKNOWN_ESCAPE_PATTERN.sub(_mend_escape, text)


# Every escape is met, so that the second backslash of a pair is not taken for the first of another.
_UNKNOWN_ESCAPE_PATTERN = re.compile(r"\\(?:([\"\\/bfnrt]|u[0-9a-fA-F]{4})|(\w)|)")


def _mend_escape(found: re.Match[str]) -> str:
    r"""Return a known escape as it is; \' and \- are the mark itself; before a letter, the backslash was meant."""
    return found[0] if found[1] else f"\\\\{found[2]}" if found[2] else ""


def whole_records(body: bytes, begin: re.Pattern[str], most: int) -> list[JsonObject]:
    """Return the readable objects of a damaged list: of the first `most` places where `begin` finds one."""
    text = _mend_escapes(body.decode("utf-8-sig", errors="replace"))
    decoder, found = json.JSONDecoder(strict=False), list[JsonObject]()
    for place in islice(begin.finditer(text), most):
        with suppress(ValueError, RecursionError):
            found.append(decoder.raw_decode(text, place.start())[0])
    return found


def parse_xml(body: bytes) -> Any:
    """Return the body's root element; entities are not expanded and nothing is loaded. Raises SearchError."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise _build_unreadable_error(body, "XML") from error
    if root is None:
        raise unexpected()
    return root


def xml_text(element: Any) -> str:
    """Return all text inside an element, its children's included and powers as such ("10^6"); "" for None."""
    return "" if element is None else element_text(element).strip()


def dig(value: object, *keys: str) -> Any:
    """Return what lies under a chain of keys; None where the chain breaks."""
    for key in keys:
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value


def records(value: object, *keys: str, may_lack: bool = False) -> list[JsonObject]:
    """Return the objects of the list under a chain of keys.

    Some services leave an empty list out: with `may_lack` that is no record. Else it raises SearchError.
    """
    found = dig(value, *keys)
    if found is None and may_lack:
        return []
    if not isinstance(found, list):
        raise unexpected()
    return [item for item in found if isinstance(item, dict)]


def string(value: object, *keys: str) -> str:
    """Return the string under a chain of keys, "" where there is none; a number as its digits."""
    found = dig(value, *keys)
    if isinstance(found, list) and found:
        found = found[0]
    if isinstance(found, int) and not isinstance(found, bool):
        return str(found) if abs(found) < 10**18 else ""
    return found if isinstance(found, str) else ""


def strings(value: object, *keys: str) -> list[str]:
    """Return the strings of the list under a chain of keys; none where there is no list."""
    found = dig(value, *keys)
    return [item for item in found if isinstance(item, str)] if isinstance(found, list) else []


def compact_day(said: str) -> date | None:
    """Return the day of "20250630" or "20250630T120000Z"; None for anything else."""
    return parse_date(f"{said[:4]}-{said[4:6]}-{said[6:8]}") if said[:8].isdecimal() else None


def not_asked(why: str) -> SearchError:
    """Return what a service raises for a query that it is not asked: no answer, and no failure either."""
    return SearchError(why, ProviderState.NOT_ASKED)


def unexpected() -> SearchError:
    """Return the error for an answer of a shape that the service's documentation does not know."""
    return SearchError("Its answer is not in the documented form.", ProviderState.FAILED)


def refused(words: str) -> SearchError:
    """Return the error for a service that says, within a good answer, that it will not search."""
    said = plain_line(words)[:_MAX_REFUSAL_CHARACTERS].strip()
    sentence = f"It refused the search: “{said}”" if said else "It refused the search."
    return SearchError(sentence, ProviderState.FAILED, of_query=True)


def _build_unreadable_error(body: bytes, wanted: str) -> SearchError:
    start = body[:512].lstrip().lower()
    if not start:
        return SearchError("Its answer is empty.", ProviderState.FAILED)
    if start.startswith((b"<!doctype html", b"<html")):
        return SearchError("It sent a web page, not results.", ProviderState.FAILED)
    return SearchError(f"Its answer is not complete {wanted}.", ProviderState.FAILED)


RETRACTED = "retracted"
RETRACTION_NOTICE = "a retraction notice"

# Publication types of PubMed and Europe PMC, their kinds of comment and correction, and the types of
# update that Crossref and Retraction Watch record. What a notice is about comes before what it is.
_NOTICE_PATTERNS = (
    (r"^retraction ?of\b|^retraction of publication$", RETRACTION_NOTICE),
    (r"^retracted publication$|^(?:partial[ _]?)?retraction(?: ?in)?$|^removal$", RETRACTED),
    (r"^withdraw(?:al|n)(?: ?in)?$", "withdrawn"),
    (r"^expression[ _-]?of[ _-]?concern(?: ?in)?$", "expression of concern"),
    (r"^(?:erratum|corrigendum|correct(?:ion|ed))(?: ?in)?$", "corrected since"),
    (r"^preprint$", PREPRINT),
)


def notice_of(kind: str) -> str | None:
    """Return the notice that a publication type, relation or update type means; None for any other."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind).strip().lower()
    return next((notice for pattern, notice in _NOTICE_PATTERNS if re.search(pattern, spaced)), None)


def notices_of(kinds: Iterable[str], *marks: str | None) -> tuple[str, ...]:
    """Return the marks that there are, then the notices of the kinds, each once."""
    return tuple(dict.fromkeys(notice for notice in (*marks, *map(notice_of, kinds)) if notice is not None))
