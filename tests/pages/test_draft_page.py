"""The Draft page: five steps, each opening when the one before it allows."""

from __future__ import annotations

import re
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import ButtonGroup, TextArea

from crowdnotes.domain import (
    Case,
    CaseStatus,
    Classification,
    DecisionKind,
    Finding,
    GateName,
    GateStatus,
    Mode,
    PrincipleName,
    PrincipleResult,
    Verdict,
)
from crowdnotes.engines.base import WriterAnswer
from crowdnotes.errors import StoreBusyError
from tests.pages.conftest import NOTE, PASSAGE, POST, ROOT, Desk, texts


def note_of(at: AppTest) -> TextArea:
    return next(area for area in at.text_area if area.label == "The note, with its links")


def verdict_of(at: AppTest, key: str) -> ButtonGroup[Any]:
    found = at.get_by_key(key)
    assert isinstance(found, ButtonGroup)
    return found


def give_reasons(at: AppTest, reason: str) -> None:
    """Write why each check that did not pass may be passed over."""
    for item in at.text_input:
        if item.label.startswith("Why approve although"):
            item.set_value(reason)
    at.run()


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
    assert "It makes up no sentence of its own." in texts(at)  # the journeys see the label, "no language model …"
    assert "evidence before words" in texts(at)


def test_an_empty_post_is_refused_in_a_sentence(desk: Desk) -> None:
    at = desk.app()
    at.button(key="start").click().run()
    assert "The post is empty." in texts(at)
    assert desk.workspace.service.list() == []


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


def test_a_passage_must_be_opened_before_it_can_be_ticked(desk: Desk) -> None:
    case = desk.case()
    at = desk.app(case)
    tick = f"use-{case.id}-E1"
    assert at.checkbox(key=tick).disabled
    assert verdict_of(at, f"otherwise-{case.id}-E1").disabled
    assert desk.newest(case).evidence[0].review.opened_at is None

    at.session_state[f"open-{case.id}-E1"] = True
    at.run()
    assert desk.newest(case).evidence[0].review.opened_at is not None
    assert not at.checkbox(key=tick).disabled

    at.checkbox(key=tick).check().run()
    assert desk.newest(case).used_evidence
    assert "1 opened · 1 used" in texts(at)

    at.checkbox(key=tick).uncheck().run()
    assert desk.newest(case).evidence[0].review.verdict is None


def test_background_unticks_use(desk: Desk) -> None:
    case = desk.case()
    desk.workspace.service.open_passage(case.id, "E1", "you")
    desk.workspace.service.judge(case.id, "E1", Verdict.USE, "", "you")
    at = desk.app(case)
    verdict_of(at, f"otherwise-{case.id}-E1").set_value(Verdict.BACKGROUND).run()
    assert desk.newest(case).evidence[0].review.verdict is Verdict.BACKGROUND
    assert not at.checkbox(key=f"use-{case.id}-E1").value


def test_a_passage_is_rejected_with_a_reason_only(desk: Desk) -> None:
    case = desk.case()
    desk.workspace.service.open_passage(case.id, "E1", "you")
    at = desk.app(case)
    verdict_of(at, f"otherwise-{case.id}-E1").set_value(Verdict.REJECT).run()
    submit = next(item for item in at.button if item.label == "Reject this passage")
    submit.click().run()
    assert "Say in a few words why E1 is rejected" in texts(at)
    assert desk.newest(case).evidence[0].review.verdict is None

    next(item for item in at.text_input if item.label.startswith("Why is it rejected")).set_value("off topic")
    next(item for item in at.button if item.label == "Reject this passage").click().run()
    assert desk.newest(case).evidence[0].review.reason == "off topic"
    assert "Your reason: off topic" in texts(at)


def test_choosing_reject_takes_the_passage_out_of_use_before_the_reason_is_written(desk: Desk) -> None:
    case = desk.scored()
    desk.workspace.service.set_tags(case.id, ["misleadingFactualError"], "you")
    at = desk.app(case)
    assert not at.button(key="decide-approved").disabled
    verdict_of(at, f"otherwise-{case.id}-E1").set_value(Verdict.REJECT).run()
    assert not at.checkbox(key=f"use-{case.id}-E1").value
    assert desk.newest(case).evidence[0].review.verdict is None
    assert at.button(key="decide-approved").disabled
    assert any(item.label.startswith("Why is it rejected") for item in at.text_input)


