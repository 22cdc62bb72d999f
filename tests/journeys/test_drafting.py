"""The whole way of a note in a browser: post, evidence, words, scores, approval.

CROWDNOTES_TEST_PICTURES=1 saves a picture of each step in build/screenshots.
"""

from __future__ import annotations

import re
from typing import Literal

import pytest
from playwright.sync_api import expect

from crowdnotes.text.note_rules import note_length
from tests.journeys.conftest import SCREENSHOTS, App, NewPage
from tests.journeys.walk import Walk

pytestmark = pytest.mark.journey

POST = "Vitamin C CURES the common cold!!! Take 5 grams a day and you will never catch one. Doctors hide this."


_LOOKS = [("light", "light", 1280)]
if SCREENSHOTS:  # other journeys walk a phone's width; these are for who wants to look
    _LOOKS.append(("phone", "dark", 390))


@pytest.mark.parametrize(("name", "scheme", "width"), _LOOKS)
def test_a_person_drafts_inspects_edits_scores_again_and_approves(
    app: App, new_page: NewPage, name: str, scheme: Literal["light", "dark"], width: int
) -> None:
    walk = Walk(new_page(scheme, width), app.url, pictures=SCREENSHOTS, name=name)
    page = walk.page
    walk.open()
    expect(page.get_by_text("Working without AI")).to_be_visible()
    expect(page.get_by_label("Paste the post")).to_be_visible()
    expect(walk.button("Find evidence")).to_be_visible()
    walk.picture("1-post")
    walk.search_mode()
    walk.picture("1-search")
    walk.own_links()

    walk.begin(POST, [f"{app.articles}/vitamin-c", f"{app.articles}/colds", f"{app.articles}/gone"])
    page.get_by_text("1 source could not be read").click()
    address = page.locator("[class*=st-key-failed-] code").first
    assert address.evaluate("node => node.textContent") == f"{app.articles}/gone"  # to be copied letter by letter
    expect(walk.use_tick("E1")).to_be_disabled()
    walk.read("E1")
    expect(walk.reader().locator("mark").first).to_be_visible()
    walk.picture("2-evidence")
    walk.use("E1")
    walk.read("E2")
    walk.use("E2")

    copy = walk.area("Note").get_by_role("button", name="Copy", exact=True)
    expect(copy).to_be_hidden()  # there is nothing to copy
    walk.quote()
    expect(copy).to_be_visible()
    expect(walk.counter()).to_have_text(re.compile(r"^\d+ of 280$"))
    expect(walk.area("Note").get_by_text("Check each sentence against its source")).to_be_visible()
    walk.picture("3-draft")

    # Typing moves the counter at once, and the pause saves.
    note = (
        "Vitamin C does not prevent or cure colds: a review of 29 trials found that people who took it daily "
        f"caught as many colds as people who took none. {app.articles}/vitamin-c"
    )
    walk.note().fill(note)
    expect(walk.counter()).to_have_text(f"{note_length(note)} of 280")
    expect(page.get_by_text("The note or its sources changed. Score it again.")).to_be_visible()
    walk.picture("4-edited")
    walk.score_again()
    expect(walk.gates()).to_have_count(3)
    expect(walk.gates().get_by_text("1 sentence to check").first).to_be_visible()
    walk.compare()
    expect(walk.gates().get_by_text("Checked by").first).to_be_visible()
    walk.picture("5-review")

    expect(walk.button(re.compile(r"^Approve: \d thing"))).to_be_visible()
    walk.tick("It contains a factual error")
    walk.give_reasons("I read the passage: it says so.")
    expect(walk.button("Approve the note")).to_be_enabled()
    walk.picture("6-decide")
    walk.approve()
    expect(walk.area("Decide").locator(".text")).to_contain_text("29 trials")
    with page.expect_download() as download:
        walk.button("Download record").click()
    assert "29 trials" in download.value.path().read_text(encoding="utf-8")
    walk.picture("7-approved")

    walk.open("/cases")
    expect(page.get_by_text("approved").first).to_be_visible()
    walk.picture("8-cases")
    walk.open("/libraries")
    expect(page.get_by_text("Add a library")).to_be_visible()
    walk.picture("9-libraries")
