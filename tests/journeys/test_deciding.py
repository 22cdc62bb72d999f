"""Deciding in a browser: where the page and the keyboard go, and what a reload keeps."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from crowdnotes.domain import Verdict
from tests.journeys.conftest import App, Desk, NewPage
from tests.journeys.walk import Walk

pytestmark = pytest.mark.journey

POST = "Vitamin C cures a cold in a day. Doctors hide this from everyone who asks."
REASON = "I read the passage: it says so."


@pytest.mark.deep
def test_the_page_and_the_keyboard_go_to_the_decided_note_and_back_and_a_reload_keeps_the_reasons(
    app: App, desk: Desk, new_page: NewPage
) -> None:
    case_id = desk.gathered(POST, "vitamin-c")
    desk.judged(case_id, Verdict.USE, "E1")
    # Wrong, so that there is something to pass over.
    desk.scored(case_id, f"Vitamin C halves every cold in all 58 trials of last year. {app.articles}/vitamin-c")
    walk = Walk(new_page("light", 1280, 760), app.url)
    page = walk.page
    walk.open(f"/?case={case_id}")
    walk.tick("It contains a factual error")
    walk.unfold_reasons()
    reasons = walk.reasons()
    reasons.first.fill("bad bad bad bad")
    expect(page.get_by_text("Too short. Write a short sentence.")).to_be_visible()
    walk.comment().fill("As good as it gets.")
    walk.give_reasons(REASON)
    expect(walk.button("Approve the note")).to_be_enabled()
    walk.settled()

    page.reload()
    walk.settled()
    expect(reasons.first).to_have_value(REASON)
    expect(walk.comment()).to_have_value("As good as it gets.")

    decide = walk.area("Decide")
    keyboard = page.locator(".st-key-area-decide:focus, .st-key-area-decide :focus")
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 760})
        walk.tab("Decide")
        approve = walk.button("Approve the note")
        approve.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_text("Copy the note")).to_be_in_viewport()
        expect(decide.locator(".text[data-look=note]")).to_be_in_viewport()
        walk.settled()
        expect(page.locator(".counter")).to_be_hidden()
        expect(keyboard).to_have_count(1)

        walk.button("Reopen the case").focus()
        page.keyboard.press("Enter")
        expect(page.locator(".st-key-problem-0")).to_be_in_viewport()
        expect(walk.button("Approve the note")).to_be_enabled()
        walk.settled()
        expect(keyboard).to_have_count(1)


@pytest.mark.deep
@pytest.mark.parametrize("width", [1280, 390])
def test_what_is_left_is_one_press_away(app: App, desk: Desk, new_page: NewPage, width: int) -> None:
    case_id = desk.gathered(POST, "vitamin-c")
    desk.judged(case_id, Verdict.USE, "E1")
    desk.scored(case_id, f"Regular vitamin C supplements do not prevent colds. {app.articles}/vitamin-c")
    walk = Walk(new_page("light", width, 640), app.url)
    walk.open(f"/?case={case_id}")
    walk.tab("Decide")
    approve = walk.button(re.compile(r"^Approve: \d things left"))
    approve.click()
    compare = walk.button("Check sentence 1")
    expect(compare).to_be_focused()
    expect(compare).to_be_in_viewport()
    walk.page.keyboard.press("Enter")
    first = walk.page.locator("[class*=st-key-comparison-]").first
    expect(first.locator(":focus")).to_have_count(1)
    expect(first).to_be_in_viewport()