def test_a_page_without_a_title_gets_words_and_not_a_rule(desk: Desk) -> None:
    case = desk.workspace.service.create(POST, mode=Mode.AUGMENTATION, by="you")
    desk.workspace.service.add_passage_by_hand(case.id, url=None, title="\u200b", text=PASSAGE, by="you")
    assert "**Without a title**" in texts(desk.app(case))


def test_the_note_can_be_written_only_after_a_passage_is_in_use(desk: Desk) -> None:
    case = desk.case()
    assert not any(area.label == "The note, with its links" for area in desk.app(case).text_area)
    desk.workspace.service.open_passage(case.id, "E1", "you")
    desk.workspace.service.judge(case.id, "E1", Verdict.USE, "", "you")
    assert note_of(desk.app(case))


def test_the_program_proposes_notes_that_come_scored(desk: Desk) -> None:
    case = desk.inspected()
    at = desk.app(case)
    at.button(key="write").click().run()
    desk.finish_latest(case)
    at.run()
    assert not at.exception
    draft = desk.newest(case).draft
    assert draft is not None
    assert note_of(at).value == draft.text
    assert "What carries each sentence" in texts(at)
    assert desk.newest(case).assessment_is_current


def test_an_edit_is_saved_and_marks_the_scores_as_out_of_date(desk: Desk) -> None:
    case = desk.scored()
    at = desk.app(case)
    assert "out of date" not in texts(at)
    note_of(at).set_value(NOTE.replace("Regular", "Daily")).run()
    assert desk.newest(case).draft.text.startswith("Daily")  # type: ignore[union-attr]
    assert "These scores are out of date." in texts(at)

    at.button(key="score").click().run()
    desk.finish_latest(case)
    at.run()
    assert "out of date" not in texts(at)


def test_scores_of_a_post_in_another_language_are_called_a_guess(desk: Desk) -> None:
    assert "take these scores as a guess" not in texts(desk.app(desk.scored()))
    case = desk.scored("Las vacunas contra el sarampión no causan autismo, según todos los estudios publicados.")
    assert "The note is in Spanish. The gates without a language model" in texts(desk.app(case))


def test_undo_brings_the_earlier_text_back(desk: Desk) -> None:
    case = desk.drafted()
    at = desk.app(case)
    note_of(at).set_value("Something else. https://trials.example.edu/c").run()
    at.button(key="undo").click().run()
    assert note_of(at).value == NOTE
    assert desk.newest(case).draft.text == NOTE  # type: ignore[union-attr]


@pytest.mark.parametrize(("choice", "kept"), [("take-mine", "mine"), ("take-theirs", "theirs")])
def test_two_edits_at_once_show_both_texts_and_lose_neither(desk: Desk, choice: str, kept: str) -> None:
    case = desk.drafted()
    at = desk.app(case)
    draft = case.draft
    assert draft is not None
    desk.workspace.service.edit_draft(case.id, "theirs", "you", based_on=draft.sha256)
    note_of(at).set_value("mine").run()
    assert "changed in another tab" in texts(at)
    assert desk.newest(case).draft.text == "theirs"  # type: ignore[union-attr]

    at.button(key=choice).click().run()
    assert desk.newest(case).draft.text == kept  # type: ignore[union-attr]
    assert note_of(at).value == kept


def test_another_tab_shows_what_this_one_saved(desk: Desk) -> None:
    case = desk.drafted()
    here, there = desk.app(case), desk.app(case)
    note_of(here).set_value("A newer text.").run()
    there.run()
    assert note_of(there).value == "A newer text."


def test_approval_is_closed_until_nothing_is_waited_for_and_then_hands_the_note_off(desk: Desk) -> None:
    case = desk.scored()
    at = desk.app(case)
    assert at.button(key="decide-approved").disabled
    assert "Approval waits for" in texts(at)

    at.checkbox(key=f"tag-{case.id}-misleadingFactualError").check().run()
    assert not at.button(key="decide-approved").disabled
    at.button(key="decide-approved").click().run()

    assert not at.exception
    decision = desk.newest(case).decision
    assert decision is not None
    assert decision.kind is DecisionKind.APPROVED
    assert at.code[0].value == NOTE
    shown = texts(at)
    assert "It contains a factual error" in shown
    assert shown.index("The post is misinformed") < shown.index("It contains a factual error")


