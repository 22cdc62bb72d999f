"""From hits and links to sources: choose by utility, then read side by side. Nothing here writes the case."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import date
from threading import Event
from urllib.parse import urldefrag

from crowdnotes.cases.store import Store
from crowdnotes.cases.tools import Tools
from crowdnotes.domain import Case, DateOrigin, FetchOutcome, Hit, Mode, Source, text_sha256
from crowdnotes.errors import JobCancelled, LibraryError, StoreError
from crowdnotes.evidence.library import LibraryDocument
from crowdnotes.evidence.provenance import categorise, publisher_of
from crowdnotes.evidence.utility import select_by_utility
from crowdnotes.jobs import Progress

_AT_ONCE = 6  # pages read side by side: as many as a case chooses


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A source to read: a link, or a record of a library."""

    id: str
    title: str
    why: str
    url: str | None = None
    hit: Hit | None = None


def read(case: Case, progress: Progress, tools: Tools, store: Store) -> tuple[Mapping[str, object], str]:
    """Sources: those that a person opened, the links they brought, and the hits of highest utility.

    A page that was read is not fetched again for the same case; one that failed is tried again.
    """
    known = {source.id: source for source in case.sources if _is_kept(source, store)}
    kept = [item.source for item in case.evidence if item.review.opened_at or item.source.id.startswith("hand:")]
    sources: dict[str, Source | None] = {source.id: source for source in kept}
    wanted = {item.id: item for item in (*_links(case), *_picks(case, tools))}
    for item in wanted.values():
        sources.setdefault(item.id, known.get(item.id))
    missing = [item for item in wanted.values() if sources[item.id] is None]
    sources.update(_read_side_by_side(missing, case.until, progress, tools, store))
    found = tuple(source for source in sources.values() if source is not None)
    was_read = sum(source.outcome is FetchOutcome.READ for source in found)
    failed = len(found) - was_read
    summary = f"{was_read} read" + (f", {failed} could not be read" if failed else "")
    return {"sources": found, "reasons": {item.id: item.why for item in wanted.values()}}, summary


def _links(case: Case) -> list[_Wanted]:
    return [_Wanted(_link_id(url), url, "You brought this link.", url=url) for url in case.urls]


def _picks(case: Case, tools: Tools) -> list[_Wanted]:
    if case.mode is not Mode.AUTOMATION:
        return []
    chosen = select_by_utility(tools.engine, case.post, case.hits, tools.settings.evidence.quota)
    picks: list[_Wanted] = []
    for item in chosen:
        hit = item.hit
        if hit.library is not None and hit.record is not None:
            picks.append(_Wanted(f"library:{hit.library}:{hit.record}", hit.title, item.why, hit=hit))
        elif hit.url is not None:
            picks.append(_Wanted(_link_id(hit.url), hit.title, item.why, url=hit.url, hit=hit))
    return picks


def _link_id(url: str) -> str:
    return f"url:{text_sha256(urldefrag(url).url)[:12]}"


def _read_side_by_side(
    wanted: list[_Wanted], until: date | None, progress: Progress, tools: Tools, store: Store
) -> dict[str, Source]:
    """Read all at once, counting as they end. A cancelled job stops the others within a moment."""
    stopped = Event()

    def check() -> None:
        if stopped.is_set():
            raise JobCancelled("The work was stopped.")

    found: dict[str, Source] = {}
    progress.count(0, len(wanted))
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="crowdnotes-read") as pool:
        reading = {pool.submit(_read_one, item, until, tools, store, check): item for item in wanted}
        try:
            for done in as_completed(reading):
                item = reading[done]
                found[item.id] = done.result()
                progress.count(len(found), len(wanted), item.title)
        except BaseException:
            stopped.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return {item.id: found[item.id] for item in wanted}


def _read_one(item: _Wanted, until: date | None, tools: Tools, store: Store, check: Callable[[], None]) -> Source:
    check()
    if item.url is not None:
        source, text = tools.reader.read(item.url, item.id, check)
    else:
        source, text = _record(item, tools)
    if until is not None and source.published is not None and source.published > until:
        detail = f"It is of {source.published}, later than {until}."
        return source.model_copy(update={"outcome": FetchOutcome.TOO_LATE, "outcome_detail": detail})
    if text is not None:
        store.put_text(text)
    return source


def _record(item: _Wanted, tools: Tools) -> tuple[Source, str | None]:
    """A record of a library; one that is gone is a source that could not be read, not the end of the others."""
    if item.hit is None or item.hit.library is None or item.hit.record is None:
        raise ValueError(f"{item.id} names neither a link nor a record")
    try:
        document = tools.libraries.document(item.hit.library, item.hit.record)
    except LibraryError as error:
        return Source(id=item.id, title=item.title, outcome=FetchOutcome.UNREADABLE, outcome_detail=error.message), None
    return _library_source(item.id, document), document.text


def _is_kept(source: Source, store: Store) -> bool:
    """Whether a source was read before and its text is still there."""
    if source.outcome is not FetchOutcome.READ or source.text_sha256 is None:
        return False
    try:
        store.text(source.text_sha256)
    except StoreError:
        return False
    return True


def _library_source(source_id: str, document: LibraryDocument) -> Source:
    url = document.url
    return Source(
        id=source_id,
        title=document.title,
        url=url,
        publisher=document.publisher or (publisher_of(url) if url else None),
        published=document.published,
        date_origin=DateOrigin.LIBRARY if document.published else None,
        category=categorise(url or ""),
        text_sha256=text_sha256(document.text),
        characters=len(document.text),
        library=document.library,
        record=document.record,
    )
