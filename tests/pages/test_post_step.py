"""Step 1 on the page: the post, and where to look."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from crowdnotes.domain import Mode
from tests.pages.conftest import POST, ROOT, Desk, texts


def test_a_fresh_page_shows_five_steps_and_says_that_no_language_model_is_at_work(desk: Desk) -> None:
    at = desk.app()
    assert not at.exception
    assert [heading.value.split(" ", 1)[1] for heading in at.subheader] == [
        "1 Post",
        "2 Evidence",
        "3 Draft",
        "4 Review",
        "5 Decide",
    ]
    assert "It makes up no sentence of its own." in texts(at)  # the journeys see the label, "no language model …"
    assert "evidence before words" in texts(at)


def test_an_empty_post_is_refused_in_a_sentence(desk: Desk) -> None:
    at = desk.app()
    at.button(key="start").click().run()
    assert "The post is empty." in texts(at)
    assert desk.workspace.service.list() == []


@pytest.mark.parametrize(
    ("mode", "asked"),
    [
        (Mode.AUGMENTATION, "Bring at least one link, or choose a search instead."),
        (Mode.AUTOMATION, "Choose a library or service, or bring links instead."),
    ],
)
def test_without_anywhere_to_look_the_page_asks_for_it_keeps_what_was_typed_and_makes_no_case(
    desk: Desk, mode: Mode, asked: str
) -> None:
    at = desk.app()
    at.text_area(key="new-post-text").set_value(POST)
    at.session_state["new-post-mode"] = mode
    at.button(key="start").click().run()
    assert not at.exception
    assert asked in texts(at)
    assert at.text_area(key="new-post-text").value == POST
    assert "case" not in at.query_params
    assert desk.workspace.service.list() == []


def test_starting_makes_a_case_and_puts_it_into_the_address(desk: Desk) -> None:
    at = desk.app()
    at.text_area(key="new-post-text").set_value(POST)
    at.text_area(key="new-post-urls").set_value("http://127.0.0.1:1/refused")
    at.button(key="start").click().run()
    assert not at.exception
    [summary] = desk.workspace.service.list()
    assert at.query_params["case"] == summary.id
    case = desk.workspace.service.get(summary.id)
    desk.finish_latest(case)
    at.run()
    assert "1 source could not be read" in texts(at)
    assert "says nothing for or against the post" in texts(at)


def test_an_example_fills_in_the_form(desk: Desk) -> None:
    at = desk.app()
    at.session_state["new-example"] = True
    at.run()
    button = next(item for item in at.button if item.label == "Use this example")
    button.click().run()
    assert at.text_area(key="new-post-text").value
    assert ".example/" in str(at.text_area(key="new-post-urls").value)


def test_a_case_that_does_not_exist_is_told_in_a_sentence(desk: Desk) -> None:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.query_params["case"] = "<script>"
    at.run()
    assert not at.exception
    assert "The Cases page lists what is there" in texts(at)
    assert at.button(key="start")
