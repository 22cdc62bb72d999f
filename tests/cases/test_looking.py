"""A second look at work: stopped, taken up again, and what a person changes meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from crowdnotes.cases.intake import Places, change_sources
from crowdnotes.domain import (
    FollowUpKind,
    FollowUpSearch,
    Mode,
)
from crowdnotes.errors import WorkflowError
from crowdnotes.jobs import JobState, Progress
from crowdnotes.testing import make_case
from tests.cases.second_desk import Desk, ids
from tests.cases.walk import post_about, run

AT = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    with desk.workspace:
        yield desk


def test_a_passage_that_is_ticked_while_its_swap_is_at_work_stays(desk: Desk) -> None:
    desk.service.follow_up(desk.id, FollowUpKind.SWAP, "ann", about="E3")
    reading, passages = desk.service.follow_up_steps(desk.id)
    run(desk.workspace, desk.id, "look", [reading])
    desk.use("E3")
    run(desk.workspace, desk.id, "look", [passages])
    assert ids(desk.case) == ["E1", "E2", "E3", "E4", "E5", "E6", "E7"]
    assert desk.case.follow_ups[-1].outcome == "E7 was added. The note leans on E3 now, so it stays."


def test_a_look_that_was_stopped_goes_on_where_it_was(desk: Desk) -> None:
    desk.service.follow_up(desk.id, FollowUpKind.MORE_LIKE, "ann", about="E2", libraries=["topics"])
    steps = desk.service.follow_up_steps(desk.id)

    def stopped(progress: Progress) -> str:
        desk.workspace.runner.cancel(job.id)
        while True:
            progress.check()

    before = desk.case.evidence
    job = desk.workspace.runner.start(desk.id, "look", [*steps[:2], replace(steps[2], run=stopped), steps[3]])
    assert desk.workspace.runner.wait(job.id, timeout=60).state is JobState.CANCELLED
    assert desk.case.evidence == before
    asked = len(desk.engine.asked)
    resumed = run(desk.workspace, desk.id, "look", desk.service.follow_up_steps(desk.id))
    assert [step.state.value for step in resumed.steps] == ["kept", "kept", "done", "done"]
    assert len(desk.engine.asked) == asked
    assert len(desk.case.evidence) == len(before) + 3


def test_another_look_takes_the_place_of_one_that_was_stopped(desk: Desk) -> None:
    desk.service.follow_up(desk.id, FollowUpKind.MORE_LIKE, "ann", about="E2", libraries=["topics"])
    desk.look(FollowUpKind.OTHER_SIDE)
    assert [look.kind for look in desk.case.follow_ups] == [FollowUpKind.OTHER_SIDE]


def test_a_look_for_an_earlier_post_adds_nothing_to_another(desk: Desk) -> None:
    desk.service.follow_up(desk.id, FollowUpKind.MORE_LIKE, "ann", about="E2", libraries=["topics"])
    steps = desk.service.follow_up_steps(desk.id)
    desk.service.edit_post(desk.id, post_about("velvet"), "ann")
    job = desk.workspace.runner.start(desk.id, "look", steps)
    ended = desk.workspace.runner.wait(job.id, timeout=60)
    assert ended.state is JobState.FAILED
    assert ended.current is not None
    assert "the post may have changed" in ended.current.next_step
    assert desk.case.evidence == ()


def test_a_cutoff_set_while_a_look_is_reading_keeps_what_it_read_out(desk: Desk) -> None:
    service = desk.service
    service.follow_up(desk.id, FollowUpKind.SWAP, "ann", about="E3")
    reading, _ = service.follow_up_steps(desk.id)
    days = (date(2020, 1, day) for day in range(1, 31))

    class _Progress:
        def count(self, done: int, total: int, note: str = "") -> None:
            return

        def check(self) -> None:
            service.set_sources(
                desk.id,
                mode=Mode.AUTOMATION,
                urls=(),
                libraries=["topics"],
                services=(),
                until=next(days),
                by="bob",
            )

    with pytest.raises(WorkflowError, match="Other sources were chosen"):
        reading.run(_Progress())
    assert [source for look in desk.case.follow_ups for source in look.sources] == []


def test_a_look_that_was_begun_under_another_cutoff_does_not_go_on() -> None:
    look = FollowUpSearch(id="l", kind=FollowUpKind.OTHER_SIDE, asked_at=AT, by="ann")
    ended = look.model_copy(update={"id": "m", "finished_at": AT})
    case = make_case(follow_ups=(ended, look))
    places = Places(mode=case.mode, urls=("https://news.example.org/a",))
    assert change_sources(case, places, "ann", AT).follow_ups == (ended, look)
    assert change_sources(case, replace(places, until=date(2020, 1, 1)), "ann", AT).follow_ups == (ended,)
