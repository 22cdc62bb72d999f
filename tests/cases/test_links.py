"""The cited links: asked once an hour, held for a day, demanded live before approval."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from crowdnotes.cases import intake
from crowdnotes.cases.approval import check_links, link_checks, obstacles
from crowdnotes.domain import (
    Case,
    Draft,
    Evidence,
    GateResult,
    LinkCheck,
    LinkState,
    Mode,
    ObstacleId,
    ObstacleKind,
    StageName,
)
from crowdnotes.engines import Brief
from crowdnotes.errors import WorkflowError
from crowdnotes.evidence.link_check import LinkChecker, LinkLimits
from crowdnotes.settings import Settings
from crowdnotes.workspace import open_workspace
from tests.cases.walk import Told, draft_and_approve, run, small_workspace
from tests.fakes import HashingEmbedder, LiveLinks, ScriptedEngine, actor, make_case
from tests.shared import PATIENCE

AT = datetime(2026, 1, 2, tzinfo=UTC)
GOOD, GONE = "https://a.example.org/x", "https://b.example.org/y"


def _draft(text: str) -> Draft:
    return Draft(text=text, engine="person", written_at=AT)


def _case(text: str = f"So they say. {GOOD} {GONE}", **changes: object) -> Case:
    return make_case(draft=_draft(text), **changes)


def _checked(case: Case, link_asker: LiveLinks, at: datetime = AT, *, afresh: bool = False) -> Case:
    checker = LinkChecker(link_asker, LinkLimits(), lambda: at, pause=lambda _: 0.0)
    changes, _ = check_links(case, Told(), checker, lambda: at, afresh=afresh)
    return case.replace(**changes)


def _known(case: Case, url: str) -> LinkCheck | None:
    assert case.draft is not None
    return dict(link_checks(case, AT)).get(url)


def _unanswered(url: str) -> ObstacleId:
    return ObstacleId(kind=ObstacleKind.LINK_UNANSWERED, subject=url)


def _waiting(case: Case, at: datetime = AT) -> list[str]:
    return [item.id.subject for item in obstacles(case, at, actor()) if item.id.kind is ObstacleKind.LINK_UNANSWERED]


def test_a_link_that_was_never_asked_and_one_that_is_dead_hold_approval_back() -> None:
    case = _case()
    assert _waiting(case) == [GOOD, GONE]
    case = _checked(case, LiveLinks({GONE: 404}))
    assert _waiting(case) == [GONE]
    [refusal] = [item for item in obstacles(case, AT, actor()) if item.id == _unanswered(GONE)]
    assert "dead (404)" in refusal.sentence


def test_an_answer_holds_for_a_day() -> None:
    case = _checked(_case(), LiveLinks())
    assert _waiting(case, AT + timedelta(hours=23)) == []
    assert _waiting(case, AT + timedelta(hours=25)) == [GOOD, GONE]


def test_a_check_is_of_the_very_link_and_of_no_other_in_the_note() -> None:
    case = _checked(_case(f"So they say. {GOOD}"), LiveLinks())
    edited = case.replace(draft=_draft(f"So they say. {GOOD}?page=2"))
    assert _waiting(edited) == [f"{GOOD}?page=2"]
    slashed = _checked(_case(f"So they say. {GOOD}/"), LiveLinks())
    assert _known(slashed, GOOD) is None


def test_scoring_again_asks_only_what_was_not_asked_within_the_hour() -> None:
    link_asker = LiveLinks()
    case = _checked(_case(f"So they say. {GOOD}"), link_asker)
    edited = case.replace(draft=_draft(f"So say others. {GOOD} {GONE}"))
    case = _checked(edited, link_asker, AT + timedelta(minutes=59))
    assert sorted(link_asker.asked) == [GOOD, GONE]
    _checked(case, link_asker, AT + timedelta(minutes=61))
    assert sorted(link_asker.asked) == [GOOD, GOOD, GONE]


def test_a_dead_link_is_asked_again_under_another_cutoff_and_a_live_one_is_not() -> None:
    link_asker = LiveLinks({GONE: 404})
    case = _checked(_case(), link_asker)
    bound = case.replace(until=date(2024, 3, 5))
    assert _known(bound, GONE) is None  # its archived copy may be later than the cutoff
    assert _known(bound, GOOD) is not None
    checked = _checked(bound, link_asker)
    assert sorted(link_asker.asked) == [GOOD, GONE, GONE]
    assert _known(checked, GONE) is not None
    assert _known(checked.replace(until=date(2023, 1, 1)), GONE) is None


def test_asking_again_by_hand_asks_every_link_and_an_undo_finds_the_earlier_links_check_again() -> None:
    link_asker = LiveLinks()
    case = _checked(_case(), link_asker)
    _checked(case, link_asker, afresh=True)
    assert sorted(link_asker.asked) == [GOOD, GOOD, GONE, GONE]
    first = _case(f"So they say. {GOOD}")
    case = _checked(_checked(first, link_asker).replace(draft=_draft(f"Other. {GONE}")), link_asker)
    assert _waiting(case.replace(draft=first.draft)) == []


def test_a_link_that_fails_does_not_fail_the_scoring(tmp_path: Path) -> None:
    with small_workspace(tmp_path, LiveLinks({"https://records.example.net/kettle": 500})) as workspace:
        cases = workspace.cases
        with pytest.raises(WorkflowError, match=r"unreachable \(500\)"):
            draft_and_approve(workspace, "kettle", "ann")
        [summary] = cases.find()
        case = cases.get(summary.id)
        assert case.assessment_is_current
        assert case.stages[-1].name is StageName.LINKS
        assert case.stages[-1].summary == "0 of 1 links work"
        run(workspace, case.id, "links", workspace.stages.check_link_steps(case.id))
        assert [check.tries for check in cases.get(case.id).link_checks] == [3]


def test_what_is_said_of_a_link_is_words() -> None:
    live = LinkCheck(url=GOOD, state=LinkState.LIVE, checked_at=AT, tries=1, status=200)
    lost = LinkCheck(url=GOOD, state=LinkState.UNREACHABLE, checked_at=AT, tries=3)
    assert [item.as_text for item in (live, lost)] == ["responds", "unreachable"]


def test_links_are_asked_once_after_the_note_was_scored(tmp_path: Path) -> None:
    links = LiveLinks()
    settings = Settings(data_dir=tmp_path)
    with open_workspace(settings, embedder=HashingEmbedder(), engine=ScriptedEngine(), links=links) as workspace:
        cases = workspace.cases
        case = intake.create_case(cases, "The review found a link!", mode=Mode.AUGMENTATION)
        intake.add_passage_by_hand(cases, case.id, url=GOOD, title="Review", text="The review found no link.")
        run(workspace, case.id, "write", workspace.stages.write_steps(case.id, before_inspection=True))
        run(workspace, case.id, "assess", workspace.stages.assess_steps(case.id, before_inspection=True))
        assert links.asked == [GOOD]
        case = cases.get(case.id)
        assert [check.state for check in case.link_checks] == [LinkState.LIVE]
        assert case.stages[-1].summary == "1 of 1 links work"
        only = workspace.stages.assess_steps(case.id, before_inspection=True, scores_only=True)
        assert [step.name for step in only] == ["assess"]


def test_links_are_asked_while_the_note_is_scored(tmp_path: Path) -> None:
    asked = threading.Event()

    class ModelClient(LiveLinks):
        def status(self, url: str, seconds: float, check: Callable[[], None]) -> int:
            asked.set()
            return super().status(url, seconds, check)

    class Waiting(ScriptedEngine):
        def relevance(self, brief: Brief, evidence: Sequence[Evidence]) -> GateResult:
            assert asked.wait(PATIENCE), "no link was asked meanwhile"
            return super().relevance(brief, evidence)

    links = ModelClient()
    with open_workspace(
        Settings(data_dir=tmp_path), embedder=HashingEmbedder(), engine=Waiting(), links=links
    ) as opened:
        cases = opened.cases
        case = intake.create_case(cases, "The review found a link!", mode=Mode.AUGMENTATION)
        intake.add_passage_by_hand(cases, case.id, url=GOOD, title="Review", text="The review found no link.")
        run(opened, case.id, "write", opened.stages.write_steps(case.id, before_inspection=True))
        run(opened, case.id, "assess", opened.stages.assess_steps(case.id, before_inspection=True))
        assert links.asked == [GOOD]
        assert cases.get(case.id).stages[-1].summary == "1 of 1 links work"
