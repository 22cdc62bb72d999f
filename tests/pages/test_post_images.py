"""Images of a post on the Draft page: attached, seen, and read by the person or the engine."""

from __future__ import annotations

import io

import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from crowdnotes.cases import approval, intake
from crowdnotes.domain import Case, DecisionKind, Mode
from tests.pages.conftest import POST, Desk, field, press, texts, unfolded


def picture(colour: str = "navy") -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (30, 20), colour).save(out, "PNG")
    return out.getvalue()


@pytest.fixture(autouse=True)
def blind(desk: Desk, request: pytest.FixtureRequest) -> None:
    desk.engine.sees = "sees" in request.node.name


def _case(desk: Desk) -> Case:
    case = intake.create_case(desk.workspace.cases, POST, mode=Mode.AUGMENTATION, urls=["http://127.0.0.1:1/x"])
    return intake.attach_image(desk.workspace.cases, case.id, picture(), "sign.png")


def _open_post(desk: Desk, case: Case) -> AppTest:
    return unfolded(desk.app(case), f"post-fold-{case.id}")


def test_an_image_comes_with_the_post_and_what_it_says(desk: Desk) -> None:
    at = desk.app()
    at.text_area(key="new-post-text").set_value(POST)
    at.text_area(key="new-post-urls").set_value("http://127.0.0.1:1/refused")
    at.file_uploader[0].set_value([("sign.png", picture(), "image/png")])
    at.run()
    assert "cannot read this image" in texts(at)
    field(at, "Text in the image").set_value("VITAMINS CURE ALL")
    at.button(key="start").click().run()
    assert not at.exception
    [summary] = desk.workspace.cases.find()
    [image] = desk.workspace.cases.get(summary.id).post.images
    assert (image.name, image.text, image.read_by) == ("sign.png", "VITAMINS CURE ALL", "person")
    desk.finish_latest(desk.workspace.cases.get(summary.id))
    assert ":material/image: 1 image" in texts(at)


def test_a_file_that_is_no_picture_is_told_in_a_sentence_and_the_post_and_good_ones_are_taken(desk: Desk) -> None:
    at = desk.app()
    at.text_area(key="new-post-text").set_value(POST)
    at.text_area(key="new-post-urls").set_value("http://127.0.0.1:1/refused")
    at.file_uploader[0].set_value(
        [("sign.png", b"<svg onload=alert(1)>", "image/png"), ("good.png", picture(), "image/png")]
    )
    at.run()
    assert "“sign.png” is not a picture we can read." in texts(at)
    at.button(key="start").click().run()
    assert not at.exception
    [summary] = desk.workspace.cases.find()
    assert [image.name for image in desk.workspace.cases.get(summary.id).post.images] == ["good.png"]
    assert "“sign.png” is not a picture we can read." in texts(at)


def test_an_engine_that_sees_leaves_the_person_nothing_to_type_at_first(desk: Desk) -> None:
    at = desk.app()
    at.file_uploader[0].set_value([("sign.png", picture(), "image/png")])
    at.run()
    assert "The AI reads the image during the search." in texts(at)
    assert not any(area.label == "Text in the image" for area in at.text_area)


def test_what_an_image_says_can_be_corrected_and_the_evidence_is_gathered_anew(desk: Desk) -> None:
    case = _case(desk)
    at = _open_post(desk, case)
    field(at, "Text in the image").set_value("VITAMINS CURE ALL")
    press(at, "Save")
    assert not at.exception
    assert desk.newest(case).post.images[0].text == "VITAMINS CURE ALL"
    job = desk.latest(case.id)
    assert job.kind == "gather"
    desk.finish(job.id)


def test_of_images_attached_later_the_engine_that_sees_reads_the_good_and_the_others_are_told(desk: Desk) -> None:
    case = _case(desk)
    at = _open_post(desk, case)
    files = [("red.png", picture("red"), "image/png"), ("sign.png", b"no picture", "image/png")]
    at.file_uploader[0].set_value(files)
    press(at, "Add image")
    desk.finish_latest(case)
    assert "“sign.png” is not a picture we can read." in texts(at)


def test_more_images_are_attached_and_taken_off(desk: Desk) -> None:
    case = _case(desk)
    at = _open_post(desk, case)
    at.file_uploader[0].set_value([("red.png", picture("red"), "image/png")])
    press(at, "Add image")
    assert [image.name for image in desk.newest(case).post.images] == ["sign.png", "red.png"]
    at.run()
    press(at, "Remove image")
    assert [image.name for image in desk.newest(case).post.images] == ["red.png"]


def test_an_images_name_and_words_stand_in_markdown_only_when_disarmed(desk: Desk) -> None:
    hostile = "![x](https://evil.example/i.png) <b>bold</b> :red[loud]"
    case = intake.create_case(desk.workspace.cases, POST, mode=Mode.AUGMENTATION)
    case = intake.attach_image(desk.workspace.cases, case.id, picture(), hostile)
    desk.workspace.cases.apply(case.id, intake.describe_image, case.post.images[0].sha256, hostile, hostile)
    approval.decide_case(desk.workspace.cases, case.id, DecisionKind.NOT_NEEDED)
    at = _open_post(desk, case)
    assert not at.exception
    for item in (*at.markdown, *at.caption):
        assert "![x]" not in item.value
        assert "<b>" not in item.value
        assert ":red[loud]" not in item.value
