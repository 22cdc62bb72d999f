"""The presenter's strip: it begins by the address, says what Next does before it does it, and can be left."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from streamlit.testing.v1 import AppTest

from crowdnotes.demo_tour import begin, presented
from crowdnotes.domain import Draft, Verdict
from crowdnotes.evidence.demo_pages import examples
from tests.jury.models import small_jury
from tests.pages.conftest import Desk, texts


def _asked(desk: Desk, **address: str) -> AppTest:
    at = desk.app()
    for name, value in address.items():
        at.query_params[name] = value
    at.run()
    assert not at.exception
    return at


def _next(desk: Desk, at: AppTest) -> str:
    """Press Next; what its button says then, when the work is done."""
    at.button(key="present-next").click().run()
    if (job := desk.workspace.runner.latest(desk.only().id)) is not None:
        desk.finish(job.id)
    assert not at.run().exception
    return at.button(key="present-next").label


def test_the_address_begins_a_demonstration_of_its_own_once(desk: Desk) -> None:
    at = _asked(desk, demo="")
    case = desk.only()
    assert case.recorded_answers
    assert at.query_params["case"] == case.id
    assert at.query_params["demo"] == "1"
    assert "A post makes three claims about a lake. A volunteer brings it here with two links." in texts(at)
    assert not at.run().exception
    assert desk.only().id == case.id


def test_next_says_what_it_does_and_uses_a_passage_that_was_on_the_screen(desk: Desk) -> None:
    at = _asked(desk, demo="")
    labels = [at.button(key="present-next").label, *(_next(desk, at) for _ in range(3))]
    assert labels == ["Find evidence", "Open E1", "Use E1, open E2", "Use E2, write notes"]
    first, second = desk.only().evidence
    assert (first.verdict, first.reviews[-1].reader.name) == (Verdict.USE, "you")
    assert (second.verdict, second.reviews[-1].reader.name) == (None, "you")
    at.button(key="present-back").click().run()
    assert "The full claim, and next to each source the one sentence that matters." in texts(at)
    assert at.button(key="present-next").label == "Next"  # it was opened before
    assert {stage.engine for stage in desk.only().stages} == {"llm:recorded answers"}


def test_a_second_draft_is_not_offered_where_none_was_recorded(desk: Desk) -> None:
    case = desk.drafted()
    desk.changed(case, candidates=(case.draft,))
    assert not desk.app(case).button(key="write").disabled
    desk.changed(case, recorded_answers=True)
    assert "write" not in [button.key for button in desk.app(case).button]


def test_a_demonstration_that_is_left_says_what_its_answers_are_and_can_be_taken_up(desk: Desk) -> None:
    at = _asked(desk, demo="")
    at.button(key="present-leave").click().run()
    assert "demo" not in at.query_params
    assert "An AI gave these answers earlier" in texts(at)
    at.button(key="present").click().run()
    assert at.query_params["demo"] == "1"


def test_the_engine_of_the_server_takes_over_on_demand_and_has_all_other_cases(desk: Desk) -> None:
    case = begin(desk.workspace, presented())
    at = desk.app(case)
    at.button(key="strip-own-engine").click().run()
    assert not at.exception
    assert not desk.only().recorded_answers
    other = desk.run(desk.drafted(), "assess")
    assert other.assessment
    assert other.assessment.engine == desk.engine.name


def test_where_the_chosen_note_misses_the_line_the_script_says_why_a_true_note_may(desk: Desk) -> None:
    case, at = begin(desk.workspace, presented()), datetime(2026, 1, 1, tzinfo=UTC)
    texts_judged = presented().tempting_note or "", "One sample was below the guideline value."
    tempting, chosen = (small_jury().verdict(None, text, jurors=50) for text in texts_judged)
    draft = Draft(text=texts_judged[1], engine="local", written_at=at)
    for intercept, is_shown in ((0.3, False), (0.5, True)):
        judged = chosen.replace(note_intercept=intercept)
        desk.changed(case, draft=draft, jury=(tempting, judged))
        shown = texts(_asked(desk, case=case.id, demo="7"))
        assert f"Simulated readers give this note {judged.outlook}" in shown
        assert ("A true note can miss the line" in shown) is not is_shown


def test_the_strip_speaks_of_the_note_that_is_on_the_page(desk: Desk) -> None:
    case, at = begin(desk.workspace, presented()), datetime(2026, 1, 1, tzinfo=UTC)
    sourced = Draft(text="One sample was below the guideline value.", engine="local", written_at=at)
    desk.changed(case, draft=sourced, candidates=(sourced,))
    unscored = _asked(desk, case=case.id, demo="6")
    assert "All three checks pass." not in texts(unscored)
    assert "The note was changed" not in texts(unscored)
    desk.changed(case, draft=sourced.replace(text="The lake is fine."))
    changed = _asked(desk, case=case.id, demo="6")
    assert "The note was changed: this step is about the sourced note. The button takes it back." in texts(changed)
    assert changed.button(key="present-next").label == "Take the sourced note"
    assert _asked(desk, case=case.id, demo="5").button(key="present-next").label == "Try a stronger note"


@pytest.mark.parametrize("step", ["", "0", "99", "-1", "²", "one"])
def test_a_step_that_there_is_not_shows_the_case_without_the_strip(desk: Desk, step: str) -> None:
    case = begin(desk.workspace, presented())
    at = _asked(desk, case=case.id, demo=step)
    assert "present-next" not in [button.key for button in at.button]


def test_another_example_says_that_its_answers_are_recorded_and_is_not_presented(desk: Desk) -> None:
    case = begin(desk.workspace, examples()[0])
    at = _asked(desk, case=case.id, demo="3")
    assert texts(at).count("An AI gave these answers earlier") == 1
    assert "recorded answers" not in texts(at)
    assert not [button.key for button in at.button if str(button.key).startswith("present")]
