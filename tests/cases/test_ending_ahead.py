"""What was begun ahead of a later stage ends with its job, in whatever way that ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path
from threading import Event

import pytest
from sqlalchemy import Engine

from crowdnotes.cases import voting
from crowdnotes.cases.stages import StageRunner
from crowdnotes.cases.store import SqlStore
from crowdnotes.cases.tools import Tools
from crowdnotes.domain import Case, Decision, DecisionKind, Draft, FetchOutcome, Hit, Mode, Post
from crowdnotes.errors import JobCancelled, StoreFullError
from crowdnotes.evidence.content_type import PLAIN
from crowdnotes.evidence.fetching import Page, no_check
from crowdnotes.evidence.library import Libraries
from crowdnotes.evidence.link_check import LinkChecker
from crowdnotes.evidence.sources import SourceReader
from crowdnotes.jobs import JobRecord, JobState, Progress, Step, ThreadJobRunner
from crowdnotes.jobs.table import JobTable
from crowdnotes.settings import Settings
from crowdnotes.storage.opening import open_database
from crowdnotes.testing import FixedClock, HashingEmbedder, ScriptedEngine, make_case, no_jury

SECONDS = 30.0  # to wait for what is sure to come
AT = datetime(2026, 1, 2, tzinfo=UTC)
URL = "https://slow.example.net/1"
DECISION = Decision(kind=DecisionKind.NOT_NEEDED, by="ann", at=AT, reason="It is a joke.")


@dataclass
class _Slow:
    """What never answers: `begun` once it was asked, `ended` once it was told to stop. `released` by the test's end."""

    begun: Event = field(default_factory=Event)
    ended: Event = field(default_factory=Event)
    released: Event = field(default_factory=Event)

    def wait(self, check: Callable[[], None]) -> None:
        self.begun.set()
        try:
            while not self.released.wait(0.01):
                check()
        except JobCancelled:
            self.ended.set()
            raise

    def fetch(self, url: str, check: Callable[[], None] = no_check) -> Page:
        """A page, see `PageFetcher`."""
        self.wait(check)
        return Page(url, url, FetchOutcome.READ, AT, PLAIN, "utf-8", b"Words of the page.")

    def status(self, url: str, seconds: float, check: Callable[[], None]) -> int:
        """A link, see `LinkAsker`."""
        self.wait(check)
        return 200


class _Provider:
    """Answers with nothing once a page was begun, and `meanwhile` a person does something."""

    needs = None
    name, label, at_once, most_queries = "quick", "Quick", 1, 5

    def __init__(self, slow: _Slow, meanwhile: Callable[[], object]) -> None:
        self._slow, self._meanwhile = slow, meanwhile

    def search(
        self, query: str, *, limit: int, until: date | None, language: str | None, check: Callable[[], None]
    ) -> list[Hit]:
        assert self._slow.begun.wait(SECONDS)
        self._meanwhile()
        return []


@pytest.fixture
def slow() -> Iterator[_Slow]:
    slow = _Slow()
    yield slow
    slow.released.set()


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Engine]:
    database = open_database(f"sqlite:///{tmp_path / 'cases.sqlite'}")
    yield database
    database.dispose()


@pytest.fixture
def store(database: Engine) -> SqlStore:
    return SqlStore(database)


@pytest.fixture
def runner(database: Engine) -> Iterator[ThreadJobRunner]:
    runner = ThreadJobRunner(database)
    yield runner
    runner.close()


def _stages(store: SqlStore, slow: _Slow, folder: Path, *providers: _Provider) -> StageRunner:
    settings, embedder = Settings(data_dir=folder), HashingEmbedder()
    links = LinkChecker(slow, settings.links, FixedClock())
    libraries = Libraries(folder, embedder)
    reader = SourceReader(slow)
    tools = Tools(ScriptedEngine(), embedder, reader, libraries, lambda _: providers, settings, links, no_jury)
    return StageRunner(store, tools, FixedClock())


def _sources_changed(case: Case) -> Case:
    return case.model_copy(update={"until": date(2024, 1, 1)})


def _post_changed(case: Case) -> Case:
    return case.model_copy(update={"post": Post(text="Another claim.")})


def _decided(case: Case) -> Case:
    return case.model_copy(update={"decision": DECISION})


def _gathering(
    store: SqlStore, slow: _Slow, folder: Path, meanwhile: Callable[[Case], object]
) -> tuple[Case, list[Step]]:
    case = make_case(mode=Mode.AUTOMATION, services=("quick",), urls=(URL,))
    store.add(case)
    return case, _stages(store, slow, folder, _Provider(slow, lambda: meanwhile(case))).gather(case.id)


