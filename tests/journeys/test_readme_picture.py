"""The README's picture is of the program as it is now; `make picture` takes it anew."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from PIL import Image, ImageChops, ImageStat

from crowdnotes.demonstration import examples
from crowdnotes.domain import Case, Support, Verdict
from crowdnotes.settings import Settings
from crowdnotes.workspace import Workspace, open_workspace
from tests.journeys.conftest import ROOT, NewPage, running_app
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


def test_the_picture_in_the_readme_is_of_the_page_as_it_is(tmp_path: Path, new_page: NewPage) -> None:
    case = _demonstration(tmp_path / "data")
    with running_app(tmp_path) as url:
        walk = Walk(new_page("light", *_SIZE), url)
        walk.open(f"/?case={case.id}")
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


def _demonstration(folder: Path) -> Case:
    """The first example as far as a volunteer has it before deciding: read, written, scored and compared."""
    with open_workspace(Settings(data_dir=folder)) as workspace:
        service, example = workspace.service, examples()[0]
        case = service.create(example.post.text, mode=example.mode, urls=list(example.urls), by="you")
        _run(workspace, case, "gather")
        for name, verdict in (("E1", Verdict.USE), ("E2", Verdict.BACKGROUND)):
            service.open_passage(case.id, name, "you")
            service.judge(case.id, name, verdict, "", "you")
        service.edit_draft(case.id, f"{_NOTE} {example.urls[0]}", "you", based_on=None)
        case = _run(workspace, case, "assess")
        assert case.draft is not None
        assert case.assessment is not None
        for sentence in case.assessment.sentences:
            words = sentence.words_in(case.draft.text)
            assert sentence.evidence_id is not None
            service.compare_sentence(
                case.id, words, sentence.evidence_id, Support.SUPPORTED, "you", doubts_settled=bool(sentence.doubts)
            )
        return service.get(case.id)


def _run(workspace: Workspace, case: Case, kind: str) -> Case:
    workspace.runner.wait(workspace.start(case.id, kind).id, timeout=120)
    return workspace.service.get(case.id)
