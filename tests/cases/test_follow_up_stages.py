"""Follow-up searches: what each adds and keeps, stopped and taken up again, and what a person changes meanwhile."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from threading import Event

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from crowdnotes.cases import approval, follow_up_stages, gathering_stages, intake
from crowdnotes.cases.follow_up_stages import joined, unread, unread_hits
from crowdnotes.cases.intake import SearchScope, change_sources
from crowdnotes.cases.stages import StageRunner
from crowdnotes.domain import (
    Aim,
    Case,
    DecisionKind,
    Evidence,
    FetchOutcome,
    FollowUpKind,
    FollowUpSearch,
    Hit,
    Mode,
    ProviderState,
    Query,
    Source,
    StageName,
    StageOutcome,
    StageRecord,
)
from crowdnotes.engines import Brief, Ranking, WriterAnswer
from crowdnotes.errors import InputError, WorkflowError
from crowdnotes.evidence.search import make_providers
from crowdnotes.jobs import JobRecord, JobState, Progress, Step
from crowdnotes.settings import Settings
from crowdnotes.settings_sections import SearchSettings
from crowdnotes.workspace import Workspace, open_workspace
from tests.cases.walk import Told, gather, make_library, new_case, post_about, run, use
from tests.fakes import HashingEmbedder, ScriptedEngine, actor, make_case, make_evidence
from tests.shared import PATIENCE, put_tables


class LookingEngine(ScriptedEngine):
    """Notes what it was asked for, and finds nothing for an aim that a test names."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[Aim, str]] = []
        self.offered: list[list[str]] = []
        self.picks_nothing_for: Aim | None = None

    def queries(self, brief: Brief, limit: int, *, aim: Aim = Aim.JUDGE, like: str = "") -> list[Query]:
        """The post itself."""
        self.asked.append((aim, like))
        return super().queries(brief, limit, aim=aim, like=like)

    def rank(
        self,
        brief: Brief,
        candidates: Sequence[Hit],
        chosen: Sequence[Hit],
        quota: int,
        *,
        spare: int = 0,
        aim: Aim = Aim.JUDGE,
    ) -> Ranking:
        """The first ones."""
        if aim is self.picks_nothing_for:
            return Ranking((), "All of them repeat the post.")
        return super().rank(brief, candidates, chosen, quota, spare=spare, aim=aim)

    def write(
        self, brief: Brief, evidence: Sequence[Evidence], budget: int, count: int, *, earlier: Sequence[str] = ()
    ) -> WriterAnswer:
        """Nothing; what it was offered is noted."""
        self.offered.append([item.id for item in evidence])
        return WriterAnswer(abstained="not asked to")


class Desk:
    """A workspace with one library of twelve records, and a case that was gathered from it."""

    def __init__(self, folder: Path) -> None:
        self.engine = LookingEngine()
        settings = Settings(data_dir=folder / "data", database_url=None)
        put_tables(folder / "data" / "crowdnotes.sqlite")
        self.workspace: Workspace = open_workspace(settings, embedder=HashingEmbedder(), engine=self.engine)
        self.workspace.libraries.add(make_library(folder), "topics")
        self.cases, self.stages = self.workspace.cases, self.workspace.stages
        self.id = gather(self.workspace, new_case(self.workspace, "kettle").id).id

    @property
    def case(self) -> Case:
        return self.cases.get(self.id)

    def use(self, evidence_id: str) -> None:
        use(self.workspace, self.id, evidence_id)

    def begin(self, kind: FollowUpKind, about: str = "", libraries: Sequence[str] = ()) -> list[Step]:
        """Ask for a follow-up search; its steps."""
        self.cases.apply(self.id, follow_up_stages.follow_up, kind, about=about, libraries=libraries)
        return self.stages.follow_up_steps(self.id)

    def run(self, *steps: Step) -> JobRecord:
        return run(self.workspace, self.id, "follow_up", list(steps))

    def follow_up(self, kind: FollowUpKind, about: str = "", libraries: Sequence[str] = ("topics",)) -> str:
        """Ask for a follow-up search and do it; gives what came of it."""
        self.run(*self.begin(kind, about, libraries))
        return self.case.follow_ups[-1].outcome


def ids(case: Case) -> list[str]:
    return [item.id for item in case.evidence]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    with desk.workspace:
        yield desk


