"""axe-core finds nothing serious on any page: wide and narrow, light and dark, with all folds open."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.journeys.accessible import serious_faults
from tests.journeys.conftest import App, NewPage
from tests.journeys.contrast import turned_to
from tests.journeys.walk import Walk

pytestmark = pytest.mark.journey

POST = "Vitamin C cures a cold in a day. Doctors hide this from everyone who asks."


def test_the_workbench_has_no_serious_fault(app: App, new_page: NewPage) -> None:
    walk = Walk(new_page("light", 1280), app.url)
    page = walk.page
    walk.open()
    assert serious_faults(page) == []
    walk.begin(POST, [f"{app.articles}/vitamin-c", f"{app.articles}/colds", f"{app.articles}/gone"])
    walk.read("E1")
    walk.use("E1")
    walk.score(f"No vitamin cures a cold, a review of 29 trials found, insane as that is. {app.articles}/vitamin-c")
    for name in ("Post", "Sources", "Note", "Decide"):
        walk.unfold_all(name)
    assert serious_faults(page) == []
    for name in ("See the other side", "Add a source", "Keys"):
        walk.button(name).click()
        expect(page.get_by_test_id("stPopoverBody")).to_be_visible()
        walk.settled()
        assert serious_faults(page) == []
        page.keyboard.press("Escape")
        expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)
    turned_to(page, "dark")
    assert serious_faults(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    for name in ("Post", "Sources", "Note", "Decide"):
        walk.tab(name)
        assert serious_faults(page) == []


@pytest.mark.parametrize("path", ["cases", "libraries", "supernote", "compare", "overview", "help"])
def test_the_other_pages_have_no_serious_fault(app: App, new_page: NewPage, path: str) -> None:
    walk = Walk(new_page("light", 1280), app.url)
    walk.open(f"/{path}")
    assert serious_faults(walk.page) == []
    turned_to(walk.page, "dark")
    walk.page.set_viewport_size({"width": 390, "height": 844})
    walk.settled()
    assert serious_faults(walk.page) == []
