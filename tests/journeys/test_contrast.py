"""The page, what opens over it, and the button that opened it can be read on both backgrounds."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from crowdnotes.domain import Verdict
from tests.journeys.accessible import axe_faults
from tests.journeys.conftest import App, Desk, NewPage
from tests.journeys.contrast import Scheme, faint_on_either, turned_to
from tests.journeys.walk import Walk

pytestmark = [pytest.mark.journey, pytest.mark.deep]

POST = "Vitamin C cures a cold in a day, says <b>everybody</b>. חיסון (2021). Doctors hide this from everyone who asks."


def test_no_words_are_too_faint_on_the_page_or_in_an_open_pop_over_or_on_its_button(
    app: App, desk: Desk, new_page: NewPage
) -> None:
    walk = Walk(new_page(width=390), app.url)
    walk.open()
    walk.search_mode()
    assert _faint_in(walk, "About the services") == []
    case_id = desk.gathered(POST, "vitamin-c", "colds", "gone")
    walk.open(f"/?case={case_id}")
    walk.read("E1")
    walk.reader().get_by_role("radio", name="Read, not cited").click()
    walk.settled()
    assert faint_on_either(walk.page) == []
    assert _faint_in(walk, "More like this", choose="Wikipedia") == []
    for fold in ("Find more sources", "Find sources that support the post"):
        walk.page.get_by_text(fold, exact=True).click()
    expect(walk.page.get_by_text("Online services").last).to_be_visible()
    assert faint_on_either(walk.page) == []
    assert _faint_in(walk, "Add a source") == []
    assert _faint_in(walk, "Working without AI") == []
    desk.judged(case_id, Verdict.USE, "E1")
    note = f"No vitamin cures a cold, a review of 29 trials found, insane as that is. {app.articles}/vitamin-c"
    desk.compared(desk.scored(case_id, note))  # no chance is shown before
    walk.open(f"/?case={case_id}")
    walk.read("E1")
    assert _faint_in_tabs(walk, ("light",)) == []  # a chart is drawn for one background
    assert _faint_in(walk, "How far to trust this", schemes=("light",)) == []
    walk.page.set_viewport_size({"width": 1280, "height": 900})
    walk.settled()
    for name in ("Add a source", "Keys"):
        walk.button(name).click()
        expect(walk.page.get_by_test_id("stPopoverBody")).to_be_visible()
        walk.settled()
        assert axe_faults(walk.page) == []
        assert faint_on_either(walk.page, ("light",)) == []
        walk.page.keyboard.press("Escape")
        expect(walk.page.get_by_test_id("stPopoverBody")).to_have_count(0)
    walk.page.set_viewport_size({"width": 390, "height": 900})
    turned_to(walk.page, "dark")
    walk.page.reload()
    walk.settled()
    expect(walk.gates()).to_have_count(3)
    assert _faint_in_tabs(walk, ("dark",)) == []
    assert _faint_in(walk, "How far to trust this", schemes=("dark",)) == []
    walk.open("/cases")
    _a_row_is_whole(walk)
    assert _faint_in(walk, "What to do with") == []


def _faint_in_tabs(walk: Walk, schemes: tuple[Scheme, ...]) -> list[str]:
    """What is too faint in any of a phone's tabs, all its folds open; the page is left on the note."""
    found = []
    for name in ("Post", "Sources", "Decide", "Note"):
        walk.tab(name)
        walk.unfold_all(name)
        found += faint_on_either(walk.page, schemes)
    return found


def _faint_in(walk: Walk, name: str, choose: str = "", schemes: tuple[Scheme, ...] = ("dark", "light")) -> list[str]:
    """What is too faint while the pop-over of that button is open, `choose` picked in it, the pointer on the button."""
    button = walk.page.get_by_role("button", name=name).first
    button.click()
    body = walk.page.get_by_test_id("stPopoverBody")
    expect(body).to_be_visible()
    walk.settled()
    if choose:
        body.get_by_text(choose, exact=True).click()
        expect(body.locator("[data-selected=true]")).to_have_count(1)
        walk.settled()
    button.hover()
    found = faint_on_either(walk.page, schemes)
    # Not with Escape: now and then the hint of the button takes that key for itself.
    button.click()
    expect(body).to_have_count(0)
    return found


def _a_row_is_whole(walk: Walk) -> None:
    row = walk.page.locator(".st-key-cases > *").first
    way_in, way_out = (
        row.get_by_role("link").bounding_box(),
        row.get_by_role("button", name="What to do with").bounding_box(),
    )
    assert way_in is not None
    assert way_out is not None
    assert way_in["x"] + way_in["width"] <= way_out["x"] + 1
    assert way_out["y"] < way_in["y"] + 2 * way_in["height"]  # beside it, not below
