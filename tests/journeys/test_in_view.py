"""What a person waits for or must answer is in view, by pointer and by keyboard."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from crowdnotes.domain import Verdict
from tests.journeys.conftest import App, Desk, NewPage
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

# What scrolls up and down within something that does so too.
_NESTED = """
() => {
  const parentOf = (item) => item.parentElement ?? item.getRootNode().host
  const scrolls = (item) => item.checkVisibility() && item.getClientRects().length > 0
    && item.scrollHeight > item.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(item).overflowY)
  const isNested = (item) => {
    for (let around = parentOf(item); around; around = parentOf(around)) if (scrolls(around)) return true
    return false
  }
  const within = (item) => [item, ...(item.shadowRoot ? all(item.shadowRoot) : [])]
  const all = (root) => [...root.querySelectorAll("*")].flatMap(within)
  const found = all(document.querySelector("[data-testid=stMain]")).filter((item) => scrolls(item) && isNested(item))
  return found.map((item) => item.outerHTML.slice(0, 200))
}
"""
# The share of the window's height that is left between what stays in place at its head and at its foot.
FREE = """
() => {
  const edge = (selector, side, none) => {
    const item = [...document.querySelectorAll(selector)].find((item) => item.checkVisibility())
    return item ? item.getBoundingClientRect()[side] : none
  }
  const head = Math.max(edge("[data-testid=stHeader]", "bottom", 0), edge(".st-key-presenter", "bottom", 0))
  return (edge(".st-key-phone-tabs", "top", innerHeight) - head) / innerHeight
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
    for _ in range(8):  # past the button that closes the message, those of the heading and the folds
        page.keyboard.press("Tab")
        _look(page)
        if walk.row("E1").locator(":focus").count():
            break
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
@pytest.mark.parametrize(("width", "height"), [(1024, 768), (390, 844)])
def test_a_scoring_leads_to_the_first_sentence_to_judge(
    app: App, desk: Desk, new_page: NewPage, width: int, height: int
) -> None:
    case_id = desk.gathered(POST, "vitamin-c", "colds")
    desk.judged(case_id, Verdict.USE, "E1")
    walk = Walk(new_page("light", width, height), app.url)
    walk.open(f"/?case={case_id}")
    walk.tab("Note")
    words = "Regular vitamin C supplements do not prevent colds. " * 4
    walk.note().fill(f"{words}{app.articles}/vitamin-c")
    walk.note().press("Control+Enter")
    walk.scored()
    expect(walk.page.locator("[class*=st-key-sentence-1]").first).to_be_in_viewport(ratio=1)


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


@pytest.mark.deep
def test_one_thing_scrolls_and_at_twice_the_size_note_and_decision_have_half_the_window(
    app: App, desk: Desk, new_page: NewPage
) -> None:
    case_id = desk.gathered(POST, "vitamin-c", "colds")
    desk.judged(case_id, Verdict.USE, "E1")
    note = f"Regular vitamin C supplements do not prevent colds. {app.articles}/vitamin-c"
    desk.scored(case_id, note)
    walk = Walk(new_page("light", 1440, 900), app.url)
    page = walk.page
    walk.open(f"/?case={case_id}")
    walk.read("E1")
    for width, height in ((1440, 900), (1024, 768), (390, 844), (720, 450)):
        page.set_viewport_size({"width": width, "height": height})
        for tab in ("Sources", "Note", "Decide"):
            walk.tab(tab)
            assert page.evaluate(_NESTED) == [], (width, tab)
        assert page.get_by_test_id("stMain").evaluate("main => main.scrollWidth <= main.clientWidth")
        expect(page.locator(".st-key-ways-out button").first).to_be_visible()
    assert page.evaluate(FREE) > 0.5
    page.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, 0)")
    expect(walk.area("Decide").get_by_text(note)).to_be_in_viewport(ratio=1)
    approve = page.locator(".st-key-decide-approved button")
    approve.focus()
    page.wait_for_function(_IS_SEEN)
    expect(approve).to_be_in_viewport(ratio=1)


@pytest.mark.deep
def test_a_document_that_is_opened_from_help_begins_at_its_head(app: App, new_page: NewPage) -> None:
    walk = Walk(new_page(), app.url)
    walk.open("/help")
    for _ in range(2):
        walk.page.get_by_role("link", name="Presenting CrowdNotes").click()
        expect(walk.page.get_by_role("heading", name="Presenting CrowdNotes", level=1)).to_be_in_viewport()
        walk.settled()
        walk.page.get_by_role("link", name="Back to Help").click()
        expect(walk.page.get_by_role("heading", name="Five steps")).to_be_visible()
