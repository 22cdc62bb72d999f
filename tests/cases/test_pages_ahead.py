"""Pages read while slow services are waited for: taken when they are chosen, without a trace when not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from threading import Event, Lock

import pytest

from crowdnotes.cases import searching
from crowdnotes.cases.pages_ahead import PagesAhead
from crowdnotes.cases.reading import read
from crowdnotes.cases.store import SqlStore
from crowdnotes.cases.tools import Tools
from crowdnotes.cases.wanted import wanted_link
from crowdnotes.cases.ways import FOR_PEOPLE
from crowdnotes.domain import Case, FetchOutcome, Hit, Mode, Post, Query, Source, text_sha256
from crowdnotes.errors import JobCancelled, StoreError
from crowdnotes.evidence.content_type import PLAIN
from crowdnotes.evidence.fetching import Page, no_check
from crowdnotes.evidence.library import Libraries
from crowdnotes.evidence.link_check import LinkChecker
from crowdnotes.evidence.sources import SourceReader
from crowdnotes.settings import EvidenceSettings, Settings
from crowdnotes.storage.opening import open_database
from crowdnotes.testing import FixedClock, HashingEmbedder, LiveLinks, ScriptedEngine, make_case, no_jury

SECONDS = 30.0  # to wait for what is sure to come


def _url(number: int) -> str:
    return f"https://quick.example.net/{number}"


class _Web:
    """Counts; `arrived` is set at the first page, and pages wait for `open`."""

    def __init__(self) -> None:
        self.fetched: Counter[str] = Counter()
        self.arrived, self.open = Event(), Event()
        self.open.set()
        self._lock = Lock()

    def fetch(self, url: str, check: Callable[[], None] = no_check) -> Page:
        with self._lock:
            self.fetched[url] += 1
        self.arrived.set()
        while not self.open.wait(0.01):
            check()
        return Page(url, url, FetchOutcome.READ, datetime.now(UTC), PLAIN, "utf-8", _words(url).encode())


def _words(url: str) -> str:
    return f"What the page at {url} says of tea is long enough to be read as a page of its own."


class _Progress:
    def count(self, done: int, total: int, note: str = "") -> None:
        return

    def check(self) -> None:
        return


class _Provider:
    """Answers with the pages of these numbers, once `wait` has come."""

    needs = None
    at_once = 1
    most_queries = 5

    def __init__(self, name: str, numbers: Sequence[int], wait: Event | None = None) -> None:
        self.name, self.label, self._numbers, self._wait = name, name.title(), numbers, wait

    def search(
        self, query: str, *, limit: int, until: date | None, language: str | None, check: Callable[[], None]
    ) -> list[Hit]:
        assert self._wait is None or self._wait.wait(SECONDS)
        return [
            Hit(provider=self.name, title=f"Tea {number}", snippet="tea", query=query, url=_url(number))
            for number in self._numbers
        ]


class _AskingEngine(ScriptedEngine):
    """One that could not tell what it would pick without being paid; `asked` is set when it is wanted to."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = Event()

    def look_over(self, post: Post, hits: Sequence[Hit], quota: int) -> list[Hit] | None:
        self.asked.set()
        return None


@pytest.fixture
def web() -> _Web:
    return _Web()


@pytest.fixture
def tools(web: _Web, tmp_path: Path) -> Tools:
    settings = Settings(data_dir=tmp_path, evidence=EvidenceSettings(quota=2))
    embedder = HashingEmbedder()
    links = LinkChecker(LiveLinks(), settings.links, FixedClock())
    libraries = Libraries(tmp_path, embedder)
    return Tools(ScriptedEngine(), embedder, SourceReader(web), libraries, lambda _: [], settings, links, no_jury)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlStore]:
    database = open_database(f"sqlite:///{tmp_path / 'cases.sqlite'}")
    yield SqlStore(database)
    database.dispose()


def _case(**changes: object) -> Case:
    queries = (Query(text="tea", purpose="the claim"),)
    return make_case(mode=Mode.AUTOMATION, services=("quick", "slow"), queries=queries, **changes)


def _searched(case: Case, tools: Tools, pages: PagesAhead, *providers: _Provider) -> Case:
    tools = replace(tools, providers=lambda _: providers)
    changes, _ = searching.search(case, _Progress(), tools, pages)
    return case.model_copy(update=dict(changes))


def test_pages_come_while_a_slow_service_is_waited_for_and_are_fetched_once(
    web: _Web, tools: Tools, store: SqlStore
) -> None:
    pages = PagesAhead(tools, FOR_PEOPLE)
    # The slow service answers only after a page of the quick one was asked for: else the search would fail.
    case = _searched(_case(), tools, pages, _Provider("quick", [1, 2]), _Provider("slow", [3], wait=web.arrived))
    changes, summary = read(case, _Progress(), tools, store, FOR_PEOPLE, pages)
    assert summary == "2 read"
    assert set(web.fetched.values()) == {1}
    sources = changes["sources"]
    assert isinstance(sources, tuple)
    assert all(store.text(source.text_sha256) == _words(source.url) for source in sources)


