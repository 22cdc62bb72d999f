"""Pictures of many cases: filters that are there on the way back, and an image of a picture with its sentence."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.journeys.conftest import MANY, NewPage
from tests.journeys.contrast import faint_words, turned_to
from tests.journeys.walk import Walk

pytestmark = [pytest.mark.journey, pytest.mark.deep]
_TWO_SCREENS = 1800
_ALL = f"{MANY} cases"


def test_filters_outlive_a_look_at_a_case_and_a_picture_is_saved_with_its_sentence(
    many_cases: str, tmp_path: Path, new_page: NewPage
) -> None:
    walk = Walk(new_page(fresh=True), many_cases)
    walk.open("/overview")
    walk.page.get_by_text("With demonstration cases").click()
    expect(walk.page.get_by_text(_ALL, exact=True)).to_be_visible()
    walk.settled()
    assert walk.page.get_by_test_id("stMainBlockContainer").bounding_box()["height"] <= _TWO_SCREENS  # type: ignore[index]
    assert faint_words(walk.page) == []
    turned_to(walk.page, "dark")
    walk.page.reload()
    expect(walk.page.get_by_text(_ALL, exact=True)).to_be_visible()
    walk.settled()
    assert faint_words(walk.page) == []
    walk.page.get_by_test_id("stTopNavLink").filter(has_text="Cases").click()
    walk.page.locator(".st-key-cases").get_by_role("link").first.click()
    expect(walk.page).to_have_url(re.compile("[?]case="))
    walk.settled()
    walk.page.get_by_text("More", exact=True).click()
    walk.page.get_by_role("menuitem", name="Overview").click()
    expect(walk.page.get_by_text(_ALL, exact=True)).to_be_visible()
    walk.settled()
    plot = walk.page.locator(".st-key-overview-mended .js-plotly-plot").bounding_box()
    with walk.page.expect_download() as download:
        walk.button("Save as image: What was fixed after a failed check").click()
    download.value.save_as(tmp_path / "mended.png")
    with Image.open(tmp_path / "mended.png") as saved:
        assert plot is not None
        assert saved.format == "PNG"
        assert saved.width > 2 * plot["width"]
        assert saved.height > 2 * plot["height"] + 100  # above it the sentence
        assert len(saved.convert("RGB").getcolors(1 << 20) or ()) > 50
