"""Step 2 on the page: passages are opened, judged, pasted and told of."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from crowdnotes.domain import (
    Case,
    Mode,
    Verdict,
)
from tests.pages.conftest import NOTE, PASSAGE, POST, Desk, field, press, texts, verdict_of


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

    field(at, "Why is it rejected").set_value("off topic")
    press(at, "Reject this passage")
    assert desk.newest(case).evidence[0].review.reason == "off topic"
    assert "Your reason: off topic" in texts(at)
    assert "red-badge[:material/block: rejected]" in texts(at)


def test_only_a_rejected_passage_is_called_rejected(desk: Desk) -> None:
    case = desk.case()
    desk.workspace.service.open_passage(case.id, "E1", "you")
    desk.workspace.service.judge(case.id, "E1", Verdict.BACKGROUND, "", "you")
    assert "rejected]" not in texts(desk.app(case))


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


def test_a_tick_keeps_what_another_tab_ticked_meanwhile(desk: Desk) -> None:
    case = desk.scored()
    at = desk.app(case)
    desk.workspace.service.tick_tag(case.id, "misleadingOther", "you", ticked=True)
    at.checkbox(key=f"tag-{case.id}-misleadingFactualError").check().run()
    assert desk.newest(case).tags == ("misleadingFactualError", "misleadingOther")
    at.checkbox(key=f"tag-{case.id}-misleadingOther").uncheck().run()
    assert desk.newest(case).tags == ("misleadingFactualError",)


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


def test_a_pasted_passage_that_cannot_be_taken_stays_typed_and_open(desk: Desk) -> None:
    case = desk.case()
    fold = f"paste-{case.id}-new"
    at = desk.app(case)
    at.session_state[fold] = True
    at.run()
    field(at, "Title of the page").set_value("My title")
    press(at, "Add this passage")
    assert "The passage is empty." in texts(at)
    assert field(at, "Title of the page").value == "My title"

    field(at, "The passage").set_value("Words of a page on colds.")
    press(at, "Add this passage")
    assert not at.exception
    assert desk.newest(case).evidence[-1].source.title == "My title"
    assert not at.session_state[fold]
    at.session_state[fold] = True
    at.run()
    assert field(at, "Title of the page").value == ""


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
