"""Text from outside, in every field, shows as characters and runs nothing."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, Request, expect

from tests.journeys.conftest import HOSTILE, App, NewPage
from tests.journeys.walk import Walk

pytestmark = pytest.mark.journey


def nothing_ran(page: Page) -> None:
    assert page.evaluate("() => window.hacked") is None
    assert page.locator("img[src*='evil.example']").count() == 0
    assert page.locator("a[href^='https://evil.example'], a[href^='javascript']").count() == 0
    assert page.locator("main .katex").count() == 0
    assert page.locator("main img[onerror], main script").count() == 0


def test_script_markdown_and_direction_marks_in_every_field_stay_text_and_no_outside_host_is_asked(
    app: App, new_page: NewPage
) -> None:
    page = new_page(fresh=True)
    asked: list[str] = []
    page.on("request", lambda request: _note(asked, request))
    page.on("dialog", lambda dialog: pytest.fail(f"a dialog opened: {dialog.message}"))
    walk = Walk(page, app.url)
    walk.open()
    # Streamlit looks for the bracket that closes its own `:small[…]` in code too.
    bracket = f"{app.articles}/gone/]![i](https://evil.example/i.png)"
    case_id = walk.begin(f"{HOSTILE} Vitamin C cures colds.", [f"{app.articles}/hostile", bracket])
    page.get_by_text("1 source could not be read").click()
    nothing_ran(page)

    walk.read("E1")
    expect(walk.reader().get_by_text("<script>window.hacked=1</script>").first).to_be_visible()
    nothing_ran(page)

    walk.reader().get_by_role("radio", name="Reject").click()
    page.get_by_label("Another reason").fill(HOSTILE)
    walk.button("Reject this source").click()
    expect(page.get_by_text("Your reason:")).to_be_visible()
    nothing_ran(page)

    walk.use("E1")
    walk.score(f"Vitamin C does not cure colds. {HOSTILE} {app.articles}/hostile")
    nothing_ran(page)

    walk.comment().fill(HOSTILE)
    walk.comment().blur()
    walk.settled()  # what was typed is kept first
    page.locator(".st-key-ends").get_by_role("button", name="Reject").click()
    expect(page.get_by_text("Your comment:")).to_be_visible()
    nothing_ran(page)

    walk.open("/cases")
    expect(page.get_by_text("<script>window.hacked=1</script>").first).to_be_visible()
    nothing_ran(page)
    walk.open(f"/?case={case_id}%3Cscript%3Ewindow.hacked=1%3C/script%3E")
    expect(page.get_by_text("Look on the Cases page")).to_be_visible()
    nothing_ran(page)
    assert asked == []


def _note(asked: list[str], request: Request) -> None:
    if urlsplit(request.url).hostname not in (None, "127.0.0.1", "localhost"):  # None: data and blobs
        asked.append(request.url)