def test_a_reason_written_for_one_text_does_not_count_for_another(desk: Desk) -> None:
    desk.engine.fails_at = GateName.CORRECTNESS
    case = desk.scored()
    desk.workspace.service.set_tags(case.id, ["misleadingFactualError"], "you")
    at = desk.app(case)
    give_reasons(at, "The passage says so.")
    assert not at.button(key="decide-approved").disabled

    note_of(at).set_value(NOTE.replace("Regular", "Daily")).run()
    at.button(key="score").click().run()
    desk.finish_latest(case)
    at.run()
    assert desk.newest(case).assessment_is_current
    assert at.button(key="decide-approved").disabled
    assert {item.value for item in at.text_input if item.label.startswith("Why approve")} == {""}


def test_a_tick_keeps_what_another_tab_ticked_meanwhile(desk: Desk) -> None:
    case = desk.scored()
    at = desk.app(case)
    desk.workspace.service.tick_tag(case.id, "misleadingOther", "you", ticked=True)
    at.checkbox(key=f"tag-{case.id}-misleadingFactualError").check().run()
    assert desk.newest(case).tags == ("misleadingFactualError", "misleadingOther")
    at.checkbox(key=f"tag-{case.id}-misleadingOther").uncheck().run()
    assert desk.newest(case).tags == ("misleadingFactualError",)


def test_tags_are_demanded_only_for_a_misleading_post(desk: Desk) -> None:
    case = desk.scored()
    assert "Tick at least one." in texts(desk.app(case))
    desk.workspace.service.set_classification(case.id, Classification.NOT_MISLEADING, "you")
    at = desk.app(case)
    assert "Tick at least one." not in texts(at)
    at.button(key="decide-approved").click().run()
    assert "The post is not misleading" in texts(at)


def test_a_failed_gate_can_be_passed_over_with_a_written_reason_that_stays_on_record(desk: Desk) -> None:
    desk.engine.fails_at = GateName.CORRECTNESS
    case = desk.scored()
    desk.workspace.service.set_tags(case.id, ["misleadingFactualError"], "you")
    at = desk.app(case)
    assert at.button(key="decide-approved").disabled

    give_reasons(at, "The passage says so two lines on.")
    at.button(key="decide-approved").click().run()
    decision = desk.newest(case).decision
    assert decision is not None
    assert "The passage says so two lines on." in [item.reason for item in decision.overrides]
    assert "Passed over **the correctness gate**: The passage says so two lines on." in texts(at)


def test_a_gate_that_could_not_run_is_not_shown_as_passed(desk: Desk) -> None:
    desk.engine.breaks_at = GateName.RELEVANCE
    case = desk.scored()
    at = desk.app(case)
    assert "check_circle:] relevance" not in texts(at)
    assert "The relevance check was not run" in texts(at)


def test_an_engine_that_abstains_is_told_as_a_result(desk: Desk) -> None:
    desk.engine.answer = WriterAnswer((), "The passages do not speak of the claim.")
    case = desk.inspected()
    at = desk.app(case)
    at.button(key="write").click().run()
    desk.finish_latest(case)
    at.run()
    assert "The program proposes no note." in texts(at)
    assert "The passages do not speak of the claim." in texts(at)


def test_a_decided_case_can_be_reopened(desk: Desk) -> None:
    case = desk.scored()
    desk.workspace.service.decide(case.id, DecisionKind.REJECTED, "you")
    at = desk.app(case)
    assert "rejected" in texts(at)
    at.button(key="reopen").click().run()
    assert desk.newest(case).decision is None
    assert note_of(at)


@pytest.mark.parametrize("kind", [DecisionKind.NOT_NEEDED, DecisionKind.INSUFFICIENT_EVIDENCE, DecisionKind.REJECTED])
def test_abstaining_takes_one_click_and_no_draft(desk: Desk, kind: DecisionKind) -> None:
    case = desk.case()
    at = desk.app(case)
    at.button(key=f"decide-{kind.value.replace(' ', '-')}").click().run()
    assert not at.exception
    newest = desk.newest(case)
    assert newest.status is CaseStatus.DECIDED
    assert newest.decision is not None
    assert newest.decision.kind is kind


