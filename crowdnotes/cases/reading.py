"""From hits and links to sources: choose by utility, then read side by side. Nothing here writes the case."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from threading import Event
from urllib.parse import urldefrag

from crowdnotes.cases.cutoff import kept_by_a_person, timely
from crowdnotes.cases.store import Store
from crowdnotes.cases.tools import Tools
from crowdnotes.cases.ways import FOR_PEOPLE, Ways
from crowdnotes.domain import Case, DateOrigin, FetchOutcome, Hit, Mode, Source, SourceCategory, text_sha256
from crowdnotes.errors import JobCancelled, LibraryError, StoreError
from crowdnotes.evidence.library import LibraryDocument
from crowdnotes.evidence.not_evidence import worth_choosing
from crowdnotes.evidence.provenance import categorise, publisher_of
from crowdnotes.evidence.reading import language_of
from crowdnotes.evidence.search.canonical import canonical_url
from crowdnotes.evidence.utility import select_by_utility
from crowdnotes.jobs import Progress

_AT_ONCE = 6  # pages read side by side: as many as a case chooses


@dataclass(frozen=True, slots=True)
class Wanted:
    """A source to read: a link, or a record of a library."""

    id: str
    title: str
    why: str
    url: str | None = None
    hit: Hit | None = None


def read(
    case: Case, progress: Progress, tools: Tools, store: Store, ways: Ways = FOR_PEOPLE
) -> tuple[Mapping[str, object], str]:
    """Sources: those that a person opened, the links they brought, and the hits of highest utility.

    A page that was read is not fetched again for the same case, under whatever link; one that failed is
    tried again. The cutoff holds for what was read before it was set, too.
    """
    known = {_place_of(source): timely(source, case.until, ways) for source in case.sources if _is_kept(source, store)}
    persons = (item.source for item in case.evidence if item.review.opened_at or item.source.by_hand)
    kept = [kept_by_a_person(source, case.until) for source in persons]
    sources = {_place_of(source): source for source in kept}
    wanted = _one_a_page([*_links(case), *_picks(case, tools, ways)])
    missing = [item for place, item in wanted.items() if place not in sources and place not in known]
    fresh = read_side_by_side(missing, case.until, progress, tools, store, ways)
    for place, item in wanted.items():
        source = sources.get(place) or known.get(place) or fresh.get(item.id)
        if source is not None:
            sources[place] = source
    found = tuple(_distinct(sources.values()))
    was_read = sum(source.outcome is FetchOutcome.READ for source in found)
    failed = len(found) - was_read
    summary = f"{was_read} read" + (f", {failed} could not be read" if failed else "")
    whys = {sources[place].id: item.why for place, item in wanted.items() if place in sources}
    return {"sources": found, "reasons": whys}, summary


def _place_of(source: Source) -> str:
    """What a source is known by within its case: a page by its address, all else by its id."""
    is_page = source.id.startswith("url:") and source.url is not None
    return canonical_url(source.url) if is_page and source.url is not None else source.id


def _one_a_page(items: Iterable[Wanted]) -> dict[str, Wanted]:
    """By place, the first that wants it, with what a search knows of the page."""
    wanted: dict[str, Wanted] = {}
    for item in items:
        place = canonical_url(item.url) if item.url is not None else item.id
        first = wanted.setdefault(place, item)
        if first.hit is None and item.hit is not None:
            wanted[place] = replace(first, hit=item.hit)
    return wanted


def _distinct(sources: Iterable[Source]) -> list[Source]:
    """The first of those that turned out to lead to the same page; one that was read before one that was not."""
    kept: list[Source] = []
    at: dict[str, list[int]] = {}
    for source in sources:
        is_page = source.id.startswith("url:")
        place = canonical_url(source.page_url) if is_page and source.page_url else _place_of(source)
        there = at.setdefault(place, [])
        same = next((number for number in there if _is_one_page(kept[number], source)), None)
        if same is None:
            there.append(len(kept))
            kept.append(source)
        elif kept[same].outcome is not FetchOutcome.READ and source.outcome is FetchOutcome.READ:
            kept[same] = source
    return kept


def _is_one_page(source: Source, other: Source) -> bool:
    """Whether two of one address are one page: many sites give one canonical link to all their pages."""
    if source.text_sha256 is None or other.text_sha256 is None:
        return True
    return source.text_sha256 == other.text_sha256 or source.title == other.title


def wanted_link(url: str) -> Wanted:
    """A link that a person brought."""
    return Wanted(_link_id(url), url, "You brought this link.", url=url)


def wanted_hit(hit: Hit, why: str) -> Wanted | None:
    """A hit as a source to read; None for one that names neither a record nor a link."""
    if hit.library is not None and hit.record is not None:
        return Wanted(f"library:{hit.library}:{hit.record}", hit.title, why, hit=hit)
    return Wanted(_link_id(hit.url), hit.title, why, url=hit.url, hit=hit) if hit.url is not None else None


def _links(case: Case) -> list[Wanted]:
    return [wanted_link(url) for url in case.urls]


def _picks(case: Case, tools: Tools, ways: Ways) -> list[Wanted]:
    if case.mode is not Mode.AUTOMATION:
        return []
    candidates = worth_choosing(case.hits)
    quota = tools.settings.evidence.quota
    chosen = select_by_utility(tools.engine, case.post.as_read, candidates, quota, by_utility=ways.by_utility)
    picks = (wanted_hit(item.hit, item.why) for item in chosen)
    return [pick for pick in picks if pick is not None]


def _link_id(url: str) -> str:
    return f"url:{text_sha256(urldefrag(url).url)[:12]}"


def read_side_by_side(
    wanted: list[Wanted],
    until: date | None,
    progress: Progress,
    tools: Tools,
    store: Store,
    ways: Ways = FOR_PEOPLE,
) -> dict[str, Source]:
    """Read all at once, counting as they end; the sources by id. A cancelled job stops the others within a moment.

    Of links that turn out to lead to the same page, the first alone is there.
    """
    stopped = Event()

    def check() -> None:
        if stopped.is_set():
            raise JobCancelled("The work was stopped.")

    settle = partial(timely, until=until, ways=ways)
    found: dict[str, Source] = {}
    progress.count(0, len(wanted))
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="crowdnotes-read") as pool:
        reading = {pool.submit(_read_one, item, settle, tools, store, check): item for item in wanted}
        try:
            for done in as_completed(reading):
                item = reading[done]
                found[item.id] = done.result()
                progress.count(len(found), len(wanted), item.title)
        except BaseException:
            stopped.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return {source.id: source for source in _distinct(found[item.id] for item in wanted)}


def _read_one(
    item: Wanted, settle: Callable[[Source], Source], tools: Tools, store: Store, check: Callable[[], None]
) -> Source:
    check()
    if item.url is not None:
        source, text = tools.reader.read(item.url, item.id, check, item.hit)
    else:
        source, text = _record(item, tools)
    source = settle(source)
    if text is not None and source.outcome is FetchOutcome.READ:
        store.put_text(text)
    return source


def _record(item: Wanted, tools: Tools) -> tuple[Source, str | None]:
    """A record of a library; one that is gone is a source that could not be read, not the end of the others."""
    if item.hit is None or item.hit.library is None or item.hit.record is None:
        raise ValueError(f"{item.id} names neither a link nor a record")
    try:
        document = tools.libraries.document(item.hit.library, item.hit.record)
    except LibraryError as error:
        return Source(id=item.id, title=item.title, outcome=FetchOutcome.UNREADABLE, outcome_detail=error.message), None
    return _library_source(item.id, document, tools.settings.evidence.categories), document.text


def _is_kept(source: Source, store: Store) -> bool:
    """Whether a source was read before and its text is still there."""
    if source.outcome is not FetchOutcome.READ or source.text_sha256 is None:
        return False
    try:
        store.text(source.text_sha256)
    except StoreError:
        return False
    return True


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
