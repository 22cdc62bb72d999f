"""The decision on the Draft page: what is left, approval, its reasons, and the other ends."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from crowdnotes.cases import actions, approval, intake, moderation, suggestions
from crowdnotes.domain import CaseStatus, Classification, DecisionKind, GateName, Mode, Role, SuggestionAnswer, Verdict
from tests.fakes import actor
from tests.pages.conftest import (
    NOTE,
    POST,
    Desk,
    can_approve,
    chips,
    field,
    give_reasons,
    note_of,
    press,
    read,
    texts,
    unfolded,
)

_COMMENT = "Comment"


def test_approval_is_closed_until_nothing_is_waited_for_and_then_hands_the_note_off(desk: Desk) -> None:
    case = desk.scored()
    at = desk.app(case)
    assert not can_approve(at)
    assert at.button(key="decide-approved").label == "Approve: 1 thing left"
    assert "One thing left to do" in texts(at)

    chips(at, f"tags-{case.id}-MISLEADING").set_value(["misleadingFactualError"]).run()
    assert at.button(key="decide-approved").label == "Approve the note"
    assert "left to do" not in texts(at)
    assert can_approve(at)
    at.button(key="decide-approved").click().run()

    assert not at.exception
    decision = desk.decision(case)
    assert decision.kind is DecisionKind.APPROVED
    [to_copy] = [str(item.proto) for item in at.get("bidi_component") if f"approved-{case.id}" in str(item.proto)]
    assert NOTE in to_copy
    shown = texts(at)
    assert "It contains a factual error" in shown
    assert shown.index("The post is misinformed") < shown.index("It contains a factual error")


def test_a_reason_written_for_one_text_does_not_count_for_another(desk: Desk) -> None:
    desk.engine.fails_at = GateName.CORRECTNESS
    case = desk.scored()
    desk.workspace.cases.apply(case.id, actions.set_tags, ["misleadingFactualError"])
    at = desk.app(case)
    give_reasons(at, "The passage says so.")
    assert can_approve(at)

    note_of(at).set_value(NOTE.replace("Regular", "Daily")).run()
    at.button(key="score").click().run()
    desk.finish_latest(case, at)
    assert desk.newest(case).assessment_is_current
    assert not can_approve(at)
    assert {item.value for item in at.text_input if item.label.startswith("Why approve")} == {""}


def test_what_lifts_an_obstacle_is_not_said_again_where_a_button_does_it(desk: Desk) -> None:
    at = desk.app(desk.drafted())
    assert "The note has no score yet." in texts(at)
    assert "Score it." not in texts(at)
    assert any(button.label == "Score it now" for button in at.button)


def test_tags_are_demanded_only_for_a_misleading_post(desk: Desk) -> None:
    case = desk.scored()
    assert "Tick at least one reason." in texts(desk.app(case))
    desk.workspace.cases.apply(case.id, actions.set_classification, Classification.NOT_MISLEADING)
    at = desk.app(case)
    assert "Tick at least one reason." not in texts(at)
    at.button(key="decide-approved").click().run()
    assert "The post is not misleading" in texts(at)


def test_a_failed_gate_can_be_passed_over_with_a_written_reason_that_stays_on_record(desk: Desk) -> None:
    desk.engine.fails_at = GateName.CORRECTNESS
    case = desk.scored()
    desk.workspace.cases.apply(case.id, actions.set_tags, ["misleadingFactualError"])
    at = desk.app(case)
    assert not can_approve(at)

    mend = "Change the note or its sources, then score again"
    assert mend in texts(at)
    give_reasons(at, "The passage says so two lines on.")
    assert mend not in texts(at)
    assert "You override this; your reason goes on record." in texts(at)
    at.button(key="decide-approved").click().run()
    decision = desk.decision(case)
    assert "The passage says so two lines on." in [item.reason for item in decision.overrides]
    assert (
        "Approved although **the correctness check did not pass**. Reason: The passage says so two lines on."
        in texts(at)
    )


def test_what_is_left_behind_a_failed_check_is_listed_with_a_reason_of_its_own(desk: Desk) -> None:
    desk.engine.fails_at, desk.engine.by_person = GateName.RELEVANCE, True
    case = desk.scored("Vitamin C prevents no cold, says https://trials.example.edu/c")
    desk.workspace.cases.apply(case.id, actions.set_tags, ["misleadingFactualError"])
    at = desk.app(case)
    shown = texts(at)
    assert "Use other sources, then score again" in shown
    assert "Change the note" not in shown
    assert at.button(key="decide-approved").label == "Approve: 2 things left"
    assert "The relevance check failed" in shown
    assert "Sentence 1 is not compared yet" in shown
    assert "The helpfulness check" not in shown, "it passed"
    assert "st-key-sentence-1-" in _led_to(press(at, "Check sentence 1"))
    field(at, "Why approve although the relevance check did not pass?").set_value("Its words answer the post.").run()
    assert at.button(key="decide-approved").label == "Approve: 1 thing left"

    field(at, "Why approve although nobody compared this sentence").set_value("I know this page by heart.").run()
    at.button(key="decide-approved").click().run()
    decision = desk.decision(case)
    reasons = ["Its words answer the post.", "I know this page by heart."]
    assert [item.reason for item in decision.overrides] == reasons
    shown = texts(at)
    assert "Approved although **the relevance check did not pass**" in shown
    assert "Approved although **nobody compared this sentence with a source" in shown
    assert "approved with 2 exceptions" in shown


def test_reasons_and_the_comment_are_there_after_a_reload(desk: Desk) -> None:
    desk.engine.fails_at = GateName.HELPFULNESS
    case = desk.scored()
    desk.workspace.cases.apply(case.id, actions.set_tags, ["misleadingFactualError"])
    at = desk.app(case)
    give_reasons(at, "Readers I know asked for it.")
    field(at, _COMMENT).set_value("As good as it gets.").run()

    again = desk.app(case)
    assert can_approve(again)
    assert "Readers I know asked for it." in [item.value for item in again.text_input]
    assert field(again, _COMMENT).value == "As good as it gets."
    again.button(key="decide-rejected").click().run()
    assert desk.decision(case).kind is DecisionKind.REJECTED
    assert "Your comment: As good as it gets." in texts(again)


def test_a_comment_typed_just_before_the_decision_is_on_record(desk: Desk) -> None:
    case = desk.scored()
    at = desk.app(case)
    field(at, _COMMENT).set_value("The post is an old joke.")
    at.button(key="decide-not-needed").click().run()
    decision = desk.decision(case)
    assert decision.reason == "The post is an old joke."


def test_a_reason_that_is_too_short_says_at_its_field_what_is_missing(desk: Desk) -> None:
    desk.engine.fails_at = GateName.HELPFULNESS
    at = desk.app(desk.scored())
    give_reasons(at, "bad bad bad bad")
    assert "Too short. Write a short sentence." in texts(at)
    give_reasons(at, "bad but needed here")
    assert "Too short" not in texts(at)


def test_a_suggested_tag_is_named_in_plain_words_with_why_beside_it(desk: Desk) -> None:
    at = desk.app(desk.scored("The post is satire, not news. https://trials.example.edu/c"))
    options = chips(at, f"tags-{desk.only().id}-MISLEADING").options
    assert not [name for name in options if ":material" in name or "[" in name]
    named = at.button(key="suggested-0").label.removeprefix("Suggested: ")
    [tag] = [name for name in options if named.startswith(f"{name} (")]
    assert "satire" in named.removeprefix(tag), "why stands beside it"


def test_a_decided_case_can_be_reopened(desk: Desk) -> None:
    case = desk.scored()
    approval.decide_case(desk.workspace.cases, case.id, DecisionKind.REJECTED)
    at = desk.app(case)
    assert "rejected" in texts(at)
    at.button(key="reopen").click().run()
    assert desk.newest(case).decision is None
    assert note_of(at)


def test_after_a_decision_the_loud_button_begins_the_next_post_and_has_the_keyboard(desk: Desk) -> None:
    at = desk.app(desk.case())
    at.button(key="decide-not-needed").click().run()
    assert at.session_state["led"][0] == (".st-key-decided",)
    following = at.button(key="next-post")
    assert (following.label, following.proto.type) == ("Next post", "primary")
    following.click().run()
    assert "case" not in at.query_params
    assert at.text_area(key="new-post-text").value == ""

    case = desk.changed(desk.case(), urls=("https://northfield-health.example/questions/boiling-water-twice",))
    approval.decide_case(desk.workspace.cases, case.id, DecisionKind.NOT_NEEDED)
    assert desk.app(case).button(key="next-post").label == "Now with a post of your own"


def test_abstaining_takes_one_click_and_no_draft(desk: Desk) -> None:
    case = desk.case()
    at = desk.app(case)
    at.button(key="decide-not-needed").click().run()
    assert not at.exception
    assert desk.newest(case).status is CaseStatus.DECIDED
    assert desk.decision(case).kind is DecisionKind.NOT_NEEDED


def test_abstaining_is_open_as_soon_as_there_is_a_post(desk: Desk) -> None:
    case = intake.create_case(desk.workspace.cases, POST, mode=Mode.AUGMENTATION)
    at = desk.app(case)
    assert at.button(key="decide-approved").label == "Approve: needs a note"
    assert not can_approve(at)
    at.button(key="decide-insufficient-evidence").click().run()
    assert desk.decision(case).kind is DecisionKind.INSUFFICIENT_EVIDENCE


def test_a_note_that_was_never_scored_has_no_tick_when_the_case_is_closed(desk: Desk) -> None:
    at = desk.app(desk.drafted())
    at.button(key="decide-insufficient-evidence").click().run()
    assert "**Scores**:gray[*: not done;*] :small[:gray[not scored]]" in texts(at)
    assert "check_circle:] **Scores**" not in texts(at)


def test_a_tag_keeps_what_another_tab_ticked_meanwhile(desk: Desk) -> None:
    case = desk.scored()
    key = f"tags-{case.id}-MISLEADING"
    at = desk.app(case)
    desk.workspace.cases.apply(case.id, actions.tick_tag, "misleadingOther", ticked=True)
    chips(at, key).set_value(["misleadingFactualError"]).run()
    assert desk.newest(case).tags == ("misleadingFactualError", "misleadingOther")
    chips(at, key).set_value(["misleadingFactualError"]).run()
    assert desk.newest(case).tags == ("misleadingFactualError",)


def test_approve_counts_what_is_left_and_counts_it_down(desk: Desk) -> None:
    desk.links.answers["https://trials.example.edu/c"] = 404
    desk.engine.fails_at = GateName.CORRECTNESS
    case = desk.scored()
    at = desk.app(case)
    approve = "Approve: {} left".format
    assert at.button(key="decide-approved").label == approve("3 things")  # the gate, the link and a tag
    assert "3 things left to do" in texts(at)
    chips(at, f"tags-{case.id}-MISLEADING").set_value(["misleadingFactualError"]).run()
    assert at.button(key="decide-approved").label == approve("2 things")
    field(at, "Why approve although the correctness check").set_value("The passage says so two lines on.").run()
    assert at.button(key="decide-approved").label == approve("1 thing")
    assert not can_approve(at)
    give_reasons(at, "It is back by noon.")
    assert at.button(key="decide-approved").label == "Approve the note"
    assert can_approve(at)


def _led_to(at: AppTest) -> str:
    """What the page leads the person to."""
    [found] = [item.proto.json for item in at.get("bidi_component") if '"selectors"' in item.proto.json]
    return str(found)


def test_approve_leads_to_what_is_left_and_decides_nothing(desk: Desk) -> None:
    desk.links.answers["https://trials.example.edu/c"] = 404
    case = desk.scored()
    at = desk.app(case)
    assert "st-key" not in _led_to(at)
    at.button(key="decide-approved").click().run()
    assert "st-key-problem-0" in _led_to(at)
    give_reasons(at, "It is back by noon.")
    at.button(key="decide-approved").click().run()
    assert "st-key-tags" in _led_to(at)
    assert desk.newest(case).decision is None

    unwritten = desk.app(desk.inspected())
    unwritten.button(key="decide-approved").click().run()
    assert "st-key-note-box" in _led_to(unwritten)


def test_an_older_score_is_made_anew_where_it_is_told(desk: Desk) -> None:
    case = desk.scored()
    at = desk.app(case)
    note_of(at).set_value(NOTE.replace("Regular", "Daily")).run()
    press(at, "Score it now")
    desk.finish_latest(case, at)
    assert desk.newest(case).assessment_is_current


def test_two_faults_of_the_same_kind_have_a_button_each_and_one_that_stands_twice_is_told_once(desk: Desk) -> None:
    case = desk.scored()
    at = desk.app(case)
    note_of(at).set_value(f"{NOTE} See window.hacked, window.hacked, sugar.hacked").run()
    assert not at.exception
    labels = [button.label for button in at.button]
    assert labels.count("Change the note") == 2


def test_what_is_left_has_the_button_that_mends_it(desk: Desk) -> None:
    case = desk.scored()
    cases = desk.workspace.cases
    cases.apply(case.id, actions.judge, "E1", None, "")
    at = desk.app(case)
    assert at.button(key="mend-unjudged-E1").proto.type == "secondary", "it looks like what can be pressed"
    at.button(key="mend-unjudged-E1").click().run()
    assert not at.exception
    assert at.checkbox(key=f"reader-use-{case.id}-E1"), "the reader shows it"


def test_a_comment_typed_while_another_decided_stands_beside_the_message(desk: Desk, unsaved: list[str]) -> None:
    case = desk.drafted()
    at = desk.app(case)
    at.text_input(key=f"decision-{case.id}-word").set_value("It is a joke.").run()
    other = desk.workspace.acting_as(lambda: actor("bob", Role.MODERATOR)).cases
    approval.decide_case(other, case.id, DecisionKind.REJECTED)
    at.run()
    assert not at.exception, at.exception
    assert unsaved == ["It is a joke."]
    at.button(key="keep-unsaved-Decide").click().run()
    assert desk.newest(case).decision is None
    assert at.text_input(key=f"decision-{case.id}-word").value == "It is a joke."


@pytest.mark.parametrize("ends", ["decided", "deleted"])
@pytest.mark.parametrize(
    ("fold", "label", "press_on"),
    [
        ("paste-{}-new", "Text from the page", "Add this text"),
        ("suggestions-{}", "Suggestions, one", "Add"),
        ("suggestions-{}", "What changed in the note", "Save the answer"),
        ("post-fold-{}", "The post it replies to or quotes", "Save the post"),
        ("post-fold-{}", "Address of the post on X", "Save the post"),
    ],
)
def test_words_typed_into_a_form_while_another_ends_the_case_can_be_copied(
    desk: Desk, unsaved: list[str], fold: str, label: str, press_on: str, ends: str
) -> None:
    case = desk.drafted()
    desk.workspace.cases.apply(case.id, suggestions.suggest, ["Say when."])
    at = unfolded(desk.app(case), fold.format(case.id))
    typed = "https://x.com/a/status/1" if "Address" in label else "Words of a page on colds."
    field(at, label).set_value(typed)
    for choice in at.segmented_control:
        if choice.label == "Your answer":
            choice.set_value(SuggestionAnswer.NO)
    if ends == "decided":
        approval.decide_case(desk.of_another(), case.id, DecisionKind.REJECTED)
    else:
        desk.of_another().delete(case.id)
    press(at, press_on)
    assert not at.exception, at.exception
    assert unsaved == [typed]
    keep = [button for button in at.button if button.key == "keep-unsaved-form"]
    if ends == "deleted":
        assert keep == []
        return
    keep[0].click().run()
    assert not at.exception, at.exception
    kept = desk.newest(case)
    assert kept.decision is None
    is_saved = typed in kept.model_dump_json()
    assert is_saved is (press_on != "Save the answer")  # which lacks a reason: the words are shown on
    assert ("close-unsaved-form" in {button.key for button in at.button}) is not is_saved


def test_words_of_a_form_stay_with_copy_where_a_moderator_took_the_case_meanwhile(
    desk: Desk, unsaved: list[str]
) -> None:
    case = desk.drafted()
    at = unfolded(desk.app(case), f"paste-{case.id}-new")
    field(at, "Text from the page").set_value("Words of a page on colds.")
    other = desk.workspace.acting_as(lambda: actor("bob", Role.MODERATOR)).cases
    moderation.submit_case(desk.workspace.cases, case.id)
    other.apply(case.id, moderation.claim)
    press(at, "Add this text")
    assert not at.exception, at.exception
    assert unsaved[-1] == "Words of a page on colds."
    assert "keep-unsaved-form" not in {button.key for button in at.button}
    unsaved.clear()
    at.button(key="close-unsaved-form").click().run()
    assert unsaved == []


def test_a_reason_typed_for_a_rejection_while_another_decides_can_be_copied(desk: Desk, unsaved: list[str]) -> None:
    case = desk.case()
    desk.workspace.cases.apply(case.id, actions.open_passage, "E1")
    at = read(desk.app(case), case)
    chips(at, f"otherwise-{case.id}-E1").set_value(Verdict.REJECT).run()
    field(at, "Another reason").set_value("It speaks of colds alone.")
    approval.decide_case(desk.of_another(), case.id, DecisionKind.REJECTED)
    press(at, "Reject this source")
    assert not at.exception, at.exception
    assert unsaved == ["It speaks of colds alone."]
