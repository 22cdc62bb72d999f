"""What a language model's judge adds on the page: how sure it is, and wording that would mend the note."""

from __future__ import annotations

import pytest

from crowdnotes.cases import actions
from crowdnotes.domain import BY_PERSON, Case, GateName, GateResult, GateStatus, PrincipleName, PrincipleResult
from crowdnotes.engines.base import EngineStep, ResultOrigin
from tests.pages.conftest import Desk, texts

BETTER = "Regular vitamin C does not prevent colds. https://trials.example.edu/c"


def _scored_by_a_model(desk: Desk, monkeypatch: pytest.MonkeyPatch, shares: dict[GateName, float]) -> Case:
    def judge(gate: GateName) -> GateResult:
        return GateResult(gate=gate, status=GateStatus.PASS, reason="It does.", probability=shares.get(gate))

    def result_origin(_: EngineStep) -> ResultOrigin:
        return ResultOrigin("llm:small", "0123456789ab")

    monkeypatch.setattr(desk.engine, "_judge", judge)
    monkeypatch.setattr(desk.engine, "result_origin", result_origin)
    return desk.scored()


def test_the_three_probabilities_and_their_product_are_shown(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    case = _scored_by_a_model(desk, monkeypatch, dict(zip(GateName, (0.9, 0.8, 0.5), strict=True)))
    shown = texts(desk.app(case))
    assert "relevance 0.90, correctness 0.80, helpfulness 0.50; all three 0.36" in shown


def test_there_is_no_product_while_a_gate_gives_no_probability(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    case = _scored_by_a_model(desk, monkeypatch, {GateName.RELEVANCE: 0.9})
    shown = texts(desk.app(case))
    assert "from 0 to 1: relevance 0.90" in shown
    assert "all three " not in shown


def test_a_model_without_probabilities_says_so(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "How sure the AI is" not in texts(desk.app(_scored_by_a_model(desk, monkeypatch, {})))


def test_a_suggested_wording_is_taken_with_one_click_and_undone(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    readable = PrincipleResult(
        principle=PrincipleName.READABLE, status=GateStatus.FAIL, reason="Long sentences.", rewrite=BETTER
    )
    monkeypatch.setattr(desk.engine, "principles", lambda *_: (readable,))
    case = desk.scored()
    before = case.draft
    at = desk.app(case)
    at.button(key="take-rewrite-readable").click().run()
    taken = desk.newest(case)
    assert taken.draft is not None
    assert taken.draft.text == BETTER
    assert not taken.assessment_is_current
    assert all(button.key != "take-rewrite-readable" for button in at.button)
    undone = desk.workspace.cases.apply(case.id, actions.undo_edit)
    assert undone.draft is not None
    assert before is not None
    assert undone.draft.text == before.text


@pytest.mark.parametrize(
    ("by", "post", "is_asked"),
    [
        (BY_PERSON, "There is no Lyme disease. Vitamin C causes it, and HIV.", True),
        (BY_PERSON, "Vitamin C causes Lyme disease.", False),  # the note has half of it
        ("llm:small", "There is no Lyme disease. Vitamin C causes it, and HIV.", False),
    ],
)
def test_a_person_who_judges_is_asked_about_what_the_post_names_and_the_note_does_not(
    desk: Desk, by: str, post: str, is_asked: bool
) -> None:
    case = desk.scored()
    assert case.assessment is not None
    gates = tuple(
        gate.replace(judge=by) if gate.gate is GateName.CORRECTNESS else gate for gate in case.assessment.gates
    )
    desk.changed(case, post=case.post.replace(text=post), assessment=case.assessment.replace(gates=gates))
    asked = "The post speaks of “Lyme” and “HIV”, your note does not." in texts(desk.app(case))
    assert asked is is_asked
