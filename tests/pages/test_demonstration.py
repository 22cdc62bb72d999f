"""A case of a demonstration example says what it teaches, and offers the note that says too much."""

from __future__ import annotations

from crowdnotes.cases import actions, intake
from crowdnotes.domain import Case, Mode, Verdict
from crowdnotes.evidence.demo_pages import Example, examples
from tests.pages.conftest import PASSAGE, Desk, texts

TEMPTING = next(example for example in examples() if example.tempting_note)


def example_case(desk: Desk, example: Example, post: str | None = None) -> Case:
    cases = desk.workspace.cases
    case = intake.create_case(cases, post or example.post.text, mode=Mode.AUGMENTATION, urls=example.urls)
    return intake.add_passage_by_hand(cases, case.id, url=example.urls[0], title="A page", text=PASSAGE)


def use(desk: Desk, case: Case) -> None:
    desk.workspace.cases.apply(case.id, actions.open_passage, "E1")
    desk.workspace.cases.apply(case.id, actions.judge, "E1", Verdict.USE, "")


def test_the_tempting_note_is_offered_once_a_passage_is_in_use_and_becomes_the_draft(desk: Desk) -> None:
    case = example_case(desk, TEMPTING)
    at = desk.app(case)
    assert TEMPTING.teaches in texts(at)
    assert not any(item.key == "tempting" for item in at.button)

    use(desk, case)
    at.run()
    at.button(key="tempting").click().run()
    assert not at.exception
    draft = desk.newest(case).draft
    assert draft is not None
    assert draft.text == TEMPTING.tempting_note
    assert not any(item.key == "tempting" for item in at.button)


def test_the_page_of_an_example_is_no_link_that_the_person_added(desk: Desk) -> None:
    case = example_case(desk, TEMPTING)
    at = desk.app(case)
    shown = texts(at.button(key=f"read-{case.id}-E1").click().run())
    assert "The example brings this link." in shown
    assert "copied it from the page" not in shown


def test_a_case_with_another_post_is_offered_no_tempting_note(desk: Desk) -> None:
    case = example_case(desk, TEMPTING, "Another post about the lake.")
    use(desk, case)
    at = desk.app(case)
    assert "Demonstration:" not in texts(at)
    assert not any(item.key == "tempting" for item in at.button)


def test_an_example_without_a_tempting_note_offers_none(desk: Desk) -> None:
    example = next(example for example in examples() if not example.tempting_note)
    case = example_case(desk, example)
    use(desk, case)
    at = desk.app(case)
    assert example.teaches in texts(at)
    assert not any(item.key == "tempting" for item in at.button)
