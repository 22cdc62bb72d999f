"""Searching, then from hits and links to sources and passages, merged with what a person did meanwhile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from threading import Event, Lock
from typing import Any

import pytest
from sqlalchemy import Engine

from crowdnotes.cases import gathering_stages
from crowdnotes.cases.cases import Cases
from crowdnotes.cases.gathering_stages import GatherOptions, StageContext, merged, read, summary_of
from crowdnotes.cases.store import Store
from crowdnotes.domain import (
    AFTER_CUTOFF,
    UNDATED,
    Act,
    Case,
    DateOrigin,
    Draft,
    Evidence,
    EvidenceSet,
    FetchOutcome,
    Hit,
    Mode,
    Outcome,
    Post,
    ProviderState,
    Query,
    ReadAs,
    Source,
    Verdict,
)
from crowdnotes.engines import Ranking
from crowdnotes.engines.embedding import FloatArray
from crowdnotes.errors import JobError, SearchError
from crowdnotes.evidence.duplicates import distinct
from crowdnotes.evidence.fetching import Page, no_check
from crowdnotes.evidence.library import Libraries
from crowdnotes.evidence.link_check import HttpLinkAsker, LinkChecker, LinkLimits
from crowdnotes.evidence.reading.document import HTML
from crowdnotes.evidence.search import SearchProvider
from crowdnotes.evidence.sources import SourceReader
from crowdnotes.settings import Settings
from crowdnotes.settings_sections import EvidenceSettings
from crowdnotes.storage.database import open_database
from tests.cases.walk import ThinkingEngine, Told, make_library
from tests.fakes import FixedClock, HashingEmbedder, ScriptedEngine, actor, make_case, make_evidence, no_jury
from tests.shared import PATIENCE, put_tables

STORY = "https://news.example.org/story"


class _Web:
    """Pages that tell their own address; `leads` are redirects, `failing` what is blocked."""

    def __init__(self) -> None:
        self.leads: dict[str, str] = {}
        self.failing: set[str] = set()
        self.dated: dict[str, str] = {}
        self.fetched: Counter[str] = Counter()
        self._lock = Lock()

    def fetch(self, url: str, check: Callable[[], None] = no_check) -> Page:
        with self._lock:
            self.fetched[url] += 1
        ends = self.leads.get(url, url)
        if ends in self.failing:
            return Page(url, ends, FetchOutcome.BLOCKED, datetime.now(UTC), detail="No.")
        when = self.dated.get(ends, "")
        head = f"<meta property='article:published_time' content='{when}'>" if when else ""
        words = f"<p>This page of the town's paper at {ends} says what it has to say about the drink.</p>" * 3
        body = f"<html><head><title>t</title>{head}</head><body><article>{words}</article></body></html>"
        return Page(url, ends, FetchOutcome.READ, datetime.now(UTC), HTML, "utf-8", body.encode())


@pytest.fixture
def web() -> _Web:
    return _Web()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    put_tables(tmp_path / "cases.sqlite")
    database: Engine = open_database(f"sqlite:///{tmp_path / 'cases.sqlite'}")
    store = Store(database)
    store.add(make_case())
    yield store
    database.dispose()


@pytest.fixture
def context(web: _Web, store: Store, tmp_path: Path) -> StageContext:
    embedder = HashingEmbedder()
    libraries = Libraries(tmp_path / "libraries", embedder)
    settings = Settings()
    links = LinkChecker(HttpLinkAsker(settings.fetch, ()), LinkLimits(), FixedClock())
    reader = SourceReader(web)
    clock = FixedClock()
    cases = Cases(store, actor, clock, settings)
    return StageContext(
        cases, ScriptedEngine(), embedder, reader, libraries, lambda _: [], settings, links, no_jury, clock
    )


def _read(case: Case, context: StageContext, options: GatherOptions | None = None) -> tuple[Source, ...]:
    changes, _ = read(case, Told(), replace(context, options=options or GatherOptions()))
    sources = changes["sources"]
    assert isinstance(sources, tuple)
    return sources


def _hit(url: str, **changes: object) -> Hit:
    return Hit(provider="p", title=f"Hit {url}", snippet="s", query="q", url=url).replace(**changes)


def _automation(*hits: Hit, **changes: object) -> Case:
    return make_case(mode=Mode.AUTOMATION, hits=hits, **changes)


def test_two_spellings_of_one_link_are_one_source_fetched_once(context: StageContext, web: _Web) -> None:
    case = make_case(urls=(STORY, f"{STORY}?utm_source=x", f"{STORY}#part", "http://www.news.example.org/story/"))
    (source,) = _read(case, context)
    assert source.url == STORY
    assert web.fetched == {STORY: 1}


def test_links_that_lead_to_one_page_are_one_source(context: StageContext, web: _Web) -> None:
    web.leads = {"https://short.example/a": STORY, "https://short.example/b": STORY}
    case = make_case(urls=("https://short.example/a", "https://short.example/b", STORY))
    (source,) = _read(case, context)
    assert (source.url, source.page_url) == ("https://short.example/a", STORY)


def test_a_page_that_was_read_is_not_fetched_again_under_another_spelling_and_one_that_failed_is(
    context: StageContext, web: _Web
) -> None:
    case = make_case(urls=(STORY,))
    web.failing = {STORY}
    failed = _read(case, context)
    web.failing = set()
    first = _read(case.replace(sources=failed), context)
    assert (failed[0].outcome, first[0].outcome) == (FetchOutcome.BLOCKED, FetchOutcome.READ)
    again = _read(case.replace(sources=first, urls=(f"{STORY}?utm_medium=y",)), context)
    assert again == first
    assert sum(web.fetched.values()) == 2


def test_a_link_that_a_search_found_too_keeps_what_the_search_knows(context: StageContext) -> None:
    hit = _hit(STORY, notices=("retracted",), doi="10.1000/abc", published=date(2020, 5, 1))
    (source,) = _read(_automation(hit, urls=(STORY,)), context)
    assert (source.notices, source.doi) == (("retracted",), "10.1000/abc")
    assert (source.published, source.date_origin) == (date(2020, 5, 1), DateOrigin.SEARCH)


def test_what_the_post_refers_to_is_read_first_and_what_leads_back_to_x_is_left_out(
    context: StageContext, web: _Web
) -> None:
    article = "https://www.bmj.com/content/1/x"
    web.leads = {"https://t.co/one": article, "https://t.co/two": "https://x.com/a/status/1/photo/1"}
    post = Post(text=f"See https://t.co/one https://t.co/two and {STORY}")
    sources = _read(_automation(_hit(article), _hit(_page(1)), post=post), context)
    assert [source.url for source in sources] == ["https://t.co/one", STORY, _page(1)]
    studied = _read(_automation(_hit(_page(1)), post=post), context, GatherOptions(post_links=False))
    assert [source.url for source in studied] == [_page(1)]
    home = _read(_automation(_hit(_page(1)), post=Post(text="All of it is on https://www.bmj.com/")), context)
    assert [source.url for source in home] == [_page(1)], "a home page is no source"


def test_an_entry_of_a_register_that_the_post_names_is_taken_from_the_search(context: StageContext, web: _Web) -> None:
    trial = _hit("https://clinicaltrials.gov/study/NCT04368728", provider="clinical-trials", snippet="Phase 3. " * 20)
    case = _automation(_hit(_page(1)), trial, post=Post(text="Look at NCT04368728!"))
    first = _read(case, context)[0]
    assert (first.title, first.read_as) == (trial.title, ReadAs.RECORD)
    assert trial.url not in web.fetched


def _page(number: int) -> str:
    return f"https://a.example.org/{number}"


def test_in_the_place_of_pages_that_could_not_be_read_or_lead_to_one_that_was_the_next_best_are(
    context: StageContext, web: _Web
) -> None:
    hits = [_hit(_page(number)) for number in range(1, 10)]
    web.failing = {_page(2), _page(7)}
    found = _read(_automation(*hits), context)
    assert [source.url for source in found if source.outcome is FetchOutcome.READ] == [
        _page(n) for n in (1, 3, 4, 5, 6, 8)
    ]
    assert [source.url for source in found if source.outcome is FetchOutcome.BLOCKED] == [_page(2), _page(7)]
    web.failing, web.leads = {_page(6)}, {_page(7): _page(1)}
    found = _read(_automation(*hits), context)
    assert [source.url for source in found if source.outcome is FetchOutcome.READ] == [
        _page(n) for n in (1, 2, 3, 4, 5, 8)
    ]


def test_a_site_that_refuses_every_page_is_asked_for_a_few_to_spare_and_not_for_all(
    context: StageContext, web: _Web
) -> None:
    hits = [_hit(_page(number)) for number in range(40)]
    web.failing |= {hit.url for hit in hits if hit.url}
    assert len(_read(_automation(*hits), context)) == 10


def test_hits_that_cannot_be_evidence_are_not_chosen_and_a_home_page_that_a_person_brought_has_its_label(
    context: StageContext, web: _Web
) -> None:
    (source,) = _read(make_case(urls=("https://www.who.int/",)), context)
    assert source.outcome is FetchOutcome.NOT_EVIDENCE
    assert "home page" in source.outcome_detail
    assert not web.fetched
    case = _automation(_hit("https://www.who.int/"), _hit("https://www.bing.com/search?q=x"), _hit(STORY))
    assert [source.url for source in _read(case, context)] == [STORY]
    assert web.fetched == {STORY: 1}


def test_what_is_later_than_the_cutoff_is_left_out_by_page_and_by_search(context: StageContext, web: _Web) -> None:
    other = "https://news.example.org/other"
    web.dated = {STORY: "2024-03-02"}
    case = _automation(_hit(STORY), _hit(other, published=date(2024, 3, 2)), until=date(2024, 3, 1))
    assert {source.outcome for source in _read(case, context)} == {FetchOutcome.TOO_LATE}
    on_the_day = _read(case.replace(until=date(2024, 3, 2)), context)
    assert {source.outcome for source in on_the_day} == {FetchOutcome.READ}


def test_what_has_no_date_is_marked_where_there_is_a_cutoff_and_left_out_in_studies(context: StageContext) -> None:
    case = make_case(urls=(STORY,))
    assert _read(case, context)[0].notices == ()
    dated = case.replace(until=date(2024, 3, 1))
    assert _read(dated, context)[0].notices == (UNDATED,)
    (left_out,) = _read(dated, context, GatherOptions(leave_out_undated=True))
    assert left_out.outcome is FetchOutcome.UNDATED
    assert "no date" in left_out.outcome_detail


def test_without_utility_the_first_hits_are_read(context: StageContext, web: _Web) -> None:
    hits = [_hit(f"{STORY}/{number}") for number in range(9)]
    found = _read(_automation(*hits), context, GatherOptions(by_utility=False))
    assert [source.url for source in found] == [hit.url for hit in hits[:6]]


def test_fewer_are_read_where_a_model_chooses_unless_the_settings_say_how_many(
    context: StageContext, web: _Web
) -> None:
    case = _automation(*(_hit(f"{STORY}/{number}") for number in range(9)))
    assert len(_read(case, context)) == 6
    assert len(_read(case, replace(context, engine=ThinkingEngine()))) == 4
    settings = Settings(evidence=EvidenceSettings(quota=5))
    assert len(_read(case, replace(context, engine=ThinkingEngine(), settings=settings))) == 5


def test_a_cutoff_set_later_holds_for_what_was_read_before_it(context: StageContext, web: _Web) -> None:
    web.dated = {STORY: "2024-03-02"}
    case = make_case(urls=(STORY,))
    first = _read(case, context)
    dated = case.replace(sources=first, until=date(2020, 1, 1))
    (late,) = _read(dated, context)
    assert (first[0].outcome, late.outcome) == (FetchOutcome.READ, FetchOutcome.TOO_LATE)
    (undated,) = _read(dated.replace(sources=(_undated(first[0]),)), context)
    assert (undated.outcome, undated.notices) == (FetchOutcome.READ, (UNDATED,))
    (free,) = _read(case.replace(sources=(undated,)), context)
    assert free.notices == ()


def test_a_later_page_that_a_person_opened_stays_with_a_notice(context: StageContext, web: _Web) -> None:
    web.dated = {STORY: "2024-03-02"}
    case = make_case(urls=(STORY,))
    (source,) = _read(case, context)
    opened = make_evidence(1, opened_at=datetime.now(UTC)).replace(source=source)
    case = case.replace(sources=(source,), evidence=(opened,), until=date(2020, 1, 1))
    (kept,) = _read(case, context)
    assert (kept.outcome, kept.notices) == (FetchOutcome.READ, (AFTER_CUTOFF,))
    evidence = merged(case, case, {"evidence": (opened,)})["evidence"]
    assert isinstance(evidence, tuple)
    assert [item.source.notices for item in evidence] == [(AFTER_CUTOFF,)]
    assert kept.kept_by_a_person(None).notices == ()


def _undated(source: Source) -> Source:
    return source.replace(published=None, date_origin=None)


def test_the_summary_says_why_none_or_no_other_was_chosen() -> None:
    failed = make_evidence().source.replace(outcome=FetchOutcome.BLOCKED)
    assert summary_of([], "They repeat it.") == "0 read. None of what was found was chosen: They repeat it."
    other = "0 read, 1 could not be read. Nothing else that was found was chosen: They repeat it."
    assert summary_of([failed], "They repeat it.") == other


def test_pages_of_one_site_that_share_a_canonical_link_stay_apart() -> None:
    def page(number: int, **changes: object) -> Source:
        url = f"https://news.example.org/{number}"
        source = Source(id=f"url:{number}", title=f"Title {number}", url=url, text_sha256=f"{number}")
        return source.replace(page_url="https://news.example.org/all", **changes)

    pages = [page(1), page(2), page(3)]
    assert distinct(pages) == pages
    same_words, same_title = page(4, text_sha256="1"), page(5, title="Title 2")
    assert distinct([*pages, same_words, same_title]) == pages
    failed = page(6, text_sha256=None, outcome=FetchOutcome.BLOCKED)
    assert distinct([failed, *pages]) == pages


def test_an_undated_record_is_no_later_than_its_library_was_collected() -> None:
    record = Source(id="library:old:1", title="t", library="old")
    options = GatherOptions(leave_out_undated=True, collected={"old": date(2019, 10, 22)})
    kept = options.timely(record, date(2019, 10, 22))
    assert (kept.outcome, kept.notices, kept.published) == (FetchOutcome.READ, (UNDATED,), None)
    assert options.timely(record, date(2019, 10, 21)).outcome is FetchOutcome.TOO_LATE
    assert options.timely(record.replace(library="other"), None).outcome is FetchOutcome.UNDATED


@pytest.mark.parametrize("outcome", [FetchOutcome.BLOCKED, FetchOutcome.REFUSED])
def test_a_page_that_was_not_read_keeps_its_own_label(outcome: FetchOutcome) -> None:
    source = Source(id="url:1", title="t", outcome=outcome, outcome_detail="Why.")
    assert source.timely(date(2024, 1, 1), leave_out_undated=True) == source


def test_a_month_alone_is_too_late_when_it_begins_after_the_cutoff() -> None:
    source = Source(id="url:1", title="t", not_before=date(2025, 6, 1))
    late = source.timely(date(2025, 5, 31))
    assert late.outcome is FetchOutcome.TOO_LATE
    assert late.outcome_detail == "It is too new: from 2025-06-01 or later, after 2025-05-31."
    assert source.timely(date(2025, 6, 1)).notices == (UNDATED,)


AT = datetime(2026, 1, 2, tzinfo=UTC)


def test_a_passage_opened_meanwhile_stays_opened() -> None:
    worked_on = make_case(evidence=(make_evidence(1),))
    newest = make_case(evidence=(make_evidence(1, opened_at=AT, verdict=Verdict.USE),))
    evidence = _evidence(merged(newest, worked_on, {"evidence": (make_evidence(1), make_evidence(2))}))
    assert [(item.id, item.used) for item in evidence] == [("E1", True), ("E2", False)]


def test_a_passage_pasted_meanwhile_keeps_its_id_and_new_ones_follow() -> None:
    pasted = _pasted(1)
    newest = make_case(evidence=(pasted,), sources=(pasted.source,))
    found = (make_evidence(1), make_evidence(2))
    result = merged(newest, make_case(), {"evidence": found, "sources": tuple(item.source for item in found)})
    ids = [(item.id, item.source.id) for item in _evidence(result)]
    assert ids == [("E2", "url:1"), ("E3", "url:2"), ("E1", "hand:1")]
    assert pasted.source in result["sources"]  # type: ignore[operator]


def test_what_a_person_opened_stays_though_the_stage_no_longer_has_it() -> None:
    worked_on = make_case(evidence=(make_evidence(6),))
    opened = make_evidence(6, opened_at=AT, verdict=Verdict.USE)
    newest = make_case(evidence=(opened,), sources=(opened.source,))
    result = merged(newest, worked_on, {"evidence": (), "sources": ()})
    assert [(item.id, item.used) for item in _evidence(result)] == [("E6", True)]
    assert result["sources"] == (opened.source,)


def test_an_id_on_record_is_never_given_again() -> None:
    case = make_case(evidence=(make_evidence(2),), earlier_evidence=(EvidenceSet(evidence=(make_evidence(7),)),))
    assert case.next_evidence_number == 8


def test_words_that_a_person_wrote_meanwhile_are_not_replaced() -> None:
    mine = Draft(text="Mine.", engine="person", written_at=AT)
    theirs = Draft(text="Engine's.", engine="local", written_at=AT)
    result = merged(make_case(draft=mine), make_case(), {"draft": theirs, "candidates": (theirs,), "revisions": ()})
    assert result == {"candidates": (theirs,)}


def _pasted(number: int) -> Evidence:
    item = make_evidence(number, text="Copied by hand.")
    return item.replace(source=item.source.replace(id=f"hand:{number}"))


def _evidence(result: dict[str, object]) -> tuple[Evidence, ...]:
    evidence = result["evidence"]
    assert isinstance(evidence, tuple)
    return evidence


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
        return [_hit(url, provider=self.name, query=query, published=self._published)]


def _with(context: StageContext, *providers: SearchProvider) -> StageContext:
    return replace(context, providers=lambda _: providers)


CASE = make_case(
    mode=Mode.AUTOMATION, services=("good", "bad", "late"), queries=(Query(text="tea", purpose="the claim"),)
)


def test_one_that_fails_is_on_record_and_the_others_hits_are_there(context: StageContext) -> None:
    progress = Told()
    changes, ended = gathering_stages.search(
        CASE, progress, _with(context, _Provider("good"), _Provider("bad", fails=True))
    )
    assert [hit.provider for hit in changes["hits"]] == ["good"]  # type: ignore[attr-defined]
    assert {item.provider: item.state for item in changes["outcomes"]} == {  # type: ignore[attr-defined]
        "good": ProviderState.ANSWERED,
        "bad": ProviderState.FAILED,
    }
    assert (ended.summary, ended.outcome) == ("1 found in 1 of 2 places", Outcome.DONE)
    assert progress.notes[0] == "0/2 Good: … · Bad: …"
    assert progress.notes[-1] == "2/2 Good: 1 found · Bad: failed"


def test_when_none_answers_the_stage_fails_rather_than_finding_nothing_and_only_what_the_case_chose_is_asked(
    context: StageContext,
) -> None:
    silent = _with(context, _Provider("bad", fails=True), _Provider("late", fails=True))
    with pytest.raises(JobError, match=r"All 2 searches failed; you seem to be offline\. Bad, Late: It is out"):
        gathering_stages.search(CASE, Told(), silent)
    changes, _ = gathering_stages.search(CASE, Told(), _with(context, _Provider("good"), _Provider("unasked")))
    assert [item.provider for item in changes["outcomes"]] == ["good"]  # type: ignore[attr-defined]


def test_hits_later_than_the_cutoff_are_left_out(context: StageContext) -> None:
    case = CASE.replace(until=date(2024, 1, 1))
    providers = (_Provider("good", date(2023, 12, 31)), _Provider("late", date(2024, 1, 2)))
    changes, _ = gathering_stages.search(case, Told(), _with(context, *providers))
    assert [hit.provider for hit in changes["hits"]] == ["good"]  # type: ignore[attr-defined]


def test_while_a_model_chooses_the_records_that_it_may_choose_are_embedded(
    context: StageContext, tmp_path: Path
) -> None:
    embedded = Event()

    class _Embedder(HashingEmbedder):
        def encode(self, texts: Sequence[str]) -> FloatArray:
            if any("watched for years" in text for text in texts):
                embedded.set()
            return super().encode(texts)

    class _Model(ThinkingEngine):
        def rank(self, *asked: Any, **named: Any) -> Ranking:
            assert embedded.wait(PATIENCE)
            return super().rank(*asked, **named)

    context.libraries.add(make_library(tmp_path), "topics")
    hits = context.libraries.search("topics", "review of illness", 2)
    _read(_automation(*hits), replace(context, engine=_Model(), embedder=_Embedder()))
    assert embedded.is_set()


def test_the_searches_of_a_case_say_which_sentences_of_a_passage_are_key(context: StageContext) -> None:
    answer = "The register of 2021 counted twelve boys."
    text = f"The drink makes children ill, some say. {'Summers in the valley stay mild. ' * 3}{answer}"
    source = make_evidence(1, text).source
    case = make_case(sources=(source,))
    context.cases.put_text(Act.WORK, case.id, text)
    queries = (Query(text="register 2021 boys", purpose="p"), Query(text="Summers valley", purpose="p", by_name=True))
    told = []
    for asked in ((), queries):
        changes, _ = gathering_stages.passages(case.replace(queries=asked), Told(), context)
        item: Evidence = changes["evidence"][0]  # type: ignore[index]
        told.append([item.passage.text[span.start : span.end] for span in item.passage.key_sentences[:3]])
    assert answer not in told[0][:2]
    assert answer in told[1][:2]


def test_whoever_names_further_searches_is_not_shown_those_by_name(context: StageContext) -> None:
    named = Query(text='"Lake Verra" CANCELLED', purpose="by name", by_name=True)
    case = make_case().replace(queries=(Query(text="lake closed", purpose="the claim"), named))
    assert context.brief_to_search_on(case).searched == ("lake closed",)
