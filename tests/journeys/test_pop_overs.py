"""What opens over the page can be read too, on both backgrounds, and so can the button that opened it."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.journeys.conftest import App, NewPage
from tests.journeys.contrast import Scheme, faint_on_either, turned_to
from tests.journeys.walk import Walk

pytestmark = pytest.mark.journey

POST = "Vitamin C cures a cold in a day. Doctors hide this from everyone who asks."


def test_no_words_of_an_open_pop_over_or_its_button_are_too_faint(app: App, new_page: NewPage) -> None:
    walk = Walk(new_page(), app.url)
    walk.open()
    walk.search_mode()
    assert _faint_in(walk, "About the services") == []
    walk.own_links()
    walk.begin(POST, [f"{app.articles}/vitamin-c"])
    walk.read("E1")
    walk.card("E1").get_by_role("radio", name="Background only").click()
    walk.settled()
    assert faint_on_either(walk.page) == []
    assert _faint_in(walk, "More like this", choose="Wikipedia") == []
    assert _faint_in(walk, "See the other side", choose="Wikipedia") == []
    assert _faint_in(walk, "Add a link") == []
    assert _faint_in(walk, "no language model is at work") == []
    walk.use("E1")
    walk.score(f"No vitamin cures a cold, a review of 29 trials found. {app.articles}/vitamin-c")
    assert _faint_in(walk, "How far to trust this", schemes=("light",)) == []
    turned_to(walk.page, "dark")
    walk.page.reload()
    walk.settled()
    assert _faint_in(walk, "How far to trust this", schemes=("dark",)) == []
    walk.open("/cases")
    assert _faint_in(walk, "Delete") == []


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
