"""A refresh, or a second tab, shows the same case; what two tabs write at once is not lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.journeys.conftest import App, NewPage, running_app
from tests.journeys.walk import Walk

pytestmark = pytest.mark.journey

POST = "Vitamin C cures every cold within a day."
MINE = "My own words about vitamin C and colds."


def test_a_refresh_and_a_second_tab_keep_the_case_and_its_words(app: App, new_page: NewPage) -> None:
    first = Walk(new_page(), app.url)
    first.open()
    case_id = first.begin(POST, [f"{app.articles}/vitamin-c"])
    first.read("E1")
    first.use("E1")
    first.note().fill(MINE)
    expect(first.step("Draft").get_by_text("39 of 280 characters")).to_be_visible()

    first.page.reload()
    expect(first.note()).to_have_value(MINE)
    assert first.case_id() == case_id

    second = Walk(new_page(), app.url)
    second.open(f"/?case={case_id}")
    expect(second.note()).to_have_value(MINE)

    second.note().fill("What the second tab wrote.")
    expect(second.step("Draft").get_by_text("26 of 280 characters")).to_be_visible()
    first.note().fill("What the first tab wrote meanwhile.")
    expect(first.page.get_by_text("The note was changed in another tab")).to_be_visible()
    expect(first.page.get_by_text("What the second tab wrote.")).to_be_visible()
    expect(first.page.get_by_text("What the first tab wrote meanwhile.")).to_be_visible()
    first.button("Save my text").click()
    expect(first.note()).to_have_value("What the first tab wrote meanwhile.")


def test_typing_on_while_the_page_saves_loses_no_letter(app: App, new_page: NewPage) -> None:
    walk = Walk(new_page(), app.url)
    walk.open()
    walk.begin(POST, [f"{app.articles}/colds"])
    walk.read("E1")
    walk.use("E1")
    words = "A note that is typed letter by letter, slowly enough that it is saved more than once on the way."
    walk.note().press_sequentially(words, delay=45)
    expect(walk.note()).to_have_value(words)
    expect(walk.step("Draft").get_by_text(f"{len(words)} of 280 characters")).to_be_visible()
    walk.page.reload()
    expect(walk.note()).to_have_value(words)


def test_a_tab_left_open_on_a_page_finds_its_way_when_the_server_starts_anew(tmp_path: Path, new_page: NewPage) -> None:
    with running_app(tmp_path) as url:
        Walk(new_page(), url).found_its_way("cases")
