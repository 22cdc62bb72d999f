"""Step 1 on the page: the post, and where to look."""

from __future__ import annotations

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from crowdnotes.cases.job_kinds import JOB_KINDS
from crowdnotes.domain import Mode
from crowdnotes.jobs import Step
from tests.pages.conftest import NOTE, POST, ROOT, Desk, note_of, texts


def _errors(at: AppTest) -> list[str]:
    return [str(getattr(item.proto, "title", "")).replace("\\", "") for item in at.error]


def test_a_fresh_page_shows_five_steps_and_says_that_no_language_model_is_at_work(desk: Desk) -> None:
    at = desk.app()
    assert not at.exception
    assert [heading.value.split(" ", 1)[1] for heading in at.subheader] == [
        "1 Post",
        "2 Evidence",
        "3 Draft",
        "4 Review",
        "5 Decide",
    ]
    assert "It writes no note" in texts(at)  # the journeys see the label, "no language model …"
    assert "evidence before words" in texts(at)


def test_an_empty_post_is_refused_in_a_sentence(desk: Desk) -> None:
    at = desk.app()
    at.button(key="start").click().run()
    assert "The post is empty." in texts(at)
    assert desk.workspace.service.list() == []


@pytest.mark.parametrize(
    ("mode", "asked"),
    [
        (Mode.AUGMENTATION, "Bring at least one link, choose a search instead, or paste a passage."),
        (Mode.AUTOMATION, "Choose a library or service, bring links instead, or paste a passage."),
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
    assert desk.workspace.service.list() == []


def test_without_anywhere_to_look_the_lines_that_are_no_links_are_told_as_well(desk: Desk) -> None:
    at = desk.app()
    at.text_area(key="new-post-text").set_value(POST)
    at.text_area(key="new-post-urls").set_value("see this\nhttps://a.example.org/good")
    at.session_state["new-post-mode"] = Mode.AUTOMATION
    at.button(key="start").click().run()
    assert _errors(at) == ["There is nothing to search.", "“see this” is not a web address."]
    assert at.text_area(key="new-post-urls").value == "see this\nhttps://a.example.org/good"
    assert desk.workspace.service.list() == []


def test_a_fault_that_nobody_foresaw_leaves_no_case_behind(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> list[Step]:
        raise RuntimeError("no foresight")

    monkeypatch.setitem(JOB_KINDS, "gather", replace(JOB_KINDS["gather"], steps=broken))
    at = desk.app()
    at.text_area(key="new-post-text").set_value(POST)
    at.button(key="start").click().run()
    assert _errors(at) == ["There is no source to read."]
    assert desk.workspace.service.list() == []


def test_a_case_can_begin_with_a_passage_pasted_by_hand(desk: Desk) -> None:
    at = desk.app()
    at.text_area(key="new-post-text").set_value(POST)
    at.button(key="start-by-hand").click().run()
    assert not at.exception
    assert _errors(at) == []
    [summary] = desk.workspace.service.list()
    case = desk.workspace.service.get(summary.id)
    assert at.query_params["case"] == case.id
    assert desk.workspace.runner.latest(case.id) is None
    assert at.session_state[f"paste-{case.id}-new"]
    assert not any(area.label == "Links to sources, one a line" for area in at.text_area)
    next(area for area in at.text_area if area.label.startswith("The passage")).set_value("Words of a book.")
    next(item for item in at.button if item.label == "Add this passage").click().run()
    assert not at.exception
    assert [item.passage.text for item in desk.newest(case).evidence] == ["Words of a book."]


def test_a_post_changed_in_a_case_without_sources_asks_for_none(desk: Desk) -> None:
    case = desk.case()
    at = desk.app(case).button(key="post-step-fold").click().run()
    next(area for area in at.text_area if area.label == "Text of the post").set_value("Vitamin D cures a cold.")
    next(item for item in at.button if item.label == "Save the post").click().run()
    assert desk.newest(case).post.text == "Vitamin D cures a cold."
    assert _errors(at) == []
    assert desk.workspace.runner.latest(case.id) is None


def test_before_the_post_is_changed_all_that_goes_is_named_and_the_note_comes_back_with_undo(desk: Desk) -> None:
    case = desk.scored()
    at = desk.app(case).button(key="post-step-fold").click().run()
    shown = texts(at)
    assert "Passages and their ticks go to “Earlier evidence” in step 2" in shown
    assert "Candidates and scores go for good." in shown
    assert "The note goes too: once a passage is in use again, Undo in step 3 brings back its words." in shown
    next(area for area in at.text_area if area.label == "Text of the post").set_value("Vitamin D cures a cold.")
    next(item for item in at.button if item.label == "Save the post").click().run()
    assert desk.newest(case).draft is None
    assert desk.newest(case).assessment is None

    desk.workspace.service.bring_back_set(case.id, 0, "you")
    assert [item.id for item in desk.newest(case).used_evidence] == ["E1"]
    at = desk.app(case)
    at.button(key="undo").click().run()
    assert note_of(at).value == NOTE


def test_an_example_takes_away_what_was_told_of_the_form_before_it(desk: Desk) -> None:
    at = desk.app()
    at.text_area(key="new-post-text").set_value(POST)
    at.button(key="start").click().run()
    assert _errors(at) == ["There is no source to read."]
    at.session_state["new-example"] = True
    at.run()
    next(item for item in at.button if item.label == "Use this example").click().run()
    assert at.text_area(key="new-post-urls").value
    assert _errors(at) == []


def test_starting_makes_a_case_and_puts_it_into_the_address(desk: Desk) -> None:
    at = desk.app()
    at.text_area(key="new-post-text").set_value(POST)
    at.text_area(key="new-post-urls").set_value("http://127.0.0.1:1/refused")
    at.button(key="start").click().run()
    assert not at.exception
    [summary] = desk.workspace.service.list()
    assert at.query_params["case"] == summary.id
    case = desk.workspace.service.get(summary.id)
    desk.finish_latest(case)
    at.run()
    assert "1 source could not be read" in texts(at)
    assert "says nothing for or against the post" in texts(at)


def test_an_example_fills_in_the_form(desk: Desk) -> None:
    at = desk.app()
    at.session_state["new-example"] = True
    at.run()
    button = next(item for item in at.button if item.label == "Use this example")
    button.click().run()
    assert at.text_area(key="new-post-text").value
    assert ".example/" in str(at.text_area(key="new-post-urls").value)


def test_a_case_that_does_not_exist_is_told_in_a_sentence(desk: Desk) -> None:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.query_params["case"] = "<script>"
    at.run()
    assert not at.exception
    assert "The Cases page lists what is there" in texts(at)
    assert at.button(key="start")
