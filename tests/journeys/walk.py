"""What a person does on the Draft page, in a browser."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

# Looked at in the page itself, often: `expect` asks once a second when something takes a while. What the page asked
# of the app must have been answered to the last run (see `_WATCHED` of conftest.py), and all that was drawn.
_AT_REST = """
(forMs) => new Promise((resolve) => {
  let since = performance.now()
  const look = () => {
    const app = document.querySelector("[data-testid=stApp]")
    const isAtRest = app?.dataset.testScriptState === "notRunning" && !(window.askedOfApp > window.heardFromApp)
      && !window.runsAgain && !document.querySelector("[data-stale=true], [data-testid=stSkeleton]")
    if (!isAtRest) since = performance.now()
    if (performance.now() - since >= forMs) resolve(true)
    else setTimeout(look, 30)
  }
  look()
})
"""
_REST_MS = 120


_HOLD_TIME = """
(selector) => {
  if (!document.querySelector(selector)) return false
  const at = performance.now()
  performance.now = () => at
  return true
}
"""


@contextmanager
def held_time(page: Page, once: str = "body") -> Iterator[None]:
    """Hold the clock that the page's keys go by, once there is what this selector finds.

    So no second press and no letter comes too late or too soon. `Walk.settled` goes by that clock and would wait.
    """
    page.wait_for_function(_HOLD_TIME, arg=once)
    yield
    page.evaluate("() => { delete performance.now }")


def rest(page: Page) -> None:
    """Wait until the page's run has ended; Streamlit dims old elements until then."""
    page.wait_for_function(_AT_REST, arg=_REST_MS)


