"""Services that read a page for the program: asked only where a person ticked them, about public pages alone.

What they give is text like any page's, never checked against the page itself: the source says through whom it was read.

Tavily Extract: POST {base}/extract {urls, extract_depth, format}, with a key or as a guest, answers {results: [{url,
raw_content}], failed_results: [{url, error}]}. https://docs.tavily.com/documentation/api-reference/endpoint/extract
Jina Reader: POST {base} {url} answers {code, data: {title, url, content, publishedTime, warning}}; a page that answered
it with an error comes with 200 and a warning. 20 requests a minute, 500 with a key; 402 says that the key's tokens are
used up. https://jina.ai/reader, https://github.com/jina-ai/reader
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

from pydantic import BaseModel, Field, SecretStr

from crowdnotes.domain import ProviderState
from crowdnotes.errors import FetchError, SearchError
from crowdnotes.evidence.reading.document import Document
from crowdnotes.evidence.reading.extract import judge_letters, refuse_words_in_place
from crowdnotes.evidence.reading.plain_text import plain_line, tidy_text
from crowdnotes.evidence.reading.printed_signs import joined_marks, printed_letters, readable_formulas
from crowdnotes.evidence.search.provider import dig, parse_json, records, string, unexpected
from crowdnotes.evidence.search.run import ServiceCheck, setting_that_helps
from crowdnotes.evidence.search.service import Check, Exchange, Pace, Service, open_service
from crowdnotes.evidence.search.web import TavilyOptions, tavily_service
from crowdnotes.evidence.ssrf_guard import Deadline
from crowdnotes.settings_sections import SearchSettings
from crowdnotes.text.dates import parse_date
from crowdnotes.text.languages import language_of

_MAX_READ_SECONDS = 25.0  # for one page: they open it in a browser of theirs, in eight seconds on average
_MIN_TEXT_CHARACTERS = 200  # characters; less is a notice or an error
_MAX_MARKDOWN_CHARACTERS = 1_000_000
_TRIAL_URL = "https://example.com/"


class ReadingService(Protocol):
    """One such service. Implementations are safe to share between threads."""

    @property
    def name(self) -> str:
        """The name in settings and in cases, e.g. "jina-reader"."""
        ...

    @property
    def label(self) -> str:
        """As a person knows it."""
        ...

    def read(self, url: str, check: Check) -> Document:
        """Return the page's text. Raises SearchError for whatever goes wrong, and what `check` raises."""
        ...


@dataclass(frozen=True, slots=True)
class TavilyExtract:
    """See `ReadingService`."""

    service: Service
    options: ClassVar[type[BaseModel]] = TavilyOptions
    name = "tavily-extract"
    label = "Tavily Extract"

    @classmethod
    def make(cls, search: SearchSettings) -> TavilyExtract:
        """With the key of the search, else as a guest."""
        return cls(_extend_timeout(tavily_service(search)))

    def read(self, url: str, check: Check) -> Document:
        """See `ReadingService.read`: the plain reading, of which five cost a credit."""
        asked = {"urls": [url], "extract_depth": "basic", "format": "markdown"}
        answer = parse_json(self.service.post("/extract", asked, check))
        results = records(answer, "results")
        if not results:
            why = next((string(failed, "error") for failed in records(answer, "failed_results", may_lack=True)), "")
            raise _build_not_read_error(why)
        return _document_from_markdown(url, "", string(results[0], "raw_content"))


class JinaOptions(BaseModel):
    """Jina Reader."""

    jina_key: SecretStr | None = Field(None, description="raises Jina Reader's limit of 20 pages a minute")
    jina_url: str = Field("https://r.jina.ai/", description="Jina Reader")


_JINA_PACE = Pace(18, 66.0, 2)
_JINA_PACE_WITH_KEY = Pace(100, 66.0, 4)
_WARNING_STATUS_PATTERN = re.compile(r"returned error (\d{3})")


@dataclass(frozen=True, slots=True)
class JinaReader:
    """See `ReadingService`."""

    service: Service
    options: ClassVar[type[BaseModel]] = JinaOptions
    name = "jina-reader"
    label = "Jina Reader"

    @classmethod
    def make(cls, search: SearchSettings) -> JinaReader:
        """With a key where one is set."""
        own = search.of(JinaOptions)
        key = own.jina_key.get_secret_value() if own.jina_key else ""
        headers = {"Authorization": f"Bearer {key}"} if key else None
        opened = open_service(
            search,
            own.jina_url,
            _JINA_PACE_WITH_KEY if key else _JINA_PACE,
            headers,
            quiet_seconds=60.0,
            raise_limit="" if key else "Set CROWDNOTES_SEARCH_JINA_KEY (free) to read more pages.",
        )
        return cls(_extend_timeout(replace(opened, headers={**opened.headers, "Accept": "application/json"})))

    def read(self, url: str, check: Check) -> Document:
        """See `ReadingService.read`."""
        answer = parse_json(self.service.post("", {"url": url}, check))
        if dig(answer, "code") != 200:
            raise _build_not_read_error(string(answer, "readableMessage") or string(answer, "message"))
        if found := _WARNING_STATUS_PATTERN.search(string(answer, "data", "warning")):
            raise SearchError(f"The page sent it an error ({found.group(1)}).", ProviderState.FAILED)
        if not isinstance(dig(answer, "data"), dict):
            raise unexpected()
        read = _document_from_markdown(url, string(answer, "data", "title"), string(answer, "data", "content"))
        return replace(read, published=parse_date(string(answer, "data", "publishedTime")))


