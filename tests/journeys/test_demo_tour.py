"""A presenter walks the demonstration by the arrow keys alone; what is spoken of is framed and in view."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.journeys.accessible import axe_faults
from tests.journeys.conftest import SCREENSHOTS, App, NewPage
from tests.journeys.test_in_view import FREE
from tests.journeys.walk import rest

pytestmark = [pytest.mark.journey, pytest.mark.deep]

_LABELS = (
    "Find evidence",
    "Open {then}".format(then="E1"),
    "Use {used}, open {then}".format(used="E1", then="E2"),
    "Use {used}, write notes".format(used="E2"),
    "Try a stronger note",
    "Take the sourced note",
    "Next",
    "Tick the tags",
    "Approve",
    "Start your own",
)


def test_a_presenter_goes_from_the_post_to_the_decision_and_back_by_the_arrow_keys(app: App, new_page: NewPage) -> None:
    page = new_page("light")
    page.goto(f"{app.url}/?demo")
    following = page.locator(".st-key-present-next button")
    for number, label in enumerate(_LABELS):
        expect(following).to_contain_text(label)
        expect(page.locator(".st-key-presenter")).to_be_in_viewport()
        expect(page.locator("[data-spotlight]").first).to_be_in_viewport()
        if label in {_LABELS[0], "Take the sourced note", _LABELS[-1]}:
            assert axe_faults(page) == []
        if SCREENSHOTS is not None:
            page.screenshot(path=SCREENSHOTS / f"present-{number}.png")
        if label == "Try a stronger note":
            expect(page.locator(".st-key-candidate-card-D")).to_be_in_viewport(ratio=1)
        if label == "Take the sourced note":
            expect(page.locator("[data-spotlight]").first).to_contain_text("prove")
        if label != _LABELS[-1]:
            expect(following).to_be_enabled()
            rest(page)
            page.keyboard.press("ArrowRight")
    expect(page.locator(".st-key-presenter")).to_contain_text(
        "in real work a person does. Every step is on record. A demonstration is never posted."
    )
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".st-key-presenter")).to_contain_text("7 of 8")
    page.reload()  # the step is in the address
    expect(page.locator(".st-key-presenter")).to_contain_text("7 of 8")
    expect(page.locator(".st-key-sides-of-jury")).to_be_in_viewport(ratio=1)
    page.set_viewport_size({"width": 720, "height": 450})  # at twice the size
    assert page.evaluate(FREE) > 0.5
