"""A search of online services: chosen by the person, told place by place, failures not hidden."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from streamlit.testing.v1 import AppTest

from crowdnotes.domain import Mode
from crowdnotes.jobs.records import JobRecord
from crowdnotes.settings import Settings
from crowdnotes.settings_sections import SearchSettings
from pages.common.where_to_look import sources_key
from tests.pages.conftest import POST, Desk, press, texts, unfolded
from tests.pages.searches import CHECK, FOUND, searched


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, desk: Desk) -> list[str]:
    """The kinds of work that the page began; none of it is done, so that nothing asks the network."""
    kinds: list[str] = []

    def start_anywhere(_: object, case_id: str, kind: str, *what: object, **more: object) -> JobRecord | None:
        kinds.append(kind)
        return None

    monkeypatch.setattr(type(desk.workspace.runner), "start_anywhere", start_anywhere)
    return kinds


def set_up(desk: Desk, monkeypatch: pytest.MonkeyPatch, search: SearchSettings) -> None:
    settings: Settings = desk.workspace.settings.replace(search=search)
    object.__setattr__(desk.workspace, "stage_context", replace(desk.workspace.stage_context, settings=settings))


def search_form(desk: Desk) -> AppTest:
    at = desk.app()
    at.session_state["new-post-mode"] = Mode.AUTOMATION
    return at.run()


def test_services_are_ticked_by_the_person_and_kept_with_the_case(desk: Desk, started: list[str]) -> None:
    at = search_form(desk)
    assert at.session_state["new-post-services"] == []
    assert "Search words are sent to the services you choose." in texts(at)
    at.session_state["new-post-services"] = ["europe-pmc", "wikipedia"]
    at.text_area(key="new-post-text").set_value(POST)
    at.button(key="start").click().run()
    assert not at.exception
    [summary] = desk.workspace.cases.find()
    assert desk.workspace.cases.get(summary.id).services == ("europe-pmc", "wikipedia")
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


def test_a_web_search_without_a_key_is_ticked_and_told_of_and_its_tick_can_be_taken_away(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CROWDNOTES_SEARCH_SERVICES", raising=False)
    set_up(desk, monkeypatch, SearchSettings())
    at = search_form(desk)
    ticked = at.session_state["new-post-services"]
    assert "tavily" in ticked
    assert "needs no key" in texts(at)
    at.session_state["new-post-services"] = [name for name in ticked if name != "tavily"]
    assert "needs no key" not in texts(at.run())


def test_a_service_that_is_not_set_up_tells_what_it_needs(desk: Desk) -> None:
    at = search_form(desk)
    at.session_state["about-new-post"] = True
    at.run()
    assert "CROWDNOTES_SEARCH_GOOGLE_FACT_CHECK_KEY" in texts(at)
    assert "google-fact-check" not in at.session_state["new-post-services"]


def test_a_setting_that_names_no_service_of_ours_is_told(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROWDNOTES_SEARCH_SERVICES", '["altavista"]')
    set_up(desk, monkeypatch, SearchSettings())
    assert "has unknown services: altavista" in texts(search_form(desk))


def test_links_of_ones_own_ask_no_service(desk: Desk, started: list[str]) -> None:
    at = search_form(desk)
    at.session_state["new-post-services"] = ["europe-pmc"]
    at.run()
    at.session_state["new-post-mode"] = Mode.AUGMENTATION
    at.text_area(key="new-post-text").set_value(POST)
    at.text_area(key="new-post-urls").set_value("https://a.example.org/x")
    at.button(key="start").click().run()
    [summary] = desk.workspace.cases.find()
    assert desk.workspace.cases.get(summary.id).services == ()


def test_searching_again_keeps_the_services_of_the_case(desk: Desk, started: list[str]) -> None:
    case = searched(desk, outcomes=(FOUND,))
    at = desk.app(case)
    at.session_state[f"more-{case.id}"] = True
    at.run()
    press(at, "Search again")
    assert not at.exception
    assert desk.newest(case).services == ("europe-pmc", "pubmed")
    assert started == ["gather"]


def test_the_links_and_the_cutoff_of_a_case_stand_where_the_search_is_changed(desk: Desk) -> None:
    case = searched(desk, hits=(CHECK,), urls=("https://a.example.org/x",), until=date(2024, 3, 5))
    at = unfolded(desk.app(case), f"more-{case.id}")
    assert at.text_area(key=f"{sources_key(case)}-urls").value == "https://a.example.org/x"
    assert at.date_input(key=f"{sources_key(case)}-until").value == date(2024, 3, 5)


def test_a_cutoff_that_is_chosen_goes_with_the_case(desk: Desk, started: list[str]) -> None:
    at = search_form(desk)
    at.session_state["new-post-services"] = ["europe-pmc"]
    at.text_area(key="new-post-text").set_value(POST)
    at.date_input(key="new-post-until").set_value(date(2024, 3, 5))
    at.button(key="start").click().run()
    [summary] = desk.workspace.cases.find()
    assert desk.workspace.cases.get(summary.id).until == date(2024, 3, 5)

    at = desk.app(desk.workspace.cases.get(summary.id))
    at.session_state[f"more-{summary.id}"] = True
    at.run()
    key = sources_key(desk.workspace.cases.get(summary.id))
    at.date_input(key=f"{key}-until").set_value(date(2023, 1, 1))
    press(at, "Search")
    assert not at.exception
    assert desk.workspace.cases.get(summary.id).until == date(2023, 1, 1)
    assert started == ["gather", "gather"]
