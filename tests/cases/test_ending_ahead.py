"""What was begun ahead of a later stage ends at once when that stage will not come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from threading import Event

import pytest

from crowdnotes.cases import voting
from crowdnotes.cases.stages import StageRunner
from crowdnotes.cases.store import SqlStore
from crowdnotes.cases.tools import Tools
from crowdnotes.domain import Case, Decision, DecisionKind, Draft, FetchOutcome, Hit, Mode, Post
from crowdnotes.errors import CrowdNotesError, JobCancelled
from crowdnotes.evidence.content_type import PLAIN
from crowdnotes.evidence.fetching import Page, no_check
from crowdnotes.evidence.library import Libraries
from crowdnotes.evidence.link_check import LinkChecker
from crowdnotes.evidence.sources import SourceReader
from crowdnotes.jobs import Step
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


class _Progress:
    def __init__(self) -> None:
        self.stopped = False

    def count(self, done: int, total: int, note: str = "") -> None:
        return

    def check(self) -> None:
        if self.stopped:
            raise JobCancelled("Stopped.")


@pytest.fixture
def slow() -> Iterator[_Slow]:
    slow = _Slow()
    yield slow
    slow.released.set()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlStore]:
    database = open_database(f"sqlite:///{tmp_path / 'cases.sqlite'}")
    yield SqlStore(database)
    database.dispose()


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


@pytest.mark.parametrize("change", [_sources_changed, _post_changed, _decided])
def test_pages_end_when_the_search_comes_to_another_case_than_it_was_for(
    store: SqlStore, slow: _Slow, tmp_path: Path, change: Callable[[Case], Case]
) -> None:
    case = make_case(mode=Mode.AUTOMATION, services=("quick",), urls=(URL,))
    store.add(case)
    provider = _Provider(slow, lambda: store.update(case.id, change))
    queries, search, *_ = _stages(store, slow, tmp_path, provider).gather(case.id)
    queries.run(_Progress())
    with pytest.raises(CrowdNotesError):
        search.run(_Progress())
    assert slow.ended.wait(SECONDS)


def test_pages_end_when_the_job_is_cancelled(store: SqlStore, slow: _Slow, tmp_path: Path) -> None:
    progress = _Progress()
    case = make_case(mode=Mode.AUTOMATION, services=("quick",), urls=(URL,))
    store.add(case)
    provider = _Provider(slow, lambda: setattr(progress, "stopped", True))
    queries, search, *_ = _stages(store, slow, tmp_path, provider).gather(case.id)
    queries.run(progress)
    with pytest.raises(JobCancelled):
        search.run(progress)
    assert slow.ended.wait(SECONDS)


def _scored(store: SqlStore, slow: _Slow, folder: Path) -> tuple[Case, list[Step]]:
    """A case whose note was scored while its link is still asked, and the steps that are left."""
    case = make_case(draft=Draft(text=f"So they say. {URL}", engine="person", written_at=AT))
    store.add(case)
    score, *later = _stages(store, slow, folder).assess(case.id, before_inspection=True)
    score.run(_Progress())
    assert slow.begun.wait(SECONDS)
    assert not slow.ended.is_set()
    return case, later


def test_links_end_when_the_jury_fails(
    store: SqlStore, slow: _Slow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(case: Case, jury: object) -> None:
        raise RuntimeError("The jury fell over.")

    _, (jury, _) = _scored(store, slow, tmp_path)
    monkeypatch.setattr(voting, "vote", broken)
    with pytest.raises(RuntimeError, match="fell over"):
        jury.run(_Progress())
    assert slow.ended.wait(SECONDS)


def test_links_end_when_the_case_is_decided_while_the_jury_sits(store: SqlStore, slow: _Slow, tmp_path: Path) -> None:
    case, (jury, _) = _scored(store, slow, tmp_path)
    store.update(case.id, _decided)
    with pytest.raises(JobCancelled):
        jury.run(_Progress())
    assert slow.ended.wait(SECONDS)
