"""The note on the Draft page: proposed, edited, undone, and never lost."""

from __future__ import annotations

import pytest

from crowdnotes.cases import actions, approval
from crowdnotes.domain import DecisionKind, Passage, Span, Verdict
from crowdnotes.engines.base import WriterAnswer, Written
from pages.common.layout import Area
from pages.draft_parts import sentence_support
from tests.pages.conftest import NOTE, Desk, note_of, press, texts, titles


def test_the_note_can_be_written_only_after_a_passage_is_in_use(desk: Desk) -> None:
    case = desk.case()
    at = desk.app(case)
    assert not any(area.label == "The note, with its links" for area in at.text_area)
    at = press(at, "Read E1")
    assert at.session_state["area"][0] is Area.SOURCES
    assert at.checkbox(key=f"use-{case.id}-E1").label == "Use E1 in the note"
    assert "Go to E1" in [item.label for item in at.button]
    desk.workspace.cases.apply(case.id, actions.open_passage, "E1")
    desk.workspace.cases.apply(case.id, actions.judge, "E1", Verdict.USE, "")
    assert note_of(desk.app(case))


def test_without_words_there_is_no_note_and_a_written_one_takes_its_place(desk: Desk) -> None:
    case = desk.scored()
    at = desk.app(case)
    note_of(at).set_value(" ").run()
    assert desk.newest(case).draft is None
    shown = texts(at)
    assert "Simulated readers" not in shown
    assert "Score it again" not in shown
    at.button(key="score").click().run()
    assert titles(at) == ["There is no note yet."]
    assert at.button(key="score").label == "Score the note"
    desk.engine.answer = WriterAnswer(
        (Written("The trials found no effect.", ("E1",)), Written("Another note.", ("E1",)))
    )
    desk.run(case, "write")
    at.run()
    assert "The trials found no effect." in str(note_of(at).value)
    assert "There is no note yet." not in titles(at), "its cause is gone"
    note_of(at).set_value("").run()
    assert "Use one of the drafts below" in texts(at)


def test_the_program_proposes_notes_that_come_scored(desk: Desk) -> None:
    case = desk.inspected()
    at = desk.app(case)
    at.button(key="write").click().run()
    desk.finish_latest(case, at)
    draft = desk.newest(case).draft
    assert draft is not None
    assert note_of(at).value == draft.text
    assert "Which source supports each sentence" in texts(at)
    assert desk.newest(case).assessment_is_current


def test_undo_brings_the_earlier_text_back(desk: Desk) -> None:
    case = desk.drafted()
    at = desk.app(case)
    note_of(at).set_value("Something else. https://trials.example.edu/c").run()
    at.button(key="undo").click().run()
    assert note_of(at).value == NOTE
    assert desk.note(case) == NOTE


@pytest.mark.parametrize(("choice", "kept"), [("take-mine", "mine"), ("take-theirs", "theirs")])
def test_two_edits_at_once_show_both_texts_and_lose_neither(desk: Desk, choice: str, kept: str) -> None:
    case = desk.drafted()
    at = desk.app(case)
    draft = case.draft
    assert draft is not None
    desk.workspace.cases.apply(case.id, actions.edit_draft, "theirs", based_on=draft.sha256)
    note_of(at).set_value("mine").run()
    assert "changed elsewhere" in texts(at)
    assert desk.note(case) == "theirs"

    at.button(key=choice).click().run()
    assert desk.note(case) == kept
    assert note_of(at).value == kept


def test_words_typed_while_the_case_was_decided_elsewhere_stand_beside_the_message_and_are_kept(
    desk: Desk, unsaved: list[str]
) -> None:
    case = desk.drafted()
    at = desk.app(case)
    approval.decide_case(desk.workspace.cases, case.id, DecisionKind.REJECTED)
    note_of(at).set_value("What I was typing.").run()
    assert not at.exception, at.exception
    assert unsaved == ["What I was typing."]
    assert "The case was decided meanwhile." in texts(at)
    at.button(key="keep-unsaved-Draft").click().run()
    assert not at.exception, at.exception
    assert (desk.note(case), desk.newest(case).decision) == ("What I was typing.", None)
    assert "What you typed was not saved." not in texts(at)


def test_words_typed_before_a_decision_that_another_takes_back_are_offered_again(desk: Desk) -> None:
    case = desk.drafted()
    at = desk.app(case)
    approval.decide_case(desk.workspace.cases, case.id, DecisionKind.REJECTED)
    note_of(at).set_value("What I was typing.").run()
    desk.workspace.cases.apply(case.id, actions.reopen)
    at.run()
    assert "changed elsewhere" in texts(at)
    at.button(key="take-mine").click().run()
    assert desk.note(case) == "What I was typing."


def test_words_typed_while_the_case_was_deleted_can_be_copied(desk: Desk, unsaved: list[str]) -> None:
    case = desk.drafted()
    at = desk.app(case)
    desk.workspace.cases.delete(case.id)
    note_of(at).set_value("What I was typing.").run()
    assert not at.exception, at.exception
    assert unsaved == ["What I was typing."]


def test_another_tab_shows_what_this_one_saved(desk: Desk) -> None:
    case = desk.drafted()
    here, there = desk.app(case), desk.app(case)
    note_of(here).set_value("A newer text.").run()
    there.run()
    assert note_of(there).value == "A newer text."


def test_an_engine_that_abstains_is_told_as_a_result(desk: Desk) -> None:
    desk.engine.answer = WriterAnswer((), "The passages do not speak of the claim.")
    case = desk.inspected()
    at = desk.app(case)
    at.button(key="write").click().run()
    desk.finish_latest(case, at)
    assert "No note was written." in texts(at)
    assert "The passages do not speak of the claim." in texts(at)
    note_of(at).set_value("My own words.").run()
    assert "No note was written." not in texts(at)


def test_a_quote_from_a_table_reads_as_the_words_of_its_row(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.engine.by_person = True  # who compares reads the words themselves
    table = "| Year | Colds |\n|---|---|\n| 2024 | 12 |"
    row = Span(start=table.index("| 2024"), end=len(table))
    case = desk.drafted()
    [item] = case.evidence
    passage = Passage(text=table, span=Span(start=0, end=len(table)), similarity=0)
    case = desk.run(desk.changed(case, evidence=(item.replace(passage=passage),)), "assess")
    assert case.assessment is not None
    sentence = case.assessment.sentences[0].replace(evidence_id=item.id, carrier=row)
    desk.changed(case, assessment=case.assessment.replace(sentences=(sentence,)))
    shown: list[str] = []
    monkeypatch.setattr(sentence_support, "outside_text", lambda text, **_: shown.append(text))
    at = desk.app(case)
    assert not at.exception
    assert shown == ["“2024 · 12”"]


def test_above_words_of_ones_own_nothing_is_said_of_proposals(desk: Desk) -> None:
    desk.engine.answer = WriterAnswer((), "The passages do not speak of the claim.")
    case = desk.drafted("My own words. https://trials.example.edu/c")
    desk.run(case, "write")
    at = desk.app(case)
    assert desk.note(case).startswith("My own words.")
    assert "No note was written." not in texts(at)
    assert "The passages do not speak of the claim." not in texts(at)
