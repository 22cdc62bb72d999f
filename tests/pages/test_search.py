"""A search of online services: chosen by the person, told place by place, failures not hidden."""

from __future__ import annotations

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
    Source,
    Stage,
    StageName,
)
from crowdnotes.jobs.records import JobRecord
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
    stage = Stage(
        name=StageName.SEARCH, finished_at=datetime.now(UTC), seconds=1.0, summary="searched", engine="scripted"
    )
    store: SqlStore = desk.workspace.service._store  # type: ignore[assignment]
    return store.update(case.id, lambda old: old.model_copy(update={"stages": (stage,), **found}))


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


def test_searching_again_keeps_the_services_of_the_case(desk: Desk, started: list[str]) -> None:
    case = searched(desk, outcomes=(FOUND,))
    at = desk.app(case)
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