def test_more_like_a_passage_is_searched_with_its_words_and_appended(desk: Desk) -> None:
    before = desk.case
    desk.use("E2")
    outcome = desk.follow_up(FollowUpKind.MORE_LIKE, "E2")
    case = desk.case
    liked = before.evidence_by_id("E2")
    assert liked is not None
    assert desk.engine.asked[-1] == (Aim.JUDGE, liked.passage.text)
    assert ids(case) == [*ids(before), "E7", "E8", "E9"]
    assert outcome == "New: E7, E8, E9."
    assert [item.id for item in case.used_evidence] == ["E2"]
    assert len({item.source.id for item in case.evidence}) == len(case.evidence)


def test_each_follow_up_keeps_the_set_before_it_and_tells_the_audit_trail(desk: Desk) -> None:
    before = desk.case.evidence
    desk.follow_up(FollowUpKind.MORE_LIKE, "E2")
    kept = desk.case.earlier_evidence
    assert [(earlier.why, earlier.evidence) for earlier in kept] == [("more like E2", before)]
    kinds = [event.kind for event in desk.case.events]
    told = [kind for kind in kinds if kind.startswith("follow-up search")]
    assert told[:3] == ["follow-up search", "follow-up search queries", "follow-up search search"]
    assert told[-1] == "follow-up search ended"


def test_nothing_new_is_said_and_changes_nothing(desk: Desk) -> None:
    desk.follow_up(FollowUpKind.MORE_LIKE, "E2")
    desk.follow_up(FollowUpKind.MORE_LIKE, "E2")
    before = desk.case
    assert desk.follow_up(FollowUpKind.MORE_LIKE, "E2") == "Nothing new: you have all 10 already."
    assert desk.case.evidence == before.evidence
    assert desk.case.earlier_evidence == before.earlier_evidence


def test_what_only_repeats_a_passage_is_not_new(desk: Desk, tmp_path: Path) -> None:
    copy = tmp_path / "copy.csv"
    text = "A review of the kettle found no illness in people. The kettle was watched for years."
    copy.write_text(f"title,text,url\nReprinted,{text},https://reprint.example.net/kettle\n", encoding="utf-8")
    desk.workspace.libraries.add(copy, "copies")
    outcome = desk.follow_up(FollowUpKind.MORE_LIKE, "E1", libraries=["copies"])
    assert outcome == "Nothing new: the new pages say the same as a source you have."


def test_the_other_side_is_marked_and_writes_no_note_until_a_person_ticks_it(desk: Desk) -> None:
    desk.follow_up(FollowUpKind.OTHER_SIDE)
    assert desk.engine.asked[-1] == (Aim.OTHER_SIDE, "")
    other = [item for item in desk.case.evidence if item.aim is Aim.OTHER_SIDE]
    assert [item.id for item in other] == ["E7", "E8", "E9"]

    run(desk.workspace, desk.id, "write", desk.stages.write_steps(desk.id, before_inspection=True))
    desk.use("E7")
    run(desk.workspace, desk.id, "write", desk.stages.write_steps(desk.id))
    assert desk.engine.offered == [["E1", "E2", "E3", "E4", "E5", "E6"], ["E7"]]


def test_nothing_for_the_other_side_is_a_result_in_words(desk: Desk) -> None:
    desk.engine.picks_nothing_for = Aim.OTHER_SIDE
    outcome = desk.follow_up(FollowUpKind.OTHER_SIDE)
    assert outcome == "Nothing new: no page supports the claim."
    choosing = desk.case.follow_ups[-1].stages[-2].summary
    assert choosing == "0 read. None of what was found was chosen: All of them repeat the post."


def test_a_follow_up_without_a_place_to_search_asks_to_choose_one(desk: Desk) -> None:
    with pytest.raises(InputError, match="Where should we search"):
        desk.cases.apply(desk.id, follow_up_stages.follow_up, FollowUpKind.OTHER_SIDE)
    with pytest.raises(WorkflowError, match="search is gone"):
        desk.stages.follow_up_steps(desk.id)


def test_a_case_of_ones_own_links_can_search_for_more(desk: Desk) -> None:
    case = intake.create_case(desk.cases, post_about("kettle"), mode=Mode.AUGMENTATION)
    intake.add_passage_by_hand(desk.cases, case.id, url=None, title="Mine", text="My own words on kettles.")
    desk.id = case.id
    assert desk.follow_up(FollowUpKind.MORE_LIKE, "E1") == "New: E2, E3, E4."
    assert desk.case.mode is Mode.AUGMENTATION