def _assessing(store: SqlStore, slow: _Slow, folder: Path) -> tuple[Case, list[Step]]:
    """The steps for a note with a link that does not answer; the first returns when that was asked."""
    case = make_case(draft=Draft(text=f"So they say. {URL}", engine="person", written_at=AT))
    store.add(case)
    score, *later = _stages(store, slow, folder).assess(case.id, before_inspection=True)
    return case, [_followed(score, lambda: slow.begun.wait(SECONDS)), *later]


def _followed(step: Step, by: Callable[[], object]) -> Step:
    """The step, and something else at its very end."""

    def run(progress: Progress) -> str:
        summary = step.run(progress)
        by()
        return summary

    return replace(step, run=run)


def _run(runner: ThreadJobRunner, case: Case, steps: list[Step]) -> JobRecord:
    return runner.wait(runner.start(case.id, "work", steps).id, SECONDS)


def _wait_for_the_end_of(new_threads: str, before: set[threading.Thread]) -> None:
    deadline = time.monotonic() + SECONDS
    while any(thread.name.startswith(new_threads) for thread in set(threading.enumerate()) - before):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _full(table: JobTable, record: JobRecord) -> bool:
    raise StoreFullError("Full.")


@pytest.mark.parametrize("change", [_sources_changed, _post_changed, _decided])
def test_pages_end_when_the_search_comes_to_another_case_than_it_was_for(
    store: SqlStore, slow: _Slow, runner: ThreadJobRunner, tmp_path: Path, change: Callable[[Case], Case]
) -> None:
    case, steps = _gathering(store, slow, tmp_path, lambda case: store.update(case.id, change))
    assert _run(runner, case, steps).state in {JobState.FAILED, JobState.CANCELLED}
    assert slow.ended.wait(SECONDS)


def test_pages_end_when_the_job_is_cancelled_while_it_searches(
    store: SqlStore, slow: _Slow, runner: ThreadJobRunner, tmp_path: Path
) -> None:
    before = set(threading.enumerate())
    case, steps = _gathering(store, slow, tmp_path, lambda case: runner.cancel(_job_of(runner, case)))
    assert _run(runner, case, steps).state is JobState.CANCELLED
    assert slow.ended.wait(SECONDS)
    _wait_for_the_end_of("crowdnotes-pages-ahead", before)


def test_pages_and_their_threads_end_when_the_job_is_cancelled_between_searching_and_reading(
    store: SqlStore, slow: _Slow, runner: ThreadJobRunner, tmp_path: Path
) -> None:
    before = set(threading.enumerate())
    case, (queries, search, *later) = _gathering(store, slow, tmp_path, lambda case: None)
    search = _followed(search, lambda: runner.cancel(_job_of(runner, case)))
    assert _run(runner, case, [queries, search, *later]).state is JobState.CANCELLED
    assert slow.ended.wait(SECONDS)
    _wait_for_the_end_of("crowdnotes-pages-ahead", before)


def test_pages_end_when_it_cannot_be_saved_that_the_search_is_done(
    store: SqlStore, slow: _Slow, runner: ThreadJobRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case, (queries, search, *later) = _gathering(store, slow, tmp_path, lambda case: None)
    search = _followed(search, lambda: monkeypatch.setattr(JobTable, "save", _full))
    assert _run(runner, case, [queries, search, *later]).state is JobState.INTERRUPTED
    assert slow.ended.wait(SECONDS)


def test_links_end_when_the_jury_fails(
    store: SqlStore, slow: _Slow, runner: ThreadJobRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(case: Case, jury: object) -> None:
        raise RuntimeError("The jury fell over.")

    case, steps = _assessing(store, slow, tmp_path)
    monkeypatch.setattr(voting, "vote", broken)
    assert _run(runner, case, steps).state is JobState.FAILED
    assert slow.ended.wait(SECONDS)


def test_links_end_when_the_case_is_decided_while_the_jury_sits(
    store: SqlStore, slow: _Slow, runner: ThreadJobRunner, tmp_path: Path
) -> None:
    case, (score, *later) = _assessing(store, slow, tmp_path)
    score = _followed(score, lambda: store.update(case.id, _decided))
    assert _run(runner, case, [score, *later]).state is JobState.CANCELLED
    assert slow.ended.wait(SECONDS)


def test_links_end_when_it_cannot_be_saved_that_the_note_is_scored(
    store: SqlStore, slow: _Slow, runner: ThreadJobRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case, (score, *later) = _assessing(store, slow, tmp_path)
    score = _followed(score, lambda: monkeypatch.setattr(JobTable, "save", _full))
    assert _run(runner, case, [score, *later]).state is JobState.INTERRUPTED
    assert slow.ended.wait(SECONDS)


def _job_of(runner: ThreadJobRunner, case: Case) -> str:
    job = runner.latest(case.id)
    assert job is not None
    return job.id
