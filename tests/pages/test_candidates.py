"""The candidates on the Draft page: what there is to choose from, and that there is only one."""

from __future__ import annotations

from crowdnotes.domain import Case
from crowdnotes.engines.base import WriterAnswer, Written
from tests.pages.conftest import Desk, texts

FIRST = "Regular vitamin C supplements do not prevent colds in the general population."
SECOND = "Starting vitamin C after a cold has begun showed no effect."


def _write(desk: Desk, *notes: str, case: Case) -> Case:
    desk.engine.answer = WriterAnswer(candidates=tuple(Written(text, ("E1",)) for text in notes))
    service = desk.workspace.service
    desk.finish(desk.workspace.runner.start(case.id, "write", service.write_steps(case.id)).id)
    return desk.newest(case)


def test_one_note_alone_is_said_to_be_the_only_one(desk: Desk) -> None:
    case = _write(desk, FIRST, case=desk.inspected())
    assert "The program wrote one note: the words below." in texts(desk.app(case))


def test_one_note_beside_a_persons_own_words_can_be_chosen(desk: Desk) -> None:
    case = _write(desk, FIRST, case=desk.drafted("My own words. https://trials.example.edu/c"))
    at = desk.app(case)
    assert "wrote one note" not in texts(at)
    assert at.get_by_key("candidate") is not None


def test_several_notes_can_be_chosen_from(desk: Desk) -> None:
    case = _write(desk, FIRST, SECOND, case=desk.inspected())
    at = desk.app(case)
    assert len(case.candidates) == 2
    assert at.get_by_key("candidate") is not None
