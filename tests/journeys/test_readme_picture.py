"""The README's picture is of the program as it is now; `make picture` takes it anew."""

from __future__ import annotations

import io
import os

import pytest
from PIL import Image, ImageChops, ImageStat

from crowdnotes.domain import Verdict
from crowdnotes.evidence.demo_pages import examples
from tests.journeys.conftest import ROOT, App, Desk, NewPage
from tests.journeys.walk import Walk

pytestmark = pytest.mark.journey

PICTURE = ROOT / "assets" / "screenshots" / "draft-light.png"
_SIZE = (1280, 900)
_NOTE = (
    "Boiling tap water twice does not create arsenic, nitrates or any other poison. Boiling drives off a little water"
    " as steam, and the minerals stay behind in slightly less water."
)
_COARSE = (64, 45)  # fonts differ from machine to machine, what stands where does not
_APART = 4.0  # of 255, the mean over the coarse picture


@pytest.mark.deep
def test_the_picture_in_the_readme_is_of_the_page_as_it_is(app: App, desk: Desk, new_page: NewPage) -> None:
    walk = Walk(new_page("light", *_SIZE), app.url)
    walk.open(f"/?case={_demonstration(desk)}")
    walk.read("E1")
    walk.settled()
    walk.page.mouse.move(0, 0)
    taken = walk.page.screenshot(animations="disabled")
    if os.environ.get("CROWDNOTES_RENEW_PICTURE"):
        Image.open(io.BytesIO(taken)).convert("P", palette=Image.Palette.ADAPTIVE).save(PICTURE, optimize=True)
    apart = _difference(taken, PICTURE.read_bytes())
    assert apart < _APART, "The page looks otherwise than the README's picture: `make picture` renews it."


def _difference(*pictures: bytes) -> float:
    """How far two pictures are apart, in shades of 255 on average; 255 where they are of different sizes."""
    one, other = (Image.open(io.BytesIO(picture)).convert("L") for picture in pictures)
    if one.size != other.size:
        return 255.0
    coarse = [picture.resize(_COARSE, Image.Resampling.BOX) for picture in (one, other)]
    return ImageStat.Stat(ImageChops.difference(*coarse)).mean[0]


def _demonstration(desk: Desk) -> str:
    """The first example as far as a volunteer has it before deciding: read, written, scored and compared; its id."""
    example = examples()[0]
    case_id = desk.begun(example.post.text, example.urls, example.mode)
    desk.judged(case_id, Verdict.USE, "E1")
    desk.judged(case_id, Verdict.BACKGROUND, "E2")
    desk.compared(desk.scored(case_id, f"{_NOTE} {example.urls[0]}"))
    return case_id
