"""The first screen in a browser: what is pasted is told at the first pause, and a bookmark brings a post over."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect
from pytest_httpserver import HTTPServer

from tests.journeys.conftest import App, NewPage
from tests.journeys.walk import Walk

pytestmark = [pytest.mark.journey, pytest.mark.deep]

POST = "Vitamin C cures a cold in a day. Doctors hide it."
TIMELINE = """<body><article><a href="/one/status/17"><time>1 h</time></a><p>Another post.</p></article>
<article><a href="/someone/status/1790000000000000000"><time>2 h</time></a><p id="words">{}</p></article></body>"""


def test_what_is_pasted_is_told_at_a_pause_and_a_source_of_an_example_opens_as_a_page(
    app: App, new_page: NewPage
) -> None:
    walk = Walk(new_page("light", 390), app.url)
    page = walk.page
    walk.open()
    box = page.get_by_label("Paste the post")
    box.fill(f"{POST}\n{app.articles}/vitamin-c")
    expect(page.get_by_text("Found in your text: the post, 1 link to a source.")).to_be_visible()
    expect(box).to_be_focused()

    page.get_by_role("button", name="Try it One sample of a lake").click()
    expect(page.get_by_text("2 links to sources")).to_be_visible()
    walk.button("Find evidence").click()
    walk.row("E1").wait_for()
    walk.settled()
    walk.read("E1")
    with page.expect_popup() as opened:
        walk.reader().get_by_role("link", name="Open").first.click()
    expect(opened.value.get_by_text("Never cite it.")).to_be_visible()
    opened.value.close()


def test_keys_work_on_the_first_screen_of_a_fresh_visit(app: App, new_page: NewPage) -> None:
    walk = Walk(new_page("light", 1280, fresh=True), app.url)
    page = walk.page
    walk.open()
    page.locator(".st-key-shortcut-keys [data-listens]").wait_for(state="attached")
    page.keyboard.press("n")
    expect(page.get_by_label("Paste the post")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_test_id("stPopoverBody")).to_contain_text("These keys")


def test_a_bookmark_brings_the_selected_words_and_the_address_of_their_post(app: App, new_page: NewPage) -> None:
    walk = Walk(new_page(), app.url)
    page = walk.page
    walk.open("/help")
    link = page.get_by_role("link", name="Check this post")
    script = str(link.get_attribute("href"))
    assert script.startswith("javascript:")
    link.click()
    expect(page.get_by_role("heading", name="Help")).to_be_visible()

    with HTTPServer(host="127.0.0.1", port=0) as elsewhere:
        elsewhere.expect_request("/home").respond_with_data(TIMELINE.format(POST), content_type="text/html")
        page.goto(elsewhere.url_for("/home"))
        page.evaluate("getSelection().selectAllChildren(document.getElementById('words'))")
        with page.expect_popup() as opened:
            page.evaluate(script.removeprefix("javascript:"))
        brought = opened.value
        address = elsewhere.url_for("/someone/status/1790000000000000000")
        expect(brought.get_by_label("Paste the post")).to_have_value(f"{POST}\n\n{address}")
        expect(brought.get_by_role("button", name="Find evidence")).to_be_enabled()
        brought.close()


def test_ctrl_enter_in_the_first_box_searches_and_a_pasted_passage_gets_the_keyboard(
    app: App, new_page: NewPage
) -> None:
    walk = Walk(new_page(), app.url)
    page = walk.page
    walk.open()
    page.get_by_label("Paste the post").fill(f"{POST}\n{app.articles}/vitamin-c")
    page.keyboard.press("Control+Enter")
    walk.row("E1").wait_for()
    walk.open()
    page.get_by_label("Paste the post").fill(POST)
    walk.button("Paste the text of a source").click()
    expect(page.get_by_label("Text from the page")).to_be_focused()
