"""The searching stage: every provider's end is kept, and no answer is not "nothing found"."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from crowdnotes.cases import gathering
from crowdnotes.cases.gathering import Tools
from crowdnotes.cases.store import SqlStore
from crowdnotes.domain import Hit, Mode, ProviderState, Query
from crowdnotes.errors import JobError, SearchError
from crowdnotes.evidence.fetching import Fetcher
from crowdnotes.evidence.library import Libraries
from crowdnotes.evidence.link_check import LinkChecker
from crowdnotes.evidence.search import SearchProvider
from crowdnotes.evidence.sources import SourceReader
from crowdnotes.settings import Settings
from crowdnotes.storage.database import open_database
from crowdnotes.testing import FixedClock, HashingEmbedder, LiveLinks, ScriptedEngine, make_case, no_jury


class _Provider:
    """Answers with one hit, or fails."""

    needs = None
    at_once = 1
    most_queries = 5

    def __init__(self, name: str, published: date | None = None, *, fails: bool = False) -> None:
        self.name, self.label, self._published, self._fails = name, name.title(), published, fails

    def search(
        self, query: str, *, limit: int, until: date | None, language: str | None, check: Callable[[], None]
    ) -> list[Hit]:
        if self._fails:
            raise SearchError("It is out of order.", ProviderState.FAILED)
        url = f"https://{self.name}.example.net/page"
        return [
            Hit(
                provider=self.name,
                title=f"{self.name} on tea",
                snippet="tea",
                query=query,
                url=url,
                published=self._published,
            )
        ]


class _Progress:
    def __init__(self) -> None:
        self.notes: list[str] = []

    def count(self, done: int, total: int, note: str = "") -> None:
        self.notes.append(f"{done}/{total} {note}")

    def check(self) -> None:
        return


@pytest.fixture
def tools(tmp_path: Path) -> Iterator[Tools]:
    settings = Settings(data_dir=tmp_path)
    embedder = HashingEmbedder()
    reader = SourceReader(Fetcher(settings.fetch, ()))
    links = LinkChecker(LiveLinks(), settings.links, FixedClock())
    libraries, clock = Libraries(tmp_path, embedder), FixedClock()
    database = open_database(f"sqlite:///{tmp_path / 'cases.sqlite'}")
    store = SqlStore(database)
    yield Tools(store, ScriptedEngine(), embedder, reader, libraries, lambda _: [], settings, links, no_jury, clock)
    database.dispose()


def _with(tools: Tools, *providers: SearchProvider) -> Tools:
    def given(_: Sequence[str]) -> Sequence[SearchProvider]:
        return providers

    return replace(tools, providers=given)


CASE = make_case(
    mode=Mode.AUTOMATION, services=("good", "bad", "late"), queries=(Query(text="tea", purpose="the claim"),)
)


def test_one_that_fails_is_on_record_and_the_others_hits_are_there(tools: Tools) -> None:
    progress = _Progress()
    changes, summary = gathering.search(CASE, progress, _with(tools, _Provider("good"), _Provider("bad", fails=True)))
    assert [hit.provider for hit in changes["hits"]] == ["good"]  # type: ignore[attr-defined]
    assert {item.provider: item.state for item in changes["outcomes"]} == {  # type: ignore[attr-defined]
        "good": ProviderState.ANSWERED,
        "bad": ProviderState.FAILED,
    }
    assert summary == "1 found in 1 of 2 places"
    assert progress.notes[0] == "0/2 Good: … · Bad: …"
    assert progress.notes[-1] == "2/2 Good: 1 found · Bad: failed"


def test_when_none_answers_the_stage_fails_rather_than_finding_nothing(tools: Tools) -> None:
    with pytest.raises(JobError, match=r"No search was answered.*out of order"):
        gathering.search(CASE, _Progress(), _with(tools, _Provider("bad", fails=True)))


def test_only_what_the_case_chose_is_asked(tools: Tools) -> None:
    changes, _ = gathering.search(CASE, _Progress(), _with(tools, _Provider("good"), _Provider("unasked")))
    assert [item.provider for item in changes["outcomes"]] == ["good"]  # type: ignore[attr-defined]


def test_hits_later_than_the_cutoff_are_left_out(tools: Tools) -> None:
    case = CASE.model_copy(update={"until": date(2024, 1, 1)})
    providers = (_Provider("good", date(2023, 12, 31)), _Provider("late", date(2024, 1, 2)))
    changes, _ = gathering.search(case, _Progress(), _with(tools, *providers))
    assert [hit.provider for hit in changes["hits"]] == ["good"]  # type: ignore[attr-defined]
