"""Step 1 on the page: the post, and where to look."""

from __future__ import annotations

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from crowdnotes.cases import actions
from crowdnotes.cases.pipeline import JOBS
from crowdnotes.domain import Mode
from crowdnotes.jobs import Step
from pages.common.where_to_look import sources_key
from tests.pages.conftest import NOTE, POST, ROOT, Desk, field, note_of, press, texts, titles, unfolded
from tests.shared import PATIENCE

GOOD = "http://127.0.0.1:1/good"


def test_a_fresh_page_shows_one_box_and_one_main_button_and_says_that_no_language_model_is_at_work(desk: Desk) -> None:
    at = desk.app()
    assert not at.exception
    [options] = [fold for fold in at.expander if fold.label == "Options"]
    folded = [area.label for area in options.text_area]
    assert [area.label for area in at.main.text_area if area.label not in folded] == ["Paste the post"]
    assert [button.label for button in at.button if button.proto.type == "primary"] == ["Find evidence"]
    assert "It writes no note" in texts(at)  # the journeys see the label, "no language model …"


def test_an_empty_post_is_refused_in_a_sentence(desk: Desk) -> None:
    at = desk.app()
    at.button(key="start").click().run()
    assert "The post is empty." in texts(at)
    assert desk.workspace.cases.find() == []


@pytest.mark.parametrize(
    ("mode", "asked"),
    [
        (Mode.AUGMENTATION, "Add a link, choose a search service, or paste a source's text."),
        (Mode.AUTOMATION, "Choose a library or service, add links, or paste a source's text."),
    ],
)
def test_without_anywhere_to_look_the_page_asks_for_it_keeps_what_was_typed_and_makes_no_case(
    desk: Desk, mode: Mode, asked: str
) -> None:
    at = desk.app()
    at.text_area(key="new-post-text").set_value(POST)
    at.session_state["new-post-mode"] = mode
    at.button(key="start").click().run()
    assert not at.exception
    assert asked in texts(at)
    assert at.text_area(key="new-post-text").value == POST
    assert "case" not in at.query_params
    assert desk.workspace.cases.find() == []


@pytest.mark.parametrize(
    ("mode", "lines", "told"),
    [
        (Mode.AUTOMATION, ["see this", "https://a.example.org/good"], ["Where should we search?"]),
        (Mode.AUGMENTATION, ["see this", "see this too"], ["Which source should we read?"]),
    ],
)
def test_without_anywhere_to_look_the_lines_that_are_no_links_are_told_as_well_and_stay(
    desk: Desk, mode: Mode, lines: list[str], told: list[str]
) -> None:
    at = desk.app()
    at.text_area(key="new-post-text").set_value(POST)
    at.text_area(key="new-post-urls").set_value("\n".join(lines))
    at.session_state["new-post-mode"] = mode
    at.button(key="start").click().run()
    assert titles(at) == told + [f"“{line}” is not a web address." for line in lines if line.startswith("see")]
    assert at.text_area(key="new-post-urls").value == "\n".join(lines)
    assert at.text_area(key="new-post-text").value == POST
    assert desk.workspace.cases.find() == []


def test_good_links_are_gathered_and_each_bad_line_is_told(desk: Desk) -> None:
    at = desk.begun(f"see this page\n{GOOD}\nftp://a.example.org")
    case = desk.only()
    assert case.urls == (GOOD,)
    desk.finish_latest(case, at)
    shown = texts(at)
    assert "“see this page” is not a web address." in shown
    assert "is not an http or https address." in shown


def test_of_a_page_pasted_by_mistake_the_first_lines_are_told_and_the_others_counted(desk: Desk) -> None:
    at = desk.begun("\n".join([GOOD, *(f"no link {number}" for number in range(20))]))
    desk.finish_latest(desk.workspace.cases.get(desk.workspace.cases.find()[0].id))
    assert len(at.error) == 9
    assert "And 12 more like this." in texts(at)


