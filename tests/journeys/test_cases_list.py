"""The list of cases is found again as it was left, by Back, by the navigation and in another tab; also on a phone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.journeys.accessible import axe_faults
from tests.journeys.conftest import KETTLES, MANY, App, Desk, NewPage
from tests.journeys.walk import Walk

pytestmark = [pytest.mark.journey, pytest.mark.deep]


def _rows(walk: Walk) -> Locator:
    return walk.page.locator(".st-key-cases").get_by_role("link")


def test_a_search_is_there_again_after_a_case_by_back_by_the_navigation_and_by_its_address(
    many_cases: str, new_page: NewPage
) -> None:
    walk = Walk(new_page(), many_cases)
    page = walk.page
    walk.open("/cases")
    expect(_rows(walk)).to_have_count(20)
    page.get_by_role("button", name="Page 2").click()
    expect(_rows(walk)).to_have_count(MANY - 20)
    expect(page).to_have_url(re.compile(r"/cases\?page=2$"))
    page.get_by_label("Search posts and notes").fill("leak kettles")
    expect(_rows(walk)).to_have_count(KETTLES)
    expect(page).to_have_url(re.compile(r"/cases\?search=leak"))
    walk.settled()
    found = page.url

    _rows(walk).first.click()
    expect(page).to_have_url(re.compile("[?]case="))
    expect(walk.strip()).to_be_visible()
    walk.settled()
    page.go_back()
    expect(_rows(walk)).to_have_count(KETTLES)
    expect(page.get_by_label("Search posts and notes")).to_have_value("leak kettles")

    _rows(walk).first.click()
    expect(walk.strip()).to_be_visible()
    walk.settled()
    page.get_by_test_id("stTopNavLink").filter(has_text="Cases").click()
    expect(_rows(walk)).to_have_count(KETTLES)

    page.goto(found)
    expect(_rows(walk)).to_have_count(KETTLES)


def test_each_row_is_two_stops_of_the_keyboard_and_opens_in_a_tab_of_its_own(
    many_cases: str, new_page: NewPage
) -> None:
    walk = Walk(new_page(), many_cases)
    page = walk.page
    walk.open("/cases")
    height = page.get_by_test_id("stMain").evaluate("main => main.scrollHeight")
    assert height <= 2 * 900
    assert axe_faults(page) == []
    _rows(walk).first.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(_rows(walk).nth(1)).to_be_focused()
    with page.context.expect_page() as opened:
        _rows(walk).first.click(button="middle")
    expect(opened.value).to_have_url(re.compile(r"/\?case="))
    opened.value.close()


def test_the_phones_menu_closes_once_a_page_was_chosen(many_cases: str, new_page: NewPage) -> None:
    walk = Walk(new_page("light", 390, 844), many_cases)
    page = walk.page
    walk.open()
    for _ in range(2):  # also for the page that is shown
        page.get_by_test_id("stExpandSidebarButton").click()
        page.get_by_test_id("stSidebarNavLink").filter(has_text="Cases").click()
        expect(page.get_by_role("heading", name="Cases")).to_be_visible()
        walk.settled()
        expect(page.get_by_test_id("stSidebar")).not_to_be_in_viewport()
        _rows(walk).first.hover()  # nothing lies over it


def test_a_post_with_a_link_is_one_line_of_its_row(app: App, desk: Desk, new_page: NewPage) -> None:
    walk = Walk(new_page("light", 390), app.url)
    for post in (
        "Kettles leak lead into the water, and so do taps",
        "Hey guys by the way kettles leak lead https://t.co/HUXM5zzaRP",
    ):
        desk.gathered(post, "vitamin-c")
    walk.open("/cases")
    titles = _rows(walk).locator("p")
    expect(titles).to_have_count(2)
    with_link, without = (titles.nth(number).evaluate("title => title.offsetHeight") for number in range(2))
    assert with_link == without
