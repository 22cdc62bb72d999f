"""From a link to a Source and its text, in one call; what went wrong is a label on the source.

In this order: what cannot be evidence by its address is not fetched; a register's entry whose page is built by script
is read as its service gave it; a page is fetched and read; when the page of a paper cannot be had, its abstract is
read instead; else the archive's copy; else what a reading service gives, if a person ticked one; else the label says
why nothing was read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, date, datetime
from types import MappingProxyType
from typing import Any

from crowdnotes.domain import DateOrigin, FactCheck, FetchOutcome, Hit, ReadAs, Source, SourceCategory, text_sha256
from crowdnotes.errors import FetchError, InputError, SearchError
from crowdnotes.evidence.fetching import Page, PageFetcher, no_check
from crowdnotes.evidence.library import LibraryDocument
from crowdnotes.evidence.reading.document import Document, Extract
from crowdnotes.evidence.reading.extract import extract, read_page
from crowdnotes.evidence.reading.plain_text import tidy_line
from crowdnotes.evidence.reading.reading_services import ReadingService, read_in_time
from crowdnotes.evidence.search import gives_entries
from crowdnotes.evidence.search.papers import MIN_ABSTRACT_CHARACTERS, Abstract, AbstractFinder, paper_of
from crowdnotes.evidence.selection import kind_of_address, reason_to_skip, refuse_page, why_astray
from crowdnotes.evidence.source_types import categorise, is_archived, original_of, publisher_of
from crowdnotes.evidence.ssrf_guard import check_url
from crowdnotes.evidence.wayback import ArchivedCopy, Wayback, public_address
from crowdnotes.text.languages import language_of
from crowdnotes.text.markdown import day
from crowdnotes.text.urls import canonical_url

SourceAndText = tuple[Source, str | None]

# What is too large, unsafe or no page is so in an archive too.
_ARCHIVE_WORTH_ASKING = frozenset(
    {
        FetchOutcome.BLOCKED,
        FetchOutcome.PAYWALLED,
        FetchOutcome.CONSENT,
        FetchOutcome.NOT_FOUND,
        FetchOutcome.TIMED_OUT,
        FetchOutcome.UNREACHABLE,
        FetchOutcome.SERVER_ERROR,
    }
)


# A service may have better luck with these, and with pages that scripts build; what is gone is gone for it too.
_READING_SERVICE_WORTH_ASKING = _ARCHIVE_WORTH_ASKING - {FetchOutcome.NOT_FOUND} | {FetchOutcome.UNREADABLE}


class SourceReader:
    """Fetches and reads. Safe to share between threads when its fetcher is.

    `abstracts` are asked for papers whose pages cannot be read, `wayback` for copies of other pages that
    cannot, and the reading `services` that a call names for what has no copy; nobody is asked without them. The
    addresses of `private_hosts` are sent to no service. Pages are read here, or `by` others.
    """

    def __init__(
        self,
        fetcher: PageFetcher,
        abstracts: AbstractFinder | None = None,
        categories: Mapping[str, SourceCategory] = MappingProxyType({}),
        wayback: Wayback | None = None,
        by: Extract = extract,
        services: Sequence[ReadingService] = (),
        private_hosts: Collection[str] = (),
    ) -> None:
        self._services = {service.name: service for service in services}
        self._private_hosts = private_hosts
        self._by = by
        self._categories = categories  # the user's own, see `source_types`
        self._wayback = wayback
        self._fetcher = fetcher
        self._abstracts = abstracts

    def read(
        self,
        url: str,
        source_id: str,
        check: Callable[[], None] = no_check,
        hit: Hit | None = None,
        until: date | None = None,
        through: Sequence[str] = (),
    ) -> SourceAndText:
        """Return the source, and its text when its outcome is READ, else None.

        `through` are the names of the reading services that may get the address, in the order of asking.

        `hit` is the search result that gave the link: its notices and ids are kept, and its date where
        the page states none. An archived copy that is named is not later than `until`. Raises nothing
        but what `check` raises (a cancelled job). `url` stays as it was brought; the kind and the publisher
        are those of the page where its redirects end, or of the original of an archived copy.
        """
        known = _build_unread_source(url, source_id, hit, self._categories)
        if (sentence := reason_to_skip(url)) is not None and _is_public_address(url):
            return _mark_failed(known, FetchOutcome.NOT_EVIDENCE, sentence), None
        if hit is not None and gives_entries(hit.provider) and len(hit.snippet) >= MIN_ABSTRACT_CHARACTERS:
            return _build_entry_source(known, hit), hit.snippet
        page = self._fetcher.fetch(url, check)
        moved = page.url if canonical_url(page.url) != canonical_url(url) else None
        known = known.replace(
            **_build_address_fields(page.url, self._categories), read_at=page.fetched_at, page_url=moved
        )
        try:
            document = read_page(page, check, self._by)
            refuse_page(url, page.url, document)
        except FetchError as error:
            failed = _mark_failed(known, error.outcome, error.message)
            if error.outcome is FetchOutcome.REFUSED:
                return failed, None
            return self._instead(failed, until, check, through)
        return _build_read_source(known, page, document), document.text

    def _instead(
        self, failed: Source, until: date | None, check: Callable[[], None], through: Sequence[str]
    ) -> SourceAndText:
        """Return abstract of a paper whose page could not be read, else a copy of the page, or the failed source."""
        paper = paper_of(failed.url, failed.doi, failed.pmid) or paper_of(failed.page_url)
        if paper is not None and self._abstracts is not None:
            found = self._abstracts.find(paper, check)
            if not isinstance(found, str):
                return _build_abstract_source(failed, found), found.text
            detail = f"{failed.outcome_detail} {found}".strip()
            failed = failed.replace(outcome_detail=detail, doi=paper.doi, pmid=paper.pmid)
        why = failed.outcome_detail
        if self._wayback is not None and failed.url is not None and failed.outcome in _ARCHIVE_WORTH_ASKING:
            copy, reply = self._wayback.ask(failed.url, until, check)
            archived = copy.url if copy else failed.archived_url
            failed = failed.replace(archive_detail=reply, archived_url=archived)
            if copy is not None and (document := self._copied(copy, check)) is not None:
                return _build_copy_source(
                    failed,
                    document,
                    f"{_why(why)}. We read its archived copy of {day(copy.made)}.",
                )
        return self._through(failed, why, check, through)

    def _copied(self, copy: ArchivedCopy, check: Callable[[], None]) -> Document | None:
        page = self._fetcher.fetch(copy.as_it_was, check)
        try:
            return read_page(page, check, self._by)
        except FetchError:
            return None

    def _through(self, failed: Source, why: str, check: Callable[[], None], names: Sequence[str]) -> SourceAndText:
        """Return what the first of the named services reads; else the failed source, which says what each answered."""
        for service in (self._services[name] for name in names if name in self._services):
            if failed.url is None or failed.outcome not in _READING_SERVICE_WORTH_ASKING:
                break
            url = public_address(failed.url, self._private_hosts)
            try:
                document = read_in_time(service, url, check) if url else None
            except SearchError as error:
                said = f"{service.label} tried to read it: {error.message}"
            else:
                if document is not None:
                    detail = f"{_why(why)}. We read it through {service.label}. Nobody compared the text with the page."
                    read = _build_copy_source(failed, document, detail, ReadAs.THROUGH)
                    return read[0].replace(read_through=service.label), read[1]
                said = f"We did not ask {service.label}: it gets only public addresses without a query."
            failed = failed.replace(outcome_detail=f"{failed.outcome_detail} {said}".strip())
        return failed, None


def _build_unread_source(url: str, source_id: str, hit: Hit | None, own: Mapping[str, SourceCategory]) -> Source:
    """Return what is known of a source before anything is fetched."""
    paper = paper_of(url, hit.doi if hit else None, hit.pmid if hit else None)
    known = Source(
        id=source_id,
        title=(hit.title if hit else "") or tidy_line(url),
        url=url.strip(),
        published=hit.published if hit else None,
        date_origin=DateOrigin.SEARCH if hit and hit.published else None,
        notices=hit.notices if hit else (),
        fact_checks=(hit.check,) if hit and hit.check else (),
        notes=hit.notes if hit else (),
        doi=paper.doi if paper else None,
        pmid=paper.pmid if paper else None,
    )
    return known.replace(**_build_address_fields(url.strip(), own))


def _build_address_fields(url: str, own: Mapping[str, SourceCategory]) -> dict[str, object]:
    """Return what an address says of a source: an archived copy is judged by its original."""
    original = original_of(url)
    fields: dict[str, object] = {"publisher": publisher_of(original), "category": categorise(original, own)}
    return fields | ({"archived_url": url} if is_archived(url) else {})


def _mark_failed(known: Source, outcome: FetchOutcome, detail: str) -> Source:
    return known.replace(outcome=outcome, outcome_detail=detail)


def _build_read_source(known: Source, page: Page, document: Document) -> Source:
    # Sites whose every page names the home page as its canonical address say nothing by it.
    own = document.canonical if document.canonical and kind_of_address(document.canonical) is None else None
    moved = known.page_url or (own if own and canonical_url(own) != canonical_url(page.url) else None)
    publisher = publisher_of(original_of(page.url), document.publisher)
    before, after = publisher_of(original_of(page.requested_url)), publisher_of(original_of(page.url))
    leads_on = "" if before == after else f"The link leads on to {page.url}. "
    return known.replace(
        title=document.title,
        publisher=publisher,
        fact_checks=_merge_fact_checks(known.fact_checks, document.fact_checks, publisher or ""),
        page_url=moved,
        outcome_detail=f"{leads_on}{document.remark}".strip(),
        notices=(*known.notices, *document.notices),
        language=document.language,
        page_starts=document.page_starts,
        **_choose_date_fields(known, document),
        **_build_text_fields(document.text),
    )


def _merge_fact_checks(
    found: tuple[FactCheck, ...], own: tuple[FactCheck, ...], publisher: str
) -> tuple[FactCheck, ...]:
    """Return what a search said of the page, then what the page says besides: in nobody's name but its publisher's."""
    known = {check.claim for check in found}
    besides = (check for check in own if check.claim not in known)
    return (*found, *(check.replace(publisher=publisher, url=None) for check in besides))


def _why(detail: str) -> str:
    """Return why a page was not read: the first sentence without its stop.

    What to do then is not needed where it was read.
    """
    return detail.strip().partition(". ")[0].removesuffix(".")


def _build_copy_source(
    failed: Source, document: Document, detail: str, read_as: ReadAs = ReadAs.ARCHIVED
) -> SourceAndText:
    """Build a source from another service's copy or reading: its only publisher is that of its address."""
    read = failed.replace(
        title=document.title,
        outcome=FetchOutcome.READ,
        outcome_detail=f"{detail} {document.remark}".strip(),
        archive_detail="",
        notices=(*failed.notices, *document.notices),
        read_as=read_as,
        language=document.language,
        page_starts=document.page_starts,
        **_choose_date_fields(failed, document),
        **_build_text_fields(document.text),
    )
    return read, document.text


