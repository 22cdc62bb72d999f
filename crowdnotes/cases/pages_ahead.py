"""Pages read before it is settled that they are wanted, while slow services are still waited for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import date
from threading import Event, Lock

from crowdnotes.cases.reading_one import AT_ONCE, Read, read_one
from crowdnotes.cases.tools import Tools
from crowdnotes.cases.wanted import Wanted, place_of
from crowdnotes.cases.ways import Ways
from crowdnotes.domain import Case, FetchOutcome, Hit
from crowdnotes.errors import JobCancelled
from crowdnotes.text.urls import canonical_url

_SLICE = 0.05  # seconds between two looks at whether the job was cancelled


@dataclass(frozen=True, slots=True)
class _Begun:
    item: Wanted
    until: date | None
    reading: Future[Read]


class PagesAhead:
    """For one job: begun in one step, used in a later one. Pages that are not asked for leave no trace.

    At most one and a half times as many as the case will choose: a wrong guess costs a site a request.
    """

    def __init__(self, tools: Tools, ways: Ways) -> None:
        self._tools = tools
        self._ways = ways
        self._most = tools.settings.evidence.quota * 3 // 2
        self._begun: dict[str, _Begun] = {}
        self._lock = Lock()
        self._ended = Event()
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="crowdnotes-pages-ahead")

    def begin(self, items: Iterable[Wanted], case: Case, check: Callable[[], None]) -> None:
        """Read those links among `items` that are not begun yet; does not wait. Records of libraries are at hand."""

        def go_on() -> None:
            if self._ended.is_set():
                raise JobCancelled("The page is not wanted any more.")
            check()

        was_read = {place_of(source) for source in case.sources if source.outcome is FetchOutcome.READ}
        with self._lock:
            for item in items:
                place = _place(item)
                if place is None or place in was_read or place in self._begun:
                    continue
                if len(self._begun) >= self._most or self._ended.is_set():
                    return
                reading = self._pool.submit(read_one, item, case, self._tools, self._ways, go_on)
                self._begun[place] = _Begun(item, case.until, reading)

    def take(self, item: Wanted, until: date | None, check: Callable[[], None]) -> Read | None:
        """What was read of it, waited for, under the item's own id.

        None when it was not begun in time, or when more is known of it by now, or another cutoff holds:
        then it must be read again, as the page was labelled by what was known.
        """
        place = _place(item)
        with self._lock:
            begun = None if place is None else self._begun.get(place)
        if begun is None or begun.until != until or _known(begun.item.hit) != _known(item.hit):
            return None
        while not begun.reading.done():
            check()
            wait([begun.reading], timeout=_SLICE)
        try:
            source, text = begun.reading.result()
        except (JobCancelled, CancelledError):
            return None
        return source.model_copy(update={"id": item.id, "url": item.url}), text

    def end(self) -> None:
        """Stop what is still being read; does not wait for it."""
        with self._lock:
            self._ended.set()
        self._pool.shutdown(wait=False, cancel_futures=True)


def _place(item: Wanted) -> str | None:
    return canonical_url(item.url) if item.url is not None else None


def _known(hit: Hit | None) -> tuple[object, ...]:
    """What a search told of a page that its source keeps."""
    return () if hit is None else (hit.title, hit.published, hit.notices, hit.doi, hit.pmid)
