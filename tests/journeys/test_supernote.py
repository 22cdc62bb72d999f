"""From pasted notes to an approved supernote, in a browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.journeys.conftest import SCREENSHOTS, App, NewPage
from tests.journeys.contrast import faint_words
from tests.journeys.walk import Walk

pytestmark = [pytest.mark.journey, pytest.mark.deep]

POST = "Vitamin C cures a cold in a day. Doctors hide it from you."


def test_from_pasted_notes_to_an_approved_supernote(app: App, new_page: NewPage) -> None:
    first, second = f"{app.articles}/vitamin-c", f"{app.articles}/colds"
    page = new_page("dark")
    walk = Walk(page, app.url, pictures=SCREENSHOTS, name="supernote")
    walk.open("/supernote")
    page.get_by_role("textbox", name="Text of the post").fill(POST)
    page.get_by_role("textbox", name="The notes, with their links").fill(
        "Regular vitamin C supplements do not prevent colds in the general population, a review of 29 trials found. "
        f"{first}\n\nColds are caused by viruses. No vitamin, vitamin C included, cures a cold. {second}\n\n"
        f"What a shameless liar, only an idiot believes this rubbish. {second}"
    )
    walk.button("Read the notes").click()
    page.wait_for_url(re.compile(r"[?&]case="))
    expect(page.get_by_text("3 notes, 3 used")).to_be_visible()
    page.get_by_role("spinbutton", name="How many drafts").fill("20")
    page.get_by_role("spinbutton", name="How many drafts").press("Enter")
    walk.settled()
    walk.picture("1-notes")

    walk.button("Write the drafts").click()
    expect(page.get_by_text("The supernote", exact=False).first).to_be_visible()
    expect(page.locator("[class*=st-key-job-panel]")).to_have_count(0)
    walk.settled()
    winner = page.locator(".st-key-the-winner .text")
    expect(winner).to_contain_text("vitamin")
    expect(winner).not_to_contain_text("idiot")
    expect(page.get_by_text("passed every check that ran")).to_be_visible()
    words = winner.inner_text()
    assert faint_words(page) == []
    walk.picture("2-winner")

    page.locator(".st-key-the-winner").get_by_role("button", name="Open in Draft").click()
    page.wait_for_url(re.compile(r"/\?case="))  # the Draft page is the first one
    walk.settled()
    expect(walk.note()).to_have_value(words)
    for row in page.locator("[class*=st-key-row-E]").all():
        name = re.search(r"st-key-row-(E\d+)", row.get_attribute("class") or "")
        assert name is not None
        walk.read(name.group(1))
        walk.use(name.group(1))
    walk.button("Score the note").click()
    expect(walk.gates()).to_have_count(3)
    expect(page.locator("[class*=st-key-job-panel]")).to_have_count(0)
    walk.settled()
    walk.compare()
    walk.tick("It contains a factual error")
    walk.give_reasons("I read the passages: they say so.")
    expect(walk.button("Approve the note")).to_be_enabled()
    walk.approve()
    walk.picture("3-approved")
