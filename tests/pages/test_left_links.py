"""Of pasted lines the good ones are taken; of each bad one it is told what is wrong with it."""

from __future__ import annotations

from pages.view.where_to_look import sources_key
from tests.pages.conftest import POST, Desk, texts

GOOD = "http://127.0.0.1:1/good"


def test_good_links_are_gathered_and_each_bad_line_is_told(desk: Desk) -> None:
    at = desk.app()
    at.text_area(key="new-post-text").set_value(POST)
    at.text_area(key="new-post-urls").set_value(f"see this page\n{GOOD}\nftp://a.example.org")
    at.button(key="start").click().run()
    assert not at.exception
    [summary] = desk.workspace.service.list()
    case = desk.workspace.service.get(summary.id)
    assert case.urls == (GOOD,)
    desk.finish_latest(case)
    at.run()
    shown = texts(at)
    assert "“see this page” is not a web address." in shown
    assert "is not an http or https address." in shown


def test_of_a_page_pasted_by_mistake_the_first_lines_are_told_and_the_others_counted(desk: Desk) -> None:
    at = desk.app()
    at.text_area(key="new-post-text").set_value(POST)
    at.text_area(key="new-post-urls").set_value("\n".join([GOOD, *(f"no link {number}" for number in range(20))]))
    at.button(key="start").click().run()
    desk.finish_latest(desk.workspace.service.get(desk.workspace.service.list()[0].id))
    assert len(at.error) == 9
    assert "And 12 more like these." in texts(at)


def test_when_no_line_is_a_link_all_stay_in_the_form_and_each_is_told(desk: Desk) -> None:
    at = desk.app()
    at.text_area(key="new-post-text").set_value(POST)
    at.text_area(key="new-post-urls").set_value("see this\nand that")
    at.button(key="start").click().run()
    assert desk.workspace.service.list() == []
    assert [str(getattr(item.proto, "title", "")).replace("\\", "") for item in at.error] == [
        "There is no source to read.",
        "“see this” is not a web address.",
        "“and that” is not a web address.",
    ]
    assert at.text_area(key="new-post-urls").value == "see this\nand that"
    assert at.text_area(key="new-post-text").value == POST


def test_searching_again_takes_the_good_links_too(desk: Desk) -> None:
    case = desk.case()
    at = desk.app(case)
    at.session_state[f"more-{case.id}"] = True
    at.run()
    at.text_area(key=f"{sources_key(case)}-urls").set_value(f"{GOOD}\nno link")
    at.button(key=f"again-{case.id}").click().run()
    assert not at.exception
    desk.finish_latest(case)
    at.run()
    assert desk.newest(case).urls == (GOOD,)
    assert at.text_area(key=f"{sources_key(desk.newest(case))}-urls").value == GOOD
    assert "“no link” is not a web address." in texts(at)