_AT = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_persons_own_words_are_searched_as_typed_and_nothing_else(desk: Desk) -> None:
    cases, asked_before = desk.cases, len(desk.engine.asked)
    cases.apply(
        desk.id,
        follow_up_stages.follow_up,
        FollowUpKind.OTHER_SIDE,
        libraries=["topics"],
        own_words=" kettle  limescale ",
    )
    desk.run(*desk.stages.follow_up_steps(desk.id))
    assert [query.text for query in desk.case.follow_ups[-1].queries] == ["kettle limescale"]
    assert len(desk.engine.asked) == asked_before
    for words, expected in (("limescale", ["limescale"]), ("", [desk.case.post.text])):
        places = {"libraries": ["topics"], "services": [], "urls": []}
        cases.apply(desk.id, intake.set_sources, mode=Mode.AUTOMATION, **places, until=None, own_words=words)
        gather(desk.workspace, desk.id)
        assert [query.text for query in desk.case.queries] == expected


def test_each_page_that_could_not_be_read_is_told_with_its_own_reason(desk: Desk) -> None:
    sources = tuple(
        Source(id=host, title=host, url=f"https://{host}/a", outcome=outcome)
        for host, outcome in (("a.example", FetchOutcome.NOT_FOUND), ("b.example", FetchOutcome.TIMED_OUT))
    )
    asked = FollowUpSearch(id="1", kind=FollowUpKind.SETTLE, asked_at=_AT, by="ann", sources=sources)
    stage = StageRecord(name=StageName.PASSAGES, finished_at=_AT, seconds=0.0, summary="", engine="local")
    case = joined(desk.case.replace(follow_ups=(asked,)), asked, [], stage)
    told = "Nothing new. Not readable: a.example (not found), b.example (timed out)."
    assert case.follow_ups[-1].outcome == told
    assert asked.as_text == "what would settle the claim"


def test_a_link_is_appended_without_searching_again(desk: Desk) -> None:
    before = desk.case
    outcome = desk.follow_up(FollowUpKind.LINK, "https://kettle-institute.example/descaling", libraries=())
    case = desk.case
    assert case.follow_ups[-1].sources[0].outcome is FetchOutcome.NOT_FOUND
    assert outcome == "Nothing new. Not readable: kettle-institute.example (not found)."
    assert case.urls == ("https://kettle-institute.example/descaling",)
    assert case.stages == before.stages
    assert case.hits == before.hits
    assert case.evidence == before.evidence


def test_a_link_that_was_read_already_is_refused(desk: Desk) -> None:
    url = desk.case.evidence[0].source.url
    assert url is not None
    with pytest.raises(WorkflowError, match="already a source"):
        desk.cases.apply(desk.id, follow_up_stages.follow_up, FollowUpKind.LINK, about=f"{url}#part")
    with pytest.raises(InputError, match="The link is missing"):
        desk.cases.apply(desk.id, follow_up_stages.follow_up, FollowUpKind.LINK, about="  ")


def test_a_swap_puts_the_next_best_hit_in_the_place_of_a_passage(desk: Desk) -> None:
    before = desk.case
    left = unread_hits(before)
    assert len(left) == 4
    assert desk.follow_up(FollowUpKind.SWAP, "E3", libraries=()) == "E7 replaced E3."
    case = desk.case
    assert ids(case) == ["E1", "E2", "E7", "E4", "E5", "E6"]
    assert [item.rank for item in case.evidence] == [1, 2, 3, 4, 5, 6]
    assert case.evidence[2].source.title == left[0].title
    assert "E3" in {item.id for earlier in case.earlier_evidence for item in earlier.evidence}
    assert len(unread_hits(case)) == 3
    assert len(case.sources) == len(case.evidence) + 1
    assert {source.id for source in case.read_sources} == {item.source.id for item in case.evidence}


def test_a_page_that_could_not_be_read_is_not_told_so_once_a_passage_of_it_stands_there(desk: Desk) -> None:
    blocked = [
        Source(id=url, url=url, title="A page", outcome=FetchOutcome.BLOCKED)
        for url in ("https://www.example.org/a?utm_source=x", "https://example.org/b")
    ]
    desk.workspace.store.update(desk.id, lambda case: case.replace(sources=tuple(blocked)))
    assert follow_up_stages.failed_sources(desk.case) == tuple(blocked)
    intake.add_passage_by_hand(
        desk.cases, desk.id, url="https://example.org/a", title="A page", text="It was never said."
    )
    assert follow_up_stages.failed_sources(desk.case) == (blocked[1],)


def test_a_passage_that_the_note_leans_on_is_not_swapped(desk: Desk) -> None:
    desk.use("E1")
    with pytest.raises(WorkflowError, match="uses E1"):
        desk.cases.apply(desk.id, follow_up_stages.follow_up, FollowUpKind.SWAP, about="E1")


