"""The pictures of the note: read on both backgrounds, and the map led by the keyboard, on a phone too."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from crowdnotes.domain import Verdict
from tests.journeys.accessible import axe_faults
from tests.journeys.conftest import App, Desk, NewPage
from tests.journeys.contrast import Scheme, faint_words
from tests.journeys.walk import Walk

pytestmark = [pytest.mark.journey, pytest.mark.deep]

NOTE = (
    "A review of 29 trials found that regular vitamin C supplements do not prevent colds in the general population. "
    "Colds are caused by viruses, and no vitamin cures a cold."
)
_LOOKS: tuple[tuple[Scheme, int], ...] = (("dark", 1280), ("light", 390))
_FROM_BOX_TO_BOX = """
() => {
  const root = document.querySelector("[class*=st-key-map-of-]").querySelector("*").shadowRoot
    ?? [...document.querySelectorAll("[class*=st-key-map-of-] *")].find((item) => item.shadowRoot).shadowRoot
  const edges = [...root.querySelectorAll(".entry")].map((item) => item.getBoundingClientRect())
  return [...root.querySelectorAll(".canvas .curve")].every((curve) => {
    const { left, right } = curve.getBoundingClientRect()
    return edges.some((box) => Math.abs(box.right - left) < 3) && edges.some((box) => Math.abs(box.left - right) < 3)
  })
}
"""


def test_the_map_opens_a_sentences_source_and_the_jury_is_seen_by_everyone(
    app: App, desk: Desk, new_page: NewPage
) -> None:
    case_id = desk.gathered("Vitamin C cures a cold in a day.", "vitamin-c", "colds")
    desk.judged(case_id, Verdict.USE, "E1", "E2")
    desk.compared(desk.scored(case_id, f"{NOTE} {app.articles}/vitamin-c {app.articles}/colds"))
    walk = Walk(new_page("dark", 1280), app.url)
    for scheme, width in _LOOKS:
        walk.page.emulate_media(color_scheme=scheme)
        walk.page.set_viewport_size({"width": width, "height": 900})
        walk.open(f"/?case={case_id}")
        _seen_by_everyone(walk)


def _seen_by_everyone(walk: Walk) -> None:
    walk.tab("Note")
    for fold in ("Map of sentences and sources", "Simulated readers:"):
        walk.page.get_by_text(fold).first.click()
    expect(walk.page.get_by_role("img", name="People on side A: of 100,")).to_be_visible()
    sentence = walk.page.get_by_role("button", name="Sentence 1, ")
    expect(sentence).to_be_visible()
    assert walk.page.evaluate(_FROM_BOX_TO_BOX)
    assert faint_words(walk.page) == []
    assert axe_faults(walk.page) == []
    _chosen_by_keyboard(walk.page, sentence.get_attribute("aria-label") or "")
    expect(walk.reader().get_by_text("Highlighted: the words closest to the sentence")).to_be_visible()
    walk.reader().get_by_role("button", name="sentence 1", exact=True).click()
    walk.settled()
    expect(walk.page.locator("[class*=st-key-sentence-1-]").first).to_be_in_viewport()


def _chosen_by_keyboard(page: Page, name: str) -> None:
    page.get_by_role("button", name=name).focus()
    page.keyboard.press("Enter")
