"""What the program proposes on the Draft page: candidates to choose from, or sentences to quote and to compare."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from crowdnotes.cases import actions
from crowdnotes.domain import Basis, Case, GateName, GateStatus, Quotation, Span, Support
from crowdnotes.engines.base import WriterAnswer, Written, WrittenSentence
from tests.pages.conftest import PASSAGE, Desk, chips, note_of, press, read, texts

FIRST = "Regular vitamin C supplements do not prevent colds in the general population."
SECOND = "Starting vitamin C after a cold has begun showed no effect."


def _write(desk: Desk, *notes: str, case: Case) -> Case:
    desk.engine.answer = WriterAnswer(candidates=tuple(Written(text, ("E1",)) for text in notes))
    return desk.run(case, "write")


def test_one_note_alone_is_said_to_be_the_only_one_and_others_can_be_chosen_from(desk: Desk) -> None:
    alone = desk.app(_write(desk, FIRST, case=desk.inspected()))
    assert "The AI wrote this note." in texts(alone)
    assert _offered(alone) == []
    own = desk.drafted("My own words. https://trials.example.edu/c")
    for notes, case in (((FIRST,), own), ((FIRST, SECOND), desk.inspected())):
        at = desk.app(_write(desk, *notes, case=case))
        assert "The AI wrote this note." not in texts(at)
        assert _offered(at)


def _offered(at: AppTest) -> list[str]:
    """The letters of the candidates that a press puts in the note."""
    return [str(item.key).removeprefix("candidate-") for item in at.button if str(item.key).startswith("candidate-")]


def test_a_candidate_is_put_in_the_note_from_its_card_and_undo_brings_the_words_back(desk: Desk) -> None:
    case = _write(desk, FIRST, SECOND, case=desk.inspected())
    at = desk.app(case)
    assert _offered(at) == ["B"], "the first is in the note already"
    at.button(key="candidate-B").click().run()
    assert SECOND in str(note_of(at).value)
    assert _offered(at) == ["A"]
    at.button(key="undo").click().run()
    assert FIRST in str(note_of(at).value)


def test_a_card_says_which_source_its_candidate_leads_with(desk: Desk) -> None:
    begun = WrittenSentence(FIRST, (Quotation(evidence_id="E1", span=Span(start=0, end=len(FIRST))),), Basis.STATED)
    desk.engine.answer = WriterAnswer((Written(FIRST, ("E1",), (begun,)), Written(SECOND, ("E1",))))
    at = desk.app(desk.run(desk.inspected(), "write"))
    assert "Starts from E1, trials.example.edu]" in texts(at)


def test_a_sentence_is_quoted_behind_the_words_that_are_there_and_undo_takes_it_out(desk: Desk) -> None:
    case = desk.drafted("My own words.")
    quotation = Quotation(evidence_id="E1", span=Span(start=0, end=PASSAGE.index(" Starting")))
    desk.engine.answer = WriterAnswer(abstained="Sentences that speak to the post.", quotations=(quotation,))
    desk.run(case, "write")
    at = desk.app(case)
    assert "Sentences that speak to the post" in texts(at)
    at.button(key="quote-1").click().run()
    assert note_of(at).value == f"My own words. “{FIRST}” https://trials.example.edu/c"
    assert "in the note" in texts(at)
    assert "quote-1" not in {button.key for button in at.button}, "what is in the note is not offered again"
    at.button(key="undo").click().run()
    assert note_of(at).value == "My own words."


def test_the_link_of_a_source_follows_words_of_ones_own(desk: Desk) -> None:
    at = desk.app(desk.drafted("My own words."))
    note_of(at).set_value("My other words.")
    press(at, "Add the link of E1")
    assert note_of(at).value == "My other words. https://trials.example.edu/c"
    assert "add-link-E1" not in {button.key for button in at.button}


def _correctness(desk: Desk, case: Case) -> tuple[GateStatus, str]:
    assessment = desk.newest(case).assessment
    assert assessment is not None
    result = assessment.gate(GateName.CORRECTNESS)
    return result.status, result.reason


def _find(at: AppTest, case: Case, found: Support) -> None:
    chips(at, f"compare-{case.id}-1").set_value(found).run()


def test_without_a_model_the_person_compares_each_sentence_and_settles_its_hints(desk: Desk) -> None:
    desk.engine.by_person, desk.engine.hints = True, ("Number: look at it.",)
    case = desk.scored(FIRST)
    at = desk.app(case)
    assert "Check each sentence against its source" in texts(at)
    assert "Number: look at it." in texts(at)
    assert "No date: is this still true?" in texts(at)
    assert _correctness(desk, case)[0] is GateStatus.NOT_RUN
    _find(at, case, Support.SUPPORTED)
    assert _correctness(desk, case) == (GateStatus.NOT_RUN, "2 warnings to check.")
    shown = texts(read(at, case))
    assert "checked by you, warnings left" in shown
    assert ":small[Checked, warnings left]" in shown, "the reader does not say that it supports the sentence"
    assert "Sentence 1 has 2 warnings to check" in shown
    assert press(at, "Check sentence 1").checkbox(key=f"settled-{case.id}-1").value is False
    at.checkbox(key=f"settled-{case.id}-1").check().run()
    assert "warnings left" not in texts(at)
    assert ":small[Supports]" in texts(at)
    assert _correctness(desk, case) == (GateStatus.PASS, "Checked by you.")
    assert "what E1 says" not in texts(at)
    _find(at, case, Support.PARTLY)
    assert "Write only what E1 says here, or use another source that says all of it." in texts(at)
    _find(at, case, Support.UNSUPPORTED)
    assert "Write what E1 says, use a source that says this, or remove the sentence." in texts(at)
    assert _correctness(desk, case)[0] is GateStatus.FAIL
    events = [event.detail for event in desk.newest(case).events if event.kind == "sentence compared"]
    answers = ("supported", "supported; hints settled", "partly supported", "not supported")
    assert events == [f"E1: {found}: “{FIRST}”" for found in answers]


def test_the_answer_to_a_sentence_covers_the_one_warning_that_is_in_view(desk: Desk) -> None:
    desk.engine.by_person = True
    case = desk.scored(FIRST)
    at = desk.app(case)
    assert "No date: is this still true?" in texts(at)
    _find(at, case, Support.SUPPORTED)
    assert _correctness(desk, case) == (GateStatus.PASS, "Checked by you.")
    assert [box for box in at.checkbox if str(box.key).startswith("settled-")] == []


def test_what_was_found_of_a_sentence_is_kept_when_the_note_is_scored_again(desk: Desk) -> None:
    desk.engine.by_person = True
    case = desk.scored()
    _find(desk.app(case), case, Support.SUPPORTED)
    cases = desk.workspace.cases
    draft = desk.newest(case).draft
    assert draft is not None
    cases.apply(case.id, actions.edit_draft, f"{draft.text} More words.", based_on=draft.sha256)
    desk.run(case, "assess")
    assert _correctness(desk, case)[1].startswith("1 sentence to check")