class Walk:
    """Walks one browser page from post to decision; waits on what a person would see, never on a clock.

    On a phone it goes to the tab of what it does first.
    """

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
        rest(self.page)

    def found_its_way(self, page: str) -> None:
        """Open a page by its address, as a tab does that was left open while the server started anew."""
        self.open(f"/{page}")
        expect(self.page.get_by_role("heading", name=page.capitalize())).to_be_visible()
        expect(self.page.get_by_test_id("stTopNavLink").filter(has_text="Draft")).to_be_visible()

    def tab(self, name: str) -> None:
        """Go to one of the tabs Post, Sources, Note and Decide that a phone has; a wide screen shows them all."""
        tab = self.page.get_by_role("tab", name=re.compile(f"^{name}"))
        if tab.count() and tab.is_visible():
            tab.click()
            expect(tab).to_have_attribute("aria-selected", "true")

    def area(self, name: str) -> Locator:
        """What stands under such a tab."""
        return self.page.locator(f".st-key-area-{name.lower()}")

    def unfold_all(self, area: str) -> None:
        """Open every fold of an area, and those that stand in them."""
        closed = self.area(area).locator("details:not([open]) > summary:visible")
        while closed.count():
            closed.first.click()
            self.settled()

    def strip(self) -> Locator:
        """The head of the page: the steps and how each stands."""
        return self.page.locator(".st-key-strip")

    def button(self, name: str | re.Pattern[str]) -> Locator:
        return self.page.get_by_role("button", name=name)

    def begin(self, post: str, urls: Sequence[str]) -> str:
        """Paste a post and links into the one box, find evidence, wait for the passages; returns the case's id."""
        self.page.get_by_label("Paste the post").fill("\n".join((post, *urls)))
        self.button("Find evidence").click()
        self.page.wait_for_url(re.compile(r"[?&]case="))
        self.row("E1").wait_for()
        self.settled()
        return self.case_id()

    def options(self) -> None:
        """Unfold what else can be said of a new post."""
        self.page.get_by_text("Options", exact=True).click()
        expect(self.page.get_by_label(re.compile("^Links, one"))).to_be_visible()

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

    def row(self, evidence_id: str) -> Locator:
        """The line of a source in the list."""
        return self.page.locator(f".st-key-row-{evidence_id}, .st-key-row-{evidence_id}-here")

    def reader(self) -> Locator:
        """The passage that is open, in its page."""
        return self.page.locator(".st-key-reader")

    def use_tick(self, evidence_id: str) -> Locator:
        return self.row(evidence_id).get_by_role(
            "checkbox", name=re.compile(f"^(Use {evidence_id} in the note|Read {evidence_id} first)$")
        )

    def read(self, evidence_id: str) -> None:
        """Open a passage in the reader."""
        self.tab("Sources")
        self.row(evidence_id).get_by_role("button", name=re.compile(f"^{evidence_id} ")).click()
        expect(self.reader().get_by_role("region", name="Passage")).to_be_visible()
        expect(self.reader().locator(".st-key-reader-walk")).to_contain_text(evidence_id)
        self.settled()
        expect(self.use_tick(evidence_id)).to_be_enabled()

    def use(self, evidence_id: str) -> None:
        """Tick a passage that was opened."""
        self.tab("Sources")
        self.row(evidence_id).get_by_text(f"Use {evidence_id} in the note").click()
        expect(self.use_tick(evidence_id)).to_be_checked()
        self.settled()

    def note(self) -> Locator:
        # While the page is drawn anew the box before stands below the new one for a moment.
        return self.page.locator(".st-key-note-box textarea").first

    def counter(self) -> Locator:
        return self.page.locator(".counter .number")

    def write(self) -> None:
        """Let the program propose a note, and wait for it and its scores."""
        self.tab("Note")
        self.button("Write a draft").click()
        self.scored()
        expect(self.note()).not_to_have_value("")

    def quote(self) -> None:
        """Without a language model: find sentences to quote, put the first into the note, and score it."""
        self.tab("Note")
        self.button("Find sentences to quote").click()
        self.button("Use this text").first.wait_for()
        expect(self.page.locator("[class*=st-key-job-panel]")).to_have_count(0)
        self.settled()
        self.button("Use this text").first.click()
        self.settled()
        expect(self.note()).not_to_have_value("")
        self.button("Score the note").click()
        self.scored()

    def gates(self) -> Locator:
        return self.area("Note").locator(".gate")

    def compare(self) -> None:
        """Find that each sentence's passage says it, and that no hint matters."""
        self.tab("Note")
        asked = self.page.locator("[class*=st-key-comparison-]")
        for number in range(asked.count()):
            asked.nth(number).get_by_text("The source says it", exact=True).click()
            self.settled()
            hints = asked.nth(number).get_by_text(re.compile(r"^I checked: sentence \d+ is right$"))
            if hints.count():
                hints.click()
                self.settled()

    def score(self, note: str) -> None:
        """Put a note of one's own into the box, and wait for its first scores."""
        self.tab("Note")
        self.note().fill(note)
        self.page.get_by_text("Score the note to see its sources.").wait_for()
        self.button("Score the note").click()
        self.scored()

    def scored(self) -> None:
        """Wait for the scores of the note."""
        self.gates().nth(2).wait_for()
        self.settled()
        expect(self.gates()).to_have_count(3)
        expect(self.page.locator("[class*=st-key-job-panel]")).to_have_count(0)
        self.settled()

    def score_again(self) -> None:
        self.tab("Note")
        self.button("Score again").click()
        self.page.locator(".path.stale").first.wait_for(state="detached")
        expect(self.page.locator(".path.stale")).to_have_count(0)
        expect(self.page.locator("[class*=st-key-job-panel]")).to_have_count(0)
        self.settled()

    def tick(self, label: str) -> None:
        """Choose one of the reasons that X's form asks for."""
        self.tab("Decide")
        chip = self.area("Decide").get_by_role("button", name=re.compile(f"^{re.escape(label)}"))
        chip.click()
        expect(chip).to_have_attribute("aria-pressed", "true")
        self.settled()

    def reasons(self) -> Locator:
        """The fields in which a reason passes over what is left."""
        return self.page.get_by_label(re.compile("^Why approve although"))

    def unfold_reasons(self) -> None:
        """Open every fold in which something that is left can be passed over."""
        self.tab("Decide")
        folds = self.area("Decide").get_by_text("Approve anyway, with a reason")
        for number in range(folds.count()):
            if not self.reasons().nth(number).is_visible():
                folds.nth(number).click()
                expect(self.reasons().nth(number)).to_be_visible()

    def give_reasons(self, reason: str) -> None:
        """Write a reason wherever something that is left can be passed over."""
        self.unfold_reasons()
        for number in range(self.reasons().count()):
            self.reasons().nth(number).fill(reason)
            self.reasons().nth(number).press("Enter")
            self.settled()

    def comment(self) -> Locator:
        """The field of the comment on the decision, unfolded."""
        self.tab("Decide")
        field = self.page.get_by_label("Comment (optional, kept in the record)")
        if not field.is_visible():
            self.page.locator(".st-key-ends").get_by_text("Comment", exact=True).click()
        return field

    def approve(self) -> None:
        self.tab("Decide")
        self.button("Approve the note").click()
        expect(self.page.get_by_text("Copy the note")).to_be_visible()

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
