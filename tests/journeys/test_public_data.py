"""A reader goes from a surge to the story of one of its posts, and saves a picture; nothing grave for axe-core."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import expect

from crowdnotes.text.markdown import day
from tests.journeys.accessible import axe_faults
from tests.journeys.conftest import App, NewPage
from tests.journeys.contrast import faint_words, turned_to
from tests.journeys.walk import Walk
from tests.public_data.made import made_index

pytestmark = pytest.mark.journey


@pytest.mark.deep
def test_from_a_surge_to_the_story_of_a_note_and_its_delays(app: App, new_page: NewPage, tmp_path: Path) -> None:
    index, planted = made_index()
    walk = Walk(new_page("light", 1280), app.url)
    page = walk.page
    walk.open("/crowd")
    expect(page.get_by_text("There is no public data yet.")).to_be_visible()
    shutil.copy(index, app.folder / "data" / "crowd.duckdb")
    walk.open("/crowd?view=Surges")
    expect(page.get_by_text(re.compile(f"surge.*{day(planted.surge_day)}")).first).to_be_visible()
    walk.settled()
    assert axe_faults(page) == []
    assert faint_words(page) == []
    page.get_by_text(f"All posts of {day(planted.surge_day)}").click()
    page.locator('[class*="st-key-post-"]').first.get_by_role("button").click()
    expect(page.get_by_text("0.40 needed").first).to_be_visible()
    expect(page).to_have_url(re.compile("note="))
    walk.settled()
    with page.expect_download() as download:
        walk.button("Save as image: Ratings so far, by side and level").click()
    download.value.save_as(tmp_path / "ratings.png")
    with Image.open(tmp_path / "ratings.png") as saved:
        assert saved.format == "PNG"
    assert axe_faults(page) == []
    turned_to(page, "dark")
    page.set_viewport_size({"width": 390, "height": 844})
    walk.open("/crowd?view=Delays")
    expect(page.get_by_text("posts that got one waited under").first).to_be_visible()
    walk.settled()
    assert axe_faults(page) == []
    assert faint_words(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
