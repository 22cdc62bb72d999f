"""From hits and links to sources: choose by utility, then read side by side. Nothing here writes the case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Event

from crowdnotes.cases.choosing import read_best
from crowdnotes.cases.cutoff import kept_by_a_person, timely
from crowdnotes.cases.reading_one import AT_ONCE, read_one
from crowdnotes.cases.store import Store
from crowdnotes.cases.tools import Tools
from crowdnotes.cases.wanted import Wanted, distinct, one_a_page, place_of, wanted_link
from crowdnotes.cases.ways import FOR_PEOPLE, Ways
from crowdnotes.domain import Case, FetchOutcome, Hit, Mode, Source
from crowdnotes.errors import JobCancelled, StoreError
from crowdnotes.evidence.not_evidence import worth_choosing
from crowdnotes.evidence.utility import Selection, select_by_utility
from crowdnotes.jobs import Progress


def read(
    case: Case,
    progress: Progress,
    tools: Tools,
    store: Store,
    ways: Ways = FOR_PEOPLE,
) -> tuple[Mapping[str, object], str]:
    """Sources: those that a person opened, the links they brought, and the hits of highest utility.

    A page that was read is not fetched again for the same case, under whatever link; one that failed is
    tried again, and the next best hit is read in its place. The cutoff holds for what was read before it
    was set, too.
    """
    known = {place_of(source): timely(source, case.until, ways) for source in case.sources if _is_kept(source, store)}
    persons = (item.source for item in case.evidence if item.review.opened_at or item.source.by_hand)
    kept = [kept_by_a_person(source, case.until) for source in persons]
    sources = {place_of(source): source for source in kept}

    def have(items: Sequence[Wanted]) -> Mapping[str, Source]:
        wanted = one_a_page(items)
        missing = [item for place, item in wanted.items() if place not in sources and place not in known]
        fresh = read_side_by_side(missing, case, progress, tools, store, ways)
        had: dict[str, Source] = {}
        for place, item in wanted.items():
            source = sources.get(place) or known.get(place) or fresh.get(item.id)
            if source is not None:
                had[item.id] = sources[place] = source
        return had

    def choose(candidates: Sequence[Hit], quota: int, beside: Sequence[Hit]) -> Selection:
        post = case.post.as_read
        return select_by_utility(tools.engine, post, candidates, quota, beside=beside, by_utility=ways.by_utility)

    candidates = worth_choosing(case.hits) if case.mode is Mode.AUTOMATION else []
    links = [wanted_link(url) for url in case.urls]
    best = read_best(candidates, tools.settings.evidence.quota, choose, have, links)
    found = tuple(distinct(sources.values()))
    return {"sources": found, "reasons": dict(best.reasons)}, summary_of(found, best.rest)


def summary_of(sources: Sequence[Source], rest: str = "") -> str:
    """How many were read and how many not, and why nothing of the `rest` was chosen: "5 read, 1 could not be read"."""
    was_read = sum(source.outcome is FetchOutcome.READ for source in sources)
    failed = len(sources) - was_read
    summary = f"{was_read} read" + (f", {failed} could not be read" if failed else "")
    if not rest:
        return summary
    return f"{summary}. {'Nothing else that was found' if sources else 'None of what was found'} was chosen: {rest}"


def read_side_by_side(
    wanted: Sequence[Wanted],
    case: Case,
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
        progress.check()

    def read_and_keep(item: Wanted) -> Source:
        source, text = read_one(item, case, tools, ways, check)
        if text is not None:
            store.put_text(text)
        return source

    found: dict[str, Source] = {}
    progress.count(0, len(wanted))
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="crowdnotes-read") as pool:
        reading = {pool.submit(read_and_keep, item): item for item in wanted}
        try:
            for done in as_completed(reading):
                item = reading[done]
                found[item.id] = done.result()
                progress.count(len(found), len(wanted), item.title)
        except BaseException:
            stopped.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return {source.id: source for source in distinct(found[item.id] for item in wanted)}


def _is_kept(source: Source, store: Store) -> bool:
    """Whether a source was read before and its text is still there."""
    if source.outcome is not FetchOutcome.READ or source.text_sha256 is None:
        return False
    try:
        store.text(source.text_sha256)
    except StoreError:
        return False
    return True
