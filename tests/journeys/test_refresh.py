"""A refresh, or a second tab, shows the same case; what is typed while the page saves, or in two tabs, is not lost."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from crowdnotes.domain import Verdict
from tests.journeys.conftest import App, Desk, NewPage
from tests.journeys.walk import Walk

pytestmark = pytest.mark.journey

POST = "Vitamin C cures every cold within a day."
MINE = "My words, typed letter by letter, slowly enough that they are saved more than once on the way."


@pytest.mark.deep
def test_a_refresh_and_a_second_tab_keep_the_case_and_its_words(app: App, desk: Desk, new_page: NewPage) -> None:
    case_id = desk.gathered(POST, "vitamin-c")
    desk.judged(case_id, Verdict.USE, "E1")
    first = Walk(new_page(), app.url)
    first.open(f"/?case={case_id}")
    first.note().press_sequentially(MINE, delay=45)
    expect(first.note()).to_have_value(MINE)  # what is saved meanwhile takes no letter
    expect(first.strip().get_by_text(f"{len(MINE)} of 280")).to_be_visible()  # it is saved

    first.page.reload()
    expect(first.note()).to_have_value(MINE)
    assert first.case_id() == case_id

    second = Walk(new_page(), app.url)
    second.open(f"/?case={case_id}")
    expect(second.note()).to_have_value(MINE)

    second.note().fill("What the second tab wrote.")
    expect(second.strip().get_by_text("26 of 280")).to_be_visible()
    first.note().fill("What the first tab wrote meanwhile.")
    expect(first.page.get_by_text("The note was changed elsewhere")).to_be_visible()
    both = first.page.get_by_test_id("stGrid")
    expect(both.get_by_text("What the second tab wrote.")).to_be_visible()
    expect(both.get_by_text("What the first tab wrote meanwhile.")).to_be_visible()
    first.button("Save my text").click()
    expect(first.note()).to_have_value("What the first tab wrote meanwhile.")


def test_words_typed_just_before_the_connection_broke_are_saved_once_it_is_back(
    app: App, desk: Desk, new_page: NewPage
) -> None:
    case_id = desk.gathered(POST, "vitamin-c")
    desk.judged(case_id, Verdict.USE, "E1")
    walk = Walk(new_page(), app.url)
    walk.open(f"/?case={case_id}")
    walk.note().fill(MINE)
    walk.page.evaluate("window.lineToApp.close()")
    expect(walk.strip().get_by_text(f"{len(MINE)} of 280")).to_be_visible()
    draft = desk.newest(case_id).draft
    assert draft is not None
    assert draft.text == MINE
    expect(walk.note()).to_have_value(MINE)


@pytest.mark.deep
def test_words_typed_while_the_case_was_decided_elsewhere_are_kept_by_one_click(
    app: App, desk: Desk, new_page: NewPage
) -> None:
    case_id = desk.gathered(POST, "vitamin-c")
    desk.judged(case_id, Verdict.USE, "E1")
    walk = Walk(new_page(), app.url)
    walk.open(f"/?case={case_id}")
    desk.decided(case_id)
    walk.note().fill(MINE)
    expect(walk.page.get_by_text("What you typed was not saved.")).to_be_visible()
    expect(walk.page.locator(".st-key-unsaved-words-Draft").get_by_text(MINE)).to_be_visible()
    expect(walk.page.locator(".st-key-unsaved-words-Draft").get_by_role("button", name="Copy")).to_be_visible()
    walk.button("Reopen and keep my words").click()
    expect(walk.note()).to_have_value(MINE)
    walk.page.reload()
    expect(walk.note()).to_have_value(MINE)


@pytest.mark.deep
def test_words_that_had_no_time_to_be_saved_come_back_but_never_over_newer_ones(
    app: App, desk: Desk, new_page: NewPage
) -> None:
    case_id = desk.gathered(POST, "vitamin-c")
    desk.judged(case_id, Verdict.USE, "E1")
    walk = Walk(new_page(), app.url)
    page = walk.page
    walk.open(f"/?case={case_id}")
    walk.note().fill(MINE)
    page.reload()
    expect(walk.note()).to_have_value(MINE)
    expect(walk.strip().get_by_text(f"{len(MINE)} of 280")).to_be_visible()

    kept = '{"text": "Typed before.", "over": ["An older text."]}'  # as a page leaves it that could not save it
    page.goto(f"{app.url}/_stcore/health")
    page.evaluate(f"kept => sessionStorage.setItem('unsaved counter-{case_id}', kept)", kept)
    walk.open(f"/?case={case_id}")
    expect(page.get_by_text("The note was changed elsewhere")).to_be_visible()
    expect(page.get_by_test_id("stGrid").get_by_text("Typed before.")).to_be_visible()
    walk.button("Take this text").click()
    expect(walk.note()).to_have_value(MINE)
    page.wait_for_function("() => !Object.keys(sessionStorage).some((name) => name.startsWith('unsaved'))")
    page.reload()
    expect(walk.note()).to_have_value(MINE)


@pytest.mark.deep
def test_words_of_a_post_that_were_just_typed_are_in_the_first_box_after_a_reload(app: App, new_page: NewPage) -> None:
    page = new_page()
    page.goto(app.url)
    box = page.locator(".st-key-new-post-box textarea")
    box.fill("Vitamin C cures colds.\n\nhttps://trials.example.edu/c")
    page.reload()
    expect(box).to_have_value("Vitamin C cures colds.\n\nhttps://trials.example.edu/c")
    expect(page.locator(".st-key-new-post-recognised")).to_contain_text("1 link")  # the app has it too
