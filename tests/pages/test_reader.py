"""The reader on the Draft page: one passage at a time, what the person says of it, and the way to the next."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Checkbox

from crowdnotes.cases import actions, intake
from crowdnotes.domain import Case, Mode, Span, Verdict
from pages.common import layout
from pages.draft_parts import reader
from tests.fakes import actor, make_evidence
from tests.pages.conftest import NOTE, PASSAGE, POST, Desk, can_approve, chips, field, press, read, texts


def of_three(desk: Desk) -> Case:
    """A case with three passages, none of them opened."""
    case = desk.case()
    more = [make_evidence(number, f"Passage {number} speaks of colds.") for number in (2, 3)]
    unread = [item.replace(reviews=()) for item in more]
    return desk.changed(case, evidence=(*case.evidence, *unread))


def test_a_reader_has_a_tick_of_their_own_and_sees_whose_choice_counts(desk: Desk) -> None:
    case = desk.inspected()
    bob = desk.workspace.acting_as(lambda: actor("b*b")).cases
    bob.apply(case.id, actions.open_passage, "E1")
    bob.apply(case.id, actions.judge, "E1", Verdict.REJECT, "off topic")
    at = read(desk.app(case), case)
    assert at.checkbox(key=f"use-{case.id}-E1").value is True
    shown = texts(at)
    assert "b*b chose: reject (off topic)" in shown
    assert "The newest choice counts: b*b." in shown
    assert not desk.newest(case).used_evidence
    bob.apply(case.id, actions.judge, "E1", Verdict.BACKGROUND, "")
    assert "b*b chose: read, not cited" in texts(at.run())


def verdicts(desk: Desk, case: Case) -> list[Verdict | None]:
    return [item.verdict for item in desk.newest(case).evidence]


def shown_in(at: AppTest) -> str:
    """The id of the passage that the reader shows."""
    [box] = [item for item in at.checkbox if str(item.key).startswith("reader-use-")]
    return str(box.key).split("-")[3]


def row_tick(at: AppTest, case: Case) -> Checkbox:
    """The tick in the row of E1; its key tells how often something else changed it."""
    [box] = [item for item in at.checkbox if str(item.key).startswith(f"use-{case.id}-E1")]
    return box


def test_before_a_passage_is_chosen_the_reader_says_what_to_do_and_leads_to_the_first(desk: Desk) -> None:
    case = of_three(desk)
    at = desk.app(case)
    assert "Only sources that you opened can support the note." in texts(at)
    assert at.button(key="next-source").label == "Read E1"
    at.button(key="next-source").click().run()
    assert shown_in(at) == "E1"
    assert [bool(item.reviews) for item in desk.newest(case).evidence] == [True, False, False]


def test_a_source_that_was_not_opened_says_to_read_it_first(desk: Desk) -> None:
    case = desk.case()
    at = desk.app(case)
    tick = at.checkbox(key=f"use-{case.id}-E1")
    assert (tick.label, tick.disabled) == ("Read E1 first", True)
    at.button(key=f"read-{case.id}-E1").click().run()
    tick = at.checkbox(key=f"use-{case.id}-E1")
    assert (tick.label, tick.disabled) == ("Use E1 in the note", False)


def test_on_a_phone_the_post_is_a_line_where_one_writes_and_decides_and_whole_in_its_own_tab(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []
    monkeypatch.setattr("pages.draft_parts.post.outside_text", lambda text, **look: shown.append(look["key"]))
    case = desk.drafted()
    at = desk.app(case)
    lines = [item.label for item in at.expander if POST[:20] in item.label]
    assert len(lines) == 3, "the post's own fold, and a line in each of two tabs"
    assert f"whole-post-{case.id}" in shown


def test_the_reader_walks_through_the_passages_and_begins_again_at_the_end(desk: Desk) -> None:
    case = of_three(desk)
    at = read(desk.app(case), case)
    seen = []
    for key in ("next-source", "next-source", "next-source", "previous-source"):
        at.button(key=key).click().run()
        seen.append(shown_in(at))
    assert seen == ["E2", "E3", "E1", "E3"]
    assert verdicts(desk, case) == [None, None, None], "to walk past is no verdict"


def test_what_one_reads_stays_after_a_verdict_and_a_button_leads_to_the_next_without_one(desk: Desk) -> None:
    case = of_three(desk)
    cases = desk.workspace.cases
    cases.apply(case.id, actions.open_passage, "E2")
    cases.apply(case.id, actions.judge, "E2", Verdict.BACKGROUND, "")
    at = read(desk.app(case), case)
    assert "E1 used." not in texts(at)
    at.checkbox(key=f"reader-use-{case.id}-E1").check().run()
    assert verdicts(desk, case) == [Verdict.USE, Verdict.BACKGROUND, None]
    assert shown_in(at) == "E1"
    assert "E1 used." in texts(at)
    assert desk.newest(case).evidence[2].reviews == ()
    at.button(key="next-unjudged").click().run()
    assert shown_in(at) == "E3"
    assert bool(desk.newest(case).evidence[2].reviews)
    chips(at, f"otherwise-{case.id}-E3").set_value(Verdict.BACKGROUND).run()
    assert shown_in(at) == "E3"
    assert "next-unjudged" not in [item.key for item in at.button], "none is left without a verdict"


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (1, "Not about this claim"),
        (2, "Out of date"),
        (3, "Not reliable"),
        (4, "Repeats another source"),
    ],
)
def test_a_ready_reason_rejects_in_one_press(desk: Desk, number: int, reason: str) -> None:
    case = of_three(desk)
    at = read(desk.app(case), case)
    chips(at, f"otherwise-{case.id}-E1").set_value(Verdict.REJECT).run()
    assert shown_in(at) == "E1", "it waits for its reason"
    button = at.button(key=f"reject-{number}")
    assert button.label.removeprefix(f":gray[{number}] ") == reason
    button.click().run()
    assert not at.exception
    assert verdicts(desk, case) == [Verdict.REJECT, None, None]
    assert desk.newest(case).evidence[0].reviews[-1].reason == reason
    assert shown_in(at) == "E1"
    assert f"Your reason: {reason}" in texts(at)
    assert "E1 rejected." in texts(at)


def test_the_passage_stays_in_the_reader_beside_a_note(desk: Desk) -> None:
    case = desk.inspected()
    at = read(desk.app(case), case)
    desk.workspace.cases.apply(case.id, actions.edit_draft, NOTE, based_on=None)
    assert shown_in(at.run()) == "E1"


def test_the_source_of_a_sentence_opens_at_the_words_that_are_nearest_to_it(desk: Desk) -> None:
    case = desk.scored()
    assert case.assessment is not None
    first, *others = case.assessment.sentences
    near = first.replace(carrier=Span(start=0, end=PASSAGE.index(" Starting")))
    judged = case.assessment.replace(sentences=(near, *others))
    at = desk.app(desk.changed(case, assessment=judged))
    at.button(key="source-of-1").click().run()
    assert not at.exception
    assert shown_in(at) == "E1"
    assert "Highlighted: the words closest to the sentence" in texts(at)
    assert "closest to the sentence" not in texts(read(at, case)), "chosen by its row"


def test_background_unticks_use(desk: Desk) -> None:
    case = desk.case()
    desk.workspace.cases.apply(case.id, actions.open_passage, "E1")
    desk.workspace.cases.apply(case.id, actions.judge, "E1", Verdict.USE, "")
    at = read(desk.app(case), case)
    chips(at, f"otherwise-{case.id}-E1").set_value(Verdict.BACKGROUND).run()
    assert desk.newest(case).evidence[0].verdict is Verdict.BACKGROUND
    assert not row_tick(at, case).value


def test_a_passage_is_rejected_with_a_reason_only(desk: Desk) -> None:
    case = desk.case()
    desk.workspace.cases.apply(case.id, actions.open_passage, "E1")
    at = read(desk.app(case), case)
    chips(at, f"otherwise-{case.id}-E1").set_value(Verdict.REJECT).run()
    submit = next(item for item in at.button if item.label == "Reject this source")
    submit.click().run()
    assert "Say briefly why you reject E1" in texts(at)
    assert desk.newest(case).evidence[0].verdict is None

    field(at, "Another reason").set_value("off topic")
    press(at, "Reject this source")
    assert desk.newest(case).evidence[0].reviews[-1].reason == "off topic"
    assert "Your reason: off topic" in texts(at)
    assert "red-badge[:material/block: rejected]" in texts(at)


def test_choosing_reject_takes_the_passage_out_of_use_before_the_reason_is_written(desk: Desk) -> None:
    case = desk.scored()
    desk.workspace.cases.apply(case.id, actions.set_tags, ["misleadingFactualError"])
    at = read(desk.app(case), case)
    assert can_approve(at)
    chips(at, f"otherwise-{case.id}-E1").set_value(Verdict.REJECT).run()
    assert not row_tick(at, case).value
    assert desk.newest(case).evidence[0].verdict is None
    assert not can_approve(at)
    assert field(at, "Another reason").value == ""
    assert "Why do you reject it?" in texts(at)


def test_a_source_that_was_opened_before_is_shown_without_drawing_the_rest_of_the_page(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "redraw", layout.redraw)
    case = of_three(desk)
    desk.workspace.cases.apply(case.id, actions.open_passage, "E1")
    at = desk.app(case)

    def keys() -> set[str | None]:
        return {button.key for button in at.button}

    at.button(key=f"read-{case.id}-E2").click().run()  # now the case is another: all of the page may say so
    assert shown_in(at) == "E2"
    assert {"new", "next-source"} <= keys()
    at.button(key=f"read-{case.id}-E1").click().run()
    assert shown_in(at) == "E1"
    assert "next-source" in keys()
    assert "new" not in keys()


def test_a_page_without_a_title_gets_words_and_not_a_rule(desk: Desk) -> None:
    case = intake.create_case(desk.workspace.cases, POST, mode=Mode.AUGMENTATION)
    intake.add_passage_by_hand(desk.workspace.cases, case.id, url=None, title="\u200b", text=PASSAGE)
    assert "**No title**" in texts(read(desk.app(case), case))


def test_where_a_link_led_on_to_is_told_in_the_reader(desk: Desk) -> None:
    case, by_hand = desk.case(), desk.case()
    told = "The link leads on to other.example.org."

    def led_on(newest: Case) -> Case:
        [item] = newest.evidence
        source = item.source.replace(id="url:1", outcome_detail=told)
        return newest.replace(evidence=(item.replace(source=source),))

    desk.workspace.store.update(case.id, led_on)
    shown = texts(read(desk.app(case), case))
    assert told in shown
    assert "pasted by you" not in shown
    assert "pasted by you: not compared with the page" in texts(read(desk.app(by_hand), by_hand))


def test_a_tick_that_the_other_one_changed_has_a_new_key_so_that_an_old_value_of_it_changes_nothing(
    desk: Desk,
) -> None:
    case = desk.case()
    at = read(desk.app(case), case)
    in_reader = f"reader-use-{case.id}-E1"
    at.checkbox(key=in_reader).check().run()
    assert at.checkbox(key=in_reader).value, "the one that the person ticked keeps its place"
    assert row_tick(at, case).value
    assert row_tick(at, case).key == f"use-{case.id}-E1-1"
    assert row_tick(at, case).proto.default, "what the browser sends of a new one before it has drawn it"
    assert not at.run().exception
    assert verdicts(desk, case) == [Verdict.USE]


def test_what_a_busy_browser_sends_late_under_an_old_key_is_no_act_of_the_person(desk: Desk) -> None:
    case = desk.case()
    at = read(desk.app(case), case)
    before = row_tick(at, case).proto.id
    at.checkbox(key=f"reader-use-{case.id}-E1").check().run()
    at.run()
    sent = at._tree.get_widget_states()
    sent.widgets.add(id=before, bool_value=False)
    assert not at._run(sent).exception
    assert verdicts(desk, case) == [Verdict.USE]