def test_abstaining_is_open_as_soon_as_there_is_a_post(desk: Desk) -> None:
    case = desk.workspace.service.create(POST, mode=Mode.AUGMENTATION, by="you")
    at = desk.app(case)
    assert "You may end here at any time" in texts(at)
    assert at.button(key="decide-approved").disabled
    at.button(key="decide-insufficient-evidence").click().run()
    assert desk.newest(case).decision.kind is DecisionKind.INSUFFICIENT_EVIDENCE  # type: ignore[union-attr]


def test_a_doubt_is_told_once(desk: Desk) -> None:
    case = desk.scored()
    assessment = desk.newest(case).assessment
    assert assessment is not None
    sentence, *others = assessment.sentences
    twice = sentence.model_copy(update={"doubts": ("The number differs.", "The number differs.")})
    doubted = assessment.model_copy(update={"sentences": (twice, *others)})
    store = desk.workspace.service._store
    store.update(case.id, lambda newest: newest.model_copy(update={"assessment": doubted}))
    assert texts(desk.app(case)).count("The number differs.") == 1


def test_the_evidence_stays_open_beside_a_note_until_the_person_moves_on(desk: Desk) -> None:
    case = desk.inspected()
    at = desk.app(case)
    assert shows_its_card(at)
    desk.workspace.service.edit_draft(case.id, NOTE, "you", based_on=None)
    assert shows_its_card(at.run())
    at.button(key="to-draft").click().run()
    assert not shows_its_card(at)
    assert "1 read · 1 opened · 1 used" in texts(at)
    assert not shows_its_card(at.run())
    at.button(key="evidence-step-fold").click().run()
    assert shows_its_card(at)


def test_who_moved_on_before_there_was_a_note_is_not_taken_back(desk: Desk) -> None:
    case = desk.inspected()
    at = desk.app(case)
    at.button(key="to-draft").click().run()
    desk.workspace.service.edit_draft(case.id, NOTE, "you", based_on=None)
    assert not shows_its_card(at.run())


def shows_its_card(at: AppTest) -> bool:
    return any("Vitamin C trials" in item.value for item in at.markdown)


