"""A reader of the algorithm page moves a slider, runs the experiment and sees its table; nothing grave for axe-core."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.accessible import axe_faults
from tests.journeys.conftest import App, NewPage
from tests.journeys.contrast import turned_to
from tests.journeys.walk import Walk

pytestmark = [pytest.mark.journey, pytest.mark.deep]


def faults(page: Page, *, pictures: int) -> list[str]:
    """What axe finds once each picture's button to save it has its name: that one comes by a script."""
    expect(page.get_by_role("button", name="Save as image:")).to_have_count(pictures)
    return axe_faults(page)


def test_a_slider_moves_the_notes_a_click_tells_of_one_and_the_experiment_has_a_table(
    app: App, new_page: NewPage
) -> None:
    walk = Walk(new_page(), app.url)
    page = walk.page
    walk.open("/algorithm")
    expect(page.locator(".st-key-world-scores .points path")).to_have_count(60)
    point = page.locator(".st-key-world-scores .points path").first
    before = str(point.get_attribute("transform"))
    page.get_by_role("slider", name="Noise").focus()
    page.keyboard.press("ArrowRight")
    expect(point).not_to_have_attribute("transform", before)
    page.locator(".st-key-world-scores .points path").last.click()  # the topmost
    expect(page.locator(".st-key-world-note").get_by_text("Note 60 is")).to_be_visible()
    assert faults(page, pictures=2) == []
    page.get_by_role("tab", name="Does it resist extremes?").click()
    expect(page.get_by_role("table").get_by_text("good but extreme")).to_be_visible()
    assert faults(page, pictures=1) == []
    turned_to(page, "dark")
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_role("tab", name="Attack lab").click()
    expect(page.get_by_text("accounts are enough to hide note").first).to_be_visible()
    assert faults(page, pictures=3) == []
    drawn = page.locator(".st-key-attack-scores .points path")
    few = drawn.count()
    page.get_by_text("Push up a note that helps nobody").click()
    expect(drawn).to_have_count(61)
    page.get_by_text("Hide a note that helps both sides").click()
    expect(drawn).to_have_count(few)
    assert few < 61
