"""The strip on top of the Draft page: the five steps, each with a sign that says no more than is so."""

from __future__ import annotations

import pytest

from crowdnotes.cases import actions, approval, intake
from crowdnotes.domain import Case, DecisionKind, GateName, Mode
from pages.common.layout import Area
from tests.pages.conftest import POST, Desk, give_reasons, texts, unfolded

_DONE = ":green[:material/check_circle:]"


def steps(desk: Desk, case: Case) -> list[str]:
    """The five steps as the strip shows them."""
    [line] = [item.value for item in desk.app(case).markdown if "**Sources**" in item.value]
    return [step.strip() for step in line.split("\u2002")]


def done(desk: Desk, case: Case) -> list[str]:
    """The names of the steps that have a green sign."""
    return [step.split("**")[1] for step in steps(desk, case) if step.startswith(_DONE)]


def test_a_case_shows_five_steps_and_how_far_it_is(desk: Desk) -> None:
    case = desk.case()
    assert [step.split("**")[1] for step in steps(desk, case)] == ["Post", "Sources", "Note", "Scores", "Decide"]
    assert done(desk, case) == ["Post"]
    assert "First read one and tick “Use E1 in the note”" in texts(desk.app(case))
    assert done(desk, desk.inspected()) == ["Post", "Sources"]
    assert done(desk, desk.drafted()) == ["Post", "Sources", "Note"]
    scored = desk.scored()
    assert done(desk, scored) == ["Post", "Sources", "Note", "Scores"]
    approval.decide_case(desk.workspace.cases, scored.id, DecisionKind.REJECTED)
    assert done(desk, scored) == ["Post", "Sources", "Note", "Scores", "Decide"]


@pytest.mark.parametrize("kind", [DecisionKind.INSUFFICIENT_EVIDENCE, DecisionKind.REJECTED])
def test_a_case_that_ended_without_a_note_has_no_current_step(desk: Desk, kind: DecisionKind) -> None:
    case = desk.case()
    assert ":primary" in steps(desk, case)[1]
    approval.decide_case(desk.workspace.cases, case.id, kind)
    assert done(desk, case) == ["Post", "Decide"]
    assert not [step for step in steps(desk, case) if ":primary" in step]


def test_a_phone_begins_each_case_where_it_stands(desk: Desk) -> None:
    at = desk.app(desk.case())
    assert at.session_state["area"][0] is Area.SOURCES
    at.session_state["area"] = (Area.POST, "asked for in this case")
    assert at.run().session_state["area"][0] is Area.POST
    at.query_params["case"] = desk.drafted().id
    assert at.run().session_state["area"][0] is Area.NOTE


def test_a_phone_is_led_from_the_sources_to_the_note_and_on_to_the_decision(desk: Desk) -> None:
    assert not [item for item in desk.app(desk.case()).button if str(item.key).startswith("go-to-")]
    at = desk.app(desk.scored())
    for area in (Area.DECIDE, Area.NOTE):
        assert at.button(key=f"go-to-{area.value}").click().run().session_state["area"][0] is area


def test_a_note_that_is_too_long_has_no_green_sign(desk: Desk) -> None:
    assert done(desk, desk.drafted("word " * 60 + "https://trials.example.edu/c")) == ["Post", "Sources"]


@pytest.mark.parametrize("gate", list(GateName))
def test_scores_are_not_green_while_a_gate_did_not_pass_also_when_approved_by_override(
    desk: Desk, gate: GateName
) -> None:
    desk.engine.fails_at = gate
    case = desk.scored()
    desk.workspace.cases.apply(case.id, actions.set_tags, ["misleadingFactualError"])
    assert "Scores" not in done(desk, case)
    at = desk.app(case)
    give_reasons(at, "The passage says so two lines on.")
    at.button(key="decide-approved").click().run()
    assert desk.decision(case).kind is DecisionKind.APPROVED
    assert "Scores" not in done(desk, case)
    reasons = len({item.reason for item in desk.decision(case).overrides})
    told = f"approved with {reasons} {'exception' if reasons == 1 else 'exceptions'}"
    assert f":orange-badge[{told}]" in texts(desk.app(case))
    assert "green-badge[approved]" not in texts(desk.app(case))


def test_scores_are_not_green_when_a_gate_was_not_run_or_the_words_changed_since(desk: Desk) -> None:
    case = desk.scored()
    assert "Scores" in done(desk, case)
    assert case.draft is not None
    desk.workspace.cases.apply(case.id, actions.edit_draft, "Other words.", based_on=case.draft.sha256)
    assert "Scores" not in done(desk, case)
    assert "of an earlier text" in steps(desk, case)[3]
    desk.engine.breaks_at = GateName.HELPFULNESS
    assert "Scores" not in done(desk, desk.scored())


def test_the_post_stands_in_one_line_and_unfolds(desk: Desk) -> None:
    case = desk.case()
    at = desk.app(case)
    assert f"“{POST}”" in texts(at)
    assert "Case started" not in texts(at)
    assert "Case started" in texts(unfolded(at, f"post-fold-{case.id}"))
    long = intake.create_case(desk.workspace.cases, "A long post. " * 40, mode=Mode.AUGMENTATION)
    line, *_ = [item.label for item in desk.app(long).expander if item.label.startswith("“A long post")]
    assert len(line.replace("\\", "")) < 200
