"""A search of online services: chosen by the person, told place by place, failures not hidden."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import UTC, date, datetime

import pytest
from streamlit.testing.v1 import AppTest

from crowdnotes.cases.store import SqlStore
from crowdnotes.domain import (
    Case,
    FetchOutcome,
    Hit,
    Mode,
    ProviderOutcome,
    ProviderState,
    Query,
    Source,
    Stage,
    StageName,
)
from crowdnotes.jobs.records import JobRecord, Progress, Step
from crowdnotes.settings import SearchSettings, Settings
from tests.pages.conftest import POST, Desk, texts

FAILED = ProviderOutcome(
    provider="pubmed", label="PubMed", state=ProviderState.FAILED, seconds=8.0, sentence="It did not answer."
)
FOUND = ProviderOutcome(provider="europe-pmc", label="Europe PMC", state=ProviderState.ANSWERED, found=4, seconds=1.21)
NOTHING = FOUND.model_copy(update={"found": 0})
CHECK = Hit(
    provider="google-fact-check",
    title="No, vitamin C does not cure colds",
    snippet="The claim “vitamin C cures colds”. The Checkers rates it: False.",
    query="vitamin c cures colds",
    url="https://www.checkers.example.org/vitamin-c",
    published=date(2024, 3, 5),
)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, desk: Desk) -> list[str]:
    """The kinds of work that the page began; none of it is done, so that nothing asks the network."""
    kinds: list[str] = []

    def start(_: object, case_id: str, kind: str, steps: Sequence[object]) -> JobRecord | None:
        kinds.append(kind)
        return None

    monkeypatch.setattr(type(desk.workspace.runner), "start", start)
    return kinds


def searched(desk: Desk, **found: object) -> Case:
    case = desk.workspace.service.create(POST, mode=Mode.AUTOMATION, services=["europe-pmc", "pubmed"], by="you")
    stages = tuple(
        Stage(name=name, finished_at=datetime.now(UTC), seconds=1.0, summary="done", engine="scripted")
        for name in (StageName.QUERIES, StageName.SEARCH, StageName.READ, StageName.PASSAGES)
    )
    store: SqlStore = desk.workspace.service._store  # type: ignore[assignment]
    return store.update(case.id, lambda old: old.model_copy(update={"stages": stages, **found}))


def set_up(desk: Desk, monkeypatch: pytest.MonkeyPatch, search: SearchSettings) -> None:
    settings: Settings = desk.workspace.settings.model_copy(update={"search": search})
    object.__setattr__(desk.workspace, "settings", settings)


def search_form(desk: Desk) -> AppTest:
    at = desk.app()
    at.session_state["new-post-mode"] = Mode.AUTOMATION
    return at.run()


def test_services_are_ticked_by_the_person_and_kept_with_the_case(desk: Desk, started: list[str]) -> None:
    at = search_form(desk)
    assert at.session_state["new-post-services"] == []
    assert "The words of the searches go to the services that are ticked." in texts(at)
    at.session_state["new-post-services"] = ["europe-pmc", "wikipedia"]
    at.text_area(key="new-post-text").set_value(POST)
    at.button(key="start").click().run()
    assert not at.exception
    [summary] = desk.workspace.service.list()
    assert desk.workspace.service.get(summary.id).services == ("europe-pmc", "wikipedia")
    assert started == ["gather"]


def test_the_setting_names_what_is_ticked_at_first_and_a_key_adds_its_service(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CROWDNOTES_SEARCH_SERVICES", '["wikipedia"]')
    monkeypatch.setenv("CROWDNOTES_SEARCH_BRAVE_KEY", "a-key")
    set_up(desk, monkeypatch, SearchSettings())
    at = search_form(desk)
    assert sorted(at.session_state["new-post-services"]) == ["brave", "wikipedia"]
    assert "a-key" not in texts(at)


def test_a_service_that_is_not_set_up_tells_what_it_needs(desk: Desk) -> None:
    at = search_form(desk)
    at.session_state["about-new-post-services"] = True
    at.run()
    assert "CROWDNOTES_SEARCH_GOOGLE_FACT_CHECK_KEY" in texts(at)
    assert "google-fact-check" not in at.session_state["new-post-services"]


def test_a_setting_that_names_no_service_of_ours_is_told(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROWDNOTES_SEARCH_SERVICES", '["altavista"]')
    set_up(desk, monkeypatch, SearchSettings())
    assert "names no service of ours: altavista" in texts(search_form(desk))


def test_links_of_ones_own_ask_no_service(desk: Desk, started: list[str]) -> None:
    at = search_form(desk)
    at.session_state["new-post-services"] = ["europe-pmc"]
    at.run()
    at.session_state["new-post-mode"] = Mode.AUGMENTATION
    at.text_area(key="new-post-text").set_value(POST)
    at.text_area(key="new-post-urls").set_value("https://a.example.org/x")
    at.button(key="start").click().run()
    [summary] = desk.workspace.service.list()
    assert desk.workspace.service.get(summary.id).services == ()


def test_what_was_asked_where_and_in_which_language_can_be_read_afterwards(desk: Desk) -> None:
    asked = (
        Query(text="vitamina C resfriado", purpose="the claim", language="es"),
        Query(text="vitamin C common cold", purpose="in English", language="en"),
    )
    library = FOUND.model_copy(update={"provider": "library:own", "label": "Library own"})
    case = searched(desk, outcomes=(FOUND, FAILED, library), queries=asked)
    at = desk.app(case)
    at.session_state[f"searches-{case.id}"] = True
    at.run()
    shown = texts(at)
    assert "Each of these went to Europe PMC, PubMed." in shown
    assert "“vitamina C resfriado” :gray[the claim · Spanish]" in shown
    assert "“vitamin C common cold” :gray[in English · English]" in shown


def test_searching_again_keeps_the_services_of_the_case(desk: Desk, started: list[str]) -> None:
    case = searched(desk, outcomes=(FOUND,))
    at = desk.app(case)
    at.session_state[f"more-{case.id}"] = True
    at.run()
    next(item for item in at.button if item.label == "Search and read again").click().run()
    assert not at.exception
    assert desk.newest(case).services == ("europe-pmc", "pubmed")
    assert started == ["gather"]


def test_each_place_is_told_with_what_it_found_or_why_it_failed(desk: Desk) -> None:
    shown = texts(desk.app(searched(desk, outcomes=(FOUND, FAILED))))
    assert "Europe PMC: 4 found · 1.2 s" in shown
    assert "PubMed:** It did not answer." in shown


def test_nothing_found_in_a_search_that_failed_is_not_told_as_nothing_found(desk: Desk) -> None:
    shown = texts(desk.app(searched(desk, outcomes=(NOTHING, FAILED))))
    assert "a search failed" in shown
    assert "No passage was found." not in shown


def test_nothing_found_in_searches_that_all_answered_is_a_result(desk: Desk) -> None:
    assert "No passage was found." in texts(desk.app(searched(desk, outcomes=(NOTHING,))))


def test_pages_that_were_found_but_help_nothing_are_not_told_as_nothing_found(desk: Desk) -> None:
    other = CHECK.model_copy(update={"provider": "brave", "title": "Something else"})
    shown = texts(desk.app(searched(desk, outcomes=(FOUND,), hits=(other,))))
    assert "Nothing that was found helps to judge the post." in shown
    assert "No passage was found." not in shown


def test_sources_that_could_not_be_read_are_not_told_as_nothing_found(desk: Desk) -> None:
    blocked = Source(id="a", title="A page", url="https://a.example.org/x", outcome=FetchOutcome.BLOCKED)
    shown = texts(desk.app(searched(desk, outcomes=(FOUND,), sources=(blocked,))))
    assert "No source could be read." in shown
    assert "No passage was found." not in shown


def test_sources_that_were_chosen_but_not_searched_yet_say_so(desk: Desk) -> None:
    case = searched(desk, outcomes=(NOTHING,))
    desk.workspace.service.set_sources(
        case.id, mode=Mode.AUTOMATION, urls=[], libraries=["med"], services=[], until=None, by="you"
    )
    shown = texts(desk.app(case))
    assert "No passage was found." not in shown
    new = desk.workspace.service.create(POST, mode=Mode.AUTOMATION, services=["pubmed"], by="you")
    assert "No passage was found." not in texts(desk.app(new))


def test_a_search_that_was_stopped_is_not_told_as_nothing_found(desk: Desk) -> None:
    case = desk.workspace.service.create(POST, mode=Mode.AUTOMATION, services=["pubmed"], by="you")

    def stopped(progress: Progress) -> str:
        desk.workspace.runner.cancel(job.id)
        while True:
            progress.check()

    step = Step(name="search", title="Search", run=stopped, finished=lambda: None)
    ready = threading.Event()

    def waiting(progress: Progress) -> str:
        ready.wait(30)
        return "ready"

    first = Step(name="queries", title="Think", run=waiting, finished=lambda: None)
    job = desk.workspace.runner.start(case.id, "gather", [first, step])
    ready.set()
    desk.finish(job.id)
    shown = texts(desk.app(case))
    assert "was stopped" in shown
    assert "No passage was found." not in shown


def test_the_step_counts_links_and_finds_apart_and_names_the_cutoff(desk: Desk) -> None:
    case = searched(desk, hits=(CHECK,), urls=("https://a.example.org/x",), until=date(2024, 3, 5))
    assert "1 link · 1 found · 0 read · 0 opened · 0 used · no later than 5 March 2024" in texts(desk.app(case))


def test_a_cutoff_that_is_chosen_goes_with_the_case(desk: Desk, started: list[str]) -> None:
    at = search_form(desk)
    at.session_state["new-post-services"] = ["europe-pmc"]
    at.text_area(key="new-post-text").set_value(POST)
    at.date_input(key="new-post-until").set_value(date(2024, 3, 5))
    at.button(key="start").click().run()
    [summary] = desk.workspace.service.list()
    assert desk.workspace.service.get(summary.id).until == date(2024, 3, 5)

    at = desk.app(desk.workspace.service.get(summary.id))
    at.session_state[f"more-{summary.id}"] = True
    at.run()
    at.date_input(key=f"until-{summary.id}").set_value(date(2023, 1, 1))
    next(item for item in at.button if item.label == "Search and read again").click().run()
    assert not at.exception
    assert desk.workspace.service.get(summary.id).until == date(2023, 1, 1)
    assert started == ["gather", "gather"]


def test_a_fact_checker_that_any_service_found_is_named_with_its_rating(desk: Desk) -> None:
    known = CHECK.model_copy(update={"provider": "brave", "url": "https://www.snopes.com/fact-check/c/", "rating": ""})
    rated = CHECK.model_copy(update={"rating": "False"})
    shown = texts(desk.app(searched(desk, hits=(known, rated), outcomes=(FOUND,))))
    assert "rated: False" in shown
    assert "Snopes · 5 March 2024" in shown
    assert shown.index("rated: False") < shown.index("Snopes")


def test_a_fact_check_by_others_stands_before_the_evidence(desk: Desk) -> None:
    other = CHECK.model_copy(update={"provider": "brave", "title": "Something else"})
    at = desk.app(searched(desk, hits=(other, CHECK), outcomes=(FOUND,)))
    shown = texts(at)
    assert "Already checked" in shown
    assert "No, vitamin C does not cure colds" in shown
    assert "checkers.example.org · 5 March 2024" in shown
    assert "Something else" not in shown
    assert shown.index("Already checked") < shown.index("Europe PMC: 4 found")


def test_a_page_that_refuses_programs_and_one_that_asks_for_payment_read_differently(desk: Desk) -> None:
    sources = tuple(
        Source(id=outcome.name.lower(), title="A page", url=f"https://a.example.org/{outcome.name}", outcome=outcome)
        for outcome in (FetchOutcome.BLOCKED, FetchOutcome.PAYWALLED)
    )
    shown = texts(desk.app(searched(desk, sources=sources)))
    assert "The site refuses to be read by programs." in shown
    assert "only to those who pay or sign in" in shown
