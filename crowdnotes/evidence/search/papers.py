"""Papers whose page cannot be read: which paper a link is about, and its abstract from a service that has it.

A paper is known by what the search said of it, else by the address itself. What a page says of itself does
not count: it could claim any paper's abstract for its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Protocol, runtime_checkable
from urllib.parse import parse_qsl, unquote, urlsplit

from crowdnotes.domain import SourceCategory
from crowdnotes.errors import FetchError, SearchError
from crowdnotes.evidence.reading.markup import plain_text
from crowdnotes.evidence.search.service import Check
from crowdnotes.evidence.source_types import categorise, original_of
from crowdnotes.evidence.ssrf_guard import Deadline
from crowdnotes.text.urls import canonical_url, doi_url
from crowdnotes.wording import say

_DOI_ADDRESS = "https://doi.org/"
_PUBMED = re.compile(r"https://pubmed\.ncbi\.nlm\.nih\.gov/(\d{1,9})/")
_PMC = re.compile(r"https://pmc\.ncbi\.nlm\.nih\.gov/articles/(PMC\d{1,9})/")
_IN_ADDRESS = re.compile(r"(?:^|/)(10\.\d{4,9}/.+)$")
_FIELDS = ("id", "doi")  # journals.plos.org/plosone/article?id=10.1371/…
# Publishers whose article numbers are the second half of the DOI.
_NATURE = re.compile(r"^/articles/([a-z]?\d[\w.-]+|nature\d+|n[a-z]+\.?\d[\w.]*)/?$", re.IGNORECASE)
_ELSEVIER = re.compile(r"/(?:article/)?PII(S\d{4}-\d{3}[\dX]\(\d\d\)\d{5}-[\dX])", re.IGNORECASE)
_ELSEVIER_HOSTS = ("thelancet.com", "cell.com", "jacc.org", "ajog.org", "jvascsurg.org")


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper by the ids that are known of it, at least one; `doi` in lowercase, `pmcid` with "PMC"."""

    doi: str | None = None
    pmid: str | None = None
    pmcid: str | None = None


def paper_of(url: str | None, doi: str | None = None, pmid: str | None = None) -> Paper | None:
    """The paper that a link, or a search hit with its ids, is about; None for any other page."""
    address = original_of(url.strip()) if url else ""
    known = canonical_url(address) if address else ""
    in_pubmed, in_pmc = _PUBMED.fullmatch(known), _PMC.fullmatch(known)
    stated = _plain(doi) if doi else None
    found = Paper(
        doi=stated or _doi_in(address, known),
        pmid=(pmid if pmid and pmid.isascii() and pmid.isdigit() else None)
        or (in_pubmed.group(1) if in_pubmed else None),
        pmcid=in_pmc.group(1) if in_pmc else None,
    )
    return found if found != Paper() else None


def _doi_in(address: str, known: str) -> str | None:
    if known.startswith(_DOI_ADDRESS):
        return _plain(known.removeprefix(_DOI_ADDRESS))
    try:
        parts = urlsplit(address)
        host = (parts.hostname or "").removeprefix("www.")
    except ValueError:
        return None
    path = unquote(parts.path)
    written: list[str] = []
    # Any host can write a paper's DOI into its addresses.
    if categorise(address) is SourceCategory.RESEARCH:
        in_path = _IN_ADDRESS.search(path)
        fields = [value for name, value in parse_qsl(parts.query) if name.lower() in _FIELDS]
        written = [in_path.group(1)] if in_path is not None else []
        written += [value for value in fields if value.startswith("10.")]
    if host == "nature.com" and (found := _NATURE.match(path)) is not None:
        written.append(f"10.1038/{found.group(1)}")
    is_elsevier = any(host == name or host.endswith(f".{name}") for name in _ELSEVIER_HOSTS)
    if is_elsevier and (found := _ELSEVIER.search(path)) is not None:
        written.append(f"10.1016/{found.group(1)}")
    return _plain(written[0]) if written else None


def _plain(doi: str) -> str | None:
    """A DOI in lowercase without what addresses put around it; None for what is none."""
    address = doi_url(doi)
    return unquote(address.removeprefix(_DOI_ADDRESS)) if address else None


_SECONDS = 15.0  # for all services together: the page itself was waited for already
LEAST = 80  # characters; "No abstract available" is none
_MOST = 8_000


@dataclass(frozen=True, slots=True)
class Abstract:
    """A paper's abstract as plain text, and what the service says of the paper.

    `not_before` is the first day on which it can have come out, where only a month or a year is known too.
    `notices` are marks that a reader must see, in the words of `notice_of`.
    """

    service: str
    title: str
    text: str
    published: date | None = None
    doi: str | None = None
    pmid: str | None = None
    notices: tuple[str, ...] = ()
    not_before: date | None = None


@runtime_checkable
class AbstractService(Protocol):
    """One place to ask. Implementations are safe to share between threads."""

    @property
    def label(self) -> str:
        """As a person knows it, e.g. "Europe PMC"."""
        ...

    def abstract(self, paper: Paper, check: Check) -> Abstract | None:
        """The abstract of that very paper; None when it is not known here or has none.

        Raises SearchError for whatever the service does wrong, and whatever `check` raises.
        """
        ...


def plain_abstract(markup: str) -> str | None:
    """An abstract as plain text of at most 8,000 characters; None for what is too short to be one."""
    text = plain_text(markup, _MOST)
    return text if len(text) >= LEAST else None


class AbstractFinder:
    """The services among `services` that give abstracts, asked in turn. Safe to share between threads when they are."""

    def __init__(self, services: Iterable[object]) -> None:
        self._services = [service for service in services if isinstance(service, AbstractService)]

    def find(self, paper: Paper, check: Check) -> Abstract | str:
        """The first abstract that a service has, else a sentence that says what each answered.

        Raises nothing but what `check` raises.
        """
        deadline = Deadline(_SECONDS, check)
        said: list[str] = []
        for service in self._services:
            try:
                deadline.check()
                found = service.abstract(paper, deadline.check)
            except SearchError as error:
                said.append(say("archive.abstract_failed", service=service.label, error=error.message))
            except FetchError:
                said.append(say("archive.abstract_silent", service=service.label))
                break
            else:
                if found is not None:
                    return found
                said.append(say("archive.no_abstract", service=service.label))
        return " ".join([say("archive.no_abstract_either"), *said]) if said else ""
