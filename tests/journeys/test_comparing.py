"""A blind comparison: a facilitator's link, two participants, one of whom reloads in the middle, and the results."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.journeys.conftest import HOSTILE, App, NewPage
from tests.journeys.contrast import faint_on_either, faint_words
from tests.journeys.test_hostile import nothing_ran
from tests.journeys.walk import Walk
from tests.reports.made_comparisons import pairs_file

pytestmark = [pytest.mark.journey, pytest.mark.deep]


def _answer(walk: Walk, place: int) -> None:
    """Answer the pair that is shown, for the supernote."""
    left = walk.page.locator(f".st-key-compare-{place}-left-text").get_by_text(re.compile("Super|Old")).last
    is_left = "Super" in left.inner_text()
    groups = walk.page.get_by_role("radiogroup")
    expect(groups).to_have_count(13)
    for number in range(12):
        groups.nth(number).get_by_role("radio").first.click()
    groups.last.get_by_role("radio", name="Note 1" if is_left else "Note 2").click()
    walk.button("Save and continue").click()


def test_two_participants_answer_by_link_and_a_reload_loses_and_doubles_nothing(
    app: App, new_page: NewPage, tmp_path: Path
) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_bytes(pairs_file(2).replace(b"Post 1", HOSTILE.replace('"', "'").encode("ascii", "replace")))
    facilitator = Walk(new_page(), app.url)
    facilitator.open("/compare")
    facilitator.page.locator("input[type=file]").set_input_files(file)
    expect(facilitator.page.get_by_text("pairs.jsonl")).to_be_visible()
    facilitator.button("Make the link").click()
    shown = facilitator.page.get_by_test_id("stCode")
    expect(shown).to_be_visible()
    link = shown.inner_text().strip().removeprefix(app.url)

    ada = Walk(new_page(width=390), app.url)
    ada.open(link)
    expect(ada.page.get_by_test_id("stTopNavLink")).to_have_count(0)
    ada.button("Start").click()
    expect(ada.page.get_by_text("0 of 2 pairs answered")).to_be_visible()
    ada.settled()
    ada.button("Save and continue").click()
    expect(ada.page.get_by_text("Still to answer:")).to_be_in_viewport()
    _answer(ada, 0)
    expect(ada.page.get_by_text("1 of 2 pairs answered")).to_be_in_viewport()
    ada.button("Back").click()
    expect(ada.button("Keep my answer")).to_be_visible()
    expect(ada.page.get_by_text("1 of 2 pairs answered")).to_be_in_viewport()
    ada.button("Keep my answer").click()
    expect(ada.button("Back")).to_be_visible()
    expect(ada.page.get_by_text("1 of 2 pairs answered")).to_be_in_viewport()
    ada.page.reload()
    expect(ada.page.get_by_text("1 of 2 pairs answered")).to_be_visible()
    ada.settled()
    assert faint_on_either(ada.page) == []

    bob = Walk(new_page(), app.url)
    bob.open(link)
    bob.button("Start as someone else").click()
    expect(bob.page.get_by_text("0 of 2 pairs answered")).to_be_visible()
    for place in (0, 1):
        _answer(bob, place)
        expect(bob.page.get_by_text(f"{place + 1} of 2 pairs answered")).to_be_visible()
    nothing_ran(bob.page)
    _answer(ada, 1)
    expect(ada.page.get_by_text("Thank you!")).to_be_visible()
    bob.open(link)  # in the browser that both used: whoever opened it last
    bob.button("Continue").click()
    expect(bob.page.get_by_text("Thank you!")).to_be_visible()

    facilitator.page.keyboard.press("Escape")
    facilitator.page.get_by_role("link", name="pairs.jsonl").click()
    expect(facilitator.page.get_by_text("4 answers from 2 participants, on 2 of 2 pairs")).to_be_visible()
    expect(facilitator.page.get_by_text("“Supernote” was chosen in 100 % of 4 answers")).to_be_visible()
    expect(facilitator.page.get_by_text("Too few answers to say which note is better")).to_be_visible()
    facilitator.settled()
    assert faint_words(facilitator.page) == []
