"""What a person waits for or must answer is in view, and can be read on both backgrounds."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.conftest import App, NewPage
from tests.journeys.contrast import faint_on_either, faint_words, turned_to
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
    expect(walk.button("Find sentences to quote")).to_be_in_viewport()

    page.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, main.scrollHeight)")
    post = walk.step("Post") if width > 640 else walk.button("The post")
    expect(post).to_be_in_viewport()


@pytest.mark.parametrize("width", [1280, 390])
def test_who_begins_with_a_passage_of_their_own_is_taken_to_the_box_for_it(
    app: App, new_page: NewPage, width: int
) -> None:
    walk = Walk(new_page("light", width, 640), app.url)
    page = walk.page
    walk.open()
    page.get_by_label("Text of the post").fill(POST)
    walk.button("Paste a passage yourself").click()
    passage = page.get_by_label("The passage, in the page's own words")
    expect(passage).to_be_in_viewport()
    passage.fill("| Year | Colds |\n|---|---|\n| 2024 | 12 |")
    walk.button("Add this passage").click()
    walk.read("E1")
    expect(walk.card("E1").get_by_text("2024 · 12")).to_be_visible()


@pytest.mark.parametrize("width", [1280, 390])
def test_the_keyboard_comes_to_the_step_that_follows_and_never_behind_the_line_at_the_foot(
    app: App, new_page: NewPage, width: int
) -> None:
    walk = Walk(new_page("light", width, 640), app.url)
    page = walk.page
    walk.open()
    page.get_by_label("Text of the post").fill(POST)
    page.get_by_label(re.compile("^Links to your sources")).fill(f"{app.articles}/vitamin-c")
    page.get_by_label("Text of the post").focus()
    gather = walk.button("Gather the evidence")
    for _ in range(30):
        page.keyboard.press("Tab")
        assert _is_above_the_foot(page)
        if gather.evaluate("button => button === document.activeElement"):
            break
    page.keyboard.press("Enter")
    expect(walk.card("E1")).to_be_visible(timeout=90_000)
    walk.settled()
    expect(walk.step("Evidence").locator(":focus")).to_have_count(1)
    page.keyboard.press("Tab")
    expect(walk.card("E1").locator(":focus")).to_have_count(1)


def _is_above_the_foot(page: Page) -> bool:
    """Whether what the keyboard is on ends above the line at the foot, or stands in it."""
    return bool(
        page.evaluate(
            """() => {
              const foot = document.querySelector('[data-testid="stBottom"]')
              const now = document.activeElement
              return foot.contains(now) || now.getBoundingClientRect().bottom <= foot.getBoundingClientRect().top
            }"""
        )
    )


def test_the_ways_into_a_case_stand_side_by_side_on_a_phone_with_their_words_whole(app: App, new_page: NewPage) -> None:
    walk = Walk(new_page("light", 390), app.url)
    walk.open()
    walk.begin(POST, [f"{app.articles}/colds"])
    walk.open("/cases")
    first = walk.page.locator("[class*=st-key-buttons-]").first
    way_in, way_out = (first.get_by_role("button", name=name).bounding_box() for name in ("Open", "Delete"))
    assert way_in is not None
    assert way_out is not None
    assert way_in["y"] == way_out["y"]
    assert way_in["height"] == way_out["height"]


def test_no_words_are_too_faint(app: App, new_page: NewPage) -> None:
    walk = Walk(new_page(), app.url)
    walk.open()
    walk.search_mode()
    assert faint_on_either(walk.page) == []
    walk.own_links()
    walk.begin(POST, [f"{app.articles}/vitamin-c", f"{app.articles}/gone"])
    walk.read("E1")
    walk.use("E1")
    assert faint_on_either(walk.page) == []
    walk.score(f"No vitamin cures a cold, a review of 29 trials found, insane as that is. {app.articles}/vitamin-c")
    assert faint_words(walk.page) == []
    turned_to(walk.page, "dark")
    walk.page.reload()
    walk.settled()
    expect(walk.step("Review").locator(".gate")).to_have_count(3)
    assert faint_words(walk.page) == []
    for path in ("/cases", "/libraries"):
        walk.open(path)
        assert faint_on_either(walk.page) == []


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
