"""What a person waits for or must answer is in view, and can be read on both backgrounds."""

from __future__ import annotations

import re
from typing import Literal

import pytest
from playwright.sync_api import expect

from tests.journeys.conftest import App, NewPage
from tests.journeys.contrast import faint_words
from tests.journeys.walk import Walk

pytestmark = pytest.mark.journey

POST = "Vitamin C cures a cold in a day, says <b>everybody</b>. חיסון (2021). Doctors hide this from everyone who asks."


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_goes_to_an_error_to_the_next_step_and_keeps_the_post_in_reach(
    app: App, new_page: NewPage, width: int
) -> None:
    walk = Walk(new_page("light", width, 640), app.url)
    page = walk.page
    walk.open()
    page.get_by_label("Text of the post").fill(POST)
    page.get_by_label(re.compile("^Links to your sources")).fill("see this\nand that")
    walk.button("Gather the evidence").click()
    expect(page.get_by_text("“and that” is not a web address.")).to_be_in_viewport()
    expect(page.get_by_label(re.compile("^Links to your sources"))).to_have_value("see this\nand that")

    walk.begin(POST, [f"{app.articles}/vitamin-c", "see this", f"{app.articles}/colds"])
    expect(page.get_by_text("1 line was not taken as a link.")).to_be_visible()
    walk.button("Leave them out").click()
    walk.settled()
    walk.read("E1")
    walk.use("E1")
    expect(walk.card("E2")).to_be_visible()
    walk.button("On to the draft").click()
    expect(walk.card("E2")).to_have_count(0)
    expect(page.get_by_role("heading", name="3 Draft")).to_be_in_viewport()
    expect(walk.button("Write a draft")).to_be_in_viewport()

    page.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, main.scrollHeight)")
    post = walk.step("Post") if width > 640 else walk.button("The post")
    expect(post).to_be_in_viewport()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_words_are_too_faint(app: App, new_page: NewPage, scheme: Literal["light", "dark"]) -> None:
    walk = Walk(new_page(scheme), app.url)
    walk.open()
    walk.search_mode()
    assert faint_words(walk.page) == []
    walk.own_links()
    walk.begin(POST, [f"{app.articles}/vitamin-c", f"{app.articles}/gone"])
    walk.read("E1")
    walk.use("E1")
    assert faint_words(walk.page) == []
    walk.note().fill(
        f"No vitamin cures a cold, a review of 29 trials found, insane as that is. {app.articles}/vitamin-c"
    )
    expect(walk.page.get_by_text("The words changed.")).to_be_visible()
    walk.button("Score the note").click()
    expect(walk.step("Review").locator(".gate")).to_have_count(3, timeout=60_000)
    expect(walk.page.locator(".st-key-job-panel")).to_have_count(0)
    walk.settled()
    assert faint_words(walk.page) == []
    for path in ("/cases", "/libraries"):
        walk.open(path)
        assert faint_words(walk.page) == []


def test_which_column_is_what_stays_open_and_filled_in_beside_an_error(app: App, new_page: NewPage) -> None:
    walk = Walk(new_page(), app.url)
    page = walk.page
    walk.open("/libraries")
    page.get_by_text("Which column is what").click()
    page.get_by_label("The text", exact=True).fill("body")
    walk.button("Add the library").click()
    expect(page.get_by_text("Choose a table or a folder first.")).to_be_visible()
    walk.settled()
    expect(page.get_by_label("The text", exact=True)).to_be_visible()
    expect(page.get_by_label("The text", exact=True)).to_have_value("body")
