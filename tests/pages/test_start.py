"""The first screen: one box, in which each thing that is pasted is taken for what it is, and examples beside it."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from crowdnotes.domain import Mode
from crowdnotes.evidence.demo_pages import examples, page_of
from crowdnotes.text.markdown import lines
from pages.common.components import bookmarklet, opened_by
from tests.pages.conftest import POST, ROOT, Desk, texts, titles
from tests.shared import PATIENCE

ADDRESS = "https://x.com/someone/status/1790000000000000000"
LINK = "http://127.0.0.1:1/refused"


def pasted(desk: Desk, text: str) -> AppTest:
    at = desk.app()
    return at.text_area(key="new-post-text").set_value(text).run()


def test_words_address_and_links_in_one_box_become_a_case_that_reads_the_links(desk: Desk) -> None:
    at = pasted(desk, f"{POST}\n\n{ADDRESS}\n{LINK}")
    at.text_area(key="new-post-context").set_value("Is it the water?").run()
    assert "Found in your text: the post, its address, 1 link to a source." in texts(at)
    at.button(key="start").click().run()
    assert not at.exception
    case = desk.only()
    assert (case.post.text, case.post.url, case.urls, case.mode) == (POST, ADDRESS, (LINK,), Mode.AUGMENTATION)
    assert case.post.context == "Is it the water?"
    desk.finish_latest(case)
    assert desk.app().text_area(key="new-post-text").value == ""


def test_an_address_alone_asks_for_the_words_and_stays_in_the_box(desk: Desk) -> None:
    at = pasted(desk, ADDRESS)
    assert "CrowdNotes cannot read X. Paste the text of the post as well." in texts(at)
    at.button(key="start").click().run()
    assert titles(at) == ["CrowdNotes cannot read X."]
    assert at.text_area(key="new-post-text").value == ADDRESS
    assert desk.workspace.cases.find() == []
    at.text_area(key="new-post-text").set_value(f"{POST}\n{ADDRESS}").run()
    assert titles(at) == [], "the words are another now"


def test_links_alone_are_not_called_an_empty_post(desk: Desk) -> None:
    at = pasted(desk, LINK)
    at.button(key="start").click().run()
    assert "These are only links." in texts(at)
    assert "The post is empty." not in texts(at)
    assert desk.workspace.cases.find() == []


@pytest.mark.parametrize(
    ("post", "is_searched"),
    [("hi", False), ("hi!🔥", False), ("喝酒防癌🔥", True), ("喝酒防癌", True), ("Vaccines kill", True)],
)
def test_one_word_is_not_searched_for(desk: Desk, post: str, is_searched: bool) -> None:
    at = pasted(desk, post)
    at.button(key="start").click().run()
    assert ("One word is too little to search for." in texts(at)) is not is_searched


def test_keys_are_listed_by_step_and_on_the_first_screen_too(desk: Desk) -> None:
    assert "`?` These keys" in texts(desk.app())
    shown = texts(desk.app(desk.case()))
    assert shown.index("**Reading sources**") < shown.index("`j` Next source") < shown.index("`w` Write a draft")


def test_an_address_under_options_goes_before_one_in_the_box_which_becomes_a_link(desk: Desk) -> None:
    at = pasted(desk, f"{POST}\n{ADDRESS}\n{LINK}")
    at.text_input(key="new-post-url").set_value("https://x.com/a/status/2")
    at.button(key="start").click().run()
    case = desk.only()
    assert (case.post.url, case.urls) == ("https://x.com/a/status/2", (LINK, ADDRESS))
    desk.finish_latest(case)


def test_without_links_it_says_which_places_the_words_of_the_searches_go_to(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = desk.app()
    assert "No search is chosen" in texts(at)
    at.session_state["new-post-services"] = ["wikipedia", "pubmed"]
    assert "We will send a few search words to Wikipedia, PubMed." in texts(at.run())


def test_a_library_is_searched_here_and_no_words_go_to_it(desk: Desk, tmp_path: Path) -> None:
    table = tmp_path / "notes.csv"
    table.write_text("title,text\nColds,Vitamin C does not cure colds.\n")
    desk.workspace.libraries.add(table, "notes")
    at = desk.app()
    at.session_state["new-post-services"] = ["pubmed"]
    at.session_state["new-post-libraries"] = ["notes"]
    said = "We will search your library notes here and send a few search words to PubMed."
    assert said in texts(at.run())


def test_an_address_of_the_app_fills_in_a_post_once_and_begins_nothing(desk: Desk) -> None:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE)
    at.query_params["post"] = f"{POST}<script>alert(1)</script>"
    at.query_params["url"] = ADDRESS
    at.run()
    box = at.text_area(key="new-post-text")
    assert lines(str(box.value)) == [f"{POST}<script>alert(1)</script>", ADDRESS]
    assert desk.workspace.cases.find() == []
    box.set_value("Other words.").run()
    assert at.text_area(key="new-post-text").value == "Other words."
    at.text_area(key="new-post-text").set_value(f"{POST}\n{LINK}").run()
    at.button(key="start").click().run()
    assert "post" not in at.query_params
    desk.finish_latest(desk.only())


def test_the_pictured_example_comes_first_and_then_the_one_whose_tempting_note_is_caught(desk: Desk) -> None:
    at = desk.app()
    keys = [str(item.key) for item in at.button if str(item.key).startswith("example-")]
    every = sorted(examples(), key=lambda example: example.tempting_note is None)
    first, *others = sorted(every, key=lambda example: example.id != "reboiled-kettle")
    assert keys == [f"example-{example.id}" for example in (first, *others)]
    assert others[0].tempting_note


@pytest.mark.parametrize(
    ("added", "has_model", "is_recorded"), [("", False, True), (" Is it?", False, False), ("", True, False)]
)
def test_an_example_as_it_is_goes_by_recorded_answers_without_a_model(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, added: str, has_model: bool, is_recorded: bool
) -> None:
    monkeypatch.setattr(desk.engine, "uses_language_model", has_model)
    at = desk.app()
    at.button(key="example-raindrop-tax").click().run()
    box = at.text_area(key="new-post-text")
    words, _, links = str(box.value).partition("\n")
    box.set_value(f"{words}{added}\n{links}").run()
    assert ("you will see answers that an AI gave earlier." in texts(at)) is is_recorded
    at.button(key="start").click().run()
    assert not at.exception
    assert desk.only().recorded_answers is is_recorded
    desk.finish_latest(desk.only())


def test_a_page_of_an_example_opens_in_the_app_and_says_that_it_is_invented(desk: Desk) -> None:
    page = examples()[0].pages[0]
    assert str(opened_by(page.url)).startswith("example?page=https%3A%2F%2F")
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE)
    at.query_params["page"] = page.url
    at.switch_page("pages/example.py").run()
    assert not at.exception
    assert "Never cite it." in texts(at)


@pytest.mark.parametrize("url", ["https://www.cdc.gov/flu", "https://nowhere.example/x", "javascript:x", "", None])
def test_no_other_address_is_a_page_of_an_example(desk: Desk, url: str | None) -> None:
    assert page_of(url) is None
    assert opened_by(url) == (url if url and url.startswith("https") else None)


def test_an_address_that_no_example_has_is_told_in_a_sentence(desk: Desk) -> None:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE)
    at.query_params["page"] = "https://www.cdc.gov/flu"
    at.switch_page("pages/example.py").run()
    assert titles(at) == ["There is no example page at this address."]


def test_help_has_the_steps_the_keys_a_bookmark_and_the_documents(desk: Desk) -> None:
    at = desk.app(page="pages/help.py")
    assert not at.exception
    pages = "Draft, Cases, Queue, Supernote, Compare, Overview, Libraries, Algorithm, Public data"
    assert all(f"- **{page}**" in texts(at) for page in pages.split(", "))
    assert "- **Simulated readers** (the jury)" in texts(at)
    assert "`j` Next source" in texts(at)
    assert "`a` Go to “Approve the note”" in texts(at), "all keys, not a few"
    assert at.code[0].value.startswith("javascript:")
    at.query_params["document"] = "architecture"
    at.run()
    assert "(help?document=extending)" in texts(at)
    at.query_params["document"] = "presenting"
    at.run()
    assert "the jury's card, and" in texts(at), "a file is no page of the app"


def test_an_address_of_the_app_cannot_break_out_of_the_bookmark() -> None:
    assert '"https://a.org/\\"+alert(1)+\\"/"' in bookmarklet('https://a.org/"+alert(1)+"/')
    assert "\n" not in bookmarklet("http://localhost:8501/")
