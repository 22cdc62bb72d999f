"""What a person waits for or must answer is in view, by pointer and by keyboard."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from tests.journeys.conftest import App, NewPage
from tests.journeys.walk import Walk

pytestmark = pytest.mark.journey

POST = "Vitamin C cures a cold in a day, says <b>everybody</b>. חיסון (2021). Doctors hide this from everyone who asks."

# Whether what the keyboard is on shows in the window, not behind what stays in place at its head or foot.
_IS_SEEN = """
() => {
  let now = document.activeElement
  // Past its end a page hands the keyboard to the browser; and on a phone Streamlit lets it into its
  // folded navigation, which is beside the window.
  if (!now.closest("[data-testid=stMain]")) return true
  while (now.shadowRoot?.activeElement) now = now.shadowRoot.activeElement
  // A tick is drawn by its label; the field itself has no size.
  const { left, top, width, height } = (now.closest("label") ?? now).getBoundingClientRect()
  const there = document.elementsFromPoint(left + width / 2, top + Math.min(height, innerHeight) / 2)
  const bars = ".st-key-strip, .st-key-ends, [data-testid=stHeader]"
  const fixed = there[0]?.closest(bars)
  return there.length > 0 && (!fixed || fixed.contains(now) || fixed.contains(now.getRootNode().host))
}
"""


def _look(page: Page) -> None:
    try:
        page.wait_for_function(_IS_SEEN)
    except PlaywrightTimeout:
        pytest.fail(f"out of sight is {page.evaluate('document.activeElement.outerHTML')[:400]}")


@pytest.mark.deep
@pytest.mark.parametrize("width", [1280, 390])
def test_page_and_keyboard_go_to_an_error_and_to_the_next_step_never_behind_a_bar_with_the_post_in_reach(
    app: App, new_page: NewPage, width: int
) -> None:
    walk = Walk(new_page("light", width, 640), app.url)
    page = walk.page
    walk.open()
    walk.options()
    page.get_by_label("Paste the post").fill(POST)
    page.get_by_label(re.compile("^Links, one")).fill("see this\nand that")
    walk.button("Find evidence").click()
    expect(page.get_by_text("“and that” is not a web address.")).to_be_in_viewport()
    expect(page.get_by_label(re.compile("^Links, one"))).to_have_value("see this\nand that")

    links = [f"{app.articles}/vitamin-c", "see this", f"{app.articles}/colds"]
    page.get_by_label(re.compile("^Links, one")).fill("\n".join(links))
    page.get_by_label("Paste the post").focus()
    gather = walk.button("Find evidence")
    for _ in range(30):
        page.keyboard.press("Tab")
        _look(page)
        if gather.evaluate("button => button === document.activeElement"):
            break
    page.keyboard.press("Enter")
    expect(walk.row("E1")).to_be_visible()
    walk.settled()
    expect(page.locator(".st-key-area-sources:focus, .st-key-area-sources :focus")).to_have_count(1)
    for _ in range(4):  # past the button that closes the message and the two of the heading
        page.keyboard.press("Tab")
        _look(page)
    expect(walk.row("E1").locator(":focus")).to_have_count(1)

    expect(page.get_by_text("“see this” is not a web address.")).to_be_visible()
    walk.read("E1")
    walk.use("E1")
    expect(walk.row("E2")).to_be_visible()
    walk.tab("Note")
    expect(walk.button("Find sentences to quote")).to_be_in_viewport()
    walk.settled()
    for _ in range(30):
        page.keyboard.press("Tab")
        _look(page)

    walk.tab("Sources")
    page.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, main.scrollHeight)")
    walk.tab("Post")
    expect(walk.area("Post").get_by_text("Vitamin C cures a cold in a day").first).to_be_in_viewport()


@pytest.mark.deep
def test_who_begins_with_a_passage_of_their_own_is_taken_to_the_box_for_it(app: App, new_page: NewPage) -> None:
    walk = Walk(new_page("light", 390, 640), app.url)
    page = walk.page
    walk.open()
    page.get_by_label("Paste the post").fill(POST)
    walk.settled()  # what was recognised is told below the box
    walk.button("Paste the text of a source").click()
    passage = page.get_by_label("Text from the page")
    expect(passage).to_be_in_viewport()
    passage.fill("| Year | Colds |\n|---|---|\n| 2024 | 12 |")
    walk.button("Add this text").click()
    expect(page.get_by_text("1 text added.")).to_be_visible()  # open for the next one
    walk.button("Done").click()
    expect(passage).to_have_count(0)
    walk.read("E1")
    expect(walk.reader().get_by_text("2024 · 12")).to_be_visible()


@pytest.mark.deep
def test_what_is_filled_in_for_a_library_stays_beside_an_error(app: App, new_page: NewPage) -> None:
    walk = Walk(new_page(), app.url)
    page = walk.page
    walk.open("/libraries")
    page.get_by_label("Name of the library", exact=True).fill("body")
    walk.button("Add the library").click()
    expect(page.get_by_text("Choose a table or a folder first.")).to_be_visible()
    walk.settled()
    expect(page.get_by_label("Name of the library", exact=True)).to_have_value("body")