def test_searching_again_takes_the_good_links_too(desk: Desk) -> None:
    case = desk.case()
    at = desk.app(case)
    at.session_state[f"more-{case.id}"] = True
    at.run()
    at.text_area(key=f"{sources_key(case)}-urls").set_value(f"{GOOD}\nno link")
    at.button(key=f"again-{case.id}").click().run()
    assert not at.exception
    desk.finish_latest(case, at)
    assert desk.newest(case).urls == (GOOD,)
    assert at.text_area(key=f"{sources_key(desk.newest(case))}-urls").value == GOOD
    assert "“no link” is not a web address." in texts(at)


def test_a_fault_that_nobody_foresaw_leaves_no_case_behind(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> list[Step]:
        raise RuntimeError("no foresight")

    monkeypatch.setitem(JOBS, "gather", replace(JOBS["gather"], steps=broken))
    at = desk.begun()
    assert titles(at) == ["Where should we search?"]
    assert desk.workspace.cases.find() == []


def test_a_case_can_begin_with_a_passage_pasted_by_hand(desk: Desk) -> None:
    at = desk.begun(press="start-by-hand")
    assert titles(at) == []
    case = desk.only()
    assert at.query_params["case"] == case.id
    assert desk.workspace.runner.latest(case.id) is None
    assert at.session_state[f"paste-{case.id}-new"]
    assert at.session_state["led"][0] == ("[class*=st-key-paste-][class*=-text] textarea",)
    assert not any(area.label.startswith("Links") for area in at.text_area)
    field(at, "Text from the page").set_value("Words of a book.")
    press(at, "Add this text")
    assert not at.exception
    assert [item.passage.text for item in desk.newest(case).evidence] == ["Words of a book."]


def test_a_post_changed_in_a_case_without_sources_asks_for_none(desk: Desk) -> None:
    case = desk.case()
    at = unfolded(desk.app(case), f"post-fold-{case.id}")
    field(at, "Text of the post").set_value("Vitamin D cures a cold.")
    press(at, "Save the post")
    assert desk.newest(case).post.text == "Vitamin D cures a cold."
    assert titles(at) == []
    assert desk.workspace.runner.latest(case.id) is None


def test_before_the_post_is_changed_all_that_goes_is_named_and_the_note_comes_back_with_undo(desk: Desk) -> None:
    case = desk.scored()
    at = unfolded(desk.app(case), f"post-fold-{case.id}")
    shown = texts(at)
    assert "sources move to “Earlier sources”" in shown
    assert "drafts and scores are deleted" in shown
    assert "Undo brings the note back once you use a source." in shown
    field(at, "Text of the post").set_value("Vitamin D cures a cold.")
    press(at, "Save the post")
    assert desk.newest(case).draft is None
    assert desk.newest(case).assessment is None

    desk.workspace.cases.apply(case.id, actions.restore_evidence_set, 0)
    assert [item.id for item in desk.newest(case).used_evidence] == ["E1"]
    at = desk.app(case)
    at.button(key="undo").click().run()
    assert note_of(at).value == NOTE


def test_an_example_takes_away_what_was_told_of_the_form_before_it(desk: Desk) -> None:
    at = desk.begun()
    assert titles(at) == ["Where should we search?"]
    next(button for button in at.button if str(button.key).startswith("example-")).click().run()
    assert POST not in str(at.text_area(key="new-post-text").value)
    assert ".example/" in str(at.text_area(key="new-post-text").value)
    assert titles(at) == []


def test_starting_makes_a_case_and_puts_it_into_the_address(desk: Desk) -> None:
    at = desk.begun("http://127.0.0.1:1/refused")
    [summary] = desk.workspace.cases.find()
    assert at.query_params["case"] == summary.id
    case = desk.workspace.cases.get(summary.id)
    desk.finish_latest(case, at)
    assert "1 source could not be read" in texts(at)
    assert "says nothing for or against the post" in texts(at)
    assert "refused as unsafe" in texts(at)
    assert [link for link in at.get("link_button") if link.proto.url == "http://127.0.0.1:1/refused"] == []


def test_a_case_that_does_not_exist_is_told_in_a_sentence(desk: Desk) -> None:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE)
    at.query_params["case"] = "<script>"
    at.run()
    assert not at.exception
    assert "Look on the Cases page" in texts(at)
    assert at.button(key="start")