def test_a_swap_with_nothing_left_is_refused_and_one_that_finds_no_use_keeps_the_passage(desk: Desk) -> None:
    desk.engine.picks_nothing_for = Aim.JUDGE
    outcome = desk.follow_up(FollowUpKind.SWAP, "E3", libraries=())
    assert outcome == "Nothing new: no other page helps to judge the claim. E3 stays."
    desk.engine.picks_nothing_for = None
    for out in ("E1", "E2", "E4", "E5"):
        desk.follow_up(FollowUpKind.SWAP, out, libraries=())
    with pytest.raises(WorkflowError, match="found nothing else that could replace"):
        desk.cases.apply(desk.id, follow_up_stages.follow_up, FollowUpKind.SWAP, about="E3")


def test_a_decided_case_takes_no_follow_up_search(desk: Desk) -> None:
    approval.decide_case(desk.cases, desk.id, DecisionKind.NOT_NEEDED)
    with pytest.raises(WorkflowError, match="This case is decided"):
        desk.cases.apply(desk.id, follow_up_stages.follow_up, FollowUpKind.OTHER_SIDE, libraries=["topics"])


def test_records_of_a_library_that_share_a_page_are_read_each_on_its_own() -> None:
    url = "https://records.example.net/page"

    def record(number: int) -> Hit:
        return Hit(provider="library:x", title="T", snippet="", query="q", url=url, library="x", record=number)

    known = {"id": "library:x:1", "url": url, "library": "x", "record": 1}
    source = make_evidence(1).source.replace(**known)
    case = make_case(hits=(record(1), record(2), record(2), record(3)), sources=(source,))
    assert [hit.record for hit in unread_hits(case)] == [2, 3]


def test_a_page_under_another_spelling_of_its_address_a_home_page_and_search_results_are_not_left_to_choose() -> None:
    def hit(url: str) -> Hit:
        return Hit(provider="brave", title=url, snippet="", query="q", url=url)

    again = hit("http://www.health.example.org/review?utm_source=x")
    assert unread_hits(make_case(hits=(again,), sources=(make_evidence(1).source,))) == []
    hits = [
        hit(url) for url in ("https://www.who.int/", "https://www.bing.com/search?q=x", "https://news.example/story")
    ]
    assert unread_hits(make_case(hits=tuple(hits))) == hits[2:]
    assert unread(make_case(), hits) == hits[2:]


AT = datetime(2026, 1, 2, tzinfo=UTC)
ANN = actor()


def test_a_passage_that_is_ticked_while_its_swap_is_at_work_stays(desk: Desk) -> None:
    reading, passages = desk.begin(FollowUpKind.SWAP, "E3")
    desk.run(reading)
    desk.use("E3")
    desk.run(passages)
    assert ids(desk.case) == ["E1", "E2", "E3", "E4", "E5", "E6", "E7"]
    assert desk.case.follow_ups[-1].outcome == "New: E7. E3 stays, as the note uses it."


def test_a_follow_up_that_was_stopped_goes_on_where_it_was(desk: Desk) -> None:
    steps = desk.begin(FollowUpKind.MORE_LIKE, "E2", ["topics"])

    def stopped(progress: Progress) -> StageOutcome:
        desk.workspace.runner.cancel(job.id)
        while True:
            progress.check()

    before = desk.case.evidence
    job = desk.workspace.runner.start(desk.id, "follow_up", [*steps[:2], replace(steps[2], run=stopped), steps[3]])
    assert desk.workspace.runner.wait(job.id, timeout=PATIENCE).state is JobState.CANCELLED
    assert desk.case.evidence == before
    asked = len(desk.engine.asked)
    resumed = desk.run(*desk.stages.follow_up_steps(desk.id))
    assert [step.state.value for step in resumed.steps] == ["kept", "kept", "done", "done"]
    assert len(desk.engine.asked) == asked
    assert len(desk.case.evidence) == len(before) + 3


def test_another_follow_up_takes_the_place_of_one_that_was_stopped(desk: Desk) -> None:
    desk.begin(FollowUpKind.MORE_LIKE, "E2", ["topics"])
    desk.follow_up(FollowUpKind.OTHER_SIDE)
    assert [asked.kind for asked in desk.case.follow_ups] == [FollowUpKind.OTHER_SIDE]


def test_a_follow_up_for_an_earlier_post_adds_nothing_to_another(desk: Desk) -> None:
    steps = desk.begin(FollowUpKind.MORE_LIKE, "E2", ["topics"])
    intake.edit_post(desk.cases, desk.id, post_about("velvet"))
    job = desk.workspace.runner.start(desk.id, "follow_up", steps)
    ended = desk.workspace.runner.wait(job.id, timeout=PATIENCE)
    assert ended.state is JobState.FAILED
    assert ended.current is not None
    assert "the post may have changed" in ended.current.next_step
    assert desk.case.evidence == ()


