"""What one case comes to: from a case as the program makes it, and from what earlier programs stored."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from crowdnotes.cases import actions, approval, supernote_actions
from crowdnotes.domain import (
    Case,
    Decision,
    DecisionKind,
    Event,
    ExistingNote,
    GateName,
    GateStatus,
    Interval,
    ObstacleId,
    ObstacleKind,
    Override,
    PrincipleName,
    PrincipleResult,
    SideVotes,
    SourceCategory,
    StageName,
    StageRecord,
    SupernoteRound,
    SupernoteScore,
    text_sha256,
)
from crowdnotes.reports.case_figures import CaseFigures, Course, figures_of, read
from crowdnotes.storage.database import writing
from crowdnotes.workspace import Workspace
from tests.cases.test_stages import Desk, _fails_until
from tests.cases.test_stored_cases import COUNT, unpacked
from tests.cases.walk import ThinkingEngine, TopicEngine, draft_and_approve, new_case, run, small_workspace
from tests.fakes import actor, make_case
from tests.notes.made import AT, candidate

A_REASON = "The page says just this."


@pytest.fixture
def engine() -> TopicEngine:
    return TopicEngine()


@pytest.fixture
def workspace(tmp_path: Path, engine: TopicEngine) -> Iterator[Workspace]:
    with small_workspace(tmp_path, engine=engine) as opened:
        yield opened


def scored(workspace: Workspace, case: Case, note: str) -> Case:
    """With another note, scored."""
    assert case.draft is not None
    workspace.cases.apply(case.id, actions.edit_draft, note, based_on=case.draft.sha256)
    run(workspace, case.id, "assess", workspace.stages.assess_steps(case.id))
    return workspace.cases.get(case.id)


def reopened(workspace: Workspace, topic: str = "kettle") -> Case:
    return workspace.cases.apply(draft_and_approve(workspace, topic, "ann").id, actions.reopen)


def approve(workspace: Workspace, case: Case) -> Case:
    assert case.draft is not None
    cases = workspace.acting_as(actor).cases  # who read it
    ids = [item.id for item in approval.obstacles_for(cases, case)]
    return approval.decide_case(
        cases, case.id, DecisionKind.APPROVED, overrides=dict.fromkeys(ids, A_REASON), seen=case.draft.sha256
    )


def test_a_case_led_to_its_end_tells_its_times_gates_sources_and_kept_sentences(workspace: Workspace) -> None:
    found = figures_of(draft_and_approve(workspace, "kettle", "ann"))
    assert found.until_evidence is not None
    assert found.until_words is not None
    assert found.until_approved is not None
    assert 0 <= found.until_evidence <= found.until_words <= found.until_approved
    assert (found.ended, found.demonstration, list(found.engines)) == ("approved", False, ["scripted"])
    assert found.gates == dict.fromkeys(GateName, GateStatus.PASS)
    assert found.courses == {}
    assert found.used == {SourceCategory.OTHER: 1}
    assert sum(found.shown.values()) > 1
    assert found.kept_sentences == (0, 1)  # "In short: " stands before it
    assert found.jury is not None


def test_a_gate_and_a_principle_that_failed_and_pass_now_were_mended(
    workspace: Workspace, engine: TopicEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = reopened(workspace)
    with monkeypatch.context() as changed:
        loaded = PrincipleResult(principle=PrincipleName.NEUTRAL, status=GateStatus.FAIL, reason="So.")
        changed.setattr(engine, "principles", lambda *_: (loaded,))
        engine.fails_at = GateName.CORRECTNESS
        case = scored(workspace, case, "A lie! https://records.example.net/kettle")
    failing = figures_of(case)
    assert failing.courses == {"correctness": Course.FAILING, "neutral language": Course.FAILING}
    assert failing.gates == {
        GateName.RELEVANCE: GateStatus.PASS,
        GateName.CORRECTNESS: GateStatus.FAIL,
        GateName.HELPFULNESS: GateStatus.NOT_RUN,
    }
    engine.fails_at = None
    after = scored(workspace, case, "No illness was found. https://records.example.net/kettle")
    assert figures_of(after).courses == {"correctness": Course.MENDED, "neutral language": Course.MENDED}


def test_a_note_that_the_program_mended_before_anybody_read_it_counts_as_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with small_workspace(tmp_path, engine=ThinkingEngine()) as opened:
        engine = opened.engine
        assert isinstance(engine, ThinkingEngine)
        desk = Desk(opened, engine)
        monkeypatch.setattr(engine, "correctness", _fails_until(2))
        desk.gather()
        desk.write()
        desk.start(desk.stages.assess_steps(desk.id, before_inspection=True, scores_only=True))
        assert figures_of(desk.case).courses == {"correctness": Course.MENDED}


def test_a_written_reason_counts_for_the_gate_that_failed_and_not_for_those_behind_it(
    workspace: Workspace, engine: TopicEngine
) -> None:
    case = reopened(workspace)
    engine.fails_at = GateName.CORRECTNESS
    approved = approve(workspace, scored(workspace, case, "A lie! https://records.example.net/kettle"))
    assert approved.decision is not None
    assert len(approved.decision.overrides) == 1
    assert figures_of(approved).courses == {"correctness": Course.OVERRIDDEN}


@pytest.mark.parametrize(
    ("reason", "counted"),
    [("Nobody could ask the model.", {"correctness", "helpfulness"}), (A_REASON, {"correctness"})],
    ids=["own reason", "same reason, as earlier versions stored it"],
)
def test_a_gate_that_was_not_run_counts_where_it_has_its_own_reason(
    workspace: Workspace, engine: TopicEngine, reason: str, counted: set[str]
) -> None:
    case = reopened(workspace)
    engine.fails_at = GateName.CORRECTNESS
    approved = approve(workspace, scored(workspace, case, "A lie! https://records.example.net/kettle"))
    assert approved.decision is not None
    not_run = ObstacleId(kind=ObstacleKind.GATE_NOT_RUN, subject=GateName.HELPFULNESS.value)
    overrides = (*approved.decision.overrides, Override(obstacle=not_run, reason=reason))
    both = approved.replace(decision=approved.decision.replace(overrides=overrides))
    assert figures_of(both).courses == dict.fromkeys(counted, Course.OVERRIDDEN)


def test_a_check_that_waits_for_another_counts_as_not_run_as_on_the_cases_own_page(
    workspace: Workspace, engine: TopicEngine
) -> None:
    case = reopened(workspace)
    engine.breaks_at, engine.fails_at = GateName.RELEVANCE, GateName.CORRECTNESS
    found = figures_of(scored(workspace, case, "A lie! https://records.example.net/kettle"))
    assert found.gates is not None
    assert found.gates[GateName.CORRECTNESS] is GateStatus.NOT_RUN
    assert found.courses == {}


def test_scores_of_an_earlier_text_are_none_of_this_note(workspace: Workspace) -> None:
    case = reopened(workspace)
    assert case.draft is not None
    edited = workspace.cases.apply(case.id, actions.edit_draft, "Other words.", based_on=case.draft.sha256)
    found = figures_of(edited)
    assert (found.gates, found.jury, found.ended, found.kept_sentences) == (None, None, "open", None)


def test_a_note_that_was_reopened_was_ready_when_it_was_first_approved(workspace: Workspace) -> None:
    once = draft_and_approve(workspace, "kettle", "ann")
    assert once.decision is not None
    again = Event(at=once.decision.at + timedelta(days=9), by="ann", kind="decided", detail="approved")
    later = Decision(kind=DecisionKind.APPROVED, by="ann", at=again.at)
    case = once.replace(decision=later, events=(*once.events, again))
    assert figures_of(case).until_approved == figures_of(once).until_approved


def test_what_is_not_recorded_is_not_told() -> None:
    found = figures_of(make_case())
    assert (found.until_evidence, found.until_words, found.until_approved) == (None, None, None)
    assert (found.gates, found.jury, found.courses, found.has_note) == (None, None, {}, False)
    before = make_case().created_at - timedelta(minutes=1)
    turned_back = make_case(events=(Event(at=before, by="ann", kind="stage passages"),))
    assert figures_of(turned_back).until_evidence is None


def test_cases_of_earlier_programs_are_counted(tmp_path: Path) -> None:
    unpacked(tmp_path / "data")
    with small_workspace(tmp_path) as opened:
        found, left_out = read(opened.cases, {})
    assert (len(found), left_out) == (COUNT, {})
    assert [case.ended for case in found if Course.OVERRIDDEN in case.courses.values()] == ["approved"]
    assert sum(sum(used.calls for used in case.usage.values()) for case in found) == 34


def test_only_what_changed_is_read_again_and_what_cannot_be_read_is_named(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = workspace.cases
    first, second, damaged = (new_case(workspace, topic) for topic in ("kettle", "lantern", "orchard"))
    asked: list[str] = []
    get = cases.get

    def counted(case_id: str, *, only_counted: bool) -> Case:
        asked.append(case_id)
        return get(case_id, only_counted=only_counted)

    monkeypatch.setattr(cases, "get", counted)
    known: dict[str, CaseFigures] = {}
    assert {case.id for case in read(cases, known)[0]} == {first.id, second.id, damaged.id}
    assert read(cases, known)[1] == {}
    assert len(asked) == 3
    approval.decide_case(cases, first.id, DecisionKind.REJECTED)
    with writing(workspace.store._engine) as connection:
        connection.execute(text("update cases set document = 'x', version = 9 where id = :id"), {"id": damaged.id})
    found, left_out = read(cases, known)
    assert sorted(asked[3:]) == sorted([damaged.id, first.id])
    assert {case.id: case.ended for case in found} == {first.id: "rejected", second.id: "open"}
    assert list(left_out) == [damaged.id]


def test_a_supernote_counts_as_rated_by_the_readers_that_chose_it(workspace: Workspace) -> None:
    notes = [ExistingNote(id="N1", text="The photo was taken in Brazil. https://a.example.org/x")]
    case = supernote_actions.create_supernote(workspace.cases, "The photo is new.", notes=notes)
    votes = {"helpful": 60, "somewhat_helpful": 20, "not_helpful": 20}
    rated = SupernoteScore(
        intercept=0.6,
        interval=Interval(low=0.4, high=0.8),
        factor=0.0,
        status="CURRENTLY_RATED_HELPFUL",
        negative=SideVotes(side="−", **votes),
        positive=SideVotes(side="+", **votes),
    )
    item = candidate(("The photo was taken in Brazil.", "N1"), notes=tuple(notes), score=rated)
    made = SupernoteRound(
        number=1, made_at=AT, notes=tuple(notes), wanted=1, candidates=(item,), post_sha256="", winner=item.sha256
    )
    draft = supernote_actions.draft_of(case, item, AT)
    ended = StageRecord(name=StageName.CREDIT, finished_at=AT, seconds=0, summary="", engine="local")
    assert case.supernote is not None
    made_from = case.supernote.replace(rounds=(made.replace(post_sha256=text_sha256(case.post.whole_text)),))
    found = figures_of(case.replace(supernote=made_from, draft=draft, stages=(ended,)))
    assert found.jury is not None
    assert found.jury.reached
