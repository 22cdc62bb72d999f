"""The links of a note on the Draft page: how each answered, in words, and what approval makes of it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from crowdnotes.cases import actions
from crowdnotes.domain import Case, DecisionKind, StageName
from crowdnotes.jobs import JobState
from tests.pages.conftest import NOTE, Desk, can_approve, field, read, texts
from tests.shared import PATIENCE, until

URL = "https://trials.example.edu/c"


def _wait_for_scores(desk: Desk, case: Case) -> None:
    until(lambda: StageName.JURY in {stage.name for stage in desk.newest(case).stages})


def test_a_link_that_answers_says_so_beside_the_note_and_in_the_reader(desk: Desk) -> None:
    case = desk.scored()
    at = read(desk.app(case), case)
    badge = ":green-badge[:material/link: responds]"
    assert f":small[Link trials.example.edu] {badge}" in texts(at)
    assert f":small[link] {badge}" in texts(at)


def test_an_invented_link_of_an_example_does_not_respond(desk: Desk) -> None:
    note = NOTE.replace(
        "https://trials.example.edu/c", "https://northfield-health.example/questions/boiling-water-twice"
    )
    shown = texts(desk.app(desk.scored(note)))
    assert "made up for the example" in shown
    assert ":green-badge[:material/link: responds]" not in shown


def test_a_note_that_was_not_scored_has_links_that_were_not_checked(desk: Desk) -> None:
    at = desk.app(desk.drafted())
    assert "not checked yet" in texts(at)
    assert f"The link `{URL}`: not checked yet." in texts(at)


def test_a_dead_link_keeps_approval_closed_until_it_answers(desk: Desk) -> None:
    desk.links.answers[URL] = 404
    case = desk.scored()
    desk.workspace.cases.apply(case.id, actions.set_tags, ["misleadingFactualError"])
    at = desk.app(case)
    assert not can_approve(at)
    assert "dead (404)" in texts(at)

    desk.links.answers.clear()
    at.button(key="check-links").click().run()
    desk.finish_latest(case, at)
    assert "dead (404)" not in texts(at)
    assert can_approve(at)


def test_a_dead_link_is_passed_over_with_a_reason_that_stays_on_record(desk: Desk) -> None:
    desk.links.answers[URL] = 404
    case = desk.scored()
    desk.workspace.cases.apply(case.id, actions.set_tags, ["misleadingFactualError"])
    at = desk.app(case)
    why = field(at, "Why approve although")
    why.set_value("ok").run()
    assert "Too short. Write a short sentence." in texts(at)
    assert not can_approve(at)

    field(at, "Why approve").set_value("It is back by noon.").run()
    at.button(key="decide-approved").click().run()
    decision = desk.decision(case)
    assert [(item.obstacle.subject, item.reason) for item in decision.overrides] == [(URL, "It is back by noon.")]
    assert f"Approved although **the link `{URL}` did not respond**. Reason: " in texts(at)


class _Slow:
    """Stands in for the asker: holds every answer back until it may be given."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.may_answer = threading.Event()

    def status(self, url: str, seconds: float, check: Callable[[], None]) -> int:
        self.asked.set()
        while not self.may_answer.wait(0.01):
            check()
        return 200


def test_scores_are_on_the_screen_while_the_links_are_still_asked_and_scoring_again_need_not_wait(
    desk: Desk,
) -> None:
    slow = _Slow()
    desk.links.status = slow.status  # type: ignore[method-assign]
    case = desk.drafted()
    first = desk.app(case).button(key="score").click().run()
    assert slow.asked.wait(PATIENCE)
    _wait_for_scores(desk, case)
    at = desk.app(case)
    assert desk.newest(case).assessment_is_current
    assert "Check the links" in texts(at)
    assert "No opinion or speculation:** passed" in texts(at)

    at.button(key="score").click().run()
    slow.may_answer.set()
    desk.finish_latest(case)
    job = desk.latest(case.id)
    assert job.state is JobState.DONE
    assert desk.newest(case).stages[-1].name is StageName.LINKS
    assert not first.exception
    assert not at.exception


def test_the_tracking_of_a_link_is_cut_by_one_click_and_comes_back_by_undo(desk: Desk) -> None:
    tracked = f"{NOTE}?utm_source=x&id=3"
    case = desk.scored(tracked)
    at = desk.app(case)
    assert "Remove tracking from the link" in texts(at)
    at.button(key="cut-tracking").click().run()
    assert desk.note(case) == f"{NOTE}?id=3"
    assert "Remove tracking from the link" not in texts(at)
    at.button(key="undo").click().run()
    assert desk.note(case) == tracked


def test_one_may_abstain_while_the_program_is_at_work_which_then_stops(desk: Desk) -> None:
    slow = _Slow()
    desk.links.status = slow.status  # type: ignore[method-assign]
    case = desk.drafted()
    at = desk.app(case)
    at.button(key="score").click().run()
    assert slow.asked.wait(PATIENCE)
    _wait_for_scores(desk, case)
    at.run()
    assert not can_approve(at)
    at.button(key="decide-not-needed").click().run()
    desk.finish_latest(case)
    job = desk.latest(case.id)
    assert job.state is JobState.CANCELLED
    decision = desk.decision(case)
    assert decision.kind is DecisionKind.NOT_NEEDED