def test_a_cutoff_set_while_a_follow_up_is_reading_keeps_what_it_read_out(desk: Desk) -> None:
    reading, _ = desk.begin(FollowUpKind.SWAP, "E3")
    days = (date(2020, 1, day) for day in range(1, 31))

    def another_cutoff() -> None:
        chosen: dict[str, list[str]] = {"urls": [], "libraries": ["topics"], "services": []}
        desk.cases.apply(desk.id, intake.set_sources, mode=Mode.AUTOMATION, **chosen, own_words="", until=next(days))

    with pytest.raises(WorkflowError, match="You chose other sources"):
        reading.run(Told(another_cutoff))
    assert [source for asked in desk.case.follow_ups for source in asked.sources] == []


def test_a_follow_up_that_was_begun_under_another_cutoff_does_not_go_on() -> None:
    asked = FollowUpSearch(id="l", kind=FollowUpKind.OTHER_SIDE, asked_at=AT, by="ann")
    ended = asked.replace(id="m", finished_at=AT)
    case = make_case(follow_ups=(ended, asked))
    places = SearchScope(mode=case.mode, urls=("https://news.example.org/a",))
    assert change_sources(case, AT, ANN, places).follow_ups == (ended, asked)
    assert change_sources(case, AT, ANN, replace(places, until=date(2020, 1, 1))).follow_ups == (ended,)


def _slow(desk: Desk, httpserver: HTTPServer) -> Event:
    """A case that was gathered from a library, and from a service that does not answer until the event is set."""
    ready = Event()

    def answer(_: Request) -> Response:
        ready.wait(PATIENCE)
        page = {"title": "Kettles", "url": "https://slow.example.org/kettle", "content": "A kettle boils water."}
        return Response(json.dumps({"results": [page]}), content_type="application/json")

    httpserver.expect_request("/search").respond_with_handler(answer)
    search = SearchSettings.model_validate({"searxng_url": httpserver.url_for(""), "request_seconds": 0.3})
    context = desk.workspace.stage_context
    settings = context.settings.replace(search=search)
    providers = partial(make_providers, settings, context.libraries)
    desk.stages = StageRunner(desk.cases, replace(context, settings=settings, providers=providers))
    made = intake.create_case(
        desk.cases, post_about("kettle"), mode=Mode.AUTOMATION, libraries=["topics"], services=["searxng"]
    )
    desk.id = made.id
    run(desk.workspace, desk.id, "gather", desk.stages.gather_steps(desk.id))
    return ready


def _ask_again(desk: Desk) -> FollowUpSearch:
    desk.cases.apply(desk.id, follow_up_stages.follow_up, FollowUpKind.AGAIN, services=["searxng"])
    desk.run(*desk.stages.follow_up_steps(desk.id))
    return desk.case.follow_ups[-1]


def test_what_a_slow_service_brings_when_it_is_asked_again_comes_in_later_and_the_report_says_so(
    desk: Desk, httpserver: HTTPServer
) -> None:
    desk.engine.picks_nothing_for = None
    ready = _slow(desk, httpserver)
    before = desk.case
    assert [item.state for item in before.outcomes if item.provider == "searxng"] == [ProviderState.TIMED_OUT]
    assert before.evidence, "the first screen did not wait for it"
    ready.set()
    desk.engine.picks_nothing_for = Aim.JUDGE  # so that no page is fetched
    asked = _ask_again(desk)
    assert asked.as_text == "SearXNG searched again"
    assert asked.queries == before.queries
    assert [hit.url for hit in unread_hits(desk.case) if hit.provider == "searxng"] == [
        "https://slow.example.org/kettle"
    ]
    (outcome,) = (item for item in desk.case.outcomes if item.provider == "searxng")
    assert (outcome.state, outcome.found) == (ProviderState.ANSWERED, 1)
    assert outcome.sentence.startswith("Found when searched again.")
    assert desk.case.evidence == before.evidence


def test_one_that_is_silent_again_stays_as_it_was(
    desk: Desk, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready = _slow(desk, httpserver)
    before = desk.case.outcomes
    monkeypatch.setattr(gathering_stages, "REPEATED_SEARCH_SECONDS", 0.3)
    assert _ask_again(desk).outcome == "Nothing new: the search was not answered."
    assert desk.case.outcomes == before
    ready.set()
