"""A presenter walks the demonstration by the arrow keys alone; what is spoken of is framed and in view."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from crowdnotes.wording import say
from tests.journeys.accessible import serious_faults
from tests.journeys.conftest import SCREENSHOTS, App, NewPage

pytestmark = pytest.mark.journey

_LABELS = (
    say("present.act_find"),
    say("present.act_open", then="E1"),
    say("present.act_use_and_open", used="E1", then="E2"),
    say("present.act_use_and_write", used="E2"),
    say("present.act_tempt"),
    say("present.act_mend"),
    say("present.act_show"),
    say("present.act_decide"),
    say("present.act_approve"),
    say("present.act_end"),
)


def test_a_presenter_goes_from_the_post_to_the_decision_and_back_by_the_arrow_keys(app: App, new_page: NewPage) -> None:
    page = new_page("light")
    page.goto(f"{app.url}/?demo")
    following = page.locator(".st-key-present-next button")
    for number, label in enumerate(_LABELS):
        expect(following).to_contain_text(label, timeout=90_000)
        expect(page.locator(".st-key-presenter")).to_be_in_viewport()
        expect(page.locator("[data-spotlight]").first).to_be_in_viewport()
        if label in {_LABELS[0], say("present.act_mend"), _LABELS[-1]}:
            assert serious_faults(page) == []
        if SCREENSHOTS is not None:
            page.screenshot(path=SCREENSHOTS / f"present-{number}.png")
        if label == say("present.act_tempt"):
            expect(page.locator(".st-key-candidate-card-D")).to_be_in_viewport(ratio=1)
        if label == say("present.act_mend"):
            expect(page.locator("[data-spotlight]").first).to_contain_text("prove")
        if label != _LABELS[-1]:
            expect(following).to_be_enabled()
            page.keyboard.press("ArrowRight")
    expect(page.locator(".st-key-presenter")).to_contain_text(say("present.decided"))
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".st-key-presenter")).to_contain_text("7 of 8")
    page.reload()  # the step is in the address
    expect(page.locator(".st-key-presenter")).to_contain_text("7 of 8", timeout=90_000)
    expect(page.locator(".st-key-sides-of-jury")).to_be_in_viewport(ratio=1)