def make_reading_services(search: SearchSettings) -> tuple[ReadingService, ...]:
    """Return all there are: a new one is a class here, or in a file of its own, and one entry."""
    return (TavilyExtract.make(search), JinaReader.make(search))


READING_OPTIONS: tuple[type[BaseModel], ...] = (JinaOptions,)  # Tavily's are with its search


def read_in_time(service: ReadingService, url: str, check: Check) -> Document:
    """See `ReadingService.read`; SearchError as well where it takes too long."""
    try:
        return service.read(url, Deadline(_MAX_READ_SECONDS, check).check)
    except FetchError as error:
        raise SearchError("It did not answer in time.", ProviderState.TIMED_OUT) from error


def check_reading(
    services: Sequence[ReadingService], check: Check, report: Callable[[ServiceCheck], None] = lambda _: None
) -> list[ServiceCheck]:
    """Check which of them answer from here: each reads a page made for such trials, and is reported at once."""
    found = []
    for service in services:
        began = time.monotonic()
        read, state, said = 0, ProviderState.FAILED, ""
        exchanges: list[Exchange] = []
        options, recorded, keyed = BaseModel, service, False
        if isinstance(service, TavilyExtract | JinaReader):
            options, keyed = service.options, service.service.keyed
            recorded = replace(service, service=replace(service.service, on_exchange=exchanges.append))
        try:
            read_in_time(recorded, _TRIAL_URL, check)
            read, state = 1, ProviderState.ANSWERED
        except SearchError as error:
            state, said = error.state, str(error)
        outcome = ServiceCheck(
            provider=service.name,
            label=service.label,
            found=read,
            state=state,
            sentence=said,
            seconds=round(time.monotonic() - began, 3),
            exchanges=tuple(exchanges),
        )
        setting = setting_that_helps(outcome, exchanges, options, _MAX_READ_SECONDS, keyed=keyed)
        found.append(outcome.replace(setting=setting))
        report(found[-1])
    return found


def _extend_timeout(service: Service) -> Service:
    return replace(service, request_seconds=max(service.request_seconds, _MAX_READ_SECONDS), tries=1)


def _build_not_read_error(why: str) -> SearchError:
    said = plain_line(why)[:200].rstrip(".")
    words = f"It could not read the page: {said}." if said else "It could not read the page."
    return SearchError(words, ProviderState.FAILED)


def _document_from_markdown(url: str, title: str, markdown: str) -> Document:
    words = joined_marks(plain_markdown(markdown[:_MAX_MARKDOWN_CHARACTERS]))
    text = tidy_text(printed_letters(readable_formulas(words)))
    if len(text) < _MIN_TEXT_CHARACTERS:
        raise SearchError("It found hardly any text.", ProviderState.FAILED)
    first = next((line.strip("# ") for line in markdown.splitlines() if line.startswith("#")), "")
    heading = plain_line(title or plain_markdown(first)) or url
    try:
        document = Document(title=heading, text=text, language=language_of(text))
        refuse_words_in_place(document)
        return judge_letters(document)
    except FetchError as error:
        raise SearchError(error.message, ProviderState.FAILED) from error


_PICTURE_PATTERN = re.compile(r"!\[[^\[\]]{0,300}\]\([^()\s]{0,2000}(?:\s[^()]{0,300})?\)")
_LINK_PATTERN = re.compile(r"\[([^\[\]]{0,300})\]\([^()\s]{0,2000}(?:\s[^()]{0,300})?\)")
_LINE_MARK_PATTERN = re.compile(r"^[ \t]*(?:#{1,6}|>+|[*+-])[ \t]+", re.MULTILINE)
_RULE_PATTERN = re.compile(r"^[ \t]*(?:[=*_-][ \t]*){3,}$", re.MULTILINE)
_STRUCK_PATTERN = re.compile(r"~~(?=\S)([^~\n]{1,500})(?<=\S)~~|<(del|s|strike)>[^<>]{0,500}</\2>")
_STRONG_PATTERN = re.compile(r"(\*\*|__)(?=\S)([^*_\n]{1,500})(?<=\S)\1")


def plain_markdown(text: str) -> str:
    """Markdown as a person reads it: pictures and what is struck out gone, links as their words, no marks of form."""
    text = _LINK_PATTERN.sub(r"\1", _PICTURE_PATTERN.sub("", _STRUCK_PATTERN.sub("", text)))
    return _STRONG_PATTERN.sub(r"\2", _LINE_MARK_PATTERN.sub("", _RULE_PATTERN.sub("", text)))