def test_a_principle_that_fails_names_the_words_at_fault(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    fault = Finding(message="“insane” takes a side.")
    neutral = PrincipleResult(
        principle=PrincipleName.NEUTRAL, status=GateStatus.FAIL, reason="Some words take a side.", findings=(fault,)
    )
    monkeypatch.setattr(desk.engine, "principles", lambda *_: (neutral,))
    assert "“insane” takes a side." in texts(desk.app(desk.scored()))


def test_the_jury_says_that_it_is_a_simulation_and_shows_its_number_on_its_scale(desk: Desk) -> None:
    shown = texts(desk.app(desk.scored()))
    assert "Jury (a simulation)" in shown
    assert re.search(r"Note intercept -?\d\.\d\d of the 0\.40 needed", shown.replace("\\", ""))


def test_a_failed_correctness_gate_is_told_before_the_jurys_sentence(desk: Desk) -> None:
    desk.engine.fails_at = GateName.CORRECTNESS
    case = desk.scored()
    [verdict] = [item for item in case.jury if item.text_sha256 == case.draft.sha256]  # type: ignore[union-attr]
    at = desk.app(case)
    shown = texts(at)
    assert "received, not whether they are true: the correctness gate failed." in shown
    [sentence] = [item.value for item in at.markdown if verdict.sentence[:20] in item.value.replace("\\", "")]
    assert sentence.startswith(":gray[")


def test_the_votes_of_the_two_sides_stand_side_by_side_without_an_arrow(desk: Desk) -> None:
    shown = texts(desk.app(desk.scored()))
    assert "side − / side +" in shown
    assert re.search(r"helpful\xa0\d+\xa0/\xa0\d+", shown)
    assert "received, not whether they are true" not in shown


def test_where_a_link_led_on_to_is_told_on_the_card(desk: Desk) -> None:
    case = desk.case()
    told = "The link leads on to other.example.org."

    def led_on(newest: Case) -> Case:
        [item] = newest.evidence
        source = item.source.model_copy(update={"id": "url:1", "outcome_detail": told})
        return newest.model_copy(update={"evidence": (item.model_copy(update={"source": source}),)})

    desk.workspace.service._store.update(case.id, led_on)
    shown = texts(desk.app(case))
    assert told in shown
    assert "pasted by hand" not in shown
    assert "pasted by hand: not compared with the page" in texts(desk.app(desk.case()))


def test_a_jury_that_heard_other_words_does_not_speak_for_these(desk: Desk) -> None:
    case = desk.scored()
    assert case.draft is not None
    edited = desk.workspace.service.edit_draft(case.id, f"In short: {NOTE}", "you", based_on=case.draft.sha256)
    shown = texts(desk.app(edited))
    assert "The words changed since the jury sat" in shown
    assert "Note intercept" not in shown


def test_a_failing_store_is_told_with_its_next_step(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(*_: object, **__: object) -> None:
        raise StoreBusyError("The database is in use by another program.")

    case = desk.drafted()
    at = desk.app(case)
    monkeypatch.setattr(type(desk.workspace.service), "edit_draft", busy)
    note_of(at).set_value("A text that cannot be saved now.").run()
    assert "The database is in use by another program." in texts(at)
    assert "then try again" in texts(at)
    assert note_of(at).value == "A text that cannot be saved now."


def test_an_error_that_nobody_foresaw_is_logged_and_told_without_a_traceback(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a secret detail")

    case = desk.case()
    monkeypatch.setattr(type(desk.workspace.service), "get", broken)
    at = desk.app(case)
    assert not at.exception
    assert "that we did not foresee" in texts(at)
    assert "a secret detail" not in texts(at)
    assert "a secret detail" in caplog.text


def test_text_from_outside_stands_in_markdown_only_when_disarmed(desk: Desk) -> None:
    hostile = "![x](https://evil.example/i.png) :red[loud] $x^2$ <b>bold</b>"
    case = desk.case(hostile)
    desk.workspace.service.add_passage_by_hand(case.id, url=None, title=hostile, text=PASSAGE + hostile, by="you")
    at = desk.app(case)
    assert not at.exception
    for item in (*at.markdown, *at.caption):
        assert "![x]" not in item.value
        assert ":red[loud]" not in item.value
        assert "<b>" not in item.value


def test_a_passage_without_a_link_warns_on_its_card_and_at_the_note(desk: Desk) -> None:
    service = desk.workspace.service
    case = service.create(POST, mode=Mode.AUGMENTATION, by="you")
    for url in (None, "https://trials.example.edu/c"):
        service.add_passage_by_hand(case.id, url=url, title="Trials", text=f"{PASSAGE} {url or ''}", by="you")
    for name in ("E1", "E2"):
        service.open_passage(case.id, name, "you")
    service.judge(case.id, "E1", Verdict.USE, "", "you")
    shown = texts(desk.app(case))
    assert shown.count("badge[:material/link_off: no link; X asks for one]") == 1
    assert "No passage in use has a link; X asks for one." in shown
    service.judge(case.id, "E2", Verdict.USE, "", "you")
    shown = texts(desk.app(case))
    assert "No passage in use has a link" not in shown
    assert "E1 cannot be linked: link to another passage in use." in shown


def test_a_pasted_passage_that_cannot_be_taken_stays_typed_and_open(desk: Desk) -> None:
    case = desk.case()
    fold = f"paste-{case.id}-new"
    at = desk.app(case)
    at.session_state[fold] = True
    at.run()
    next(item for item in at.text_input if item.label == "Title of the page").set_value("My title")
    next(item for item in at.button if item.label == "Add this passage").click().run()
    assert "The passage is empty." in texts(at)
    assert next(item for item in at.text_input if item.label == "Title of the page").value == "My title"

    next(item for item in at.text_area if item.label.startswith("The passage")).set_value("Words of a page on colds.")
    next(item for item in at.button if item.label == "Add this passage").click().run()
    assert not at.exception
    assert desk.newest(case).evidence[-1].source.title == "My title"
    assert not at.session_state[fold]
    at.session_state[fold] = True
    at.run()
    assert next(item for item in at.text_input if item.label == "Title of the page").value == ""
