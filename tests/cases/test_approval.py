"""Approval: each rule refuses when it is broken, and all met it goes through."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.cases import actions
from crowdnotes.cases.approval import cited_links, decide, obstacles, uninspected_links
from crowdnotes.domain import (
    Case,
    Classification,
    DecisionKind,
    Draft,
    GateName,
    GateResult,
    GateStatus,
    LinkCheck,
    LinkState,
    ObstacleId,
    ObstacleKind,
    Person,
    Support,
    Verdict,
    is_reason,
    remaining,
)
from crowdnotes.errors import WorkflowError
from crowdnotes.notes.gates import assess
from tests.fakes import ScriptedEngine, ScriptedJudge, actor, brief_of, make_case, make_evidence, uncertain_result

AT = datetime(2026, 1, 2, tzinfo=UTC)
A = actor("a")
ANN = actor()
BOB = actor("bob")
NOTE = "According to Example Health, the review found no link. https://health.example.org/review"


def _engine(fails_at: GateName | None = None, breaks_at: GateName | None = None) -> ScriptedEngine:
    engine = ScriptedEngine()
    engine.fails_at, engine.breaks_at = fails_at, breaks_at
    return engine


def _ready(note: str = NOTE, engine: ScriptedEngine | None = None) -> Case:
    used = make_evidence(1, opened_at=AT, verdict=Verdict.USE)
    draft = Draft(text=note, evidence_ids=("E1",), engine="person", written_at=AT)
    case = make_case(evidence=(used, make_evidence(2, url="https://other.example.org/")), draft=draft)
    checks = tuple(
        LinkCheck(url=url, state=LinkState.LIVE, checked_at=AT, tries=1, status=200) for url in cited_links(draft)
    )
    return _scored(case, engine).replace(tags=("misleadingFactualError",), link_checks=checks)


def _scored(case: Case, engine: ScriptedEngine | None = None) -> Case:
    assert case.draft is not None
    judged = assess(engine or ScriptedEngine(), brief_of(case.post), case.draft.text, case.used_evidence, lambda: AT)
    return case.replace(assessment=judged)


def _approve(case: Case, **given: object) -> Case:
    seen = case.draft.sha256 if case.draft else None
    return decide(case, AT, ANN, DecisionKind.APPROVED, **{"seen": seen, **given})  # type: ignore[arg-type]


def _rules(case: Case, reasons: dict[ObstacleId, str] | None = None) -> set[str]:
    return {
        f"{item.id.kind.value} {item.id.subject}".strip() for item in remaining(obstacles(case, AT, ANN), reasons or {})
    }


def _failed(gate: GateName) -> ObstacleId:
    return ObstacleId(kind=ObstacleKind.GATE_FAILED, subject=gate.value)


def _not_run(gate: GateName) -> ObstacleId:
    return ObstacleId(kind=ObstacleKind.GATE_NOT_RUN, subject=gate.value)


def test_with_every_rule_met_a_note_is_approved_and_bound_to_its_text() -> None:
    case = _ready()
    assert obstacles(case, AT, ANN) == ()
    approved = _approve(case)
    assert approved.decision is not None
    assert approved.decision.text_sha256 == approved.draft.sha256  # type: ignore[union-attr]
    assert approved.events[-1].kind == "decided"


def test_a_note_whose_helpfulness_is_uncertain_needs_no_reason() -> None:
    engine = ScriptedEngine()
    engine.judge = ScriptedJudge(uncertain_result)
    approved = _approve(_ready(engine=engine))
    assert approved.decision is not None
    assert approved.decision.as_text == "approved"


def _with_draft(text: str) -> Callable[[Case], Case]:
    return lambda case: _scored(
        case.replace(draft=Draft(text=text, evidence_ids=("E1",), engine="person", written_at=AT))
    )


BROKEN: list[tuple[str, Callable[[Case], Case]]] = [
    ("no evidence", lambda case: case.replace(evidence=())),
    ("no note", lambda case: case.replace(draft=None)),
    ("no tag", lambda case: case.replace(tags=())),
    ("not scored", lambda case: case.replace(assessment=None)),
    (
        "stale",
        lambda case: actions.judge(actions.open_passage(case, AT, A, "E2"), AT, A, "E2", Verdict.USE, ""),
    ),
    ("form over-limit", _with_draft("word " * 60 + "https://health.example.org/review")),
    ("unopened E2", _with_draft("So says https://health.example.org/review and https://other.example.org/")),
]


@pytest.mark.parametrize(("rule", "breaks"), BROKEN, ids=[rule for rule, _ in BROKEN])
def test_each_rule_refuses_approval(rule: str, breaks: Callable[[Case], Case]) -> None:
    case = breaks(_ready())
    assert rule in _rules(case)
    with pytest.raises(WorkflowError):
        _approve(case)


def test_one_letter_edited_after_scoring_or_a_passage_opened_and_not_judged_makes_approval_wait() -> None:
    case = _ready()
    assert case.draft is not None
    edited = actions.edit_draft(case, AT, ANN, NOTE.replace("no link", "no links"), based_on=case.draft.sha256)
    assert "stale" in _rules(edited)
    opened = actions.open_passage(_ready("See https://other.example.org/"), AT, ANN, "E2")
    assert "unjudged E2" in _rules(opened)


def test_a_failure_behind_a_check_that_did_not_pass_is_said_to_wait_for_it() -> None:
    engine = _engine(GateName.CORRECTNESS)
    engine.judge = ScriptedJudge(
        lambda: GateResult(gate=GateName.HELPFULNESS, status=GateStatus.FAIL, reason="It argues.")
    )
    found = {item.id.subject: item.sentence for item in obstacles(_ready(engine=engine), AT, ANN)}
    assert found[GateName.CORRECTNESS].startswith("The correctness check failed: ")
    assert found[GateName.HELPFULNESS].startswith("The helpfulness check waits for those before it, and would fail: ")


def test_a_gate_that_did_not_pass_is_overridden_only_in_writing_and_visibly() -> None:
    case = _ready(engine=_engine(GateName.CORRECTNESS))
    correctness = _failed(GateName.CORRECTNESS)
    assert _rules(case) == {"gate failed correctness"}
    assert _rules(case, {correctness: "  "}) == {"gate failed correctness"}
    with pytest.raises(WorkflowError, match="correctness check failed"):
        _approve(case)
    reasons = {correctness: "The wording is the agency's own."}
    approved = _approve(case, overrides=reasons)
    assert approved.decision is not None
    assert {item.obstacle: item.reason for item in approved.decision.overrides} == reasons
    assert "although the correctness check did not pass: The wording is the agency's own." in approved.events[-1].detail


@pytest.mark.parametrize(
    "reason",
    [
        "x",
        "ok!",
        "!!!!!!!!!!!!",
        "1234567890123",
        "fine as is",
        "aaaaaaaaaa",
        "yes yes yes Yes YES",
        "wellmeant reason",
        "好好好好好好",
    ],
)
def test_a_keystroke_is_no_reason(reason: str) -> None:
    case = _ready(engine=_engine(GateName.HELPFULNESS))
    failed = _failed(GateName.HELPFULNESS)
    [refusal] = remaining(obstacles(case, AT, ANN), {failed: reason})
    assert refusal.lifts == "Give the reason in a short sentence."
    with pytest.raises(WorkflowError):
        _approve(case, overrides={failed: reason})
    for enough in ("It reads well to me.", "这句话很清楚", "Легко читается всем"):
        assert _rules(case, {failed: enough}) == set()


@pytest.mark.parametrize(
    ("gate", "helps"),
    [
        (GateName.RELEVANCE, "Use other sources, then score again, or give a reason"),
        (
            GateName.CORRECTNESS,
            "Change the note or its sources, then score again, or give a reason",
        ),
        (GateName.HELPFULNESS, "Change the note, then score again, or give a reason"),
    ],
)
def test_what_helps_is_said_for_the_gate_that_failed_and_those_that_passed_behind_it_are_not_left(
    gate: GateName, helps: str
) -> None:
    [failed] = obstacles(_ready(engine=_engine(gate)), AT, ANN)
    assert failed.lifts.startswith(helps)


def test_a_check_that_could_not_run_behind_one_that_failed_is_left_and_takes_a_reason_of_its_own() -> None:
    case = _ready(engine=_engine(GateName.CORRECTNESS, GateName.HELPFULNESS))
    correctness, helpfulness = _failed(GateName.CORRECTNESS), _not_run(GateName.HELPFULNESS)
    assert _rules(case) == {"gate failed correctness", "gate not run helpfulness"}
    same = "The wording is the agency's own."
    with pytest.raises(WorkflowError, match="helpfulness check was not run"):
        _approve(case, overrides={correctness: same})
    approved = _approve(case, overrides={correctness: same, helpfulness: same})
    assert approved.decision is not None
    assert [item.obstacle for item in approved.decision.overrides] == [correctness, helpfulness]
    assert approved.decision.as_text == "approved with 2 exceptions"


_DENIAL, _CAUSE, _EXTENT = (
    "This post is false.",
    "It kills 9 million people a year.",
    "All is well, says https://health.example.org/review",
)


def test_each_sentence_that_is_not_compared_and_each_open_warning_is_left_though_another_sentence_failed() -> None:
    engine = ScriptedEngine()
    engine.by_person, engine.hints = True, ("“9 million” is not in the source.", "The note says “all”.")
    case = _ready(f"{_DENIAL} {_CAUSE} {_EXTENT}", engine)
    assert _rules(case) == {f"sentence not compared {words}" for words in (_DENIAL, _CAUSE, _EXTENT)}
    case = actions.compare_sentence(case, AT, A, _DENIAL, "E1", Support.UNSUPPORTED)
    failed, unread, _ = found = obstacles(case, AT, ANN)
    assert (failed.id, unread.id.subject) == (_failed(GateName.CORRECTNESS), _CAUSE)
    said = f"Sentence 2 is not compared yet and has 3 warnings to check: “{_CAUSE}” " + " ".join(engine.hints)
    assert unread.sentence == f"{said} No date: is this still true?"
    one = "A plain denial needs no source."
    with pytest.raises(WorkflowError, match="Sentence 2 is not compared yet"):
        _approve(case, overrides={failed.id: one})
    approved = _approve(case, overrides={item.id: one for item in found})
    assert f"although nobody compared this sentence with a source: “{_EXTENT}”: {one}" in approved.events[-1].detail
    case = actions.compare_sentence(case, AT, A, _CAUSE, "E1", Support.SUPPORTED)
    case = actions.compare_sentence(case, AT, A, _EXTENT, "E1", Support.SUPPORTED, doubts_settled=True)
    assert _rules(case) == {"gate failed correctness", f"warnings open {_CAUSE}"}
    case = actions.compare_sentence(case, AT, A, _CAUSE, "E1", Support.SUPPORTED, doubts_settled=True)
    assert _rules(case, {failed.id: one}) == set()


def test_a_gate_that_could_not_run_is_no_pass_and_asks_to_be_scored_again() -> None:
    case = _ready(engine=_engine(breaks_at=GateName.HELPFULNESS))
    assert case.assessment is not None
    assert case.assessment.gate(GateName.HELPFULNESS).status is GateStatus.NOT_RUN
    assert _rules(case) == {"gate not run helpfulness"}
    [refusal] = obstacles(case, AT, ANN)
    assert refusal.lifts.startswith("Score it again, or give a reason")


LINKED_ELSEWHERE = {"gate failed correctness"}


def test_a_link_that_nobody_inspected_passes_no_gate_and_takes_a_reason() -> None:
    case = _ready(NOTE + " https://unread.example.org/page")
    assert _rules(case) == LINKED_ELSEWHERE
    approved = _approve(case, overrides={_failed(GateName.CORRECTNESS): "The agency's own archive."})
    assert approved.decision is not None
    unscored = case.replace(assessment=None)
    assert "link not inspected https://unread.example.org/page" in _rules(unscored)


def test_a_link_without_a_scheme_is_a_link_too() -> None:
    note = "So says cdc.gov/story. https://health.example.org/review"
    assert _rules(_ready(note)) == LINKED_ELSEWHERE


def test_of_a_page_that_several_records_share_only_the_used_one_is_read_and_not_misleading_needs_no_tag() -> None:
    twin = make_evidence(3, text="Another part of the same page.")
    case = _ready()
    assert _rules(case.replace(evidence=(*case.evidence, twin))) == set()
    untagged = {"tags": (), "classification": Classification.NOT_MISLEADING}
    assert _rules(case.replace(**untagged)) == set()


@pytest.mark.parametrize(
    "link",
    [
        "http://www.health.example.org/review/#top",
        "https://HEALTH.Example.org/review",
        "https://www.Health.EXAMPLE.org/review",
        "https://health.example.org/review?utm_source=x",
    ],
)
def test_the_same_page_written_otherwise_is_not_an_uninspected_link(link: str) -> None:
    assert _rules(_ready(f"According to them, no link. {link}")) == set()


@pytest.mark.parametrize(
    ("read", "linked"),
    [
        ("https://www.biorxiv.org/content/10.1101/2024.01.02.573812v1", "573812v2.full"),
        ("https://www.nejm.org/doi/full/10.1056/NEJMoa1", "https://www.nejm.org/doi/suppl/10.1056/NEJMoa1"),
        ("https://pubmed.ncbi.nlm.nih.gov/123/", "https://pubmed.ncbi.nlm.nih.gov/123/comments/9"),
    ],
)
def test_another_version_or_part_of_a_paper_was_not_inspected(read: str, linked: str) -> None:
    linked = linked if linked.startswith("https") else read.replace("573812v1", linked)
    case = _ready(f"According to them, no link. {linked}")
    item = case.evidence[0]
    item = item.replace(source=item.source.replace(url=read))
    assert case.draft is not None
    assert linked in uninspected_links(case.replace(evidence=(item,)), case.draft)


def test_nobody_approves_a_text_that_they_did_not_see() -> None:
    with pytest.raises(WorkflowError, match="changed since you read it"):
        _approve(_ready(), seen="0" * 64)


def _told(case: Case, by: Person) -> dict[str, str]:
    return {f"{item.id.kind.value} {item.id.subject}": item.sentence for item in obstacles(case, AT, by)}


def test_who_approves_has_opened_and_judged_every_passage_themselves() -> None:
    case = _ready()
    assert _told(case, ANN) == {}
    assert _told(case, BOB) == {"unopened E1": "You have not read E1 yourself."}
    with pytest.raises(WorkflowError, match="You have not read E1 yourself") as refused:
        decide(case, AT, BOB, DecisionKind.APPROVED, seen=case.draft.sha256 if case.draft else None)
    assert refused.value.rule == "unopened"
    case = actions.open_passage(case, AT, BOB, "E1")
    assert _told(case, BOB) == {"unjudged E1": "You have not decided on E1 yourself."}
    case = actions.judge(case, AT, BOB, "E1", Verdict.USE, "")
    decided = decide(case, AT, BOB, DecisionKind.APPROVED, seen=case.draft.sha256 if case.draft else None)
    assert decided.decision is not None
    assert (decided.decision.by, decided.decision.by_key) == ("bob", BOB.key)


def test_a_passage_that_another_reader_put_to_use_is_asked_for_too() -> None:
    case = _ready()
    added = make_evidence(2, text="Another page.", opened_at=AT, opened_by=BOB, verdict=Verdict.USE)
    case = case.replace(evidence=(case.evidence[0], added))
    assert _told(case, ANN)["unopened E2"] == "You have not read E2 yourself."


def test_a_rejection_that_came_after_takes_the_passage_out_of_the_note() -> None:
    case = actions.open_passage(_ready(), AT, BOB, "E1")
    case = actions.judge(case, AT, BOB, "E1", Verdict.REJECT, "off topic")
    assert "no evidence" in _rules(case)


@pytest.mark.parametrize("kind", [DecisionKind.NOT_NEEDED, DecisionKind.INSUFFICIENT_EVIDENCE, DecisionKind.REJECTED])
def test_abstaining_is_free_at_any_time(kind: DecisionKind) -> None:
    decided = decide(make_case(), AT, ANN, kind)
    assert decided.decision is not None
    assert decided.decision.kind is kind
    with pytest.raises(WorkflowError, match="This case is decided"):
        decide(decided, AT, ANN, kind)


def test_a_note_that_leans_on_a_passage_that_is_gone_waits_until_it_is_back_or_the_note_is_written_again() -> None:
    ready = _ready()
    assert ready.draft is not None
    leaning = ready.draft.replace(evidence_ids=("E1", "E7"), engine="local")
    case = ready.replace(draft=leaning)
    with pytest.raises(WorkflowError, match="uses E7, which is no longer a source"):
        _approve(case)
    back = make_evidence(7, opened_at=AT, verdict=Verdict.BACKGROUND)
    assert "evidence gone E7" not in _rules(case.replace(evidence=(*case.evidence, back)))
    again = actions.edit_draft(case, AT, ANN, f"In short: {NOTE}", based_on=leaning.sha256)
    assert "evidence gone E7" not in _rules(again)


@given(st.text(max_size=40), st.text(max_size=20))
def test_more_words_never_take_a_reason_away(text: str, more: str) -> None:
    assert not is_reason(text) or is_reason(f"{text} {more}")
