"""Follow-up searches in a browser: a link added, a passage swapped for what an earlier search found, the way back."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.journeys.conftest import SCREENSHOTS, App, Desk, NewPage
from tests.journeys.walk import Walk

pytestmark = [pytest.mark.journey, pytest.mark.deep]

POST = "Vitamin C cures a cold in a day. Doctors hide this from everyone who asks."


def test_a_person_adds_a_link_looks_for_the_other_side_and_brings_evidence_back(
    app: App, desk: Desk, new_page: NewPage
) -> None:
    walk = Walk(new_page("light", 390), app.url, pictures=SCREENSHOTS, name="follow-up")
    page = walk.page
    walk.open(f"/?case={desk.gathered(POST, 'vitamin-c')}")
    expect(walk.area("Sources").get_by_text("0 of 1 opened, 0 used")).to_be_visible()
    walk.read("E1")

    walk.button("Add a source").click()
    page.get_by_role("textbox", name="Link to one more page").fill(f"{app.articles}/colds")
    page.get_by_role("textbox", name="Link to one more page").press("Enter")
    walk.button("Read and add").click()
    expect(page.get_by_text("New: E2.", exact=True)).to_be_visible()
    walk.settled()
    expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)
    expect(walk.use_tick("E1")).to_be_enabled()
    expect(walk.row("E2")).to_be_visible()

    # Nothing is ticked and there is no library: it asks to choose, and changes nothing.
    page.get_by_text("Find more sources", exact=True).click()
    walk.settled()  # each fold is filled once it is open
    page.get_by_text("Find sources that support the post", exact=True).click()
    walk.settled()
    walk.button(re.compile("Search$")).click()
    expect(page.get_by_text("Where should we search?")).to_be_visible()
    walk.settled()

    # The post is one tap away wherever the person scrolls to.
    page.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, main.scrollHeight)")
    walk.tab("Post")
    expect(walk.area("Post").get_by_text("Doctors hide this from everyone who asks.").first).to_be_in_viewport()
    walk.tab("Sources")

    page.get_by_text("Earlier sources (1 set)").click()
    expect(page.get_by_text(re.compile("before: a link added"))).to_be_visible()
    walk.picture("earlier")
    walk.button("Bring these back").click()
    expect(walk.row("E2")).to_have_count(0)
    walk.settled()
    page.get_by_text("Earlier sources (2 sets)").click()
    walk.button(re.compile("Bring back$")).click()
    expect(walk.row("E2")).to_be_visible()