class _Knowing(_Provider):
    """Knows more of its pages than others do."""

    def search(
        self, query: str, *, limit: int, until: date | None, language: str | None, check: Callable[[], None]
    ) -> list[Hit]:
        more = {"notices": ("retracted",), "published": date(2020, 1, 1)}
        found = super().search(query, limit=limit, until=until, language=language, check=check)
        return [hit.model_copy(update=more) for hit in found]


def test_what_a_slow_service_knows_of_a_page_read_ahead_is_not_lost(web: _Web, tools: Tools, store: SqlStore) -> None:
    pages = PagesAhead(tools, FOR_PEOPLE)
    case = _searched(_case(), tools, pages, _Provider("quick", [1]), _Knowing("slow", [1], wait=web.arrived))
    changes, _ = read(case, _Progress(), tools, store, FOR_PEOPLE, pages)
    sources = changes["sources"]
    assert isinstance(sources, tuple)
    [source] = sources
    assert (source.notices, source.published) == (("retracted",), date(2020, 1, 1))


def test_a_page_read_under_another_cutoff_is_read_again(web: _Web, tools: Tools) -> None:
    pages = PagesAhead(tools, FOR_PEOPLE)
    pages.begin([wanted_link(_url(1))], _case(), no_check)
    assert pages.take(wanted_link(_url(1)), date(2023, 1, 1), no_check) is None
    assert pages.take(wanted_link(_url(1)), None, no_check) is not None


def test_a_page_that_is_not_chosen_leaves_nothing_behind(web: _Web, tools: Tools, store: SqlStore) -> None:
    pages = PagesAhead(tools, FOR_PEOPLE)
    pages.begin([wanted_link(_url(9))], _case(), no_check)
    assert pages.take(wanted_link(_url(9)), None, no_check) is not None
    read(_case(), _Progress(), tools, store, FOR_PEOPLE, pages)
    with pytest.raises(StoreError):
        store.text(text_sha256(_words(_url(9))))


def test_an_engine_that_must_ask_begins_no_page(web: _Web, tools: Tools) -> None:
    engine = _AskingEngine()
    tools = replace(tools, engine=engine)
    slow = _Provider("slow", [3], wait=engine.asked)
    _searched(_case(), tools, PagesAhead(tools, FOR_PEOPLE), _Provider("quick", [1]), slow)
    assert not web.fetched


def test_no_more_pages_are_begun_than_half_as_many_again_as_are_wanted(web: _Web, tools: Tools) -> None:
    web.open.clear()
    pages = PagesAhead(tools, FOR_PEOPLE)
    for number in range(9):
        pages.begin([wanted_link(_url(number))], _case(), no_check)
    web.open.set()
    assert [pages.take(wanted_link(_url(number)), None, no_check) is not None for number in range(4)] == [
        True,
        True,
        True,
        False,
    ]


def test_what_the_case_has_read_before_is_not_begun(web: _Web, tools: Tools) -> None:
    source = Source(id="url:1", title="t", url=_url(1), outcome=FetchOutcome.READ)
    pages = PagesAhead(tools, FOR_PEOPLE)
    pages.begin([wanted_link(_url(1))], _case(sources=(source,)), no_check)
    assert pages.take(wanted_link(_url(1)), None, no_check) is None
    assert not web.fetched


def test_stop_begins_no_page_again(web: _Web, tools: Tools, store: SqlStore) -> None:
    web.open.clear()
    stopped = Event()

    class Stopping(_Progress):
        def check(self) -> None:
            if stopped.is_set():
                raise JobCancelled("Stopped.")

    case, progress = _case(urls=(_url(1),)), Stopping()
    pages = PagesAhead(tools, FOR_PEOPLE)
    pages.begin([wanted_link(_url(1))], case, progress.check)
    assert web.arrived.wait(SECONDS)
    stopped.set()
    with pytest.raises(JobCancelled):
        read(case, progress, tools, store, FOR_PEOPLE, pages)
    assert web.fetched == {_url(1): 1}


def test_a_cancelled_job_waits_for_no_page(web: _Web, tools: Tools) -> None:
    web.open.clear()
    pages = PagesAhead(tools, FOR_PEOPLE)
    pages.begin([wanted_link(_url(1))], _case(), no_check)

    def cancel() -> None:
        raise JobCancelled("Stopped.")

    with pytest.raises(JobCancelled):
        pages.take(wanted_link(_url(1)), None, cancel)
    pages.end()
    assert pages.take(wanted_link(_url(1)), None, no_check) is None  # it stopped at its next look
