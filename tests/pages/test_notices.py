"""A message about what went wrong stays until it is closed, or the person acts at the same place again."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from crowdnotes.cases import intake
from crowdnotes.domain import Mode
from tests.pages.conftest import POST, Desk, press, titles

_NOT_AN_ADDRESS = "“see this” is not a web address."


def _search_with_a_bad_link(desk: Desk) -> AppTest:
    at = desk.begun("see this\nhttp://127.0.0.1:1/refused")
    assert _NOT_AN_ADDRESS in titles(at)
    desk.finish_latest(desk.only(), at)
    return at


def test_it_outlives_runs_of_the_page_and_acts_elsewhere_until_it_is_closed(desk: Desk) -> None:
    at = _search_with_a_bad_link(desk)
    at.run()
    assert _NOT_AN_ADDRESS in titles(at)
    press(at, "Not enough evidence")
    assert _NOT_AN_ADDRESS in titles(at)
    closing = [item for item in at.button if item.help == "Close this message"]
    assert len(closing) == len(titles(at))
    closing[titles(at).index(_NOT_AN_ADDRESS)].click().run()
    assert _NOT_AN_ADDRESS not in titles(at)


def test_acting_at_the_same_place_takes_it_away(desk: Desk) -> None:
    at = desk.app()
    at.button(key="start").click().run()
    assert titles(at) == ["The post is empty."]
    at.text_area(key="new-post-text").set_value(POST).run()
    assert titles(at) == []


def test_it_belongs_to_its_case(desk: Desk) -> None:
    at = _search_with_a_bad_link(desk)
    at.query_params["case"] = intake.create_case(desk.workspace.cases, "Another post.", mode=Mode.AUGMENTATION).id
    at.run()
    assert not at.exception
    assert titles(at) == []