def _build_abstract_source(failed: Source, found: Abstract) -> Source:
    why = _why(failed.outcome_detail)
    dated = found.published if failed.published is None else failed.published
    return failed.replace(
        title=found.title or failed.title,
        outcome=FetchOutcome.READ,
        outcome_detail=f"{why}. We read its abstract from {found.service}.",
        read_as=ReadAs.ABSTRACT,
        published=dated,
        date_origin=DateOrigin.SEARCH if dated else None,
        not_before=found.not_before if dated is None else None,
        language=language_of(found.text),
        notices=tuple(dict.fromkeys((*failed.notices, *found.notices))),
        doi=failed.doi or found.doi,
        pmid=failed.pmid or found.pmid,
        **_build_text_fields(found.text),
    )


def _build_entry_source(known: Source, hit: Hit) -> Source:
    return known.replace(
        read_as=ReadAs.RECORD,
        language=language_of(hit.snippet),
        read_at=datetime.now(UTC),
        **_build_text_fields(hit.snippet),
    )


def build_record_source(source_id: str, document: LibraryDocument, own: Mapping[str, SourceCategory]) -> Source:
    """Return the source that a record of a library is; a notice where its link does not lead to the record's words."""
    url = document.url
    astray = why_astray(url) if url else None
    return Source(
        id=source_id,
        title=document.title,
        url=url,
        publisher=document.publisher or (publisher_of(url) if url else None),
        published=document.published,
        date_origin=DateOrigin.LIBRARY if document.published else None,
        category=categorise(url or "", own),
        library=document.library,
        record=document.record,
        language=language_of(document.text),
        fact_checks=(document.check,) if document.check else (),
        notices=(astray,) if astray else (),
        **_build_text_fields(document.text),
    )


def _choose_date_fields(known: Source, page: Document) -> Mapping[str, object]:
    """Return the page's own day before the search's; of a page that names none its year or its file's day."""
    if page.published:
        return {"published": page.published, "date_origin": DateOrigin.PAGE}
    if known.published or page.file_date is None:
        return {} if known.published else {"not_before": page.not_before}
    return {"published": page.file_date, "date_origin": DateOrigin.FILE}


def _build_text_fields(text: str) -> Mapping[str, Any]:
    return {"text_sha256": text_sha256(text), "characters": len(text)}


def _is_public_address(url: str) -> bool:
    """Return whether the guard lets the address pass; else its refusal says more than what the page would be."""
    try:
        check_url(url)
    except (InputError, FetchError):
        return False
    return True
