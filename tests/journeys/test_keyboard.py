"""A whole note by keyboard alone, by the single keys that `?` tells; the keyboard's place is never lost."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from crowdnotes.domain import Verdict
from tests.journeys.conftest import App, Desk, NewPage
from tests.journeys.walk import Walk, held_time

pytestmark = pytest.mark.journey

POST = "Vitamin C cures a cold in a day. Doctors hide this from everyone who asks."
TAG = "It contains a factual error"
REASON = "I read the passage: it says so."
MOST = 70  # keys from an opened case with its sources to the approval, words that are typed not counted
_HAS_PLACE = "() => document.activeElement !== document.body"


class Keyboard:
    """Presses keys as a person does, counts them, and sees that something on the page always has the keyboard."""

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self.pressed = 0

    def press(self, *keys: str) -> None:
        """`Control+Enter` counts as two."""
        for key in keys:
            self.pressed += len(key.split("+"))
            self._walk.page.keyboard.press(key)
            self._walk.settled()
            self._walk.page.wait_for_function(_HAS_PLACE)

    def judge(self, key: str) -> None:
        """Press a key that judges, and again as often as it only shows what it would judge."""
        page = self._walk.page
        self.press(key)
        while page.locator("[data-judging]").count():
            page.locator("[data-judging^=Press]").first.wait_for()
            self.press(key)

    def is_at(self, words: str) -> bool:
        return bool(self._walk.page.evaluate("words => document.activeElement.innerText.includes(words)", words))


def _opened(walk: Walk, case_id: str) -> Keyboard:
    """A case with its sources: nothing on the page has the keyboard."""
    walk.open(f"/?case={case_id}")
    walk.page.locator(".st-key-shortcut-keys [data-listens]").wait_for(state="attached")
    return Keyboard(walk)


def test_a_whole_note_needs_no_pointer_and_few_keys(app: App, desk: Desk, new_page: NewPage) -> None:
    walk = Walk(new_page("light", 1280), app.url)
    page = walk.page
    keys = _opened(walk, desk.gathered(POST, "vitamin-c", "colds"))
    keys.press("j")
    expect(walk.reader()).to_contain_text("Vitamin C and the common cold")
    keys.judge("1")
    expect(walk.reader()).to_contain_text("Vitamin C and the common cold")  # what one reads stays
    keys.press("j")
    expect(walk.reader()).to_contain_text("How colds spread")
    keys.judge("1")
    expect(walk.strip()).to_contain_text("2 of 2 opened, 2 used")

    keys.press("w")
    walk.button("Use this text").first.wait_for()
    walk.settled()
    keys.press("p")
    expect(walk.note()).not_to_have_value("")
    keys.press("Control+Enter")
    walk.scored()

    unchecked = page.locator("[class*=st-key-sentence-][class*=-unchecked]")
    hints = page.locator("[class*=st-key-settled-] input:not(:checked)")
    while left := unchecked.count():
        keys.judge("y")
        expect(unchecked).to_have_count(left - 1)
        if hints.count():
            keys.judge("h")
            expect(hints).to_have_count(0)
    keys.press("t")
    while not keys.is_at(TAG):
        keys.press("ArrowRight")
    keys.press("Space")
    expect(page.locator(".st-key-area-decide").get_by_role("button", name=TAG)).to_have_attribute(
        "aria-pressed", "true"
    )
    left_over = page.get_by_text("Approve anyway, with a reason")
    for _ in range(left_over.count()):
        keys.press("r")
        expect(page.locator(".st-key-problems input:focus:placeholder-shown")).to_have_count(1)
        page.keyboard.type(REASON)
        keys.press("Enter", "Escape")

    expect(walk.button("Approve the note")).to_be_enabled()
    keys.press("a", "Enter")
    expect(page.get_by_text("Copy the note")).to_be_in_viewport()
    expect(page.locator(".st-key-area-decide:focus, .st-key-area-decide :focus")).to_have_count(1)
    assert keys.pressed <= MOST


@pytest.mark.deep
def test_a_key_judges_no_sentence_that_was_not_in_view(app: App, desk: Desk, new_page: NewPage) -> None:
    sentences = [f"Vitamin C does not prevent colds in group {number}, says a review." for number in range(9)]
    note = " ".join([*sentences, "Vitamin C is made from moon dust.", f"{desk.articles}/vitamin-c"])
    case_id = desk.gathered(POST, "vitamin-c")
    desk.judged(case_id, Verdict.USE, "E1")
    asked = len(desk.scored(case_id, note).sentences)
    walk = Walk(new_page("light", 1280, 640), app.url)
    page = walk.page
    _opened(walk, case_id)
    unchecked, framed = page.locator("[class*=st-key-sentence-][class*=-unchecked]"), page.locator("[data-judging]")
    ready = page.locator("[data-judging^=Press]")
    expect(unchecked).to_have_count(asked)

    page.keyboard.press("y")
    assert framed.count() == 1, "the frame comes with the press"
    page.keyboard.press("y")  # no moment has passed
    walk.settled()
    expect(unchecked).to_have_count(asked)
    expect(framed).to_have_count(1)
    expect(framed).to_be_in_viewport(ratio=1)
    ready.wait_for()
    page.locator(".st-key-note-pane").evaluate("pane => pane.scrollTo(0, 0)")  # out of view again
    expect(framed).not_to_be_in_viewport()
    page.keyboard.press("y")
    walk.settled()
    expect(unchecked).to_have_count(asked)
    expect(framed).to_be_in_viewport(ratio=1)
    ready.wait_for()
    page.keyboard.press("y")
    expect(unchecked).to_have_count(asked - 1)
    page.keyboard.press("y")
    walk.settled()
    page.mouse.click(2, 300)  # the frame goes; which sentence was meant is open again
    expect(framed).to_have_count(0)
    page.keyboard.press("y")
    walk.settled()
    expect(unchecked).to_have_count(asked - 1)
    while left := unchecked.count():
        last = unchecked.last.inner_text()
        page.keyboard.press("y")
        walk.settled()
        if left == 1:
            assert "moon dust" in last
            expect(framed).to_be_in_viewport(ratio=1)
        ready.wait_for()
        page.keyboard.press("y")
        walk.settled()
        expect(unchecked).to_have_count(left - 1)


@pytest.mark.deep
def test_verdicts_the_way_back_and_the_source_itself_are_one_key_each(app: App, desk: Desk, new_page: NewPage) -> None:
    walk = Walk(new_page("light", 1280), app.url)
    page = walk.page
    keys = _opened(walk, desk.gathered(POST, "vitamin-c", "colds"))
    keys.press("?")
    expect(page.get_by_test_id("stPopoverBody")).to_contain_text("Previous source")
    keys.press("Escape")
    expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)

    keys.press("j")
    expect(walk.reader()).to_contain_text("Vitamin C and the common cold")
    keys.judge("2")
    expect(walk.row("E1")).to_contain_text("read, not cited")
    keys.press("j")
    expect(walk.reader()).to_contain_text("How colds spread")
    keys.judge("3")
    expect(walk.button("Not about this claim")).to_be_visible()
    keys.judge("1")
    expect(walk.row("E2")).to_contain_text("rejected")
    expect(walk.reader()).to_contain_text("Your reason: Not about this claim")
    keys.press("k")
    expect(walk.reader()).to_contain_text("Vitamin C and the common cold")
    with page.context.expect_page() as opened:
        page.keyboard.press("o")
    assert opened.value.url == f"{app.articles}/vitamin-c"
    opened.value.close()


@pytest.mark.deep
def test_a_key_goes_to_an_ending_and_enter_ends(app: App, desk: Desk, new_page: NewPage) -> None:
    walk = Walk(new_page("light", 1280), app.url)
    keys = _opened(walk, desk.gathered(POST, "vitamin-c"))
    endings = {"a": "Approve: needs a note", "d": "No note needed", "x": "Reject", "e": "Not enough evidence"}
    for key, name in endings.items():
        keys.press(key)
        expect(walk.page.get_by_role("button", name=name, exact=True)).to_be_focused()
    keys.press("Enter")
    expect(walk.button("Reopen the case")).to_be_visible()
    expect(walk.button("Next post")).to_be_focused()
    keys.press("Enter")
    expect(walk.page.get_by_label("Paste the post")).to_be_focused()  # to paste the next one
    keys.press("Escape", "n")
    expect(walk.page.get_by_label("Paste the post")).to_be_focused()


@pytest.mark.deep
def test_the_keyboard_stays_on_a_choice_that_was_made_and_skips_the_closed_menu(
    app: App, desk: Desk, new_page: NewPage
) -> None:
    case_id = desk.gathered(POST, "vitamin-c")
    desk.judged(case_id, Verdict.USE, "E1")
    desk.scored(case_id, f"Vitamin C does not prevent colds, says a review. {app.articles}/vitamin-c")
    walk = Walk(new_page("light", 1280), app.url)
    keys = _opened(walk, case_id)
    asked = walk.page.locator("[class*=st-key-comparison-]").first
    asked.get_by_role("radio", name="The source says it").focus()
    keys.press("ArrowRight", "Space")
    expect(asked.get_by_role("radio", name="Partly")).to_have_attribute("aria-checked", "true")
    expect(asked.get_by_role("radio", name="Partly")).to_be_focused()
    walk.page.set_viewport_size({"width": 390, "height": 844})
    walk.open("/cases")
    keys.press(*["Tab"] * 3)
    expect(walk.page.get_by_test_id("stExpandSidebarButton")).to_be_focused()


@pytest.mark.deep
def test_keys_are_letters_while_somebody_types(app: App, desk: Desk, new_page: NewPage) -> None:
    walk = Walk(new_page("light", 1280), app.url)
    page = walk.page
    keys = _opened(walk, desk.gathered(POST, "vitamin-c"))
    keys.press("j")
    keys.judge("1")
    expect(walk.note()).to_be_visible()
    walk.settled()
    box = page.locator(".st-key-note-box")
    box.evaluate("place => { place.style.display = 'none' }")  # as if it was not drawn yet
    with held_time(page):
        page.keyboard.press("n")
        page.keyboard.type("jk123oX")
        page.keyboard.press("Backspace")
        box.evaluate("place => { place.style.display = '' }")
        expect(walk.note()).to_be_focused()
    page.keyboard.type("wpyhrtadex?")
    expect(walk.note()).to_have_value("jk123owpyhrtadex?")
    keys.press("Control+Enter")
    walk.scored()
    expect(walk.note()).to_be_focused()  # to write on
    keys.press("Escape", "k")
    expect(walk.note()).to_have_value("jk123owpyhrtadex?")

    walk.comment().focus()
    page.keyboard.type("1 3 a x ?")
    expect(walk.comment()).to_have_value("1 3 a x ?")
    expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)
    expect(walk.use_tick("E1")).to_be_checked()
    assert re.search(r"case=", page.url)
