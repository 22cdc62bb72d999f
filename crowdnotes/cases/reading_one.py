"""One source read: a page by its link, or a record of a library. Nothing here is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from crowdnotes.cases.cutoff import timely
from crowdnotes.cases.tools import Tools
from crowdnotes.cases.wanted import Wanted
from crowdnotes.cases.ways import Ways
from crowdnotes.domain import Case, DateOrigin, FetchOutcome, Source, SourceCategory, text_sha256
from crowdnotes.errors import LibraryError
from crowdnotes.evidence.library import LibraryDocument
from crowdnotes.evidence.provenance import categorise, publisher_of
from crowdnotes.text.languages import language_of

AT_ONCE = 6  # pages read side by side: as many as a case chooses

Read = tuple[Source, str | None]


def read_one(item: Wanted, case: Case, tools: Tools, ways: Ways, check: Callable[[], None]) -> Read:
    """The source as the case's cutoff leaves it, and its text when it was read, else None.

    Raises what `check` raises, and nothing else: what goes wrong is a label on the source.
    """
    check()
    if item.url is not None:
        source, text = tools.reader.read(item.url, item.id, check, item.hit, case.until)
    else:
        source, text = _record(item, tools)
    source = timely(source, case.until, ways)
    return source, text if source.outcome is FetchOutcome.READ else None


def _record(item: Wanted, tools: Tools) -> Read:
    """A record of a library; one that is gone is a source that could not be read, not the end of the others."""
    if item.hit is None or item.hit.library is None or item.hit.record is None:
        raise ValueError(f"{item.id} names neither a link nor a record")
    try:
        document = tools.libraries.document(item.hit.library, item.hit.record)
    except LibraryError as error:
        return Source(id=item.id, title=item.title, outcome=FetchOutcome.UNREADABLE, outcome_detail=error.message), None
    return _library_source(item.id, document, tools.settings.evidence.categories), document.text


def _library_source(source_id: str, document: LibraryDocument, own: Mapping[str, SourceCategory]) -> Source:
    url = document.url
    return Source(
        id=source_id,
        title=document.title,
        url=url,
        publisher=document.publisher or (publisher_of(url) if url else None),
        published=document.published,
        date_origin=DateOrigin.LIBRARY if document.published else None,
        category=categorise(url or "", own),
        text_sha256=text_sha256(document.text),
        characters=len(document.text),
        library=document.library,
        record=document.record,
        language=language_of(document.text),
    )
