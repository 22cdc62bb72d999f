"""What a person does on the Draft page, in a browser."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

# Looked at in the page itself, often: `expect` asks once a second when something takes a while. A click needs
# a moment until its run begins, so the page must have been at rest for as long.
_AT_REST = """
(forMs) => new Promise((resolve) => {
  let since = performance.now()
  const look = () => {
    const app = document.querySelector("[data-testid=stApp]")
    const isAtRest = app?.dataset.testScriptState === "notRunning"
      && !document.querySelector("[data-stale=true], [data-testid=stSkeleton]")
    if (!isAtRest) since = performance.now()
    if (performance.now() - since >= forMs) resolve(true)
    else setTimeout(look, 30)
  }
  look()
})
"""
_REST_MS = 120


class Walk:
    """Walks one browser page through the steps; waits on what a person would see, never on a clock."""

    def __init__(self, page: Page, url: str, *, pictures: Path | None = None, name: str = "") -> None:
        self.page = page
        self.url = url
        self._pictures = pictures
        self._name = name

    def open(self, path: str = "/") -> None:
        self.page.goto(f"{self.url}{path}")
        self.settled()

    def settled(self) -> None:
        """Wait until the page's run has ended."""
        self.page.wait_for_function(_AT_REST, arg=_REST_MS, timeout=60_000)

    def found_its_way(self, page: str) -> None:
        """Open a page by its address, as a tab does that was left open while the server started anew."""
        self.open(f"/{page}")
        expect(self.page.get_by_role("heading", name=page.capitalize())).to_be_visible()
        expect(self.page.get_by_test_id("stTopNavLink").filter(has_text="Draft")).to_be_visible()

    def step(self, name: str) -> Locator:
        return self.page.locator(f".st-key-{name.lower()}-step")

    def button(self, name: str | re.Pattern[str]) -> Locator:
        return self.page.get_by_role("button", name=name)

    def begin(self, post: str, urls: Sequence[str]) -> str:
        """Paste a post and links into the one box, find evidence, wait for the passages; returns the case's id."""
        self.page.get_by_label("Paste the post").fill("\n".join((post, *urls)))
        self.button("Find evidence").click()
        self.page.wait_for_url(re.compile(r"[?&]case="))
        self.card("E1").wait_for(timeout=90_000)
        self.settled()
        return self.case_id()

    def options(self) -> None:
        """Unfold what else can be said of a new post."""
        self.page.get_by_text("Options", exact=True).click()
        expect(self.page.get_by_label(re.compile("^Links to your sources"))).to_be_visible()

    def search_mode(self) -> None:
        """Choose a search as the place that evidence comes from."""
        self.options()
        self.page.get_by_role("radio", name="A search", exact=True).click()
        expect(self.page.get_by_text("Online services")).to_be_visible()
        self.settled()

    def own_links(self) -> None:
        """Choose links of one's own as the place that evidence comes from."""
        self.page.get_by_role("radio", name="My own links", exact=True).click()
        expect(self.page.get_by_text("Online services")).to_have_count(0)
        self.settled()

    def case_id(self) -> str:
        found = re.search(r"[?&]case=([0-9a-f]+)", self.page.url)
        assert found is not None
        return found.group(1)

    def card(self, evidence_id: str) -> Locator:
        return self.page.locator(f".st-key-card-{evidence_id}")

    def read(self, evidence_id: str) -> None:
        """Open a passage."""
        card = self.card(evidence_id)
        card.get_by_text("Read the passage", exact=True).click()
        self.settled()
        expect(card.get_by_role("checkbox", name="Use in the note", exact=True)).to_be_enabled()
        self.settled()

    def use(self, evidence_id: str) -> None:
        self.card(evidence_id).get_by_text("Use in the note").click()
        self.settled()

    def note(self) -> Locator:
        return self.page.locator(".st-key-note-box textarea")

    def counter(self) -> Locator:
        return self.page.locator(".counter .number")

    def write(self) -> None:
        """Let the program propose a note, and wait for it and its scores."""
        self.button("Write a draft").click()
        self._scored(wait=60_000)
        expect(self.note()).not_to_have_value("")

    def quote(self) -> None:
        """Without a language model: find sentences to quote, put the first into the note, and score it."""
        self.button("Find sentences to quote").click()
        self.button("Put into the note").first.wait_for(timeout=60_000)
        expect(self.page.locator("[class*=st-key-job-panel]")).to_have_count(0, timeout=60_000)
        self.settled()
        self.button("Put into the note").first.click()
        self.settled()
        expect(self.note()).not_to_have_value("")
        self.button("Score the note").click()
        self._scored()

    def compare(self) -> None:
        """Find that each sentence's passage says it, and that no hint matters."""
        asked = self.page.locator("[class*=st-key-comparison-]")
        for number in range(asked.count()):
            asked.nth(number).get_by_text("The passage says it", exact=True).click()
            self.settled()
            hints = asked.nth(number).get_by_text("I looked at")
            if hints.count():
                hints.click()
                self.settled()

    def score(self, note: str) -> None:
        """Put a note of one's own into the box, and wait for its first scores."""
        self.note().fill(note)
        self.page.get_by_text("Not scored as it stands").wait_for()
        self.button("Score the note").click()
        self._scored()

    def _scored(self, *, wait: float | None = None) -> None:
        """wait: milliseconds for the end of the job, once the gates are there; the usual ones when None."""
        self.step("Review").locator(".gate").nth(2).wait_for(timeout=60_000)
        self.settled()
        expect(self.step("Review").locator(".gate")).to_have_count(3)
        expect(self.page.locator("[class*=st-key-job-panel]")).to_have_count(0, timeout=wait)
        self.settled()

    def score_again(self) -> None:
        self.button("Score again").click()
        self.page.locator(".path.stale").first.wait_for(state="detached", timeout=60_000)
        expect(self.page.locator(".path.stale")).to_have_count(0)
        expect(self.page.locator("[class*=st-key-job-panel]")).to_have_count(0)
        self.settled()

    def tick(self, label: str) -> None:
        """Tick one of the reasons that X's form asks for."""
        self.page.get_by_text(label).first.click()
        expect(self.page.get_by_role("checkbox", name=re.compile(re.escape(label)))).to_be_checked()
        self.settled()

    def give_reasons(self, reason: str) -> None:
        """Write a reason wherever a check that did not pass can be passed over."""
        fields = self.page.get_by_label(re.compile("^Why approve although"))
        for number in range(fields.count()):
            fields.nth(number).fill(reason)
            fields.nth(number).press("Enter")
            self.settled()

    def picture(self, step: str) -> None:
        """Save the whole page as a picture."""
        if self._pictures is None:
            return
        self._pictures.mkdir(parents=True, exist_ok=True)
        self.settled()
        self.page.mouse.move(0, 0)  # no tooltip over the page
        size = self.page.viewport_size
        assert size is not None
        height = self.page.get_by_test_id("stMain").evaluate("main => main.scrollHeight")
        self.page.set_viewport_size({"width": size["width"], "height": max(size["height"], int(height) + 24)})
        self.page.screenshot(path=self._pictures / f"{self._name}-{step}.png", animations="disabled")
        self.page.set_viewport_size(size)
